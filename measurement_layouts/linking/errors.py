"""The error of a wrong declaration, and texts of errors of bounded length."""

import re
from typing import NoReturn

_WORD, _WHOLE = 300, 10_000  # characters of a word and of a message, at most
_LONG = re.compile(rf"\S{{{_WORD + 1},}}")


def short(text: object, most: int = 60) -> str:
    """Return a text, or only its beginning and end when it is longer than `most` characters.

    Examples
    --------
    >>> short("Ann"), short("abcdefghijklmnopqrstuvwxyz" * 100_000, most=12)
    ('Ann', 'abcdef…vwxyz')
    """
    written = str(text)
    if len(written) <= most:
        return written
    return f"{written[: most // 2]}…{written[-(most - most // 2 - 1) :]}"


class ReadableError(Exception):
    """An error in whose message the middle of very long names and texts is left out.

    Parameters
    ----------
    message : str
        Text of the message.

    Examples
    --------
    >>> len(str(ReadableError(f"unknown subject {'Ann' * 1_000_000}; known: Bob")))
    327
    """

    def __init__(self, message: str) -> None:
        words = _LONG.sub(lambda word: short(word[0], _WORD), message)
        super().__init__(short(words, _WHOLE))


class LayoutError(ReadableError, ValueError):
    """Error in the declaration of a layout or of one of its expressions.

    The message names the node, and states what it has, what is needed and what to do.
    """


def check(name: str, condition: object, given: str, advice: str) -> None:
    """Refuse a declaration unless a condition holds.

    Parameters
    ----------
    name : str
        Name of the node or the function that is declared.
    condition : object
        What must be true.
    given, advice : str
        What was given, and what to write instead.

    Raises
    ------
    LayoutError
        When the condition does not hold.

    Examples
    --------
    >>> check("risk", 9 < 4, "the range [9, 4] is reversed", "give low < high")
    Traceback (most recent call last):
        ...
    measurement_layouts.linking.errors.LayoutError: risk: the range [9, 4] ...
    """
    if not condition:
        refuse(name, given, advice)


def refuse(name: str, given: str, advice: str) -> NoReturn:
    """Refuse a declaration; see `check`."""
    raise LayoutError(f"{name}: {given}; {advice}")
