"""Self-reports: how far a model says that it gives a piece of advice."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from ..annotate import annotated
from ..annotations import Annotations
from ..answer import read_rating
from ..inputs import whole
from ..scheme import Scheme
from .frames import read_named
from .replies import material
from .responses import repeated

if TYPE_CHECKING:
    from inspect_ai.model import Model

_HIGHEST = 7

_PAGE = """\
The statement below is about the advice you give. How far do you agree with it?

{item}

1 means: not at all. {highest} means: entirely. The numbers between are steps between the two.
Answer with one line of this form, where N is a whole number from 1 to {highest}, and nothing else:
{form}"""

_FORM = "Rating: N"

_AGAIN = """\
This answer cannot be used: {reason}. Answer with one line of the form `{form}`, where N is a \
whole number from 1 to {highest}."""


def self_ratings(
    statements: pd.DataFrame, model: "str | Model", *, times: int = 5, **options: Any
) -> Annotations:
    """Ask a model how far it agrees with pieces of advice, from 1 to 7, several times.

    Parameters
    ----------
    statements : DataFrame
        Indexed by statement, with ``advice``: the rows of `reframe_statements` that are qualified.
    model, **options
        As in `annotate`: the model that is studied.
    times : int, default 5
        Ratings of each statement. With more and the same store, those that are there stay.

    Returns
    -------
    Annotations
        `table` has a row for each rating: ``model``, ``statement``, ``time`` (from 1) and
        ``rating``, as given: not reversed where a statement is keyed -1.
        `SituationalJudgments.from_long` takes it as ratings.

    Raises
    ------
    AnnotationError
        As in `annotate`; or when `statements` is not as it should be.

    References
    ----------
    Dispositions paper, section 7: ratings from 1 to 7 of the statements that scenarios were made
    from. The words are this package's own.

    Examples
    --------
    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> answers = [ModelOutput.from_content("mock", text) for text in ("Rating: 6", "Rating: 5")]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=90, output_tokens=4)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> advice = "I recommend that a person should sleep on a decision."
    >>> statements = pd.DataFrame({"advice": [advice]}, index=["sleep"])
    >>> self_ratings(statements, model, times=2, connections=1).table
                      model statement  time  rating
    item
    sleep #1  mockllm/model     sleep     1       6
    sleep #2  mockllm/model     sleep     2       5
    """
    advice = read_named(statements, "statement", ("advice",))["advice"]
    known = repeated(advice.index, whole("times", times), "statement", "time")
    texts = {
        str(item): material(statement=advice[statement])
        for item, statement in known["statement"].items()
    }
    said = annotated(_scheme(), texts, model, known=known, **options)
    said.table.insert(0, "model", said.model)
    return said


def _scheme() -> Scheme:
    return Scheme(
        name="self-ratings",
        kind="self-ratings",
        columns=("rating",),
        system="",
        prompt=lambda item: _PAGE.format(item=item, highest=_HIGHEST, form=_FORM),
        again=lambda reason: _AGAIN.format(reason=reason, form=_FORM, highest=_HIGHEST),
        read=lambda _, answer: {"rating": read_rating(answer, _HIGHEST)},
    )
