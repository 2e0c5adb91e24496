"""Reading and checking of the fields of nodes."""

import math
import re
from collections.abc import Iterable

from ..common.names import plain
from ..linking.errors import check, refuse
from ..linking.real import real

NAME = r"[^\W\d_](?:(?:[\w.-]| (?! ))*[\w.-])?"
"""Of a node or a label dimension: it names a column, a variable and, in a store, a folder."""

RESERVED = ("chain", "draw", "item", "subject")  # dimensions that every fit has


def number(owner: str, field: str, value: object) -> float | None:
    """Read a number, possibly infinite; None stays None.

    Raises
    ------
    LayoutError
        When it is something else, or NaN.
    """
    if value is None:
        return None
    read = real(value)
    is_number = read is not None and not math.isnan(read)
    check(owner, is_number, f"{field}={value!r} is not a number", "give a number in the unit")
    return read + 0.0  # type: ignore[operator]


def ends(owner: str, low: object, high: object) -> tuple[float, float]:
    """Read both ends of a range.

    Raises
    ------
    LayoutError
        When an end is missing, or the range is reversed or a single point.
    """
    first, last = number(owner, "low", low), number(owner, "high", high)
    if first is None or last is None:
        advice = "give both ends of the range (float('inf') where there is no bound)"
        refuse(owner, f"low={low}, high={high}", advice)
    what = "is reversed" if first > last else "has zero width"
    check(owner, first < last, f"the range [{first:g}, {last:g}] {what}", "give low < high")
    return first, last


def levels(owner: str, values: object) -> tuple[float, ...] | None:
    """Read the only values a property takes; None stays None.

    Raises
    ------
    LayoutError
        When they are not finite numbers, repeat, or are fewer than two.
    """
    if values is None:
        return None
    several = isinstance(values, Iterable) and not isinstance(values, str)
    check(owner, several, f"levels={values!r}", "give a sequence of numbers, as in (0, 1)")
    read = [number(owner, "a level", value) for value in values]  # type: ignore[attr-defined]
    numbers = tuple(value for value in read if value is not None and math.isfinite(value))
    distinct = len(set(numbers)) == len(read)
    listed = ", ".join("none" if value is None else f"{value:g}" for value in read)
    check(owner, distinct, f"levels ({listed}) repeat or are not finite", "give each value once")
    problem = f"levels ({listed}) have fewer than two different values"
    check(owner, len(numbers) > 1, problem, "leave it out, or write its number into the formula")
    return numbers


def labels(owner: str, values: object, what: str = "labels") -> tuple[str, ...] | None:
    """Read names of labels, or of a category's levels; None stays None.

    Raises
    ------
    LayoutError
        When they are no sequence of at least one non-empty text, repeat, or hold half a character.
    """
    if values is None:
        return None
    advice, several = "give a tuple of at least one name", isinstance(values, Iterable)
    check(owner, several and not isinstance(values, str), f"{what}={values!r}", advice)
    names = tuple(plain(one) if isinstance(one, str) else one for one in values)  # type: ignore[attr-defined]
    are_texts = names and all(isinstance(name, str) and name for name in names)
    check(owner, are_texts, f"{what}={names!r}", f"{advice}, as texts")
    twice = ", ".join(sorted({name for name in names if names.count(name) > 1}))
    check(owner, not twice, f"{what} repeat {twice}", "make each different")
    return tuple(str(text(owner, f"a {what[:-1]}", name)) for name in names)


def name(owner: str, what: str, value: object, fitting: str = NAME) -> str:
    """Read the name of a node or of a label dimension.

    Raises
    ------
    LayoutError
        When it is not a text, is empty, is the name of a dimension that every fit has, or cannot be
        the name of a folder.
    """
    advice = "choose a name that a variable, a column and a folder can have"
    problem = f"{what} must start with a letter and contain only letters, digits, '_', '-', '.' "
    fits = isinstance(value, str) and re.fullmatch(fitting, value)
    check(owner, fits, f"{problem}and spaces inside", advice)
    problem, advice = f"{what} is the name of a dimension of every fit", "choose another name"
    check(owner, value not in RESERVED, problem, advice)
    return str(value)


def text(owner: str, field: str, value: object) -> str:
    """Read a text.

    Raises
    ------
    LayoutError
        When it is something else, or holds half a character.
    """
    written = f"{field}={value!r}"
    check(owner, isinstance(value, str), f"{written} is not a text", "write it in quotes")
    problem = f"{written} contains half a character, which cannot be saved in a file"
    check(owner, not is_broken(str(value)), problem, "correct the text")
    return value  # type: ignore[return-value]


def is_broken(value: str) -> bool:
    """Whether a text contains half a character (a surrogate of UTF-16), which no file can have."""
    return not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)


def unit(owner: str, value: object) -> str | None:
    """Read the name of a unit; None stays None.

    Raises
    ------
    LayoutError
        When it is something else.
    """
    return None if value is None else text(owner, "unit", value)
