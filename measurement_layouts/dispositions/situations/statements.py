"""Statements of questionnaires turned into advice, where they can be."""

from typing import Any

import pandas as pd

from ...annotation.annotate import Annotations, annotated
from ...annotation.answer import material, read_object, read_words
from ...annotation.inputs import read_named
from ...annotation.running import ModelOrName
from ...annotation.scheme import Scheme, question
from ...common.errors import AnnotationError

_QUESTION = question("reframe-statement")
_ADVISABLE, _OTHERS = _QUESTION["advisable"], _QUESTION["others"]
_BEGINNING = "I recommend that "


def reframe_statements(statements: pd.DataFrame, model: ModelOrName, **options: Any) -> Annotations:
    r"""Turn self-descriptive statements into advice, and mark those that cannot be followed.

    In the published study people checked the results of the model for all statements. Check
    ``advice`` and ``qualified`` in the `table` likewise before scenarios are made.

    Parameters
    ----------
    statements : DataFrame
        Statements, indexed by name: ``text``, ``trait``, and ``keyed``, which is 1 if agreeing
        shows the trait and -1 if it shows the opposite.
    model, **options
        As in `annotate`.

    Returns
    -------
    Annotations
        Annotations whose `table` has the columns of `statements`, and ``kind``, ``reason``,
        ``advice`` and ``qualified``.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `statements` lacks a column or a text, has a statement twice, or
        has a value of ``keyed`` other than 1 and -1.

    References
    ----------
    Dispositions paper, section 3.1 and Appendix A, which have the criteria. The wording is this
    package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> texts = (
    ...     '{"kind": "strategy", "reason": "One can wait.",'
    ...     ' "advice": "I recommend that a person should sleep on a decision."}',
    ...     '{"kind": "reflex", "reason": "Nobody blushes on purpose.", "advice": ""}',
    ... )
    >>> answers = [ModelOutput.from_content("mock", text) for text in texts]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=400, output_tokens=50)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> statements = pd.DataFrame(
    ...     {"text": ["I sleep on decisions.", "I blush."], "trait": "calm", "keyed": [1, -1]},
    ...     index=["sleep", "blush"],
    ... )
    >>> said = reframe_statements(statements, model, max_connections=1)
    >>> said.table[["kind", "qualified"]]
                   kind  qualified
    statement
    sleep      strategy       True
    blush        reflex      False
    """
    table = read_named(statements, "statement", ("text", "trait"), ("keyed",))
    texts = {name: material(statement=text) for name, text in table["text"].items()}
    advice = annotated(_SCHEME, texts, model, properties=table, **options)
    advice.table["qualified"] = advice.table["kind"].isin(_ADVISABLE)
    return advice


def _read(_: str, reply: str) -> dict[str, str]:
    fields = read_object(reply)
    kind, reason = read_words(fields, "kind").lower(), read_words(fields, "reason")
    if kind not in {*_ADVISABLE, *_OTHERS}:
        raise AnnotationError(f"the kind {kind!r} is not one of the eight")
    if kind in _OTHERS:
        if fields.get("advice"):
            raise AnnotationError(
                f"a statement of the kind {kind!r} must have no advice, but there is one"
            )
        return {"kind": kind, "reason": reason, "advice": ""}
    advice = read_words(fields, "advice")
    if not advice.startswith(_BEGINNING):
        raise AnnotationError(f"the advice does not begin with {_BEGINNING.strip()!r}")
    return {"kind": kind, "reason": reason, "advice": advice}


_SCHEME = Scheme(
    _QUESTION,
    _read,
    {
        "advisable": "\n".join(f"- {kind}: {meaning}" for kind, meaning in _ADVISABLE.items()),
        "others": "\n".join(f"- {kind}: {meaning}" for kind, meaning in _OTHERS.items()),
        "kinds": ", ".join([*_ADVISABLE, *_OTHERS]),
    },
)
