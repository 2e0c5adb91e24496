"""Scores of predictions by group of items or by condition."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.options import whole
from ...evaluations.steps import Rows
from ...evaluations.tables import need_columns
from . import scoring_rules as scoring

COLUMNS = ("trials", "success", "forecast", "gap", "gap_se", "brier", "ece", "auroc")


def scores_by(
    predictions: pd.DataFrame,
    methods: Sequence[str],
    where: str | pd.Series | pd.DataFrame | None,
    bins: int,
) -> pd.DataFrame:
    """Score predictions in groups, over all subjects; see `CrossValidation.by`.

    Raises
    ------
    DataError
        When there is no prediction, or an item has no group.

    Examples
    --------
    >>> rows = {"repeat": 0, "subject": "Ann", "item": ["a", "b"], "method": "m",
    ...         "probability": [0.5, 0.9], "successes": [0, 1], "trials": 1}
    >>> scores_by(pd.DataFrame(rows), ["m"], None, 5)[["success", "forecast", "gap"]].round(2)
                success  forecast  gap
    group method
          m         0.5       0.7  0.2
    """
    bins = whole("bins", bins, 1)
    if predictions.empty:
        raise DataError("there are no predictions to score; run cross_validate")
    known = predictions[predictions["trials"] > 0]
    groups, order = _groups(known, where, bins)
    known = known.assign(group=groups)
    found = {
        (group, method): _scored(known[(known["group"] == group) & (known["method"] == method)])
        for group in order
        for method in methods
    }
    index = pd.MultiIndex.from_tuples(list(found), names=["group", "method"])
    return pd.DataFrame(list(found.values()), index, list(COLUMNS))


def _groups(
    known: pd.DataFrame, where: str | pd.Series | pd.DataFrame | None, bins: int
) -> tuple[np.ndarray, list[object]]:
    """Return the group of each prediction, and the groups in order."""
    if where is None:
        return np.full(len(known), "", dtype=object), [""]
    values = _values(known, where)
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.isna().any():
        if values.isna().any():
            missing = known["item"].to_numpy()[values.isna().to_numpy()]
            raise DataError(
                f"by: {some(pd.unique(missing))} has no group; give a value for each held-out item"
            )
        names = values.map(str)
        return names.to_numpy(dtype=object), list(pd.unique(names))
    distinct = np.unique(numbers)
    if len(distinct) <= bins:
        return values.to_numpy(dtype=object), sorted(values.unique())
    cut = pd.qcut(numbers, bins, duplicates="drop")
    return cut.astype(object).to_numpy(), list(cut.cat.categories)


def _values(known: pd.DataFrame, where: str | pd.Series | pd.DataFrame) -> pd.Series:
    """Return the value of each prediction by which groups are formed."""
    rows = known["item"]
    items = Rows.read(rows).item if "steps" in known else rows.to_numpy()
    if isinstance(where, str):
        remedy = "give one of these, or a Series by item"
        need_columns(known.columns, [where], f"by({where!r}): predictions have", remedy)
        return known[where].reset_index(drop=True)
    if isinstance(where, pd.Series):
        return pd.Series(where.rename(index=str).reindex(items).to_numpy())
    table = where.rename(index=str, columns=str)
    row = table.index.get_indexer(pd.Index(known["subject"]))
    column = table.columns.get_indexer(pd.Index(items))
    found = table.to_numpy(dtype=object)[row, column]
    found[(row < 0) | (column < 0)] = None
    return pd.Series(found)


def _scored(cells: pd.DataFrame) -> list[float]:
    """Compute the scores of one method in one group; NaN if a prediction is missing."""
    chances, won, tried = (
        cells[name].to_numpy(dtype=float) for name in ("probability", "successes", "trials")
    )
    steps = cells["steps"].to_numpy(dtype=int) if "steps" in cells else np.ones(1, dtype=int)
    # attempts have equal weights, whatever their number of steps
    most = np.lcm.reduce(steps)
    won, tried = won * (most // steps), tried * (most // steps)
    if np.isnan(chances).any():
        return [tried.sum() / most, won.sum() / tried.sum(), *[np.nan] * 6]
    residual = chances - won / tried
    gap = np.average(residual, weights=tried)
    sums = pd.Series(tried * (residual - gap)).groupby(cells["item"].to_numpy()).sum()
    count = len(sums)
    error = np.sqrt(count / (count - 1) * (sums**2).sum()) / tried.sum() if count > 1 else np.nan
    areas = []
    for place in cells.groupby("subject", sort=False).indices.values():
        own = chances[place], won[place], tried[place]
        areas.append(np.nan if np.ptp(own[0]) == 0 else scoring.auroc(*own))
    return [
        tried.sum() / most,
        won.sum() / tried.sum(),
        np.average(chances, weights=tried),
        gap,
        float(error),
        scoring.brier(chances, won, tried),
        scoring.expected_calibration_error(chances, won, tried),
        float(np.nanmean(areas)) if np.isfinite(areas).any() else np.nan,
    ]
