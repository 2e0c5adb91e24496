"""Reproduction of tables and figures of object permanence, over several simulated cohorts."""

from .published import reproduce

__all__ = ["reproduce"]
