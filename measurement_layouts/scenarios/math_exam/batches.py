"""Differences of items between the two batches of students."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...inference.fit import Fit
from .data import items
from .layouts import batches_layout


def batch_differences(fit: Fit, prob: float = 0.9) -> pd.DataFrame:
    r"""Compute how much easier each item was for the second batch, relative to unchanged items.

    .. math:: D_i = d_{2i} - d_{1i} - \operatorname{mean}_{k \in U} (d_{2k} - d_{1k})

    with U the items that have the same wording in both batches. The batches are compared by these
    items, so that the mean of their differences is 0.

    Parameters
    ----------
    fit : Fit
        Fit of `batches_layout`.
    prob : float
        Mass of the equal-tailed intervals for all items together: each interval has the mass
        ``1 - (1 - prob) / 13`` (Bonferroni). Otherwise one in ten items would be flagged without
        any difference.

    Returns
    -------
    DataFrame
        Indexed by item: ``rewritten``; ``mean``, ``sd``, ``low`` and ``high`` of the difference in
        log-odds; ``differs``, whether the interval lies on one side of 0.

    Raises
    ------
    DataError
        When the fit is of another layout.

    References
    ----------
    Holland and Wainer (eds., 1993), Differential Item Functioning.
    """
    if fit.layout.fingerprint != batches_layout().fingerprint:
        raise DataError(
            f"the fit is of the layout {fit.layout.name}, in which items do not differ between "
            "batches; fit math_exam.batches_layout()"
        )
    battery = items()
    favour = fit.posterior["favour"].sel(item=battery.index.to_numpy())
    apart = favour.sel(batch="second") - favour.sel(batch="first")
    draws = apart.stack(all=("chain", "draw")).transpose("all", "item").to_numpy()
    kept = battery["rewritten"].to_numpy() == 0
    draws = draws - draws[:, kept].mean(axis=1, keepdims=True)
    tail = (1 - prob) / 2 / len(battery)
    low, high = np.quantile(draws, [tail, 1 - tail], axis=0)
    table = {"mean": draws.mean(axis=0), "sd": draws.std(axis=0), "low": low, "high": high}
    return battery.assign(**table, differs=(low > 0) | (high < 0))
