"""Short lists and counts for messages."""

import re
from collections.abc import Iterable

from ..linking.errors import short

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")

_HIDING = re.compile(r"[\s,;]")


def some(values: Iterable[object], limit: int = 5, most: int = 200) -> str:
    """Write the first few values and the number of others; half a character as its number.

    Examples
    --------
    >>> some("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    listed = list(values)
    first = (short(value, most) for value in listed[:limit])
    shown = ", ".join(value.encode(errors="backslashreplace").decode() for value in first)
    return shown if len(listed) <= limit else f"{shown} and {len(listed) - limit} more"


def labels_together(names: Iterable[str]) -> str:
    """Write names of elements or columns, with the labels of one node in one pair of brackets.

    Examples
    --------
    >>> labels_together(["demand[reading]", "demand[logic]", "size"])
    'demand[reading, logic], size'
    """
    labels_of: dict[str, list[str]] = {}
    for name in names:
        node, bracket, label = name.partition("[")
        labels_of.setdefault(node, []).extend([label.removesuffix("]")] if bracket else [])
    return ", ".join(
        f"{node}[{some(labels, 20)}]" if labels else node for node, labels in labels_of.items()
    )


def quoted(name: object) -> str:
    """Write a name, in quotation marks if it has spaces or commas.

    Examples
    --------
    >>> print(quoted("size"), quoted(" size"), quoted("task id"))
    size ' size' 'task id'
    """
    hidden = isinstance(name, str) and (not name or _HIDING.search(name))
    return repr(short(name)) if hidden else short(name)


def many(count: int, what: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> many(1, "item"), many(3, "item")
    ('1 item', '3 items')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def from_to(values: Iterable[float]) -> str:
    """Write a number, or the smallest and the largest of several.

    Examples
    --------
    >>> from_to([0.5, 0.25, 0.3]), from_to([0.5])
    ('0.25 to 0.50', '0.50')
    """
    ordered = [f"{value:.2f}" for value in sorted(values)]
    return ordered[0] if ordered[0] == ordered[-1] else f"{ordered[0]} to {ordered[-1]}"


def visible(text: object) -> str:
    r"""Write a text for a terminal, with control characters as escape sequences.

    Line ends and tabs are not changed.

    Examples
    --------
    >>> print(visible("Ann\x1b[2J"))
    Ann\x1b[2J
    """
    return _CONTROL.sub(lambda sign: sign[0].encode("unicode_escape").decode(), str(text))
