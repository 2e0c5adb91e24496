"""Layouts: nodes, priors, checks and diagrams."""

from .latents import Bias, Capability, Latent, Noise, Propensity, Slope, Spread
from .layout import Layout
from .nodes import Derived, MetaFeature, Node
from .outcomes.measured import Measured
from .outcomes.ordered import Graded, Score
from .outcomes.steps import Success
from .outcomes.unseen import Unseen
from .plates import Category
from .priors import Prior

__all__ = [
    "Bias",
    "Capability",
    "Category",
    "Derived",
    "Graded",
    "Latent",
    "Layout",
    "Measured",
    "MetaFeature",
    "Node",
    "Noise",
    "Prior",
    "Propensity",
    "Score",
    "Slope",
    "Spread",
    "Success",
    "Unseen",
]
