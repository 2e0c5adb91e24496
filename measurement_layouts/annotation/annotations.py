"""Annotations of items, with the items that have none and the usage of the model."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from ..common.errors import AnnotationError
from .scheme import Scheme

USAGE = ["attempts", "input_tokens", "output_tokens", "seconds"]
"""Columns of usage."""


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations of items by one annotator.

    Made by `annotate`, by `quality`, and by the functions that ask about situations.

    Attributes
    ----------
    rubric, model : str
        Names of the rubric and of the annotator.
    kind : str
        Kind of annotations: ``bands``, ``levels`` or ``ratings``, each of which is also an
        attribute with the table; or a kind of texts about situations.
    table : DataFrame
        The annotations, indexed by ``item``. Items that failed are not in it.
    failures : DataFrame
        Items that failed: ``item``, ``attempts``, ``reason`` and the last ``answer``; for
        situations also the columns that describe each item.
    usage : DataFrame
        Indexed by ``item``, with failed items: ``attempts``, ``input_tokens``, ``output_tokens``
        and ``seconds`` over all attempts, including those of earlier calls with the same
        `log_dir`. Seconds are the time that the model took for the item. Several items are asked
        about at a time, so that a call takes less than their sum.
    answers : Series
        The whole last answer of each item, indexed by ``item``.

    Examples
    --------
    Levels of a demand, from prepared answers:

    >>> from inspect_ai.model import ModelOutput, ModelUsage, get_model
    >>> from measurement_layouts.annotation import annotate, load_demand_rubric
    >>> answers = [ModelOutput.from_content("mock", "Level: 1") for _ in range(2)]
    >>> for answer in answers:
    ...     answer.usage = ModelUsage(input_tokens=1200, output_tokens=20)
    >>> model = get_model("mockllm/model", custom_outputs=answers)
    >>> rubric = load_demand_rubric("quantitative_reasoning")
    >>> said = annotate({"sum": "What is 3 + 4?", "rest": "What is 9 - 2?"}, rubric, model)
    >>> said
    <Annotations of 'quantitative reasoning' by mockllm/model: 2 levels, 0 failed,
    2400 tokens in and 40 out>
    >>> said.levels["level"].to_dict()
    {'sum': 1, 'rest': 1}
    """

    rubric: str
    model: str
    kind: str
    table: pd.DataFrame
    failures: pd.DataFrame
    usage: pd.DataFrame
    answers: pd.Series

    @property
    def bands(self) -> pd.DataFrame:
        """Ends ``low`` and ``high`` of annotated bands, indexed by item."""
        return self._of("bands")

    @property
    def levels(self) -> pd.DataFrame:
        """Annotated ``level`` of a demand, indexed by item."""
        return self._of("levels")

    @property
    def ratings(self) -> pd.DataFrame:
        """Ratings from 1 to 5, indexed by item, one column for each indicator."""
        return self._of("ratings")

    @property
    def total(self) -> pd.Series:
        """Attempts, tokens and seconds of all items together."""
        return self.usage.sum()

    def _of(self, kind: str) -> pd.DataFrame:
        if self.kind != kind:
            attribute = self.kind if hasattr(self, self.kind) else "table"
            raise AnnotationError(
                f"annotations of {self.rubric!r} are {self.kind}, not {kind}; use .{attribute}"
            )
        return self.table

    def __repr__(self) -> str:
        return (
            f"<Annotations of {self.rubric!r} by {self.model}: {len(self.table)} {self.kind}, "
            f"{len(self.failures)} failed, {self.total['input_tokens']:.0f} tokens in and "
            f"{self.total['output_tokens']:.0f} out>"
        )


def collect(
    scheme: Scheme, model: str, replies: pd.DataFrame, properties: pd.DataFrame | None = None
) -> Annotations:
    """Arrange replies about items.

    Parameters
    ----------
    scheme : Scheme
        The question, and how its answers are read.
    model : str
        Name of the annotator.
    replies : DataFrame
        Replies that `run` returned.
    properties : DataFrame, optional
        Columns of items that come first in `table` and in `failures`, except those with the name
        of another column. The tables take the name of its index.

    Returns
    -------
    Annotations
        All tables in the order of the replies.
    """
    properties = pd.DataFrame(index=replies.index) if properties is None else properties
    name = str(properties.index.name)

    def with_properties(rows: pd.DataFrame) -> pd.DataFrame:
        other = properties.loc[rows.index].drop(columns=list(rows.columns), errors="ignore")
        return other.join(rows).rename_axis(name)

    usable = replies["reason"] == ""
    annotated = pd.DataFrame(
        list(replies.loc[usable, "annotation"]), replies.index[usable], list(scheme.columns)
    )
    dtypes = dict.fromkeys(scheme.columns, int) | dict.fromkeys(scheme.words, "str")
    return Annotations(
        rubric=scheme.name,
        model=model,
        kind=scheme.kind,
        table=with_properties(annotated.astype(dtypes)),
        failures=with_properties(
            replies.loc[~usable, ["attempts", "reason", "answer"]]
        ).reset_index(),
        usage=replies[USAGE].rename_axis(name),
        answers=replies["answer"].rename_axis(name),
    )


def with_total(rows: "Mapping[str, pd.Series]") -> pd.DataFrame:
    """Tabulate usage, one row for each name, and their sum as ``all``; counts are integers."""
    table = pd.DataFrame(rows).T
    table = pd.concat([table, table.sum().to_frame("all").T])
    return table.astype({name: int for name in USAGE[:3]})
