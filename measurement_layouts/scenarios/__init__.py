"""Published studies, ready to run.

Each study has a file or a folder with its layouts, its data and a simulated cohort. The figures of
a paper's study are in its module ``reproduction``, which is imported only when it is needed.
"""

import importlib
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the names of the scenarios can be listed without importing pandas
    from .figures import Reproduction
    from .scenario import Scenario

PAPERS = ("animal-ai-olympics", "object-permanence", "propensities", "adele", "dispositions")
NAMES = (*PAPERS, "weirdml", "gsm8k", "fraction-subtraction", "math-exam")

__all__ = ["NAMES", "get", "reproduce"]


def get(name: str) -> "Scenario":
    """Return a scenario by its name.

    Raises
    ------
    KeyError
        When there is no scenario of that name; the message lists the known ones.

    Examples
    --------
    >>> get("animal-ai-olympics").title
    'Animal-AI Olympics: 68 agents look for and reach a reward'
    """
    scenario: Scenario = _module(name).SCENARIO
    return scenario


def reproduce(name: str, data: Path | None = None, published: Path | None = None) -> "Reproduction":
    """Reproduce a study, and compare its published figures with the obtained ones.

    Parameters
    ----------
    name : str
        One of `NAMES`.
    data : Path, optional
        Folder of the real data (default: the folder in the environment variable
        ``MEASUREMENT_LAYOUTS_DATA``; without it, data are downloaded where they are offered).
    published : Path, optional
        Folder of published tables; needed if the scenario's ``tables`` is true.

    Returns
    -------
    Reproduction
        Figures, each with its goal, and the tables behind them.

    Raises
    ------
    KeyError
        When there is no scenario of that name.
    DataError
        When the data or the tables cannot be read; this is checked before anything is fitted.
    """
    study = _module(name)
    if name in PAPERS:
        study = importlib.import_module(".reproduction", study.__name__)
    reproduction: Reproduction = study.reproduce(get(name), data, published)
    return reproduction


def _module(name: str) -> ModuleType:
    """Import the module or package of a scenario."""
    if name not in NAMES:
        raise KeyError(f"unknown scenario {name!r}; known: {', '.join(NAMES)}")
    return importlib.import_module(f".{name.replace('-', '_')}", __name__)
