"""Reproduction of tables and figures of the propensities study, for real and simulated subjects."""

from .published import reproduce

__all__ = ["reproduce"]
