"""Names that differ in blanks or in the composition of Unicode only are one name."""

import unicodedata
from collections.abc import Iterable

from .messages import many, some

_UNSEEN = dict.fromkeys(map(ord, "\u200b\u2060\ufeff"))  # blanks without width
SAME = "names that differ in blanks or Unicode composition only are one"


def plain(name: str) -> str:
    r"""Write a name composed, without outer blanks and with single spaces inside.

    Examples
    --------
    >>> plain(" Zoe\u0308\u00a0  B ") == "Zo\u00eb B"
    True
    """
    if not name.isascii():
        name = unicodedata.normalize("NFC", name).translate(_UNSEEN)
    return " ".join(name.split())


def rewritten(names: Iterable[object]) -> dict[str, str]:
    """Find the names that are not plain, each with its plain form.

    Examples
    --------
    >>> rewritten(["Ann", "Bob ", 3])
    {'Bob ': 'Bob'}
    """
    distinct = dict.fromkeys(name for name in names if isinstance(name, str))
    return {name: form for name in distinct if (form := plain(name)) != name}


def merged(names: Iterable[object]) -> dict[str, str]:
    """Find the names that are one with another of the names, each with its plain form.

    Examples
    --------
    >>> merged(["jay", "jay ", "crow "])
    {'jay ': 'jay'}
    """
    distinct = dict.fromkeys(name for name in names if isinstance(name, str))
    forms: dict[str, list[str]] = {}
    for name in distinct:
        forms.setdefault(plain(name), []).append(name)
    return {
        name: form
        for form, group in forms.items()
        if len(group) > 1
        for name in group
        if name != form
    }


def shown(changed: dict[str, str]) -> str:
    """Write the names that changed, for a message.

    Examples
    --------
    >>> shown({"Bob ": "Bob"})
    "1 name ('Bob ' is 'Bob')"
    """
    pairs = (f"{name!r} is {form!r}" for name, form in changed.items())
    return f"{many(len(changed), 'name')} ({some(pairs)})"
