"""Linking functions, and the expressions that they build from nodes."""

from . import arrays
from .errors import LayoutError
from .evaluation import evaluate
from .expression import Expr
from .function import LinkingFunction, linking_function
from .functions import elementary  # noqa: F401 - NumPy's functions of expressions
from .functions.band import band
from .functions.bilogistic import bilogistic
from .functions.generalised_mean import generalised_mean
from .functions.guessing import guessing
from .functions.logistic import logistic
from .functions.logit import logit
from .functions.mixture import MeanFailure, mean_failure, mixture
from .functions.presence import presence
from .functions.product import product
from .functions.total import total
from .functions.uncertain_band import uncertain_band
from .functions.walk import walk

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
    "logit",
    "mean_failure",
    "mixture",
    "presence",
    "product",
    "total",
    "uncertain_band",
    "walk",
]
