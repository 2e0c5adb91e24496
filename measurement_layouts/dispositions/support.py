"""Support of trait-positive actions by groups of raters."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd

from ..common.bootstrap import group_ratios
from ..common.errors import DataError
from ..common.given import refuse_other
from ..common.messages import some
from .judgments import SituationalJudgments, refuse_no_judgments


def support_by(
    judgments: SituationalJudgments,
    attribute: str,
    *,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    """Average the votes of raters by trait and by an attribute of the raters.

    A vote for the trait-positive action is 1, a vote for the other action 0, and a neutral vote one
    half.

    Parameters
    ----------
    judgments : SituationalJudgments
        Votes, and raters with attributes.
    attribute : str
        Column of the raters, such as ``nationality``. Raters without it are left out.
    prob : float, default 0.9
        Mass of the interval, in (0, 1).
    resamples : int, default 1000
        Number of resamples of the raters of each group, with replacement; the votes of a rater stay
        together.
    seed : int, default 1
        Seed of the resamples.

    Returns
    -------
    DataFrame
        By trait and group: ``ratings`` (votes), ``support`` in [0, 1], and ``low`` and ``high``,
        NaN for a single rater. Groups are in alphabetical order; those without a vote are left out.

    Raises
    ------
    DataError
        When `judgments` is something else, the raters have no such attribute, or it is missing for
        all raters.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, appendix C, table 2.

    Examples
    --------
    >>> scenarios = pd.DataFrame([{"scenario": "a", "trait": "calm", "statement": "wait",
    ...                            "keyed": 1}])
    >>> votes = pd.DataFrame({"scenario": "a", "rater": [1, 2, 3],
    ...                       "vote": ["agree", "neutral", "oppose"]})
    >>> raters = pd.DataFrame({"rater": [1, 2, 3], "gender": ["f", "f", "m"]})
    >>> judgments = SituationalJudgments.from_long(scenarios, votes, raters=raters)
    >>> support_by(judgments, "gender")[["ratings", "support"]]
                 ratings  support
    trait group
    calm  f            2     0.75
          m            1     0.00
    """
    groups = _groups(judgments, attribute)
    votes, scenarios = judgments.votes, judgments.scenarios.loc[judgments.votes["scenario"]]
    agreement = votes["vote"].map({"agree": 1.0, "neutral": 0.5, "oppose": 0.0}).to_numpy()
    support = np.where(scenarios["keyed"] == 1, agreement, 1 - agreement)
    values = pd.Series(support).groupby([votes["rater"], scenarios["trait"].to_numpy()])
    sums, counts = (
        table.unstack(fill_value=0).reindex(groups.index, columns=judgments.traits, fill_value=0)
        for table in (values.sum(), values.count())
    )
    options: dict[str, Any] = {"prob": prob, "resamples": resamples, "seed": seed}
    means = group_ratios(sums, counts, groups, overall=False, **options)
    means = means.rename_axis(["trait", "group"])
    return means.rename(columns={"count": "ratings", "mean": "support"}).query("ratings > 0")


def _groups(judgments: SituationalJudgments, attribute: str) -> "pd.Series[str]":
    """Group the raters by an attribute, in alphabetical order; those without it are left out."""
    refuse_no_judgments(judgments)
    refuse_other("attribute", attribute, Hashable, "a name", "name a column of the raters")
    if attribute not in judgments.raters.columns:
        raise DataError(
            f"the raters have no column {attribute!r}; they have "
            f"{some(judgments.raters.columns, 12) or 'none'}"
        )
    groups = judgments.raters[attribute].dropna().astype(str).sort_values(kind="stable")
    if groups.empty:
        raise DataError(f"no rater's {attribute} is known; give raters with it, or another column")
    return groups
