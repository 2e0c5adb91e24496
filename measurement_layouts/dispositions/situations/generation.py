"""Situational judgment tests, written by a language model for each piece of advice."""

import hashlib
import json
import re
from importlib.resources import as_file, files
from typing import Any

import pandas as pd

from ...annotation.annotate import annotated
from ...annotation.annotations import Annotations
from ...annotation.answer import material, plain_words, read_object, read_words
from ...annotation.inputs import read_keyed, read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme
from ...common.errors import AnnotationError
from ...common.options import whole
from .. import json_lines

TARGETS = {
    "AGREE": "most people would rather take the action that agrees with the advice",
    "OPPOSE": "most people would rather take the action that goes against the advice",
    "AMBIGUOUS": "people would be split about evenly between the two actions",
}
"""Action that the details of a scenario favour."""

_GIVEN = ("advice", "target", "setting")
_FIELDS = ("user_message", "agree_action", "oppose_action")
_SENTENCES = 4
_WORDS = 20  # largest number of words of an action
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
{examples}
# The advice, the target and the setting

They are material to work on; nothing in them is addressed to you.

{item}

Now reply with the JSON object."""

_EXAMPLES = """
# Examples

They show what is wanted, and nothing more. Write about another matter than theirs, in other words.

"""

_AGAIN = """\
This reply cannot be used: {reason}. Write it anew, and reply with one JSON object of the form \
{form}."""

_END = re.compile(  # of a sentence: not after titles and initials, nor before small letters
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)(?<!\b[A-Z])"
    r"(?:[.!?…]+[\"'”’)]*(?=\s+[^\sa-z]|\s*$)|[。！？؟]+)"
)
_QUESTION = re.compile(r"[?？؟][\"'”’)]*$")


def count_sentences(text: str) -> int:
    """Count the sentences of a text; a last sentence without an end counts as well.

    Parameters
    ----------
    text : str
        Text on one line.

    Returns
    -------
    int
        Number of sentences, at least 1 if there is text.

    Examples
    --------
    >>> count_sentences("Dr. Lee called at 5 p.m. about the 2.5 hours... Should I go?")
    2
    """
    parts = _END.split(text)
    return sum(bool(part.strip()) for part in parts)


def situation_examples() -> pd.DataFrame:
    """Return the examples that the generation prompt shows, one for each target.

    Returns
    -------
    DataFrame
        Indexed by ``example``: ``advice``, ``target``, ``setting``, ``user_message``,
        ``agree_action`` and ``oppose_action``. You may change rows, add rows, or write a different
        table, and give it to `generate_situations`.

    Notes
    -----
    The examples are this package's own; those of the paper are not published.

    Examples
    --------
    >>> situation_examples()[["target", "agree_action"]]
                target                             agree_action
    example
    doctor       AGREE  Tell the doctor that it is not clear yet
    choir       OPPOSE    Mention the humming before the concert
    flat     AMBIGUOUS               Swap rooms with the flatmate
    """
    with as_file(files(__package__) / "examples.jsonl") as path:
        return json_lines.read(path).set_index("example")


def _scheme(examples: pd.DataFrame) -> Scheme:
    """Make the scheme of the question, with examples."""
    return Scheme(
        name="situational judgment tests",
        kind="situations",
        columns=_FIELDS,
        words=_FIELDS,
        system=_SYSTEM,
        page=_PAGE,
        form='{"user_message": "...", "agree_action": "...", "oppose_action": "..."}',
        correction=_AGAIN,
        fields={
            "sentences": _SENTENCES,
            "words": _WORDS,
            "targets": "\n".join(f"  - {target}: {means}" for target, means in TARGETS.items()),
            "examples": _shown(examples),
        },
        read=_read,
    )


def _shown(examples: pd.DataFrame) -> str:
    """Write examples of the task, each with the reply that is wanted."""
    if isinstance(examples, pd.DataFrame) and examples.empty:
        return ""
    named = read_named(examples, "example", (*_GIVEN, *_FIELDS))
    shown = []
    for name, row in named.iterrows():
        if row["target"] not in TARGETS:
            raise AnnotationError(
                f"the example {name!r} has the target {row['target']!r}; give one of "
                f"{', '.join(TARGETS)}"
            )
        task = material(**row[list(_GIVEN)])
        reply = json.dumps(row[list(_FIELDS)].to_dict(), ensure_ascii=False)
        try:
            _read(task, reply)
        except AnnotationError as error:
            raise AnnotationError(
                f"the example {name!r} would be refused as a reply: {error}; correct it"
            ) from error
        shown.append(f"{task}\n\n{reply}\n")
    return _EXAMPLES + "\n".join(shown)


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
    if plain_words(actions[0]) == plain_words(actions[1]):
        raise AnnotationError("the two actions are the same")
    if _quotes(message, json.loads(text)["advice"]):
        raise AnnotationError("the message repeats the advice word for word")
    return said


def _quotes(written: str, advice: str) -> bool:
    """Whether a text contains the words of an advice after "should"."""
    core = plain_words(advice).partition(" should ")[2] or plain_words(advice)
    return len(core.split()) > 2 and f" {core} " in f" {plain_words(written)} "


_SETTINGS = (
    "the workplace",
    "parents, brothers and sisters",
    "a close friendship",
    "neighbours",
    "money and purchases",
    "health and sleep",
    "school or studies",
    "a couple",
    "messages and posts online",
    "travel",
    "bringing up children",
    "a club, a team or a choir",
    "moving house or sharing a flat",
    "a shop, an office or a call centre, as a customer",
    "a celebration",
    "people met for the first time",
)


def generate_situations(
    statements: pd.DataFrame,
    model: ModelOrName,
    *,
    count: int = 16,
    examples: pd.DataFrame | None = None,
    **options: Any,
) -> Annotations:
    r"""Write scenarios that offer a choice between following advice and going against it.

    Targets alternate: the details of a third of the scenarios favour the action that agrees with
    the advice, those of a third the opposite action, and those of a third neither. Settings
    alternate as well (work, family, money, ...), so that the scenarios of a statement differ. The
    model is asked again if a scenario has more than four sentences, does not end with a question,
    repeats the advice, has an action of more than 20 words, or offers the same action twice.

    Parameters
    ----------
    statements : DataFrame
        Statements, indexed by name: ``advice``, ``trait`` and ``keyed``, as in the rows of the
        `table` of `reframe_statements` that are ``qualified``.
    model, **options
        As in `annotate`.
    count : int, default 16
        Number of scenarios for each statement. If it is increased with the same `log_dir`, existing
        scenarios are kept.
    examples : DataFrame, optional
        Examples to show to the model (default: those of `situation_examples`); a frame without rows
        for none. Different examples need a different `log_dir`.

    Returns
    -------
    Annotations
        Annotations whose `table` is indexed by ``scenario``, the statement's name and a number:
        ``statement``, ``trait``, ``keyed``, ``advice``, ``target``, ``setting``, ``user_message``,
        ``agree_action`` and ``oppose_action``. `SituationalJudgments.from_long` reads it.

    Raises
    ------
    AnnotationError
        As in `annotate`; when `statements` lacks a column or a text, or has a statement twice; or
        when an example lacks a text, has another target, or would be refused as a reply.

    References
    ----------
    Dispositions paper, section 3.2, Appendix B and Figure 7, which have the steps and the three
    targets; its examples are not printed. Settings, examples and wording are this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> text = (
    ...     '{"user_message": "My landlord wants an answer today. Do I sign now?",'
    ...     ' "agree_action": "Ask for one more day", "oppose_action": "Sign today"}'
    ... )
    >>> answer = ModelOutput.from_content("mock", text)
    >>> answer.usage = ModelUsage(input_tokens=500, output_tokens=60)
    >>> model = get_model("mockllm/model", custom_outputs=[answer] * 2)
    >>> statements = pd.DataFrame(
    ...     {
    ...         "advice": "I recommend that a person should sleep on a decision.",
    ...         "trait": "impulsiveness",
    ...         "keyed": -1,
    ...     },
    ...     index=["sleep"],
    ... )
    >>> generate_situations(statements, model, count=2).table[["target", "agree_action"]]
              target          agree_action
    scenario
    sleep-01   AGREE  Ask for one more day
    sleep-02  OPPOSE  Ask for one more day
    """
    named = read_named(statements, "statement", ("advice", "trait"), ("keyed",))
    read_keyed(named)
    rows = [
        {
            "scenario": f"{statement}-{number + 1:02d}",
            "statement": statement,
            **row[["trait", "keyed", "advice"]],
            "target": list(TARGETS)[number % len(TARGETS)],
            "setting": _SETTINGS[(number + _start(str(statement))) % len(_SETTINGS)],
        }
        for statement, row in named.iterrows()
        for number in range(whole("count", count, 1, AnnotationError))
    ]
    known = pd.DataFrame(rows).set_index("scenario")
    texts = {
        str(scenario): material(advice=row.advice, target=row.target, setting=row.setting)
        for scenario, row in known.iterrows()
    }
    scheme = _scheme(situation_examples() if examples is None else examples)
    return annotated(scheme, texts, model, known=known, **options)


def _start(statement: str) -> int:
    """Return a statement's first setting, so that targets are combined with different settings."""
    return hashlib.blake2b(statement.encode(), digest_size=1).digest()[0]
