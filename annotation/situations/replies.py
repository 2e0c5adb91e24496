"""Replies about situations, read: one JSON object, whose texts can be passed on."""

import json
import unicodedata
from collections.abc import Mapping
from typing import Any

from ...inference.errors import AnnotationError

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
    measurement_layouts.inference.errors.AnnotationError: no JSON object can be read from it
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
