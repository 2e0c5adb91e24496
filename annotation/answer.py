"""Answers of annotators, read: a last line that gives a number or a word, or a JSON object."""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from ..common.errors import AnnotationError

_MARKUP = str.maketrans({"−": "-", "–": "-", "—": "-", "‑": "-", "＋": "+"} | dict.fromkeys("*_`$"))
_LINE = r"^[\s>#-]*(?:final )?{label}\s*:(.*)$"
_NUMBER = r"\s*([+-]?\s*\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"^\s*[\[(]?{_NUMBER}(?:,|;|to|\.\.){_NUMBER}[\])]?\s*\.?\s*$", re.IGNORECASE)
_ONE = re.compile(rf"^\s*[\[(]?{_NUMBER}[\])]?\s*\.?\s*$")


def read_interval(answer: str, lowest: int = -3, highest: int = 3) -> tuple[int, int]:
    r"""Read the band from an annotator's answer.

    The last line that starts with ``Interval:`` counts. Bold type, typographic minus signs, plus
    signs, spaces and "to" instead of the comma are read; everything else is refused.

    Parameters
    ----------
    answer : str
        The whole answer.
    lowest, highest : int, default -3 and 3
        Levels of the rubric, at its ends.

    Returns
    -------
    low, high : int
        With lowest <= low <= 0 <= high <= highest. The walk starts at 0, so that a band without 0
        says that even the unbiased agent fails: a mistake.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such band in it; the message is what to tell the
        annotator.

    Examples
    --------
    >>> read_interval("-3: LEAVES, for ...\n\n**Interval: [−2, +3]**")
    (-2, 3)
    >>> read_interval("Interval: [1, 3]")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: the band [1, 3] does not hold 0, where
    both walks start
    """
    said = last_line(answer, "Interval")
    pair = _PAIR.match(said)
    if pair is None:
        raise AnnotationError(f"no two numbers can be read from {said!r}")
    ends = [float(end.replace(" ", "")) for end in pair.groups()]
    shown = f"[{ends[0]:g}, {ends[1]:g}]"
    if any(end != int(end) for end in ends):
        raise AnnotationError(f"the ends of {shown} are not whole numbers")
    low, high = int(ends[0]), int(ends[1])
    if low > high:
        raise AnnotationError(f"in {shown} the lower end is above the upper one")
    if low < lowest or high > highest:
        raise AnnotationError(f"the band {shown} goes beyond the levels {lowest} to {highest}")
    if low > 0 or high < 0:
        raise AnnotationError(f"the band {shown} does not hold 0, where both walks start")
    return low, high


def read_level(answer: str, lowest: int = 0, highest: int = 5) -> int:
    r"""Read the level of a demand from an annotator's answer.

    The last line that starts with ``Level:`` counts. Bold type, brackets, spaces and "5+" (of the
    highest level) are read; everything else is refused.

    Parameters
    ----------
    answer : str
        The whole answer.
    lowest, highest : int, default 0 and 5
        Levels of the rubric, at its ends.

    Returns
    -------
    int
        One of the levels.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such level in it; the message is what to tell the
        annotator.

    Examples
    --------
    >>> read_level("It takes two steps, as the examples of level 2 do.\n\n**Level: 2**")
    2
    >>> read_level("Level: 2 or 3")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: no single number can be read from '2 or
    3'
    """
    said = last_line(answer, "Level")
    plain = re.sub(rf"(?<![\d.]){highest}\s?\+(?!\s*\d)", str(highest), said)
    return _score(plain, said, "level", lowest, highest)


def read_rating(answer: str, highest: int = 5) -> int:
    r"""Read a rating from an annotator's answer, as `read_level` does.

    Parameters
    ----------
    answer : str
        The whole answer; the last line that starts with ``Rating:`` counts.
    highest : int, default 5
        Of the ratings, which start at 1.

    Returns
    -------
    int
        From 1 to the highest.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such rating in it.

    Examples
    --------
    >>> read_rating("Anybody would say so.\nRating: 5")
    5
    """
    said = last_line(answer, "Rating")
    return _score(said, said, "rating", 1, highest)


def read_percentage(answer: str, label: str) -> int:
    r"""Read a whole percentage from an annotator's answer, as `read_level` does.

    Parameters
    ----------
    answer : str
        The whole answer.
    label : str
        What the last line begins with, before a colon.

    Returns
    -------
    int
        From 0 to 100.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such percentage in it.

    Examples
    --------
    >>> read_percentage("Three of four guesses go wrong.\nUnguessability: 75 %", "Unguessability")
    75
    """
    said = last_line(answer, label)
    return _score(said.rstrip("% "), said, "percentage", 0, 100)


def last_line(answer: str, label: str) -> str:
    r"""Find what the last line that starts with a label says.

    Parameters
    ----------
    answer : str
        The whole answer.
    label : str
        What stands before the colon.

    Returns
    -------
    str
        What stands after it, without marks of bold type and such.

    Raises
    ------
    AnnotationError
        When there is no such line.

    Examples
    --------
    >>> last_line("Both would do, but:\n**Answer: B**", "Answer")
    'B'
    """
    lines = labelled_lines(answer, label)
    if not lines:
        raise AnnotationError(f"no line starts with '{label}:'")
    return lines[-1]


def labelled_lines(answer: str, label: str) -> list[str]:
    """Find what the lines that start with a label say, each without marks of bold type."""
    pattern = re.compile(_LINE.format(label=label), re.IGNORECASE | re.MULTILINE)
    return [str(line).strip() for line in pattern.findall(answer.translate(_MARKUP))]


def plain_words(text: str) -> str:
    """Leave the words of a text, in small letters."""
    return " ".join(re.findall(r"\w+(?:['’]\w+)*", text.casefold()))


def _score(text: str, said: str, what: str, low: int, high: int) -> int:
    one = _ONE.match(text)
    if one is None:
        raise AnnotationError(f"no single number can be read from {said!r}")
    number = float(one[1].replace(" ", ""))
    if number != int(number):
        raise AnnotationError(f"the {what} {number:g} is not a whole number")
    if not low <= number <= high:
        raise AnnotationError(f"the {what} {number:g} is not one of {low} to {high}")
    return int(number)


_LONGEST = 20_000  # characters of a reply that is read
_KEPT = "\n\t"  # of the control characters


def read_object(reply: str) -> dict[str, Any]:
    """Read the last JSON object of a reply; there may be text around it.

    Parameters
    ----------
    reply : str
        The whole reply.

    Returns
    -------
    dict
        Its fields.

    Raises
    ------
    AnnotationError
        When there is none; the message is what to tell the model.

    Examples
    --------
    >>> read_object('Action 2 it is: {"explanation": "It says so.", "answer": 2}')
    {'explanation': 'It says so.', 'answer': 2}
    >>> read_object("2")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: no JSON object can be read from it
    """
    if len(reply) > _LONGEST:
        raise AnnotationError(f"it is longer than {_LONGEST} characters")
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    place = reply.find("{")
    while place >= 0:
        try:
            found, end = decoder.raw_decode(reply, place)
        except (ValueError, RecursionError):
            end = place + 1
        place = reply.find("{", end)
    if found is None:
        raise AnnotationError("no JSON object can be read from it")
    return found


def read_words(found: Mapping[str, Any], field: str) -> str:
    r"""Read a field that holds text, on one line.

    Parameters
    ----------
    found : mapping
        Fields of a JSON object.
    field : str
        The field's name.

    Returns
    -------
    str
        With single spaces for all white space.

    Raises
    ------
    AnnotationError
        When it is not there, no text or blank, or holds characters that are none.

    Examples
    --------
    >>> read_words({"message": "Shall I\n  go?"}, "message")
    'Shall I go?'
    """
    text = found.get(field)
    if not isinstance(text, str) or not text.strip():
        raise AnnotationError(f"the field {field!r} holds no text")
    return " ".join(checked_text(text, f"the field {field!r}").split())


def checked_text(text: str, what: str) -> str:
    """Refuse text with control characters or halves of characters: it could not be passed on.

    Parameters
    ----------
    text : str
        As a model wrote it.
    what : str
        What the text is.

    Returns
    -------
    str
        The text, without white space around it and with plain ends of lines.

    Raises
    ------
    AnnotationError
        When there is such a character.

    Examples
    --------
    >>> checked_text(" Go. ", "the response")
    'Go.'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in _KEPT:
            raise AnnotationError(f"{what} holds the character {character!a}, which is no text")
    return text


def material(**fields: str) -> str:
    r"""Write what a question is about as one JSON object, out of which no text can break.

    Parameters
    ----------
    **fields : str
        Names and texts.

    Returns
    -------
    str
        On several lines.

    Examples
    --------
    >>> print(material(statement='Say "no".'))
    {
      "statement": "Say \"no\"."
    }
    """
    return json.dumps(fields, indent=2, ensure_ascii=False)
