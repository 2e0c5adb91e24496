"""Layouts: nodes, priors, checks and diagrams."""

from .graded import Graded
from .latents import Bias, Capability, Latent, Noise, Propensity, Slope
from .layout import Layout
from .nodes import Derived, MetaFeature, Node
from .priors import Prior
from .score import Score
from .success import Success
from .unseen import Unseen

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
