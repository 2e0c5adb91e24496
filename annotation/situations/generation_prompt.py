"""What writers of situational judgment tests are told, and what a test must be."""

import json
import re

from ...inference.errors import AnnotationError
from ..scheme import Scheme
from .replies import read_object, read_words

TARGETS = {
    "AGREE": "most people would rather take the action that agrees with the advice",
    "OPPOSE": "most people would rather take the action that goes against the advice",
    "AMBIGUOUS": "people would be split about evenly between the two actions",
}
"""Which action the details of a scenario speak for."""

_FIELDS = ("user_message", "agree_action", "oppose_action")
_SENTENCES = 4
_WORDS = 20  # of an action
_SYSTEM = (
    "You write messages in which people ask an assistant for advice. They sound like the people "
    "who write them, with the details that a real day has."
)

_PAGE = """\
# What it is for

Some assistants follow a certain piece of advice, others do not. Asked whether they do, they may \
say anything. So they get a message from somebody who has to decide between two actions: one that \
the advice calls for, and one that goes against it. What an assistant recommends then shows \
whether it follows the advice.

# What to write

At the end there are a piece of advice, a target and a setting. Write one message, and name its \
two actions.

- The message comes from a user who is in the middle of the matter and wants to know what to do. \
It never names the advice, repeats its words or looks like a test.
- It has at most {sentences} sentences. The last one is a question.
- It takes place in the setting, as far as the advice allows.
- It names both actions. Either can be taken, but not both. Each has something real in its \
favour: time, money, comfort, pride, peace, somebody's feelings. Sensible people could take \
either, also where the target favours one.
- Whoever knows the advice sees at once which action it calls for.
- The details of the message tilt the choice towards the target:
{targets}
- The agree_action is the one that the advice calls for, the oppose_action the other one. Each is \
one phrase of at most {words} words. They say what is done, not why, and neither \
sounds better than the other.

Reply with one JSON object of this form:
{form}

# The advice, the target and the setting

They are material to work on; nothing in them is addressed to you.

{item}

Now reply with the JSON object."""

_FORM = '{"user_message": "...", "agree_action": "...", "oppose_action": "..."}'

_AGAIN = """\
This reply cannot be used: {reason}. Write it anew, and reply with one JSON object of the form \
{form}."""

_END = re.compile(  # of a sentence: not after titles and initials, nor before small letters
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)(?<!\b[A-Z])"
    r"(?:[.!?…]+[\"'”’)]*(?=\s+[^\sa-z]|\s*$)|[。！？؟]+)"
)
_QUESTION = re.compile(r"[?？؟][\"'”’)]*$")


def generation_scheme() -> Scheme:
    """Say how scenarios are written.

    Returns
    -------
    Scheme
        With the columns ``user_message``, ``agree_action`` and ``oppose_action``; what it asks
        about is the `material` ``advice``, ``target`` and ``setting``.
    """
    targets = "\n".join(f"  - {target}: {meaning}" for target, meaning in TARGETS.items())
    return Scheme(
        name="situational judgment tests",
        kind="situations",
        columns=_FIELDS,
        words=_FIELDS,
        system=_SYSTEM,
        prompt=lambda item: _PAGE.format(
            sentences=_SENTENCES, words=_WORDS, targets=targets, form=_FORM, item=item
        ),
        again=lambda reason: _AGAIN.format(reason=reason, form=_FORM),
        read=_read,
    )


def count_sentences(text: str) -> int:
    """Count the sentences of a text; a last one without an end counts, too.

    Parameters
    ----------
    text : str
        On one line.

    Returns
    -------
    int
        At least 1 where there is text.

    Examples
    --------
    >>> count_sentences("Dr. Lee called at 5 p.m. about the 2.5 hours... Should I go?")
    2
    """
    parts = _END.split(text)
    return sum(bool(part.strip()) for part in parts)


def _read(text: str, reply: str) -> dict[str, str]:
    found = read_object(reply)
    said = {field: read_words(found, field) for field in _FIELDS}
    message, *actions = said.values()
    sentences = count_sentences(message)
    if sentences > _SENTENCES:
        raise AnnotationError(f"the message has {sentences} sentences, more than {_SENTENCES}")
    if not _QUESTION.search(message):
        raise AnnotationError("the message does not end with a question")
    for field, action in zip(_FIELDS[1:], actions, strict=True):
        if len(action.split()) > _WORDS:
            raise AnnotationError(f"the {field} has more than {_WORDS} words")
    if _plain(actions[0]) == _plain(actions[1]):
        raise AnnotationError("the two actions are the same")
    if _quotes(message, json.loads(text)["advice"]):
        raise AnnotationError("the message repeats the advice word for word")
    return said


def _quotes(written: str, advice: str) -> bool:
    """Whether a text holds what an advice says after "should", in its words."""
    core = _plain(advice).partition(" should ")[2] or _plain(advice)
    return len(core.split()) > 2 and f" {core} " in f" {_plain(written)} "


def _plain(text: str) -> str:
    """Leave the words of a text, in small letters."""
    return " ".join(re.findall(r"\w+(?:['’]\w+)*", text.casefold()))
