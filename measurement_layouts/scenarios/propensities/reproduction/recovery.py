"""Errors of estimators for subjects whose propensity is known."""

import time

import pandas as pd

from ....estimation.collapse import collapsed
from ....estimation.estimate import estimate
from ....inference.sampling.engine import Battery
from ..cohort import FURTHEST, simulated_cohort, windows
from ..layouts import published_layout

_REPEATS = 6
_PROB = 0.9


def recovery() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Simulate all 384 subjects and estimate them.

    Returns
    -------
    subjects : DataFrame
        Indexed by subject: ``truth``, and by method ``estimate``, ``low``, ``high``,
        ``identified``.
    methods : DataFrame
        Indexed by method: ``identified`` subjects, ``coverage`` of their 90 % intervals, ``bias``,
        ``rmse`` and ``seconds`` for all.
    """
    cohort = simulated_cohort()
    truth = cohort.profiles["propensity"]
    found, rows = {"truth": truth}, {}
    for method in ("likelihood", "grid", "nuts"):
        start = time.perf_counter()
        estimates = estimate(
            published_layout(),
            cohort.evaluation,
            method=method,
            prob=_PROB,
            seed=1,
            progressbar=False,
        )
        seconds = time.perf_counter() - start
        table = estimates.table.set_index("subject")
        for column in ("estimate", "low", "high", "identified"):
            found[f"{column} ({method})"] = table[column]
        rows[method] = {**summary(table, truth), "seconds": seconds}
    return pd.DataFrame(found), pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def summary(table: pd.DataFrame, truth: pd.Series) -> dict[str, float]:
    """Compare estimates with the truth, over the identified subjects."""
    known = table[table["identified"]]
    error = known["estimate"] - truth[known.index]
    inside = (known["low"] <= truth[known.index]) & (truth[known.index] <= known["high"])
    return {
        "identified": len(known),
        "coverage": float(inside.mean()),
        "bias": float(error.mean()),
        "rmse": float((error**2).mean() ** 0.5),
    }


def figure_6() -> pd.DataFrame:
    """Estimate the subject of six such experiments.

    Returns
    -------
    DataFrame
        One row per experiment: the estimates by ``likelihood`` and by ``collapse``.

    References
    ----------
    Propensities paper, Figure 6, with -1.514 and -1.091 in one experiment.
    """
    layout = published_layout(FURTHEST)
    rows = []
    for repeat in range(_REPEATS):
        evaluation = windows(1 + repeat)
        maximum = estimate(layout, evaluation, method="likelihood", progressbar=False)
        (collapse,) = collapsed(layout, Battery.of(layout, evaluation), evaluation)
        rows.append({"likelihood": maximum.table["estimate"].iloc[0], "collapse": collapse})
    return pd.DataFrame(rows)
