"""Skills of 536 pupils, compared with an independent estimate and baselines."""

from .published import reproduce

__all__ = ["reproduce"]
