"""Reproduction of Figure 9 of the Animal-AI Olympics."""

from .published import reproduce

__all__ = ["reproduce"]
