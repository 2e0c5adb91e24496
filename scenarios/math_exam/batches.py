"""What the rewritten items did to the two batches of students."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...inference.fit import Fit
from .data import items
from .layouts import batches_layout


def batch_differences(fit: Fit, prob: float = 0.9) -> pd.DataFrame:
    r"""Say how much easier each item was for the second batch, beside the unchanged items.

    .. math:: D_i = d_{2i} - d_{1i} - \operatorname{mean}_{k \in U} (d_{2k} - d_{1k})

    with U the items that have the same wording in both batches: by them the batches are compared,
    so that their differences have the mean 0.

    Parameters
    ----------
    fit : Fit
        Of `batches_layout`.
    prob : float
        Mass of the equal-tailed intervals, all items together: each has the mass
        ``1 - (1 - prob) / 13`` (Bonferroni), since an item in ten would be flagged otherwise where
        nothing differs.

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
            f"the fit is of the layout {fit.layout.name}, and only items that may favour a batch "
            "have differences; fit math_exam.batches_layout()"
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
