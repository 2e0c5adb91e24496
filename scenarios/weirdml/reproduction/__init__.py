"""Published time horizons again, and intervals of simulated ones."""

from .published import reproduce

__all__ = ["reproduce"]
