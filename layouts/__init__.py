"""Layouts: nodes, priors, checks and diagrams."""

from .latents import Bias, Capability, Latent, Noise, Propensity, Slope
from .layout import Layout
from .nodes import Derived, MetaFeature, Node
from .outcomes.ordered import Graded, Score
from .outcomes.steps import Success
from .outcomes.unseen import Unseen
from .priors import Prior

__all__ = [
    "Bias",
    "Capability",
    "Derived",
    "Graded",
    "Latent",
    "Layout",
    "MetaFeature",
    "Node",
    "Noise",
    "Prior",
    "Propensity",
    "Score",
    "Slope",
    "Success",
    "Unseen",
]
