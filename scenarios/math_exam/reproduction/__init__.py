"""The exam's population, forecasts of held-out outcomes, and items that differ between batches."""

from .found import reproduce

__all__ = ["reproduce"]
