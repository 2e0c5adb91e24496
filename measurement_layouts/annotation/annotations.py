"""Annotations of items, with failures, tokens and costs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from .scheme import USAGE, Reply, Scheme


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
        """Bands of a propensity: ``low`` and ``high``, levels of the rubric, by ``item``."""
        return self._of("bands")

    @property
    def levels(self) -> pd.DataFrame:
        """Levels of a demand: ``level``, a level of the rubric, by ``item``."""
        return self._of("levels")

    @property
    def ratings(self) -> pd.DataFrame:
        """Ratings of items: one column from 1 to 5 for each indicator, by ``item``."""
        return self._of("ratings")

    @property
    def total(self) -> pd.Series:
        """The columns of `usage`, summed over items."""
        return self.usage.sum()

    def _of(self, kind: str) -> pd.DataFrame:
        if self.kind != kind:
            place = self.kind if hasattr(self, self.kind) else "table"
            raise AnnotationError(
                f"annotations of {self.rubric!r} are {self.kind}, not {kind}; use .{place}"
            )
        return self.table

    def __repr__(self) -> str:
        return (
            f"<Annotations of {self.rubric!r} by {self.model}: {len(self.table)} {self.kind}, "
            f"{len(self.failures)} failed, {self.total['input_tokens']:.0f} tokens in and "
            f"{self.total['output_tokens']:.0f} out>"
        )


def collect(scheme: Scheme, model: str, replies: Sequence[Reply]) -> Annotations:
    """Arrange replies in tables.

    Parameters
    ----------
    scheme : Scheme
        How the replies were asked for and read.
    model : str
        Name of the annotator.
    replies : sequence of Reply
        One reply for each item.

    Returns
    -------
    Annotations
        Annotations with the items in the order of the replies.
    """
    table = pd.DataFrame([vars(reply) for reply in replies], columns=list(Reply.__annotations__))
    table = table.set_index("item")
    good = np.array([reply.good for reply in replies], dtype=bool)
    said = pd.DataFrame(
        [reply.annotation for reply in replies if reply.good],
        index=table.index[good],
        columns=list(scheme.columns),
    )
    usage = table[list(USAGE)].astype(dict.fromkeys(USAGE, int) | {"seconds": float})
    return Annotations(
        rubric=scheme.name,
        model=model,
        kind=scheme.kind,
        table=said.astype(dict.fromkeys(scheme.columns, int) | dict.fromkeys(scheme.words, "str")),
        failures=table.loc[~good, ["attempts", "reason", "answer"]].reset_index(),
        usage=usage,
        answers=table["answer"],
    )


def with_known(said: Annotations, known: pd.DataFrame) -> Annotations:
    """Add known columns of items to their annotations and to the failures.

    Parameters
    ----------
    said : Annotations
        Annotations as returned by `collect`.
    known : DataFrame
        Columns to add, indexed by item, with all items. If its index has another name than
        ``item``, the tables take that name.

    Returns
    -------
    Annotations
        Annotations with the columns of `known` first in `table` and in `failures`. A column of
        `known` is left out if there is already a column with its name.
    """
    name = str(known.index.name)
    failed = said.failures.set_index("item")
    return replace(
        said,
        table=_beside(known, said.table).rename_axis(name),
        failures=_beside(known, failed).rename_axis(name).reset_index(),
        usage=said.usage.rename_axis(name),
        answers=said.answers.rename_axis(name),
    )


def _beside(known: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    others = known.loc[table.index].drop(columns=list(table.columns), errors="ignore")
    return others.join(table)
