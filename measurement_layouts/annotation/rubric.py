"""Rubrics: definitions of a propensity or a demand and of its levels."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from ..common.errors import AnnotationError
from ..common.given import refuse_other


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    AnnotationError
        When it is not TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AnnotationError(f"{path} is not a TOML file: {error}") from error


def _names(folder: Path) -> tuple[str, ...]:
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def _load[R](source: str | Path, folder: Path, rubric: type[R], level: type[Any]) -> R:
    """Read a rubric from a folder of the package or from a user's file, which has its fields."""
    names = _names(folder)
    remedy = f"give one of {', '.join(names)}, or the path of a TOML file"
    refuse_other("source", source, str | PathLike, "a name or path", remedy, AnnotationError)
    path = folder / f"{source}.toml" if str(source) in names else Path(source)
    if not path.is_file():
        raise AnnotationError(f"no rubric {str(source)!r}; {remedy}")
    content = read_toml(path)
    if not isinstance(content.get("levels"), Mapping):
        raise AnnotationError(f"{path}: give levels as tables, such as [levels.0] and [levels.1]")
    levels = []
    for key, entry in content["levels"].items():
        if not isinstance(entry, Mapping) or not key.removeprefix("-").isdecimal():
            raise AnnotationError(
                f"{path}, level {key}: give a table with a whole number, as in [levels.2]"
            )
        levels.append(_made(level, {**entry, "level": int(key)}, f"{path}, level {key}"))
    return _made(rubric, {**content, "levels": tuple(levels)}, str(path))


def _made[R](kind: type[R], content: Mapping[str, Any], where: str) -> R:
    try:
        return kind(**content)
    except TypeError as error:  # of a field that is missing or unknown
        problem = str(error).partition("() ")[2]
        needed = ", ".join(field.name for field in fields(kind))  # type: ignore[arg-type]
        raise AnnotationError(f"{where}: {problem}; its fields are {needed}") from error


def _check(rubric: Any, kind: type[Any]) -> None:
    """Refuse an incomplete rubric; strip its texts and order its levels, consecutive numbers."""
    where = f"rubric {rubric.name!r}"
    if any(not isinstance(level, kind) for level in rubric.levels):
        raise AnnotationError(f"{where}: give its levels as a tuple of {kind.__name__}")
    levels = sorted(rubric.levels, key=lambda level: level.level)
    numbers = [level.level for level in levels]
    if len(numbers) < 2 or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise AnnotationError(
            f"{where}: levels {numbers}; give at least two, and each whole number between the "
            "lowest and the highest once"
        )
    object.__setattr__(rubric, "levels", tuple(levels))
    for value, place in [
        (rubric, where),
        *((one, f"{where}, level {one.level}") for one in levels),
    ]:
        for field in fields(value):
            content = getattr(value, field.name)
            if field.type is str and content != field.default:
                object.__setattr__(value, field.name, _text(content, field.name, place))
            elif field.type == tuple[str, ...]:
                if isinstance(content, str) or not isinstance(content, Sequence) or not content:
                    raise AnnotationError(f"{place}: {field.name} are {content!r}; give a list")
                texts = tuple(_text(text, field.name, place) for text in content)
                object.__setattr__(value, field.name, texts)


def _text(content: object, name: str, where: str) -> str:
    if not isinstance(content, str) or not content.strip():
        raise AnnotationError(f"{where}: no text for {name}; write one")
    return content.strip()


LEVELS = (-3, -2, -1, 0, 1, 2, 3)
"""The levels of the package's rubrics of propensities; the outermost mean "or beyond"."""

_PROPENSITIES = Path(__file__).parent / "shipped-rubrics"
RUBRICS = _names(_PROPENSITIES)
"""Names of the rubrics that come with the package."""


@dataclass(frozen=True)
class Level:
    """One level of a rubric.

    Parameters
    ----------
    level : int
        Negative on one side of the unbiased level 0, positive on the other.
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
    """Description of a propensity for annotators.

    Parameters
    ----------
    name : str
        Name of the propensity.
    definition : str
        Definition of the propensity and of the measure of its strength.
    unbiased : str
        Description of the unbiased option of an item.
    negative, positive : str
        What agents of negative and of positive levels do, in a few words.
    levels : tuple of Level
        One level for each whole number from a lowest to a highest, including 0, in any order;
        they are stored in ascending order. The package's rubrics have the levels -3 to 3.

    Raises
    ------
    AnnotationError
        When a text is missing, a level is missing or given twice, or there is no level 0.

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
        _check(self, Level)
        if not self.levels[0].level <= 0 <= self.levels[-1].level:
            raise AnnotationError(f"rubric {self.name!r}: there is no level 0, the unbiased one")


def load_rubric(source: str | Path) -> Rubric:
    """Read a rubric of a propensity: one of the package's, or one of your own.

    Parameters
    ----------
    source : str or Path
        One of ``RUBRICS``, or a TOML file with the fields of `Rubric` and a table of
        ``description`` and ``example`` for each level, such as ``[levels.-3]`` to ``[levels.3]``.

    Returns
    -------
    Rubric
        The rubric, checked.

    Raises
    ------
    AnnotationError
        When there is no such rubric, the file cannot be read, or a field is missing or unknown.

    Examples
    --------
    >>> RUBRICS
    ('introversion_extraversion', 'red_against_blue', 'risk_aversion', 'ultracrepidarianism')
    >>> load_rubric("risk_aversion").positive
    'avoids risk'

    References
    ----------
    Propensities paper, section 4.1, which has the four propensities and the sign of each. The
    wording and the thresholds of the levels are this package's own.
    """
    return _load(source, _PROPENSITIES, Rubric, Level)


DEMAND_LEVELS = (0, 1, 2, 3, 4, 5)
"""The levels of the package's rubrics of demands; 0 is none, and 5 means "or beyond"."""

_DEMANDS = Path(__file__).parent / "demand-rubrics"
DEMAND_RUBRICS = _names(_DEMANDS)
"""Names of the 18 rubrics of demands that come with the package."""


@dataclass(frozen=True)
class DemandLevel:
    """One level of a demand.

    Parameters
    ----------
    level : int
        Level, 0 or above.
    description : str
        What items of this level require.
    examples : tuple of str
        Anchors: items of this level, with an explanation if one is needed.
    boundary : str, default ""
        Property that items of this level have and items of the level below lack.

    Examples
    --------
    >>> DemandLevel(1, "One step with small numbers.", ("What is 3 + 4?",)).examples
    ('What is 3 + 4?',)
    """

    level: int
    description: str
    examples: tuple[str, ...]
    boundary: str = ""


@dataclass(frozen=True)
class DemandRubric:
    """Description of a demand for annotators.

    Level 0 is no demand, and the highest level includes everything beyond it. The package's
    rubrics end at 5. A rubric may continue to 10 or any other level, or begin where another one
    ends: `annotate` then asks about the items of that level. The published scales are made
    comparable by a rule of thumb: about one person in 10 to the power of the level answers such an
    item rightly.

    Parameters
    ----------
    name : str
        Name of the dimension.
    definition : str
        What is demanded, and what is not.
    levels : tuple of DemandLevel
        One level for each whole number from a lowest to a highest, in any order; they are
        stored in ascending order.
    code : str, default ""
        Short name; the demand's column in a table of demands is ``demand[code]``.

    Raises
    ------
    AnnotationError
        When a text is missing, or a level is missing, below 0 or given twice.

    References
    ----------
    General scales paper, section 5.1; section 4 on scales that continue beyond 5.

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
    code: str = ""

    def __post_init__(self) -> None:
        _check(self, DemandLevel)
        if self.levels[0].level < 0:
            raise AnnotationError(
                f"rubric {self.name!r}: level {self.levels[0].level} is below 0, which is no demand"
            )

    def boundaries(self) -> pd.DataFrame:
        """Return the properties that distinguish each level from the one below.

        Returns
        -------
        DataFrame
            One row for each pair of neighbouring levels: ``lower``, ``upper``, and
            ``property``, which items of the upper level have and items of the lower level
            lack.

        Examples
        --------
        >>> table = load_demand_rubric("volume").boundaries()
        >>> table.loc[0, "property"]
        'It takes more than ten seconds: there is a sentence or two to read, or a step to do.'
        """
        rows = [(level.level - 1, level.level, level.boundary) for level in self.levels[1:]]
        return pd.DataFrame(rows, columns=["lower", "upper", "property"])


def load_demand_rubric(source: str | Path) -> DemandRubric:
    """Read a rubric of a demand: one of the package's, or one of your own.

    Parameters
    ----------
    source : str or Path
        One of ``DEMAND_RUBRICS``; or a TOML file with ``name``, ``definition``, optionally
        ``code``, and a table of ``description``, ``examples`` (a list of texts) and, optionally,
        ``boundary`` for each level: ``[levels.0]``, ``[levels.1]`` and so on.

    Returns
    -------
    DemandRubric
        The rubric, checked.

    Raises
    ------
    AnnotationError
        When there is no such rubric, the file cannot be read, or a field is missing or unknown.

    References
    ----------
    General scales paper, section 5.1, Table 1 (the dimensions) and Appendix 9. The wording of the
    rubrics and the boundaries between their levels are this package's own.

    Examples
    --------
    >>> len(DEMAND_RUBRICS), DEMAND_RUBRICS[0]
    (18, 'applied_sciences')
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> rubric.levels[1].examples[0]
    'Five birds sit on a wire, and two fly off. How many are left?'
    """
    return _load(source, _DEMANDS, DemandRubric, DemandLevel)
