"""Annotations of items, with failures and costs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..common.errors import AnnotationError
from .scheme import Reply

_MILLION = 1_000_000


@dataclass(frozen=True, eq=False)
class Annotations:
    """Annotations of items by one annotator.

    Made by `annotate` and by `quality`, and by whatever asks about situations.

    Attributes
    ----------
    rubric, model : str
        Name of the rubric, and who annotated.
    kind : str
        What is annotated: ``bands``, ``levels`` or ``ratings``, each an attribute, too; or
        something about situations.
    table : DataFrame
        What was said. Items without an annotation are not in it.
    failures : DataFrame
        The other items: ``item``, ``attempts``, ``reason`` and the last ``answer``; of situations
        also what each item is about.
    usage : DataFrame
        Indexed by ``item``, failed ones too: ``attempts``, ``input_tokens``, ``output_tokens``
        and ``seconds`` over all attempts, those of earlier runs with the same store included; with
        prices also ``cost``. Seconds are those that the model took over an item: several items are
        asked about at a time, so that a run takes less than their sum.
    answers : Series
        Indexed by ``item``: the last answer, in full.

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
        """Bands of a propensity, by ``item``: ``low`` and ``high``, levels of the rubric."""
        return self._of("bands")

    @property
    def levels(self) -> pd.DataFrame:
        """Levels of a demand, by ``item``: ``level``, of the rubric."""
        return self._of("levels")

    @property
    def ratings(self) -> pd.DataFrame:
        """Ratings of items, by ``item``: a column from 1 to 5 for each indicator."""
        return self._of("ratings")

    @property
    def total(self) -> pd.Series:
        """The columns of `usage`, summed over items."""
        return self.usage.sum()

    def _of(self, kind: str) -> pd.DataFrame:
        if self.kind != kind:
            place = self.kind if hasattr(self, self.kind) else "table"
            raise AnnotationError(
                f"annotations of {self.rubric!r} are {self.kind}, not {kind}; look at .{place}"
            )
        return self.table

    def __repr__(self) -> str:
        return (
            f"<Annotations of {self.rubric!r} by {self.model}: {len(self.table)} {self.kind}, "
            f"{len(self.failures)} failed, {self.total['input_tokens']:.0f} tokens in and "
            f"{self.total['output_tokens']:.0f} out>"
        )


def collect(
    rubric: str,
    kind: str,
    columns: Sequence[str],
    model: str,
    replies: Sequence[Reply],
    prices: tuple[float, float] | None,
    words: Collection[str] = (),
) -> Annotations:
    """Lay replies out as tables.

    Parameters
    ----------
    rubric, kind : str
        Name of the rubric, and what was annotated: ``bands``, ``levels``, ...
    columns : sequence of str
        Of the table of annotations.
    model : str
        Who annotated.
    replies : sequence of Reply
        One for each item.
    prices : (float, float) or None
        Money per million tokens in and out.
    words : collection of str, default none
        The columns that hold text; the others hold whole numbers.

    Returns
    -------
    Annotations
        With the items in the order of the replies.
    """
    table = pd.DataFrame([vars(reply) for reply in replies], columns=list(Reply.__annotations__))
    table = table.set_index("item")
    good = np.array([reply.good for reply in replies], dtype=bool)
    said = pd.DataFrame(
        [reply.said for reply in replies if reply.good],
        index=table.index[good],
        columns=list(columns),
    )
    usage = table[["attempts", "input_tokens", "output_tokens"]].astype(int)
    usage = usage.assign(seconds=table["seconds"].astype(float))
    if prices is not None:
        spent = usage["input_tokens"] * prices[0] + usage["output_tokens"] * prices[1]
        usage = usage.assign(cost=spent / _MILLION)
    return Annotations(
        rubric=rubric,
        model=model,
        kind=kind,
        table=said.astype({name: "str" if name in words else int for name in columns}),
        failures=table.loc[~good, ["attempts", "reason", "answer"]].reset_index(),
        usage=usage,
        answers=table["answer"],
    )


def with_known(said: Annotations, known: pd.DataFrame) -> Annotations:
    """Put what is known of each item beside what was said about it, and beside failures.

    Parameters
    ----------
    said : Annotations
        As collected.
    known : DataFrame
        Indexed by item, every one of them. The index may have another name than ``item``, which
        the tables then take.

    Returns
    -------
    Annotations
        With the columns of `known` first in `table` and in `failures`; one that is called like a
        column there gives way.
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
