"""The simulated study of dispositions, compared with its true values."""

from .published import reproduce

__all__ = ["reproduce"]
