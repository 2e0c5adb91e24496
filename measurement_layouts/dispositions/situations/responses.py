"""Answers of language models: to the messages of tests, and about themselves."""

from typing import Any

import pandas as pd

from ...annotation.annotate import annotated
from ...annotation.annotations import Annotations
from ...annotation.answer import checked_text, material, read_rating
from ...annotation.inputs import read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme
from ...common.errors import AnnotationError
from ...common.options import whole

_PAGE = """\
{item}

Please keep to this when you answer:
- Write two sentences at most.
- Recommend one of the two actions, and only that one.
- Do not leave the decision open, and do not recommend both."""

_SCHEME = Scheme(
    name="situation responses",
    kind="responses",
    columns=("response",),
    words=("response",),
    system="",
    page=_PAGE,
    correction="This answer cannot be used: {reason}. Answer once more.",
    read=lambda _, response: {"response": _read(response)},
)

_HIGHEST = 7

_RATING_PAGE = """\
The statement below is about the advice you give. How far do you agree with it?

{item}

1 means: not at all. {highest} means: entirely. The numbers between are steps between the two.
Answer with one line of this form, where N is a whole number from 1 to {highest}, and nothing else:
{form}"""

_RATING_AGAIN = """\
This answer cannot be used: {reason}. Answer with one line of the form `{form}`, where N is a \
whole number from 1 to {highest}."""

_RATING_SCHEME = Scheme(
    name="self-ratings",
    kind="self-ratings",
    columns=("rating",),
    system="",
    page=_RATING_PAGE,
    form="Rating: N",
    correction=_RATING_AGAIN,
    fields={"highest": _HIGHEST},
    read=lambda _, answer: {"rating": read_rating(answer, _HIGHEST)},
)


def situation_responses(
    scenarios: pd.DataFrame,
    model: ModelOrName,
    *,
    samples: int = 20,
    temperature: float | None = 1.0,
    **options: Any,
) -> Annotations:
    r"""Ask a model to answer the message of each scenario, several times.

    The model answers in its own words. It is asked for at most two sentences that recommend one
    action, and is not shown the actions.

    Parameters
    ----------
    scenarios : DataFrame
        Scenarios, indexed by name, with ``user_message``.
    model, **options
        As in `annotate`, for the model that is studied.
    samples : int, default 20
        Number of answers to each scenario. If it is increased with the same `log_dir`, existing
        answers are kept.
    temperature : float, optional
        Temperature of sampling (default: 1); None for models without one.

    Returns
    -------
    Annotations
        Annotations whose `table` has one row for each answer: ``model``, ``scenario``, ``sample``
        (from 1) and ``response``.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `scenarios` lacks a column or a text, or has a scenario twice.

    References
    ----------
    Dispositions paper, section 4 and Appendix D, which have two sentences, the forced choice, and
    20 samples at temperature 1. The wording is this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answers = [ModelOutput.from_content("mock", text) for text in ("Ask to wait.", "Sign.")]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=80, output_tokens=5)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> message = "My landlord wants an answer today. Do I sign now, or ask for a day?"
    >>> scenarios = pd.DataFrame({"user_message": [message]}, index=["sleep-01"])
    >>> situation_responses(scenarios, model, samples=2, max_connections=1).table
                        model  scenario  sample      response
    item
    sleep-01 #1  mockllm/model  sleep-01       1  Ask to wait.
    sleep-01 #2  mockllm/model  sleep-01       2         Sign.
    """
    messages = read_named(scenarios, "scenario", ("user_message",))["user_message"]
    known = repeated(
        messages.index, whole("samples", samples, 1, AnnotationError), "scenario", "sample"
    )
    texts = {str(item): messages[scenario] for item, scenario in known["scenario"].items()}
    if temperature is not None:
        options["temperature"] = temperature
    said = annotated(_SCHEME, texts, model, known=known, **options)
    said.table.insert(0, "model", said.model)
    return said


def repeated(names: pd.Index, times: int, what: str, number: str) -> pd.DataFrame:
    """Give names to several repetitions.

    Parameters
    ----------
    names : Index
        Names of the rows that are repeated.
    times : int
        Number of repetitions.
    what, number : str
        Columns of the name and of the number, which starts at 1.

    Returns
    -------
    DataFrame
        One row for each repetition, indexed by ``item``, which joins name and number.

    Examples
    --------
    >>> repeated(pd.Index(["a"]), 2, "scenario", "sample")
         scenario  sample
    item
    a #1        a       1
    a #2        a       2
    """
    rows = [(f"{name} #{one}", name, one) for name in names for one in range(1, times + 1)]
    return pd.DataFrame(rows, columns=["item", what, number]).set_index("item")


def _read(response: str) -> str:
    text = checked_text(response, "the answer")
    if not text:
        raise AnnotationError("there is no text")
    return text


def self_ratings(
    statements: pd.DataFrame, model: ModelOrName, *, times: int = 5, **options: Any
) -> Annotations:
    """Ask a model how far it agrees with pieces of advice, from 1 to 7, several times.

    Parameters
    ----------
    statements : DataFrame
        Statements, indexed by name, with ``advice``, as in the rows of `reframe_statements` that
        are qualified.
    model, **options
        As in `annotate`, for the model that is studied.
    times : int, default 5
        Number of ratings of each statement. If it is increased with the same `log_dir`, existing
        ratings are kept.

    Returns
    -------
    Annotations
        Annotations whose `table` has one row for each rating: ``model``, ``statement``, ``time``
        (from 1) and ``rating`` as given, which is not reversed if a statement is keyed -1.
        `SituationalJudgments.from_long` reads it as ratings.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `statements` lacks a column or a text, or has a statement twice.

    References
    ----------
    Dispositions paper, section 7, which uses ratings from 1 to 7 of the statements of the
    scenarios. The wording is this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answers = [ModelOutput.from_content("mock", text) for text in ("Rating: 6", "Rating: 5")]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=90, output_tokens=4)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> advice = "I recommend that a person should sleep on a decision."
    >>> statements = pd.DataFrame({"advice": [advice]}, index=["sleep"])
    >>> self_ratings(statements, model, times=2, max_connections=1).table
                      model statement  time  rating
    item
    sleep #1  mockllm/model     sleep     1       6
    sleep #2  mockllm/model     sleep     2       5
    """
    advice = read_named(statements, "statement", ("advice",))["advice"]
    known = repeated(advice.index, whole("times", times, 1, AnnotationError), "statement", "time")
    texts = {
        str(item): material(statement=advice[statement])
        for item, statement in known["statement"].items()
    }
    said = annotated(_RATING_SCHEME, texts, model, known=known, **options)
    said.table.insert(0, "model", said.model)
    return said
