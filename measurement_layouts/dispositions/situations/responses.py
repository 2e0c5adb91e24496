"""Answers of models to situations, the actions they recommend, and self-ratings."""

from typing import Any

import pandas as pd

from ...annotation.annotate import Annotations, annotated
from ...annotation.answer import (
    checked_text,
    material,
    read_number,
    read_object,
    read_words,
)
from ...annotation.inputs import read_columns, read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError
from ...common.options import whole

_RESPONSE = Scheme(
    question("respond"),
    read=lambda _, response: {"response": checked_text(response, "the answer")},
)
_HIGHEST = 7
_RATING = Scheme(
    question("rate-yourself"),
    fields={"highest": _HIGHEST},
    read=lambda _, answer: {"rating": read_number(answer, "Rating", 1, _HIGHEST)},
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
    repeats = _repeated(messages, whole("samples", samples, 1, AnnotationError), "sample")
    texts = {str(name): messages[scenario] for name, scenario in repeats["scenario"].items()}
    if temperature is not None:
        options["temperature"] = temperature
    return _by_model(annotated(_RESPONSE, texts, model, properties=repeats, **options))


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
    repeats = _repeated(advice, whole("times", times, 1, AnnotationError), "time")
    texts = {
        str(name): material(statement=advice[statement])
        for name, statement in repeats["statement"].items()
    }
    return _by_model(annotated(_RATING, texts, model, properties=repeats, **options))


def _repeated(texts: "pd.Series[str]", times: int, number: str) -> pd.DataFrame:
    """List each text as often as it is asked about, with the number of the repetition."""
    rows = [(f"{name} #{one}", name, one) for name in texts.index for one in range(1, times + 1)]
    return pd.DataFrame(rows, columns=["item", texts.index.name, number]).set_index("item")


def _by_model(annotations: Annotations) -> Annotations:
    annotations.table.insert(0, "model", annotations.model)
    return annotations


CHOICES = ("undecided", "oppose", "agree")
"""Meanings of 0, 1 and 2: neither action, action 1 and action 2."""

_TEXTS = {"oppose_action": "action_1", "agree_action": "action_2", "user_message": "user_message"}
_COLUMNS = ["model", "scenario", "sample", "response"]


def _read_judged(_: str, reply: str) -> dict[str, int | str]:
    fields = read_object(reply)
    answer = fields.get("answer")
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer <= 2:
        raise AnnotationError("the field 'answer' is not a whole number from 0 to 2")
    return {"explanation": read_words(fields, "explanation"), "answer": answer}


_JUDGED = Scheme(question("judge-response"), _read_judged)


def judge_responses(
    scenarios: pd.DataFrame, responses: pd.DataFrame, model: ModelOrName, **options: Any
) -> Annotations:
    """Read with a model which action each response recommends.

    The judge is not told which action agrees with the advice: action 1 is always the one that
    opposes it, action 2 the one that agrees.

    Parameters
    ----------
    scenarios : DataFrame
        Scenarios, indexed by name: ``user_message``, ``agree_action`` and ``oppose_action``.
    responses : DataFrame
        Responses: ``model``, ``scenario``, ``sample`` and ``response``, as in the `table` of
        `situation_responses`, of one or several models.
    model, **options
        As in `annotate`, for the judge.

    Returns
    -------
    Annotations
        Annotations whose `table` has one row for each response: ``model``, ``scenario``,
        ``sample``, ``response``, the judge's ``explanation`` and ``answer`` (0, 1, 2), and the
        ``choice``: ``agree``, ``oppose`` or ``undecided``. `SituationalJudgments.from_long` reads
        it as samples.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when a frame lacks a column or a text, has a row twice, or a response
        belongs to an unknown scenario.

    References
    ----------
    Dispositions paper, section 3.4 and Appendix E, which have the order of the actions and the
    three answers; 4 % of its samples were undecided. The wording is this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answer = ModelOutput.from_content("mock", '{"explanation": "It waits.", "answer": 2}')
    >>> answer.usage = ModelUsage(input_tokens=300, output_tokens=20)
    >>> judge = get_model("mockllm/judge", custom_outputs=[answer])
    >>> scenarios = pd.DataFrame(
    ...     {
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "agree_action": "Ask for one more day",
    ...         "oppose_action": "Sign today",
    ...     },
    ...     index=["sleep-01"],
    ... )
    >>> responses = pd.DataFrame(
    ...     {"model": "m", "scenario": ["sleep-01"], "sample": 1, "response": "Ask to wait."}
    ... )
    >>> judge_responses(scenarios, responses, judge).table[["model", "scenario", "choice"]]
                      model  scenario choice
    item
    m, sleep-01 #1        m  sleep-01  agree
    """
    tests = read_named(scenarios, "scenario", tuple(_TEXTS)).rename(columns=_TEXTS)
    table = read_columns(responses, "responses", _COLUMNS)[_COLUMNS].astype({"scenario": str})
    unknown = table.loc[~table["scenario"].isin(tests.index), "scenario"]
    if len(unknown):
        raise AnnotationError(
            f"responses: the scenario {unknown.iloc[0]!r} is unknown; add it to scenarios"
        )
    names = (
        table["model"].astype(str) + ", " + table["scenario"] + " #" + table["sample"].astype(str)
    )
    table = read_named(table.set_axis(names), "item", ("response",))
    shown = table.join(tests[[*_TEXTS.values()]], on="scenario")
    shown = shown[["user_message", "response", "action_1", "action_2"]]
    texts = {str(item): material(**row) for item, row in shown.T.to_dict().items()}
    judged = annotated(_JUDGED, texts, model, properties=table, **options)
    judged.table["choice"] = judged.table["answer"].map(dict(enumerate(CHOICES))).astype("str")
    return judged
