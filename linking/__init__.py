"""Linking functions and the expressions they build."""

from . import arrays
from .band import band
from .bilogistic import bilogistic
from .errors import LayoutError
from .evaluation import evaluate
from .expression import Expr
from .function import LinkingFunction, linking_function
from .generalised_mean import generalised_mean
from .guessing import guessing
from .logistic import logistic
from .mixture import MeanFailure, mean_failure, mixture
from .power_mean import power_mean
from .presence import presence
from .product import product
from .total import total
from .uncertain_band import uncertain_band

__all__ = [
    "Expr",
    "LayoutError",
    "LinkingFunction",
    "MeanFailure",
    "arrays",
    "band",
    "bilogistic",
    "evaluate",
    "generalised_mean",
    "guessing",
    "linking_function",
    "logistic",
    "mean_failure",
    "mixture",
    "power_mean",
    "presence",
    "product",
    "total",
    "uncertain_band",
]
