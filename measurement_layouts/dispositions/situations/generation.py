"""Situational judgment tests, written by a language model for each piece of advice."""

import hashlib
import json
import re
from typing import Any

import pandas as pd

from ...annotation.annotate import Annotations, annotated
from ...annotation.answer import material, plain_words, read_object, read_words
from ...annotation.inputs import read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError
from ...common.options import whole

_QUESTION = question("write-situation")
TARGETS: dict[str, str] = _QUESTION["targets"]
"""Action that the details of a scenario favour."""

_GIVEN = ["advice", "target", "setting"]
_FIELDS = _QUESTION["columns"]
_SENTENCES = 4
_WORDS = 20  # largest number of words of an action
_END = re.compile(  # of a sentence: not after titles and initials, nor before small letters
    r"(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bDr)(?<!\bSt)(?<!\bProf)(?<!\b[A-Z])"
    r"(?:[.!?…]+[\"'”’)]*(?=\s+[^\sa-z]|\s*$)|[。！？؟]+)"
)
_IS_QUESTION = re.compile(r"[?？؟][\"'”’)]*$")


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
    return sum(bool(sentence.strip()) for sentence in _END.split(text))


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
    return pd.DataFrame(_QUESTION["samples"]).set_index("example")


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
    settings = _QUESTION["settings"]
    rows = [
        {
            "scenario": f"{statement}-{number + 1:02d}",
            "statement": statement,
            **row[["trait", "keyed", "advice"]],
            "target": list(TARGETS)[number % len(TARGETS)],
            "setting": settings[(number + _first_setting(str(statement))) % len(settings)],
        }
        for statement, row in named.iterrows()
        for number in range(whole("count", count, 1, AnnotationError))
    ]
    plans = pd.DataFrame(rows).set_index("scenario")
    texts = {name: material(**plan) for name, plan in plans[_GIVEN].T.to_dict().items()}
    scheme = _scheme(situation_examples() if examples is None else examples)
    return annotated(scheme, texts, model, properties=plans, **options)


def _first_setting(statement: str) -> int:
    """Return a statement's first setting, so that targets are combined with different settings."""
    return hashlib.blake2b(statement.encode(), digest_size=1).digest()[0]


def _scheme(examples: pd.DataFrame) -> Scheme:
    """Make the scheme of the question, with examples."""
    return Scheme(
        _QUESTION,
        _read,
        {
            "sentences": _SENTENCES,
            "words": _WORDS,
            "targets": "\n".join(f"  - {target}: {means}" for target, means in TARGETS.items()),
            "examples": _shown(examples),
        },
    )


def _shown(examples: pd.DataFrame) -> str:
    """Write examples of the task, each with the reply that is wanted."""
    if isinstance(examples, pd.DataFrame) and examples.empty:
        return ""
    shown = []
    for name, row in read_named(examples, "example", (*_GIVEN, *_FIELDS)).iterrows():
        task = material(**row[_GIVEN])
        reply = json.dumps(row[_FIELDS].to_dict(), ensure_ascii=False)
        try:
            if row["target"] not in TARGETS:
                raise AnnotationError(f"its target is not one of {', '.join(TARGETS)}")
            _read(task, reply)
        except AnnotationError as error:
            raise AnnotationError(
                f"the example {name!r} would be refused as a reply: {error}; correct it"
            ) from error
        shown.append(f"{task}\n\n{reply}\n")
    return str(_QUESTION["examples"]) + "\n".join(shown)


def _read(text: str, reply: str) -> dict[str, str]:
    fields = read_object(reply)
    situation = {field: read_words(fields, field) for field in _FIELDS}
    message, agree, oppose = situation.values()
    advice = plain_words(json.loads(text)["advice"])
    core = advice.partition(" should ")[2] or advice
    problems = {
        f"the message has more than {_SENTENCES} sentences": count_sentences(message) > _SENTENCES,
        "the message does not end with a question": not _IS_QUESTION.search(message),
        f"an action has more than {_WORDS} words": max(len(agree.split()), len(oppose.split()))
        > _WORDS,
        "the two actions are the same": plain_words(agree) == plain_words(oppose),
        "the message repeats the advice word for word": len(core.split()) > 2
        and f" {core} " in f" {plain_words(message)} ",
    }
    for problem, occurs in problems.items():
        if occurs:
            raise AnnotationError(problem)
    return situation
