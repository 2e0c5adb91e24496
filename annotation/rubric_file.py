"""Files of rubrics: found, read and checked, for whichever kind of rubric."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..inference.errors import AnnotationError


def shipped(folder: Path) -> tuple[str, ...]:
    """List the names of the rubrics in a folder."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def load[R](
    source: str | Path, folder: Path, kind: type[R], level: type[Any], levels: tuple[int, ...]
) -> R:
    """Read a rubric from the package or from a file of the user's.

    Parameters
    ----------
    source : str or Path
        A name in `folder`, or a TOML file.
    folder : Path
        Where the package's own are.
    kind, level : type
        Classes of the rubric and of its levels; the file has their fields.
    levels : tuple of int
        All of the scale.

    Returns
    -------
    kind
        Checked.

    Raises
    ------
    AnnotationError
        When there is no such rubric, or the file lacks something.
    """
    names = shipped(folder)
    path = folder / f"{source}.toml" if str(source) in names else Path(source)
    if not path.is_file():
        raise AnnotationError(
            f"no rubric {str(source)!r}; give one of {', '.join(names)}, or the path of a TOML file"
        )
    said, where = read_toml(path), str(path)
    low, high = levels[0], levels[-1]
    _same_fields(said, kind, where)
    if not isinstance(said["levels"], Mapping):
        raise AnnotationError(f"{where}: give levels as tables, [levels.{low}] to [levels.{high}]")
    found = []
    for key, entry in said["levels"].items():
        at = f"{where}, level {key}"
        names = tuple(field.name for field in fields(level) if field.name != "level")
        if not isinstance(entry, Mapping):
            raise AnnotationError(f"{at}: give a table with {' and '.join(names)}")
        _same_fields({"level": key, **entry}, level, at)
        try:
            found.append(level(**{**entry, "level": int(key)}))
        except ValueError as error:
            raise AnnotationError(f"{at}: give a whole number from {low} to {high}") from error
    return kind(**{**said, "levels": tuple(found)})


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


def check(rubric: Any, kind: type[Any], levels: tuple[int, ...]) -> None:
    """Refuse a rubric that is not whole; strip its texts and order its levels.

    Parameters
    ----------
    rubric : dataclass
        With a ``name`` and ``levels``; changed in place, while it is being made.
    kind : type
        Class of its levels.
    levels : tuple of int
        All of the scale.

    Raises
    ------
    AnnotationError
        When a text is missing, or a level is missing, unknown or given twice.
    """
    whose = f"rubric {rubric.name!r}"
    _trim(rubric, whose)
    found = tuple(rubric.levels)
    if any(not isinstance(level, kind) for level in found):
        raise AnnotationError(f"{whose}: give its levels as a tuple of {kind.__name__}")
    have = [level.level for level in found]
    problems = {
        "missing": [level for level in levels if level not in have],
        "unknown": [level for level in have if level not in levels],
        "given twice": sorted({level for level in have if have.count(level) > 1}),
    }
    for problem, wrong in problems.items():
        if wrong:
            raise AnnotationError(
                f"{whose}: level {', '.join(map(str, wrong))} {problem}; give each of {levels[0]} "
                f"to {levels[-1]} once"
            )
    for level in found:
        _trim(level, f"{whose}, level {level.level}")
    object.__setattr__(rubric, "levels", tuple(sorted(found, key=lambda level: level.level)))


def _same_fields(said: Mapping[str, Any], kind: type[Any], where: str) -> None:
    need = [field.name for field in fields(kind)]
    missing = [name for name in need if name not in said]
    extra = [name for name in said if name not in need]
    if missing or extra:
        problems = [f"lacks {', '.join(missing)}"] * bool(missing)
        problems += [f"has an unknown {', '.join(extra)}"] * bool(extra)
        raise AnnotationError(f"{where} {' and '.join(problems)}; it needs {', '.join(need)}")


def _trim(value: Any, where: str) -> None:
    """Refuse fields without text; strip those that have some."""
    for field in fields(value):
        said = getattr(value, field.name)
        if field.type is str:
            object.__setattr__(value, field.name, _text(said, field.name, where))
        elif field.type == tuple[str, ...]:
            if isinstance(said, str) or not isinstance(said, Sequence) or not said:
                raise AnnotationError(
                    f"{where}: {field.name} are {said!r}; give a list of at least one text"
                )
            texts = tuple(_text(one, field.name, where) for one in said)
            object.__setattr__(value, field.name, texts)


def _text(said: object, name: str, where: str) -> str:
    if not isinstance(said, str) or not said.strip():
        raise AnnotationError(f"{where}: no text for {name}; write one")
    return said.strip()
