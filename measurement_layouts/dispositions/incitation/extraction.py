"""The option that an answer chooses, read by rules or, where none applies, by a judge."""

import json
import re
from collections.abc import Mapping

from ...annotation.answer import (
    checked_text,
    labelled_lines,
    material,
    plain_words,
    read_object,
    read_words,
)
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError
from .items import Choice

NONE = "none"
"""Reply of a judge if an answer chooses no option, or more than one."""

_QUOTES = "\"'“”‘’«» "
_LETTER = re.compile(r"^(?:the )?(?:option )?[\[(]?([A-Za-z])[\])]?[.!]?$", re.IGNORECASE)
_SEVERAL = re.compile(
    r"^(?:options? )?[\[(]?[A-Za-z][\])]?(?:\s*(?:,|;|/|&|\band\b|\bor\b)\s*(?:option )?"
    r"[\[(]?[A-Za-z][\])]?)+\.?$",
    re.IGNORECASE,
)
_BEFORE_TEXT = re.compile(r"^(?:option )?[\[(]?([A-Za-z])(?:[\])]|[:.]|[\])][:.]|\s[-—–])\s+(.+)$")


def read_choice(answer: str, options: Mapping[str, str]) -> str:
    r"""Read the option that an answer chooses, by rules that do not guess.

    Lines that start with ``Answer:`` count. Without such a line, the last line counts if it is an
    option and nothing else, unless another line is another option. An option is its letter, its
    text, or both; brackets, quotation marks, bold type and the word "option" are ignored.

    Parameters
    ----------
    answer : str
        The whole answer.
    options : mapping of str to str
        Texts of the options, by letter.

    Returns
    -------
    str
        Letter of the option; empty if no rule applies.

    Raises
    ------
    AnnotationError
        When an ``Answer:`` line has two options, or one that does not exist; the message can be
        sent to the model.

    Examples
    --------
    >>> options = {"A": "The bus", "B": "A taxi"}
    >>> read_choice("It is cheap.\n**Answer: (A)**", options), read_choice("a taxi.", options)
    ('A', 'B')
    >>> read_choice("I would get into the taxi.", options)
    ''
    >>> read_choice("Answer: A or B", options)
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.AnnotationError: it names more than one option: A, B
    """
    lines = labelled_lines(answer, "Answer")
    if not lines:
        return _last_line_alone(answer, options)
    named = set().union(*(_named(line, options) for line in lines))
    unknown = sorted(named - set(options))
    if unknown:
        raise AnnotationError(f"{', '.join(unknown)} is none of the options {', '.join(options)}")
    if len(named) > 1:
        raise AnnotationError(f"it names more than one option: {', '.join(sorted(named))}")
    return named.pop() if named else ""


def _last_line_alone(answer: str, options: Mapping[str, str]) -> str:
    """Read an answer whose last line is an option, if no other line is another option."""
    lines = [line.strip(" *_`$>#\t") for line in answer.splitlines() if line.strip()]
    named = [_named(line, options) & set(options) for line in lines]
    letters = set().union(*named)
    return letters.pop() if len(letters) == 1 and named[-1] else ""


def _named(line: str, options: Mapping[str, str]) -> set[str]:
    """Find the letters of options in a line; none if no rule applies."""
    text = line.strip(_QUOTES)
    letter_of = {plain_words(option): letter for letter, option in options.items()}
    if plain_words(text) in letter_of:
        return {letter_of[plain_words(text)]}
    if letter := _LETTER.match(text):
        return {letter[1].upper()}
    if _SEVERAL.match(text):
        return {letter.upper() for letter in re.findall(r"\b[A-Za-z]\b", text)}
    both = _BEFORE_TEXT.match(text)
    if both and both[1].upper() in options and plain_words(both[2]) in letter_of:
        return {both[1].upper(), letter_of[plain_words(both[2])]}
    return set()


def read_response(answer: str, options: Mapping[str, str]) -> dict[str, str]:
    """Keep an answer that rules or a judge can read.

    Raises
    ------
    AnnotationError
        When there is no text, or it chooses two options, or one that does not exist.
    """
    text = checked_text(answer, "the answer")
    read_choice(text, options)
    return {"response": text}


def _read_judged(text: str, reply: str) -> dict[str, str]:
    fields = read_object(reply)
    option = str(fields.get("option", "")).strip()
    letters = {letter.casefold(): letter for letter in json.loads(text) if len(letter) == 1}
    chosen = (letters | {NONE: NONE}).get(option.casefold())
    if chosen is None:
        raise AnnotationError(
            f"the field 'option' is {option!r}, and not one of {', '.join(letters.values())} and "
            f"{NONE}"
        )
    return {"explanation": read_words(fields, "explanation"), "option": chosen}


JUDGED = Scheme(question("judge-option"), _read_judged, {"none": NONE})
"""The question to a judge about an answer, and how its reply is read."""


def judged_text(choice: Choice, response: str) -> str:
    """Write the material that a judge sees about an answer."""
    return material(question=choice.question, **choice.options, answer=response)
