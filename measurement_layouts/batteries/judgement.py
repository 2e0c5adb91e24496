"""Whether a benchmark measures what it claims to: its sensitivity and its specificity."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common import options
from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..evaluations.tables import known_names
from .demands import LEVELS, demand_profile

_NAMED = 6  # dimensions in the verdict; the table has all


@dataclass(frozen=True, eq=False, repr=False)
class BenchmarkJudgement:
    """Whether a benchmark measures what it claims to, and nothing else.

    It is made by `judge_benchmark`, which defines the numbers.

    Attributes
    ----------
    table : DataFrame
        One row per dimension: ``claimed``; the ``mean`` level; ``covered``, the number of levels
        above 0 with enough items; ``above``, the share of items that demand more than `low`; and
        ``holds`` (a claimed dimension has enough covered levels, another one few items above
        `low`).
    sensitivity, specificity : float
        Sensitivity and specificity, in [0, 1].
    sensitive, specific : bool
        Whether ``holds`` is true for all claimed dimensions, and for all others.
    verdict : str
        The judgement in words.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4, 5], "MS": [0, 0, 0, 0, 1]})
    >>> judge_benchmark(items, ["QLl"], ["QLl", "MS"], least=1)
    <BenchmarkJudgement: sensitive (1.00), specific (1.00)>
    """

    table: pd.DataFrame
    sensitivity: float
    specificity: float
    sensitive: bool
    specific: bool
    verdict: str

    def __repr__(self) -> str:
        first, second = ("" if holds else "not " for holds in (self.sensitive, self.specific))
        return (
            f"<BenchmarkJudgement: {first}sensitive ({self.sensitivity:.2f}), "
            f"{second}specific ({self.specificity:.2f})>"
        )


def judge_benchmark(
    items: pd.DataFrame,
    claimed: Sequence[str],
    columns: Sequence[str],
    *,
    levels: Sequence[float] = LEVELS,
    least: int = 20,
    cover: float = 0.8,
    low: float = 1,
    tolerated: float = 0.2,
) -> BenchmarkJudgement:
    r"""Compare the demands of a benchmark with the dimensions that it claims to measure.

    A benchmark is sensitive if its items cover the levels of the claimed dimensions, so that a
    change of an ability has an effect at any level, and specific if they demand little else. With
    :math:`n_{dl}` of the :math:`n` items at level :math:`l` of dimension :math:`d`, the claimed
    dimensions :math:`C`, the others :math:`O`, and :math:`L` the levels above 0 (on a scale that
    begins below 0, above its lowest),

    .. math::

       \mathrm{sensitivity} = \operatorname*{mean}_{d \in C} \frac{1}{|L|}
       \#\{l \in L: n_{dl} \ge \mathrm{least}\}, \qquad
       \mathrm{specificity} = 1 - \operatorname*{mean}_{d \in O} \frac{1}{n}
       \sum_{l > \mathrm{low}} n_{dl}

    The verdict is stricter than the means: for each claimed dimension, the share `cover` of the
    levels must be covered, and at most the share `tolerated` of items may demand more than `low` of
    another dimension.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    claimed : sequence of str
        Dimensions that the benchmark claims to measure; some of `columns`.
    columns : sequence of str
        All dimensions to judge by. Leave out dimensions that should not count against a benchmark,
        such as reading comprehension or extraneous dimensions.
    levels : sequence of float
        Levels that an item can have.
    least : int
        Number of items that a covered level needs. With 20 items, a success rate at a level has a
        standard error of at most 0.11.
    cover : float
        Share of the levels above 0 to be covered, from 0 to 1. With four of five, the highest level
        may be missing, which hardly any battery has.
    low : float
        Highest level that counts as low; the general scales call level 1 very low.
    tolerated : float
        Share of items, from 0 to 1, that may demand more than `low` of another dimension.

    Returns
    -------
    BenchmarkJudgement
        Numbers per dimension, sensitivity and specificity, and a verdict.

    Raises
    ------
    DataError
        When `items` is something else, a column is missing, a claimed dimension is not among the
        columns, none is claimed, or a demand is none of the levels.
    FitError
        When a threshold is out of range.

    Notes
    -----
    The study defines both in words: a minimum number of items at all levels of the claimed
    dimensions, and no other demands. The defaults of all four numbers were chosen here. `tolerated`
    was chosen to agree with one of the study's examples: it names two dimensions that the Civil
    Service Examination hardly demands, which are the two below 0.2 (7 % and 14 % of items; the next
    one has 25 %).

    References
    ----------
    General scales paper, sections 1 and 3.2, glossary (8.7) and Table 11.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [3] * 30 + [4] * 30, "MS": [0] * 60, "KNf": [3] * 60})
    >>> judgement = judge_benchmark(items, ["QLl"], ["QLl", "MS", "KNf"])
    >>> judgement.table
               claimed  mean  covered  above  holds
    dimension
    QLl           True   3.5        2    1.0  False
    MS           False   0.0        0    0.0   True
    KNf          False   3.0        1    1.0  False
    >>> print(judgement.verdict)
    Not sensitive: of 5 levels, 20 items or more ask for QLl at 3, 4.
    Not specific: 1 of 2 other dimensions above level 1 on more than 20% of items (KNf 100%).
    """
    least = options.whole("least", least, 1)
    cover, tolerated = options.share("cover", cover), options.share("tolerated", tolerated)
    if not isinstance(low, int | float):
        raise FitError(f"low={low!r}; give a level, such as 1")
    profile = demand_profile(items, columns, levels=levels)
    names = known_names(claimed, profile.counts.index, "claimed dimension")
    counted = np.array(profile.levels) > min(0.0, *profile.levels)
    count = int(counted.sum())
    if not names or not count:
        raise DataError(
            f"{many(len(names), 'claimed dimension')} and {many(count, 'level')} above 0; "
            "give at least one of each"
        )
    enough = profile.counts.loc[:, counted] >= least
    above = profile.shares.loc[:, np.array(profile.levels) > low].sum(axis=1)
    table = pd.DataFrame(
        {
            "claimed": profile.counts.index.isin(names),
            "mean": profile.means,
            "covered": enough.sum(axis=1),
            "above": above,
        }
    )
    share = table["covered"] / count
    table["holds"] = (share >= cover - 1e-9).where(table["claimed"], above <= tolerated)
    own, others = table[table["claimed"]], table[~table["claimed"]]
    covered = [
        f"for {name} at {', '.join(f'{level:g}' for level in row.index[row]) or 'none'}"
        for name, row in enough.loc[own.index].iterrows()
    ]
    verdict = (
        f"{'Sensitive' if own['holds'].all() else 'Not sensitive'}: of "
        f"{many(count, 'level')}, {many(least, 'item')} or more ask {'; '.join(covered)}.\n"
        f"{_specificity(others, low, tolerated)}"
    )
    return BenchmarkJudgement(
        table,
        float(share[own.index].mean()),
        float(1 - others["above"].mean()) if len(others) else 1.0,
        bool(own["holds"].all()),
        bool(others["holds"].all()),
        verdict,
    )


def _specificity(others: pd.DataFrame, low: float, tolerated: float) -> str:
    """Write whether dimensions that are not claimed are hardly demanded, and those that are."""
    if others.empty:
        return "Specific: there is no dimension that it does not claim."
    more = others.loc[~others["holds"], "above"].sort_values(ascending=False, kind="stable")
    listed = some((f"{name} {share:.0%}" for name, share in more.items()), _NAMED)
    return (
        f"{'Not specific' if len(more) else 'Specific'}: {len(more)} of "
        f"{many(len(others), 'other dimension')} above level {low:g} on more than "
        f"{tolerated:.0%} of items{f' ({listed})' if len(more) else ''}."
    )
