"""Published studies, ready to run."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .scenario import Scenario

NAMES = (
    "animal-ai-olympics",
    "object-permanence",
    "propensities",
    "adele",
    "dispositions",
    "weirdml",
    "gsm8k",
    "fraction-subtraction",
)

__all__ = ["NAMES", "get"]


def get(name: str) -> "Scenario":
    """Return a scenario by its name.

    Raises
    ------
    KeyError
        When there is none of that name; the known ones are listed.

    Examples
    --------
    >>> get("animal-ai-olympics").title
    'Animal-AI Olympics: 68 agents look for and reach a reward'
    """
    if name not in NAMES:
        raise KeyError(f"unknown scenario {name!r}; know {', '.join(NAMES)}")
    room = importlib.import_module(f".{name.replace('-', '_')}", __name__)
    scenario: Scenario = room.SCENARIO
    return scenario
