"""Units of capabilities and demands, as pint units.

A word that pint does not know (``level``, ``digit``, ``position``) becomes a unit of its own, so
that seconds times positions is a unit that only another seconds-times-positions may be compared
with.
"""

import functools
import re
from typing import Any

from .errors import LayoutError

_NUMBER = r"[+-]?\d{1,4}(?:\.\d{1,9})?(?![\w.])"
_POWER = rf"\s*\*\*\s*(?:{_NUMBER}|\(\s*{_NUMBER}\s*(?:/\s*{_NUMBER}\s*)?\))"
_FACTOR = rf"(?:[^\W\d]\w*+|[%‰)])(?:{_POWER})?|\b1\b"
_PRODUCT = re.compile(rf"(?:{_FACTOR}|\*(?!\s*\*)|[(/\s])*+")
_LONGEST = 300  # characters

type Unit = Any
"""A `pint.Unit`, or None where any unit will do (a plain number, a bias without a unit)."""


@functools.cache
def _registry() -> Any:
    """Registry of units, made when first needed: pint is slow to import."""
    import pint

    return pint.UnitRegistry()


@functools.cache
def parse(text: str | None) -> Unit:
    """Read a unit such as ``"m"``, ``"s*position"`` or ``"digit"``; None is dimensionless.

    Raises
    ------
    LayoutError
        When the text is no product of powers of words.
    """
    registry = _registry()
    if text is None:
        return registry.dimensionless
    try:
        _check(text)
        for word in re.findall(r"[^\W\d]\w*", text):
            if word not in registry:
                registry.define(f"{word} = [{word}]")
        return registry.Unit(text)
    except Exception as error:  # pint raises many kinds for a malformed string
        raise LayoutError(
            f"the unit {text[:60]!r} cannot be read ({error}); write a word, or words joined by "
            "'*', '/' and '**', such as 's*position'"
        ) from error


def _check(text: str) -> None:
    """Refuse other numbers than powers: pint would compute 9**9**9**9, for ever."""
    from pint.util import string_preprocessor  # "m squared" and "m²" are m**2

    if len(text) > _LONGEST:
        raise ValueError(f"it has {len(text)} characters, of at most {_LONGEST}")
    if not _PRODUCT.fullmatch(string_preprocessor(text)):
        raise ValueError("it is no product of powers of words")


def is_pure(unit: Unit) -> bool:
    """Whether a value with this unit can be a pure number."""
    return unit is None or bool(unit == parse(None))


def inverse(unit: Unit) -> Unit:
    """Return one over a unit."""
    return None if unit is None else parse(None) / unit


def name(unit: Unit) -> str:
    """Write a unit in short: ``"position⋅s"``, or an empty string for a pure number."""
    return "" if is_pure(unit) else f"{unit:~P}"


def spelled(unit: Unit) -> str:
    """Write a unit in full, as `parse` reads it."""
    return "" if is_pure(unit) else str(unit)


def text(unit: Unit) -> str:
    """Write a unit for an error message."""
    return f"unit {name(unit)}" if name(unit) else "no unit"
