"""Banks of items to choose from, fixed before any way to choose was written.

Layouts with their slopes and priors, items, profiles and answers are made from the seeds here.
"""

from .bands import bands
from .bank import Bank, drawn
from .capabilities import eight, three

BANKS = {"three": three, "bands": bands, "nine": eight}
"""Simulated banks by their names."""

__all__ = ["BANKS", "Bank", "drawn"]
