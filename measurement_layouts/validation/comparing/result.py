"""Result of a comparison of subjects: pairs, ranks, tied subjects and sentences."""

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...common.digits import p_value, significant
from ...common.messages import many, some

READINGS = THESE, MORE, OUTCOMES = "these items", "more items", "outcomes"
"""Expected success on these very items, on more like them, and observed outcomes."""
_WHERE = {
    OUTCOMES: "in outcomes, on the {items} that both answered",
    THESE: "in {name}, on these {items}",
    MORE: "in {name}, on more like these {items}",
}
_SHOWN = 6  # most sentences about pairs


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Differences between subjects, pair by pair, and ranks.

    Made by `compare`. Printed, it is a few sentences.

    Attributes
    ----------
    table : DataFrame
        One row per reading and pair of subjects, of which ``subject`` has the better rank.

        - ``reading``: ``these items`` (expected success on these very items), ``more items`` (on
          more like them), ``outcomes`` (observed, without a model), or the name of the element that
          is compared.
        - ``difference``: that of the subject minus that of the ``reference``; its standard error or
          posterior standard deviation ``se``, and the ends ``low`` and ``high`` of its interval.
        - ``ahead``: posterior probability that the difference is positive.
        - ``p``, ``mcnemar``: of outcomes, the two-sided p value of the difference, and McNemar's
          exact one.
        - ``items``, ``clusters``: how many the difference is over, as far as both answered.
        - ``warning``: reason to read the row with care; empty where there is none.
        - ``text``: the row as a sentence.
    ranking : DataFrame
        One row per reading and subject, the best first: ``mean``, expected ``rank``, ends
        ``rank_low`` and ``rank_high`` of its interval, ``best`` (probability of rank 1), and
        ``tied``: whether the subject is one of those that cannot be told apart from the first.
    prob : float
        Mass of the intervals, and least probability that the truly best subject is one of those
        that are tied.
    name : str
        What is compared: ``success``, or the name of an element or of a node.

    Examples
    --------
    >>> import pandas as pd
    >>> import measurement_layouts as ml
    >>> outcomes = pd.DataFrame([[1, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]], ["Ann", "Bob"])
    >>> items = pd.DataFrame(index=outcomes.columns)
    >>> comparison = ml.compare(ml.Evaluation.from_wide(outcomes, items))
    >>> print(comparison)
    Ann is the best (with probability at least 0.9).
    Ann is ahead of Bob by 0.500 (0.0494 to 0.951) in outcomes, on the 6 items that both answered;
    McNemar's p 0.250.
    """

    table: pd.DataFrame
    ranking: pd.DataFrame
    prob: float
    name: str

    @property
    def readings(self) -> list[str]:
        """Readings of the differences; the first orders the subjects."""
        return list(self.table["reading"].unique())

    @property
    def tied(self) -> list[str]:
        """Subjects that cannot be told apart from the first one, which is among them."""
        first = self.ranking[self.ranking["reading"] == self.readings[0]]
        return first["subject"][first["tied"]].tolist()

    @property
    def sentences(self) -> list[str]:
        """Who is first, and the differences of the first subject to the next ones."""
        first, *more = self.tied
        best = f"{first} is the best" if not more else f"{some(self.tied, 10)} cannot be told apart"
        sure = f"the best is one of them with probability at least {self.prob:g}"
        sure = sure if more else f"with probability at least {self.prob:g}"
        rows = self.table[self.table["subject"] == self.ranking["subject"].iloc[0]]
        return [f"{best} ({sure}).", *rows["text"].head(_SHOWN)]

    def __str__(self) -> str:
        return "\n".join(self.sentences)

    def __repr__(self) -> str:
        subjects = self.ranking["subject"].nunique()
        return (
            f"<Comparison of {self.name}: {many(subjects, 'subject')}, {len(self.tied)} tied with "
            f"the first, {self.prob:.0%} intervals>"
        )


def in_words(row: Mapping[Hashable, Any], name: str) -> str:
    """Write a row of a table of differences as a sentence."""
    first, second, sign = row["subject"], row["reference"], 1
    if row["difference"] < 0:
        first, second, sign = second, first, -1
    where = _WHERE.get(row["reading"], "in {name}").format(
        name=name, items="1 item" if row["items"] == 1 else f"{row['items']} items"
    )
    width = row["high"] - row["low"]
    size, *ends = (significant(sign * row[key], width) for key in ("difference", "low", "high"))
    low, high = ends[::sign]
    text = f"{first} is ahead of {second} by {size} ({low} to {high})"
    if row["se"] == 0:
        text = f"{first} and {second} differ by {size} in every cluster, without a standard error,"
    elif math.isnan(row["se"]):
        text = f"{first} and {second} cannot be told apart in one cluster: {size}"
    elif row["low"] <= 0 <= row["high"]:
        text = f"{first} and {second} cannot be told apart: {size} ({low} to {high})"
    single = not math.isnan(row["mcnemar"])
    return f"{text} {where}" + f"; McNemar's p {p_value(row['mcnemar'])}" * single + "."
