"""Reproduction of published accuracies of GSM8K, and forecasts of held-out problems."""

from .published import reproduce

__all__ = ["reproduce"]
