"""Short lists and counts for messages."""

from collections.abc import Iterable


def some(values: Iterable[object], limit: int = 5) -> str:
    """Write the first few values and how many more there are.

    Examples
    --------
    >>> some("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    found = [str(value) for value in values]
    shown = ", ".join(found[:limit])
    return shown if len(found) <= limit else f"{shown} and {len(found) - limit} more"


def many(count: int, what: str) -> str:
    """Write a number of things.

    Examples
    --------
    >>> many(1, "item"), many(3, "item")
    ('1 item', '3 items')
    """
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
