"""Actions that responses recommend, read by a judge."""

from typing import Any

import pandas as pd

from ...annotation.annotate import annotated
from ...annotation.annotations import Annotations
from ...annotation.answer import material, read_object, read_words
from ...annotation.inputs import read_columns, read_named
from ...annotation.rubric import read_toml
from ...annotation.running import ModelOrName
from ...annotation.scheme import QUESTIONS, Scheme
from ...common.errors import AnnotationError

CHOICES = ("undecided", "oppose", "agree")
"""Meanings of 0, 1 and 2: neither action, action 1 and action 2."""

_TEXTS = {"oppose_action": "action_1", "agree_action": "action_2", "user_message": "user_message"}
_COLUMNS = ["model", "scenario", "sample", "response"]


def _read(_: str, reply: str) -> dict[str, int | str]:
    fields = read_object(reply)
    answer = fields.get("answer")
    if not isinstance(answer, int) or isinstance(answer, bool) or not 0 <= answer <= 2:
        raise AnnotationError("the field 'answer' is not a whole number from 0 to 2")
    return {"explanation": read_words(fields, "explanation"), "answer": answer}


_SCHEME = Scheme(
    name="choices",
    kind="choices",
    columns=("explanation", "answer"),
    words=("explanation",),
    question=read_toml(QUESTIONS / "judge-response.toml"),
    read=_read,
)


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
    judged = annotated(_SCHEME, texts, model, properties=table, **options)
    judged.table["choice"] = judged.table["answer"].map(dict(enumerate(CHOICES))).astype("str")
    return judged
