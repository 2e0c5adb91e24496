"""Responses of language models to the messages of situational judgment tests."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from ...inference.errors import AnnotationError
from ..annotate import annotated
from ..annotations import Annotations
from ..inputs import whole
from ..scheme import Scheme
from .frames import read_named
from .replies import checked_text

if TYPE_CHECKING:
    from inspect_ai.model import Model

_PAGE = """\
{message}

Please keep to this when you answer:
- Write two sentences at most.
- Recommend one of the two actions, and only that one.
- Do not leave the decision open, and do not recommend both."""

_AGAIN = "This answer cannot be used: {reason}. Answer once more."


def situation_responses(
    scenarios: pd.DataFrame,
    model: "str | Model",
    *,
    samples: int = 20,
    temperature: float | None = 1.0,
    **options: Any,
) -> Annotations:
    r"""Let a model answer the message of each scenario, several times.

    It answers freely, is held to two sentences and to one action, and is not shown the actions.

    Parameters
    ----------
    scenarios : DataFrame
        Indexed by scenario, with ``user_message``.
    model, **options
        As in `annotate`: the model that is studied.
    samples : int, default 20
        Answers to each scenario. With more and the same store, those that are there stay.
    temperature : float, optional
        Of sampling, 1 by default; None for models that take none.

    Returns
    -------
    Annotations
        `table` has a row for each answer: ``model``, ``scenario``, ``sample`` (from 1) and
        ``response``.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `scenarios` is not as it should be.

    References
    ----------
    Dispositions paper, section 4 and Appendix D: two sentences, the forced choice, 20 samples at
    temperature 1. The words are this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answers = [ModelOutput.from_content("mock", text) for text in ("Ask to wait.", "Sign.")]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=80, output_tokens=5)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> message = "My landlord wants an answer today. Do I sign now, or ask for a day?"
    >>> scenarios = pd.DataFrame({"user_message": [message]}, index=["sleep-01"])
    >>> situation_responses(scenarios, model, samples=2, connections=1).table
                        model  scenario  sample      response
    item
    sleep-01 #1  mockllm/model  sleep-01       1  Ask to wait.
    sleep-01 #2  mockllm/model  sleep-01       2         Sign.
    """
    messages = read_named(scenarios, "scenario", ("user_message",))["user_message"]
    known = repeated(messages.index, whole("samples", samples), "scenario", "sample")
    texts = {str(item): messages[scenario] for item, scenario in known["scenario"].items()}
    if temperature is not None:
        options["temperature"] = temperature
    said = annotated(_scheme(), texts, model, known=known, **options)
    said.table.insert(0, "model", said.model)
    return said


def repeated(names: pd.Index, times: int, what: str, number: str) -> pd.DataFrame:
    """Name each of several repetitions.

    Parameters
    ----------
    names : Index
        Of what is repeated.
    times : int
        How often.
    what, number : str
        The columns for the name and for the number, which starts at 1.

    Returns
    -------
    DataFrame
        Indexed by ``item``, the name and the number.

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


def _scheme() -> Scheme:
    return Scheme(
        name="situation responses",
        kind="responses",
        columns=("response",),
        words=("response",),
        system="",
        prompt=lambda message: _PAGE.format(message=message),
        again=lambda reason: _AGAIN.format(reason=reason),
        read=lambda _, response: {"response": _read(response)},
    )


def _read(response: str) -> str:
    text = checked_text(response, "the answer")
    if not text:
        raise AnnotationError("there is no text")
    return text
