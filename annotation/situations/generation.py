"""Situational judgment tests, written by a language model for each piece of advice."""

import hashlib
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..annotate import annotated
from ..annotations import Annotations
from ..inputs import whole
from .frames import read_keyed, read_named
from .generation_prompt import TARGETS, generation_scheme
from .replies import material

if TYPE_CHECKING:
    from inspect_ai.model import Model

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
    statements: pd.DataFrame, model: "str | Model", *, count: int = 16, **options: Any
) -> Annotations:
    r"""Write scenarios that offer a choice between following advice and going against it.

    Targets take turns: the details of a third of the scenarios speak for the advice, of a third
    against it, of a third for neither. Settings take turns, too (work, family, money, ...), so that
    the scenarios of one statement differ. A scenario is asked for anew when it has more than four
    sentences, does not end with a question, repeats the advice or offers one action twice.

    Parameters
    ----------
    statements : DataFrame
        Indexed by statement: ``advice``, ``trait`` and ``keyed``, as in the `table` of
        `reframe_statements`, of which give the rows that are ``qualified``.
    model, **options
        As in `annotate`.
    count : int, default 16
        Scenarios for each statement. With more and the same store, those that are there stay.

    Returns
    -------
    Annotations
        `table` is indexed by ``scenario``, the statement's name and a number: ``statement``,
        ``trait``, ``keyed``, ``advice``, ``target``, ``setting``, ``user_message``,
        ``agree_action`` and ``oppose_action``. `SituationalJudgments.from_long` takes it.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `statements` is not as it should be.

    References
    ----------
    Dispositions paper, section 3.2 and Appendix B: the steps and the three targets. The settings
    and the words are this package's own.

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
        for number in range(whole("count", count))
    ]
    known = pd.DataFrame(rows).set_index("scenario")
    texts = {
        str(scenario): material(advice=row.advice, target=row.target, setting=row.setting)
        for scenario, row in known.iterrows()
    }
    return annotated(generation_scheme(), texts, model, known=known, **options)


def _start(statement: str) -> int:
    """Where among the settings a statement starts, so that targets meet other settings."""
    return hashlib.blake2b(statement.encode(), digest_size=1).digest()[0]
