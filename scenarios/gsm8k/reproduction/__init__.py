"""Published accuracies of GSM8K again, and forecasts of problems held out."""

from .published import reproduce

__all__ = ["reproduce"]
