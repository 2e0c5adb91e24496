"""The simulated study of dispositions worked through and held against its truth."""

from .published import reproduce

__all__ = ["reproduce"]
