"""Layouts: nodes, priors, checks and diagrams."""

from .latents import Bias, Capability, Latent, Noise, Propensity, Slope
from .layout import Layout
from .nodes import Derived, MetaFeature, Node
from .priors import Prior
from .success import Success
from .unseen import Unseen

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
    "Unseen",
]
