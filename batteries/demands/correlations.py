"""Whether demands go together over the items of a battery, and with success."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.messages import many
from ...evaluations.evaluation import Evaluation
from .reading import read_demands


@dataclass(frozen=True, eq=False, repr=False)
class DemandCorrelations:
    """Spearman's rank correlations over the items of a battery.

    Made by `demand_correlations`. NaN where one of the two never varies.

    Attributes
    ----------
    between : DataFrame
        Of each dimension with each.
    success : DataFrame
        Of each dimension (column) with the success rates of each subject (row), over the items that
        it attempted; without rows where outcomes were not given.
    overall : Series or None
        Of each dimension with the items' success rates over all subjects together, which depend on
        who they are; None without outcomes.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]})
    >>> demand_correlations(items, ["QLl", "MS"])
    <DemandCorrelations: 2 dimensions, 0 subjects>
    """

    between: pd.DataFrame
    success: pd.DataFrame
    overall: pd.Series | None

    def __repr__(self) -> str:
        dimensions = many(len(self.between), "dimension")
        return f"<DemandCorrelations: {dimensions}, {many(len(self.success), 'subject')}>"


def demand_correlations(
    battery: pd.DataFrame | Evaluation, columns: Sequence[str]
) -> DemandCorrelations:
    """Correlate demands with each other and with success, by ranks.

    A correlation near 1 says that the battery cannot tell two dimensions apart, not that they are
    one: items that ask for one without the other may exist elsewhere.

    Parameters
    ----------
    battery : DataFrame or Evaluation
        Items, or items and outcomes.
    columns : sequence of str
        The items' columns to correlate; any numbers, so unguessability may be one.

    Returns
    -------
    DemandCorrelations
        Between dimensions, with each subject's success, and with everybody's.

    Raises
    ------
    DataError
        When a column is missing, repeated or holds no finite numbers.

    References
    ----------
    General scales paper, section 3.1 and Figure 4.

    Examples
    --------
    >>> items = pd.DataFrame({"QLl": [1, 2, 3, 4], "MS": [0, 2, 2, 1]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0]], ["Ann"], items.index)
    >>> found = demand_correlations(Evaluation.from_wide(outcomes, items), ["QLl", "MS"])
    >>> found.between.round(2)
          QLl    MS
    QLl  1.00  0.32
    MS   0.32  1.00
    >>> found.success.round(2)
              QLl    MS
    subject
    Ann     -0.89 -0.24
    """
    items = battery.items if isinstance(battery, Evaluation) else battery
    demands = read_demands(items, columns)
    between = pd.DataFrame(_spearman(demands, demands), demands.columns, demands.columns)
    if not isinstance(battery, Evaluation):
        nobody = pd.DataFrame(index=pd.Index([], name="subject"), columns=demands.columns)
        return DemandCorrelations(between, nobody.astype(float), None)
    successes, trials = battery.successes.to_numpy(), battery.trials.to_numpy()
    rows = [_with_success(demands, *one) for one in zip(successes, trials, strict=True)]
    overall = _with_success(demands, successes.sum(axis=0), trials.sum(axis=0))
    return DemandCorrelations(
        between,
        pd.DataFrame(rows, battery.successes.index, demands.columns),
        pd.Series(overall, demands.columns),
    )


def _with_success(demands: pd.DataFrame, successes: np.ndarray, trials: np.ndarray) -> np.ndarray:
    done = trials > 0
    rates = pd.DataFrame({"success": successes[done] / trials[done]})
    return _spearman(demands[done], rates)[:, 0]


def _spearman(left: pd.DataFrame, right: pd.DataFrame) -> np.ndarray:
    """Correlate the ranks of columns with those of others; ties share their mean rank."""
    first, second = (_standardised_ranks(table) for table in (left, right))
    return np.asarray(np.clip(first.T @ second, -1, 1))


def _standardised_ranks(table: pd.DataFrame) -> np.ndarray:
    ranks = table.rank().to_numpy()
    centred = ranks - ranks.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray(centred / np.where(length > 0, length, np.nan))
