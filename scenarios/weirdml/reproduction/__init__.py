"""Reproduction of published time horizons, and intervals of simulated ones."""

from .published import reproduce

__all__ = ["reproduce"]
