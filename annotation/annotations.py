"""Annotations: what was said about items, what failed and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .errors import AnnotationError
from .reply import Reply

_MILLION = 1_000_000


@dataclass(frozen=True, eq=False)
class Annotations:
    """What one annotator said about items.

    Made by `annotate` and by `quality`.

    Attributes
    ----------
    rubric, model : str
        Name of the rubric, and who annotated.
    kind : str
        What is annotated: ``bands``, ``levels`` or ``ratings``. There is an attribute of that name.
    table : DataFrame
        That attribute, whichever it is. Items without an annotation are not in it.
    failures : DataFrame
        The other items: ``item``, ``attempts``, ``reason`` and the last ``answer``.
    usage : DataFrame
        Indexed by ``item``, failed ones too: ``attempts``, ``input_tokens`` and ``output_tokens``
        over all attempts, those of earlier runs with the same store included; with prices also
        ``cost``.
    answers : Series
        Indexed by ``item``: the last answer, in full.
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
        """Bands of a propensity, by ``item``: ``low`` and ``high``, levels from -3 to 3."""
        return self._of("bands")

    @property
    def levels(self) -> pd.DataFrame:
        """Levels of a demand, by ``item``: ``level``, from 0 to 5."""
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
            raise AnnotationError(
                f"annotations of {self.rubric!r} are {self.kind}, not {kind}; look at .{self.kind}"
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
) -> Annotations:
    """Lay replies out as tables.

    Parameters
    ----------
    rubric, kind : str
        Name of the rubric, and what was annotated: ``bands``, ``levels`` or ``ratings``.
    columns : sequence of str
        Of the table of annotations.
    model : str
        Who annotated.
    replies : sequence of Reply
        One for each item.
    prices : (float, float) or None
        Money per million tokens in and out.

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
    if prices is not None:
        spent = usage["input_tokens"] * prices[0] + usage["output_tokens"] * prices[1]
        usage = usage.assign(cost=spent / _MILLION)
    return Annotations(
        rubric=rubric,
        model=model,
        kind=kind,
        table=said.astype(int),
        failures=table.loc[~good, ["attempts", "reason", "answer"]].reset_index(),
        usage=usage,
        answers=table["answer"],
    )
