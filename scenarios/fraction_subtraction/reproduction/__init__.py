"""Skills of 536 pupils held against an independent estimate and baselines."""

from .published import reproduce

__all__ = ["reproduce"]
