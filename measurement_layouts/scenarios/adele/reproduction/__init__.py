"""Reproduction of tables of the general scales: assessors, importances, one population."""

from .published import reproduce

__all__ = ["reproduce"]
