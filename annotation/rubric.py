"""Rubrics: what a leaning is, and what an agent of each level of it does."""

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from .errors import AnnotationError

LEVELS = (-3, -2, -1, 0, 1, 2, 3)
"""The levels of every rubric; the outermost mean "or beyond"."""

_SHIPPED = Path(__file__).parent / "shipped-rubrics"
RUBRICS = tuple(sorted(path.stem for path in _SHIPPED.glob("*.toml")))
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
        _trim(self, f"rubric {self.name!r}")
        found = tuple(self.levels)
        if any(not isinstance(level, Level) for level in found):
            raise AnnotationError(f"rubric {self.name!r}: give its levels as a tuple of Level")
        have = [level.level for level in found]
        problems = {
            "missing": [level for level in LEVELS if level not in have],
            "unknown": [level for level in have if level not in LEVELS],
            "given twice": sorted({level for level in have if have.count(level) > 1}),
        }
        for problem, levels in problems.items():
            if levels:
                raise AnnotationError(
                    f"rubric {self.name!r}: level {', '.join(map(str, levels))} {problem}; give "
                    "each of -3 to 3 once"
                )
        for level in found:
            _trim(level, f"rubric {self.name!r}, level {level.level}")
        ordered = tuple(sorted(found, key=lambda level: level.level))
        object.__setattr__(self, "levels", ordered)

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
    path = _SHIPPED / f"{source}.toml" if str(source) in RUBRICS else Path(source)
    if not path.is_file():
        raise AnnotationError(
            f"no rubric {str(source)!r}; give one of {', '.join(RUBRICS)}, or the path of a TOML "
            "file"
        )
    return _from_mapping(read_toml(path), str(path))


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises
    ------
    AnnotationError
        When it is no TOML.
    """
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AnnotationError(f"{path} is no TOML file: {error}") from error


def _from_mapping(said: Mapping[str, Any], where: str) -> Rubric:
    _same_fields(said, Rubric, where)
    if not isinstance(said["levels"], Mapping):
        raise AnnotationError(f"{where}: give levels as tables, [levels.-3] to [levels.3]")
    levels = []
    for key, entry in said["levels"].items():
        at = f"{where}, level {key}"
        if not isinstance(entry, Mapping):
            raise AnnotationError(f"{at}: give a table with description and example")
        _same_fields({"level": key, **entry}, Level, at)
        try:
            levels.append(Level(int(key), entry["description"], entry["example"]))
        except ValueError as error:
            raise AnnotationError(f"{at}: give a whole number from -3 to 3") from error
    return Rubric(**{**said, "levels": tuple(levels)})


def _same_fields(said: Mapping[str, Any], kind: type[Rubric] | type[Level], where: str) -> None:
    need = [field.name for field in fields(kind)]
    missing = [name for name in need if name not in said]
    extra = [name for name in said if name not in need]
    if missing or extra:
        problems = [f"lacks {', '.join(missing)}"] * bool(missing)
        problems += [f"has an unknown {', '.join(extra)}"] * bool(extra)
        raise AnnotationError(f"{where} {' and '.join(problems)}; it needs {', '.join(need)}")


def _trim(value: Rubric | Level, where: str) -> None:
    """Refuse fields without text; strip those that have some."""
    for field in fields(value):
        if field.type is not str:
            continue
        text = getattr(value, field.name)
        if not isinstance(text, str) or not text.strip():
            raise AnnotationError(f"{where}: no text for {field.name}; write one")
        object.__setattr__(value, field.name, text.strip())
