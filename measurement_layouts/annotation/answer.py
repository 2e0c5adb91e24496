"""Readers of annotators' answers: a last line with a number or a word, or a JSON object."""

import json
import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from ..common.errors import AnnotationError
from ..common.given import refuse_other

_MARKUP = str.maketrans({"−": "-", "–": "-", "—": "-", "‑": "-", "＋": "+"} | dict.fromkeys("*_`$"))
_LINE = r"^[\s>#-]*(?:final )?{label}\s*:(.*)$"
_NUMBER = r"\s*([+-]?\s*\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"^\s*[\[(]?{_NUMBER}(?:,|;|to|\.\.){_NUMBER}[\])]?\s*\.?\s*$", re.IGNORECASE)
_ONE = re.compile(rf"^\s*[\[(]?{_NUMBER}[\])]?\s*\.?\s*$")


def read_interval(answer: str, lowest: int = -3, highest: int = 3) -> tuple[int, int]:
    r"""Read the band from an annotator's answer.

    The last line that starts with ``Interval:`` counts. Bold type, missing brackets, typographic
    minus signs, plus signs, spaces, and "to", ";" or ".." instead of the comma are accepted;
    everything else is refused.

    Parameters
    ----------
    answer : str
        The whole answer.
    lowest, highest : int, default -3 and 3
        Lowest and highest level of the rubric.

    Returns
    -------
    low, high : int
        Ends of the band: lowest <= low <= 0 <= high <= highest. Annotators start at 0 and go down
        and up, so that a band without 0 is a mistake: even the unbiased agent would fail.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such band in it; the message can be sent to the annotator.

    Examples
    --------
    >>> read_interval("-3: LEAVES, for ...\n\n**Interval: [−2, +3]**")
    (-2, 3)
    >>> read_interval("Interval: [1, 3]")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: the band [1, 3] does not contain 0, where
    both walks start
    """
    text = last_line(answer, "Interval")
    pair = _PAIR.match(text)
    if pair is None:
        raise AnnotationError(f"two numbers cannot be read from {text!r}")
    low, high = (float(end.replace(" ", "")) for end in pair.groups())
    shown = f"[{low:g}, {high:g}]"
    if not low.is_integer() or not high.is_integer():
        raise AnnotationError(f"the ends of {shown} are not whole numbers")
    if low > high:
        raise AnnotationError(f"in {shown} the lower end is above the upper one")
    if low < lowest or high > highest:
        raise AnnotationError(f"the band {shown} goes beyond the levels {lowest} to {highest}")
    if low > 0 or high < 0:
        raise AnnotationError(f"the band {shown} does not contain 0, where both walks start")
    return int(low), int(high)


def read_level(answer: str, lowest: int = 0, highest: int = 5) -> int:
    r"""Read the level of a demand from an annotator's answer.

    The last line that starts with ``Level:`` counts. Bold type, brackets, spaces and "5+" (for the
    highest level) are accepted; everything else is refused.

    Parameters
    ----------
    answer : str
        The whole answer.
    lowest, highest : int, default 0 and 5
        Lowest and highest level of the rubric.

    Returns
    -------
    int
        One of the levels.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such level in it; the message can be sent to the
        annotator.

    Examples
    --------
    >>> read_level("It takes two steps, as the examples of level 2 do.\n\n**Level: 2**")
    2
    >>> read_level("Level: 2 or 3")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: a single number cannot be read from '2 or
    3'
    """
    mark = rf"(?<=(?<![\d.]){highest})\s?\+(?!\s*\d)"
    return read_number(answer, "Level", lowest, highest, mark)


def read_number(answer: str, label: str, low: int, high: int, mark: str = "") -> int:
    r"""Read a whole number from the last line that starts with a label, as `read_level` does.

    Parameters
    ----------
    answer : str
        The whole answer.
    label : str
        Label of the line, before its colon.
    low, high : int
        Lowest and highest number.
    mark : str, default ""
        Regular expression of a mark that does not count, such as a per cent sign.

    Returns
    -------
    int
        The number.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such number in it.

    Examples
    --------
    >>> read_number("Anybody would say so.\nRating: 5", "Rating", 1, 5)
    5
    >>> read_number("Unguessability: 75 %", "Unguessability", 0, 100, "%")
    75
    """
    text = last_line(answer, label)
    match = _ONE.match(re.sub(mark, "", text))
    if match is None:
        raise AnnotationError(f"a single number cannot be read from {text!r}")
    number = float(match[1].replace(" ", ""))
    if number not in range(low, high + 1):
        raise AnnotationError(
            f"the {label.lower()} {number:g} is not a whole number from {low} to {high}"
        )
    return int(number)


def last_line(answer: str, label: str) -> str:
    r"""Return the text after a label, in the last line that starts with it.

    Parameters
    ----------
    answer : str
        The whole answer.
    label : str
        Label of the line, before its colon.

    Returns
    -------
    str
        The text after the colon, without marks of bold type, italics, code and mathematics.

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
    """Return the texts after a label, without marks of bold type, in all lines with that label."""
    refuse_other("answer", answer, str, "a text", "give the whole answer", AnnotationError)
    pattern = re.compile(_LINE.format(label=label), re.IGNORECASE | re.MULTILINE)
    return [str(line).strip() for line in pattern.findall(answer.translate(_MARKUP))]


def plain_words(text: str) -> str:
    """Return the words of a text in lower case, with single spaces between them."""
    return " ".join(re.findall(r"\w+(?:['’]\w+)*", text.casefold()))


_LONGEST = 20_000  # characters of the longest reply that is read


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
        When there is none, or the reply is too long; the message can be sent to the model.

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
    fields: dict[str, Any] | None = None
    start = reply.find("{")
    while start >= 0:
        try:
            fields, end = json.JSONDecoder().raw_decode(reply, start)
        except (ValueError, RecursionError):
            end = start + 1
        start = reply.find("{", end)
    if fields is None:
        raise AnnotationError("no JSON object can be read from it")
    return fields


def read_words(fields: Mapping[str, Any], name: str) -> str:
    r"""Read a text of a JSON object, with single spaces for all white space.

    Raises
    ------
    AnnotationError
        When it is missing, not a text or blank, or contains control characters or half a character.

    Examples
    --------
    >>> read_words({"message": "Shall I\n  go?"}, "message")
    'Shall I go?'
    """
    text = fields.get(name)
    if not isinstance(text, str) or not text.strip():
        raise AnnotationError(f"the field {name!r} is missing, blank or not a text")
    return " ".join(checked_text(text, f"the field {name!r}").split())


def checked_text(text: str, what: str) -> str:
    """Refuse text with control characters or half a character, which cannot be passed on.

    Parameters
    ----------
    text : str
        A text that a model wrote.
    what : str
        Name of the text in messages.

    Returns
    -------
    str
        The text, without white space around it and with one newline character at the end of
        each line.

    Raises
    ------
    AnnotationError
        When there is such a character, or no text.

    Examples
    --------
    >>> checked_text(" Go. ", "the response")
    'Go.'
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    for character in text:
        if unicodedata.category(character) in ("Cc", "Cs") and character not in "\n\t":
            raise AnnotationError(f"{what} contains the character {character!a}, which is not text")
    if not text:
        raise AnnotationError("there is no text")
    return text


def material(**fields: str) -> str:
    r"""Write the material of a question as one JSON object, so that texts are safely delimited.

    Parameters
    ----------
    **fields : str
        Texts, by name.

    Returns
    -------
    str
        The JSON object, with one line for each field.

    Examples
    --------
    >>> print(material(statement='Say "no".'))
    {
      "statement": "Say \"no\"."
    }
    """
    return json.dumps(fields, indent=2, ensure_ascii=False)
