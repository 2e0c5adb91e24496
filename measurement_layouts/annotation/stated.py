"""Levels of one rater whose reliability is stated, not estimated."""

from collections.abc import Mapping, Sequence

import pandas as pd
import xarray as xr

from ..common.errors import AnnotationError
from .ratings import Ratings
from .rubric import DEMAND_LEVELS

_ONE = "rater"


def stated_reliability(
    table: pd.DataFrame,
    *,
    reliability: "float | Mapping[str, float]",
    levels: Sequence[float] = DEMAND_LEVELS,
    seed: int = 1,
) -> xr.DataArray:
    r"""Compute the probabilities of true levels from one rater with a stated reliability.

    .. math:: \frac{\mathrm{Var}(t)}{\mathrm{Var}(y)} = \text{reliability}, \qquad
       t_i = E[y_i \mid z_i], \quad z_i \sim N(0, 1)

    This is the model of `RaterModel` with one rater: its levels are right on average, and its noise
    is such that the stated share of their variance is variance of true levels.

    Parameters
    ----------
    table : DataFrame
        Levels, with one row per item and one column per dimension; the column ``demand[code]`` is
        the dimension ``code``. Where a level is missing, the probabilities are those of a random
        item.
    reliability : float or mapping of str to float
        Reliability, from 0.001 to 0.999: one for all dimensions, or one for each dimension.
    levels : sequence of float, default 0 to 5
        Levels of the rubrics, in ascending order.
    seed : int, default 1
        Seed of the draws.

    Returns
    -------
    DataArray
        ``demand``: probabilities, with the dims item, dimension and level; sums over level are 1.

    Raises
    ------
    AnnotationError
        When a reliability is out of range or missing, or a cell has a value that is not a level.

    References
    ----------
    Lord and Novick (1968), Statistical Theories of Mental Test Scores, chapter 3, on reliability.

    Examples
    --------
    >>> table = pd.DataFrame({"planning": [0, 1, 1, 2, 2, 2, 3, 3, 4]}, index=list("abcdefghi"))
    >>> demands = stated_reliability(table, reliability=0.6)
    >>> demands.sel(item="i", dimension="planning").round(1).values.tolist()
    [0.0, 0.0, 0.2, 0.5, 0.3, 0.0]
    """
    ratings = Ratings.from_wide({_ONE: table}, levels=levels)
    wrong = ratings.problems[ratings.problems["found"] != ""]
    if len(wrong):
        first = wrong.iloc[0]
        raise AnnotationError(
            f"column {first['column']!r}, item {first['item']!r}: {first['found']!r} is "
            f"not a level; "
            f"give one of {', '.join(f'{level:g}' for level in ratings.levels)}, or leave it empty"
        )
    return ratings.demands(reliability={_ONE: reliability}, seed=seed)
