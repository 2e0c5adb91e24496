"""Scores of benchmarks: 179 language models and 38 benchmarks on a common scale."""

from .data import developer, load, scores
from .expected import expected_scores
from .layouts import common_scale_layout, falls, recommended_layout

__all__ = [
    "common_scale_layout",
    "developer",
    "expected_scores",
    "falls",
    "load",
    "recommended_layout",
    "scores",
]
