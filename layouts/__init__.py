"""Layouts: nodes, priors, checks and diagrams."""

from .latents import Bias, Capability, Latent, Noise, Propensity, Slope
from .layout import Layout
from .nodes import Derived, MetaFeature, Node, Success
from .priors import Prior

__all__ = [
    "Bias",
    "Capability",
    "Derived",
    "Latent",
    "Layout",
    "MetaFeature",
    "Node",
    "Noise",
    "Prior",
    "Propensity",
    "Slope",
    "Success",
]
