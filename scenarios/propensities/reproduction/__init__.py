"""Tables and figures of the propensities study again, on real and simulated subjects."""

from .published import reproduce

__all__ = ["reproduce"]
