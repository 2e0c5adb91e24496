"""Units of capabilities and demands, which the package pint reads and writes.

A word that pint does not know (``level``, ``digit``, ``position``) becomes a new unit. Seconds
times positions, for example, is then a unit that can be compared only with seconds times positions.
"""

import functools
import re
from collections.abc import Mapping
from typing import Any

from .errors import LayoutError

# pint reads some words as numbers or as a sign
_WORD = re.compile(r"(?!(?i:inf|infinity|nan|per)(?!\w))[^\W\d_]+(?:_?[^\W_]+)*")
_POWER = r"(?:\s*\*\*\s*([+-]?\d{1,4}(?:\.\d{1,9})?))?"
_FACTOR = re.compile(rf"\s*([*/])\s*(?:1|({_WORD.pattern}){_POWER})(?![\w.])\s*")
_LONGEST = 300  # characters


class Words:
    """A product of powers of words; pint is imported only when two different units are compared.

    Parameters
    ----------
    powers : mapping of str to float
        Power of each word; a pure number has no words.

    Examples
    --------
    >>> speed = parse("m") / parse("s")
    >>> print(speed, speed == parse("metre/s"), speed == parse("m"))
    meter / second True False
    """

    def __init__(self, powers: Mapping[str, float]) -> None:
        self.powers = {word: power for word, power in powers.items() if power}

    @functools.cached_property
    def pint(self) -> Any:
        """The same as a `pint.Unit`."""
        registry = _registry()
        unit = registry.dimensionless
        for word, power in self.powers.items():
            if word not in registry:
                registry.define(f"{word} = [{word}]")
            unit = unit * registry.Unit(word) ** power
        return unit

    def __mul__(self, other: "Words") -> "Words":
        both = {**self.powers, **other.powers}
        return Words({word: self.powers.get(word, 0) + other.powers.get(word, 0) for word in both})

    def __truediv__(self, other: "Words") -> "Words":
        return self * other**-1

    def __pow__(self, power: float) -> "Words":
        return Words({word: power * exponent for word, exponent in self.powers.items()})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        if self.powers == other.powers:
            return True
        if len(self.powers) + len(other.powers) == 1:  # a single word is not a pure number
            return False
        return bool(self.pint == other.pint)

    def __getstate__(self) -> dict[str, Any]:
        return {"powers": self.powers}

    __hash__ = None  # type: ignore[assignment]  # different words may mean the same unit

    def __str__(self) -> str:
        return str(self.pint)

    def __format__(self, style: str) -> str:
        return format(self.pint, style)

    __repr__ = __str__


type Unit = Words | None
"""None is compatible with every unit (a plain number, a bias without a unit)."""

_PURE = Words({})


@functools.cache
def _registry() -> Any:
    """Registry of units, made when first needed: pint is slow to import."""
    import pint

    return pint.UnitRegistry()


@functools.cache
def parse(text: str | None) -> Words:
    """Read a unit such as ``"m"``, ``"s*position"`` or ``"digit"``; None is dimensionless.

    Raises
    ------
    LayoutError
        When the text is not a product of powers of words.
    """
    powers: dict[str, float] = {}
    product = f"*{text}" if text and text != "dimensionless" else ""
    factors = list(_FACTOR.finditer(product))
    for sign, word, power in map(re.Match.groups, factors):
        if word is not None:
            exponent = float(power or 1)
            powers[word] = powers.get(word, 0) + (exponent if sign == "*" else -exponent)
    if "".join(factor[0] for factor in factors) != product or len(product) > _LONGEST:
        raise LayoutError(
            f"the unit {str(text)[:60]!r} cannot be read (it is not a product of powers of words); "
            "write a word, or words joined by '*', '/' and '**', such as 's*position'"
        )
    return Words(powers)


def is_pure(unit: Unit) -> bool:
    """Whether a value with this unit can be a pure number."""
    return unit is None or unit == _PURE


def name(unit: Unit) -> str:
    """Write a unit with its symbols: ``"position⋅s"``, or an empty string for a pure number."""
    return "" if unit is None or is_pure(unit) else f"{unit:~P}"


def spelled(unit: Unit) -> str:
    """Write a unit in full, as `parse` reads it."""
    return "" if is_pure(unit) else str(unit)


def text(unit: Unit) -> str:
    """Write a unit for an error message."""
    return f"unit {name(unit)}" if name(unit) else "no unit"
