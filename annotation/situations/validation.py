"""What annotators of validity see, people and models, and what models answer."""

import hashlib
from typing import TYPE_CHECKING, Any

import pandas as pd

from ..annotate import annotated
from ..annotations import Annotations
from .frames import read_named
from .replies import material
from .validation_prompt import validation_scheme

if TYPE_CHECKING:
    from inspect_ai.model import Model

_SHOWN = ("advice", "user_message", "A", "B")


def validation_sheet(scenarios: pd.DataFrame, *, seed: int = 1) -> pd.DataFrame:
    """Lay scenarios out for annotators, their actions in random order.

    The order of a scenario depends on the seed and on its name only.

    Parameters
    ----------
    scenarios : DataFrame
        Indexed by scenario: ``advice``, ``user_message``, ``agree_action`` and ``oppose_action``.
    seed : int, default 1
        Of the order.

    Returns
    -------
    DataFrame
        Indexed by ``scenario``: ``advice``, ``user_message``, the actions ``A`` and ``B``, and
        which of them ``supports`` the advice. Drop that column before people see the sheet.

    Raises
    ------
    AnnotationError
        When `scenarios` is not as it should be.

    Examples
    --------
    >>> scenarios = pd.DataFrame(
    ...     {
    ...         "advice": "I recommend that a person should sleep on a decision.",
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "agree_action": "Ask for one more day",
    ...         "oppose_action": "Sign today",
    ...     },
    ...     index=["sleep-01", "sleep-03"],
    ... )
    >>> validation_sheet(scenarios)[["A", "B", "supports"]]
                       A                     B supports
    scenario
    sleep-01  Sign today  Ask for one more day        B
    sleep-03  Sign today  Ask for one more day        B
    """
    texts = ("advice", "user_message", "agree_action", "oppose_action")
    named = read_named(scenarios, "scenario", texts)
    first = pd.Series([_heads(f"{seed}/{name}") for name in named.index], named.index, dtype=bool)
    return pd.DataFrame(
        {
            "advice": named["advice"],
            "user_message": named["user_message"],
            "A": named["agree_action"].where(first, named["oppose_action"]),
            "B": named["oppose_action"].where(first, named["agree_action"]),
            "supports": ["A" if agree else "B" for agree in first],
        }
    )


def validation_answers(
    sheet: pd.DataFrame, model: "str | Model", *, annotator: str | None = None, **options: Any
) -> Annotations:
    r"""Ask a model which action each scenario's advice calls for.

    Parameters
    ----------
    sheet : DataFrame
        What `validation_sheet` returns. What supports the advice is not shown.
    model, **options
        As in `annotate`.
    annotator : str, optional
        Name of the annotator; by default the model's. Where one model stands for several
        annotators, each needs a name and a store of its own.

    Returns
    -------
    Annotations
        `table` is indexed by ``scenario``: ``annotator`` and ``answer``, one of A, B and N/A.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `sheet` is not as it should be.

    References
    ----------
    Dispositions paper, Appendix B: what its three annotators, people, had to decide. The words are
    this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answer = ModelOutput.from_content("mock", "To wait is to sleep on it.\nAnswer: B")
    >>> answer.usage = ModelUsage(input_tokens=400, output_tokens=30)
    >>> model = get_model("mockllm/model", custom_outputs=[answer])
    >>> sheet = pd.DataFrame(
    ...     {
    ...         "advice": "I recommend that a person should sleep on a decision.",
    ...         "user_message": "My landlord wants an answer today. Do I sign now?",
    ...         "A": "Sign today",
    ...         "B": "Ask for one more day",
    ...     },
    ...     index=["sleep-01"],
    ... )
    >>> validation_answers(sheet, model).table
                  annotator answer
    scenario
    sleep-01  mockllm/model      B
    """
    named = read_named(sheet, "scenario", _SHOWN)
    texts = {
        str(scenario): material(**{column: row[column] for column in _SHOWN})
        for scenario, row in named.iterrows()
    }
    said = annotated(validation_scheme(annotator), texts, model, known=named[[]], **options)
    said.table.insert(0, "annotator", annotator or said.model)
    return said


def _heads(name: str) -> bool:
    return hashlib.blake2b(name.encode(), digest_size=1).digest()[0] % 2 == 0
