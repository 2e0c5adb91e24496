"""Reproduction of tables of the general scales: assessors, known abilities, mixes of demands."""

from .published import reproduce

__all__ = ["reproduce"]
