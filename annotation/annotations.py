"""Annotations: the bands of items, what failed and what it cost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from .reply import Reply

_MILLION = 1_000_000


@dataclass(frozen=True, eq=False)
class Annotations:
    """What one annotator said about items.

    Made by `annotate`.

    Attributes
    ----------
    rubric, model : str
        Name of the rubric, and who annotated.
    bands : DataFrame
        Indexed by ``item``: ``low`` and ``high``, levels from -3 to 3. Items without a band are not
        in it.
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
    bands: pd.DataFrame
    failures: pd.DataFrame
    usage: pd.DataFrame
    answers: pd.Series

    @property
    def total(self) -> pd.Series:
        """The columns of `usage`, summed over items."""
        return self.usage.sum()

    def __repr__(self) -> str:
        return (
            f"<Annotations of {self.rubric!r} by {self.model}: {len(self.bands)} bands, "
            f"{len(self.failures)} failed, {self.total['input_tokens']:.0f} tokens in and "
            f"{self.total['output_tokens']:.0f} out>"
        )


def collect(
    rubric: str, model: str, replies: Sequence[Reply], prices: tuple[float, float] | None
) -> Annotations:
    """Lay replies out as tables.

    Parameters
    ----------
    rubric, model : str
        Name of the rubric, and who annotated.
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
    usage = table[["attempts", "input_tokens", "output_tokens"]].astype(int)
    if prices is not None:
        spent = usage["input_tokens"] * prices[0] + usage["output_tokens"] * prices[1]
        usage = usage.assign(cost=spent / _MILLION)
    return Annotations(
        rubric=rubric,
        model=model,
        bands=table.loc[good, ["low", "high"]].astype(int),
        failures=table.loc[~good, ["attempts", "reason", "answer"]].reset_index(),
        usage=usage,
        answers=table["answer"],
    )
