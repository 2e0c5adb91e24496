"""Reading and checking of the fields of nodes."""

import math
import re
from collections.abc import Iterable

from ..common.names import plain
from ..linking import LayoutError
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
    found = real(value)
    if found is None or math.isnan(found):
        raise LayoutError(f"{owner}: {field}={value!r} is not a number; give a number in the unit")
    return found + 0.0


def ends(owner: str, low: object, high: object) -> tuple[float, float]:
    """Read both ends of a range.

    Raises
    ------
    LayoutError
        When an end is missing, or the range is reversed or a single point.
    """
    first, last = number(owner, "low", low), number(owner, "high", high)
    if first is None or last is None:
        raise LayoutError(
            f"{owner}: low={low}, high={high}; give both ends of the range (an end may be "
            "float('inf') when there is no bound)"
        )
    if not first < last:
        what = "is reversed" if first > last else "has zero width"
        raise LayoutError(f"{owner}: the range [{first:g}, {last:g}] {what}; give low < high")
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
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise LayoutError(f"{owner}: levels={values!r}; give a sequence of numbers, as in (0, 1)")
    read = tuple(number(owner, "a level", value) for value in values)
    found = tuple(value for value in read if value is not None and math.isfinite(value))
    if len(found) < len(read) or len(set(found)) < len(found):
        raise LayoutError(
            f"{owner}: levels {_listed(read)} repeat or are not finite; give each value once"
        )
    if len(found) < 2:
        raise LayoutError(
            f"{owner}: levels {_listed(found)} have fewer than two different values; a property "
            "that never varies cannot distinguish subjects, so leave it out, or write its number "
            "into the formula"
        )
    return found


def labels(owner: str, values: object, what: str = "labels") -> tuple[str, ...] | None:
    """Read names of labels, or of a category's levels; None stays None.

    Raises
    ------
    LayoutError
        When they are no sequence of at least one non-empty text, repeat, or hold half a character.
    """
    if values is None:
        return None
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise LayoutError(f"{owner}: {what}={values!r}; give a tuple of at least one name")
    found = tuple(plain(label) if isinstance(label, str) else label for label in values)
    if not found or any(not isinstance(label, str) or not label for label in found):
        raise LayoutError(f"{owner}: {what}={found!r}; give a tuple of at least one name, as texts")
    if len(set(found)) < len(found):
        twice = sorted({label for label in found if found.count(label) > 1})
        raise LayoutError(f"{owner}: {what} repeat {', '.join(twice)}; make each different")
    return tuple(str(text(owner, f"a {what[:-1]}", label)) for label in found)


def dimension(owner: str, value: object) -> str:
    """Read the name of a label dimension.

    Raises
    ------
    LayoutError
        When it is not a text, is empty, is the name of a dimension that every fit has, or cannot be
        the name of a folder.
    """
    if not isinstance(value, str) or not value or value in RESERVED:
        raise LayoutError(
            f"{owner}: dim={value!r}; give the label dimension a name other than "
            f"{', '.join(RESERVED)}"
        )
    if not re.fullmatch(NAME, value):
        raise LayoutError(
            f"{owner}: dim={value!r} must start with a letter and contain only letters, digits, "
            "'_', '-', '.' and spaces inside; it is the name of a variable, and a folder in stores"
        )
    return value


def text(owner: str, field: str, value: object) -> str:
    """Read a text.

    Raises
    ------
    LayoutError
        When it is something else, or holds half a character.
    """
    if not isinstance(value, str):
        raise LayoutError(f"{owner}: {field}={value!r} is not a text; write it in quotes")
    if is_broken(value):
        raise LayoutError(
            f"{owner}: {field}={value!r} contains half a character, which cannot be saved in a "
            "file; correct the text"
        )
    return value


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


def _listed(values: Iterable[float | None]) -> str:
    """Write numbers in brackets."""
    return f"({', '.join('none' if value is None else f'{value:g}' for value in values)})"
