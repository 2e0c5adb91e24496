"""Figure 9 of the Animal-AI Olympics again, and how close ours comes."""

from .published import reproduce

__all__ = ["reproduce"]
