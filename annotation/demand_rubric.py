"""Rubrics of demands: what a demand is, and what items of each level of it ask for."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .rubric_file import check, load, shipped

DEMAND_LEVELS = (0, 1, 2, 3, 4, 5)
"""The levels of every demand; 0 is none, and 5 means "or beyond"."""

_SHIPPED = Path(__file__).parent / "demand-rubrics"
DEMAND_RUBRICS = shipped(_SHIPPED)
"""Names of the rubrics of demands that come with the package, as examples."""


@dataclass(frozen=True)
class DemandLevel:
    """One level of a demand.

    Parameters
    ----------
    level : int
        From 0 to 5.
    description : str
        What items of this level ask for.
    examples : tuple of str
        Anchors: items of this level, with a word on why where it is needed.

    Examples
    --------
    >>> DemandLevel(1, "One step with small numbers.", ("What is 3 + 4?",)).examples
    ('What is 3 + 4?',)
    """

    level: int
    description: str
    examples: tuple[str, ...]


@dataclass(frozen=True)
class DemandRubric:
    """A demand as an annotator is told of it.

    Levels are 0 (none), 1 (very low), 2 (low), 3 (intermediate), 4 (high) and 5 (very high, and
    beyond). A rule of thumb makes the published scales comparable: about one person in 10 to the
    power of the level answers such an item rightly.

    Parameters
    ----------
    name : str
        What the dimension is called.
    definition : str
        What is demanded, and what is not.
    levels : tuple of DemandLevel
        One for each of 0 to 5, in any order; they are kept ascending.

    Raises
    ------
    AnnotationError
        When a text is missing, or a level is missing, unknown or given twice.

    References
    ----------
    General scales paper, section 5.1.

    Examples
    --------
    >>> levels = tuple(
    ...     DemandLevel(at, f"About {at} pages.", (f"A report of {at} pages.",))
    ...     for at in DEMAND_LEVELS
    ... )
    >>> DemandRubric("volume", "How much there is to read.", levels).name
    'volume'
    """

    name: str
    definition: str
    levels: tuple[DemandLevel, ...]

    def __post_init__(self) -> None:
        check(self, DemandLevel, DEMAND_LEVELS)

    def to_dict(self) -> dict[str, Any]:
        """Return the rubric as dictionaries that JSON can hold."""
        return asdict(self)


def load_demand_rubric(source: str | Path) -> DemandRubric:
    """Read a rubric of a demand: one of your own, or the package's example.

    Parameters
    ----------
    source : str or Path
        A TOML file with ``name``, ``definition`` and a table of ``description`` and ``examples`` (a
        list of texts) for each level: ``[levels.0]`` to ``[levels.5]``. Or one of
        ``DEMAND_RUBRICS``.

    Returns
    -------
    DemandRubric
        Checked.

    Raises
    ------
    AnnotationError
        When there is no such rubric, or the file lacks something.

    References
    ----------
    General scales paper, section 5.1 and Appendix 9. The words of the example are this package's
    own, and so are its levels.

    Examples
    --------
    >>> DEMAND_RUBRICS
    ('quantitative_reasoning',)
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> rubric.levels[1].examples[0]
    'Five birds sit on a wire, and two fly off. How many are left?'
    """
    return load(source, _SHIPPED, DemandRubric, DemandLevel, DEMAND_LEVELS)
