"""Banks of items to choose from, fixed before any way to choose was written.

Layouts with their slopes and priors, items, profiles and answers are made from the seeds here.
"""

from .bands import bands
from .bank import MOST, SUBJECTS, Bank, drawn
from .capabilities import eight, large, three
from .permanence import permanence, permanence_of_prior

BANKS = {
    "three": three,
    "permanence": permanence,
    "permanence-prior": permanence_of_prior,
    "bands": bands,
    "nine": eight,
    "large": large,
}
"""Simulated banks by the names of their cases."""

__all__ = ["BANKS", "MOST", "SUBJECTS", "Bank", "drawn"]
