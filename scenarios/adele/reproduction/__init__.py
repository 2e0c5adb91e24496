"""Tables of the general scales again: assessors, known abilities and other mixes of demands."""

from .published import reproduce

__all__ = ["reproduce"]
