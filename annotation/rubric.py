"""Rubrics: what a leaning is, and what an agent of each level of it does."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .rubric_file import check, load, shipped

LEVELS = (-3, -2, -1, 0, 1, 2, 3)
"""The levels of every rubric; the outermost mean "or beyond"."""

_SHIPPED = Path(__file__).parent / "shipped-rubrics"
RUBRICS = shipped(_SHIPPED)
"""Names of the rubrics that come with the package."""


@dataclass(frozen=True)
class Level:
    """One level of a rubric.

    Parameters
    ----------
    level : int
        From -3 to 3.
    description : str
        What an agent of this level does.
    example : str
        An anchor: a situation, and what such an agent does there.

    Examples
    --------
    >>> Level(2, "Takes most gambles.", "Bets 300 of 500 on a coin.").level
    2
    """

    level: int
    description: str
    example: str


@dataclass(frozen=True)
class Rubric:
    """A propensity as an annotator is told of it.

    Parameters
    ----------
    name : str
        What the propensity is called.
    definition : str
        What it is, and by what its strength is measured.
    unbiased : str
        Which option of an item is the unbiased one.
    negative, positive : str
        What agents of negative and of positive levels do, in a few words.
    levels : tuple of Level
        One for each of -3 to 3, in any order; they are kept ascending.

    Raises
    ------
    AnnotationError
        When a text is missing, or a level is missing, unknown or given twice.

    Examples
    --------
    >>> levels = tuple(Level(at, f"Gives up {abs(at)} of 4 to be early.", "...") for at in LEVELS)
    >>> Rubric("haste", "How far ...", "The better option.", "dawdles", "hurries", levels).name
    'haste'
    """

    name: str
    definition: str
    unbiased: str
    negative: str
    positive: str
    levels: tuple[Level, ...]

    def __post_init__(self) -> None:
        check(self, Level, LEVELS)

    def to_dict(self) -> dict[str, Any]:
        """Return the rubric as dictionaries that JSON can hold."""
        return asdict(self)


def load_rubric(source: str | Path) -> Rubric:
    """Read a rubric that comes with the package, or one of your own.

    Parameters
    ----------
    source : str or Path
        One of ``RUBRICS``, or a TOML file with the fields of `Rubric` and a table of
        ``description`` and ``example`` for each level: ``[levels.-3]`` to ``[levels.3]``.

    Returns
    -------
    Rubric
        Checked.

    Raises
    ------
    AnnotationError
        When there is no such rubric, or the file lacks something.

    Examples
    --------
    >>> RUBRICS
    ('introversion_extraversion', 'red_against_blue', 'risk_aversion', 'ultracrepidarianism')
    >>> load_rubric("risk_aversion").positive
    'avoids risk'

    References
    ----------
    Propensities paper, section 4.1: the four propensities and the sign of each. The words and the
    thresholds of the levels are this package's own.
    """
    return load(source, _SHIPPED, Rubric, Level, LEVELS)
