"""Tables and figures of object permanence again, over several simulated cohorts."""

from .published import reproduce

__all__ = ["reproduce"]
