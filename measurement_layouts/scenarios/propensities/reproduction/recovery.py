"""Errors of estimators for subjects whose propensity is known."""

import time
from typing import Literal

import pandas as pd

from ....estimation.collapse import collapse_peak, point_collapse
from ....estimation.estimate import estimate
from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
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
    subjects, rows = pd.DataFrame({"truth": truth}), {}
    for method in ("likelihood", "grid", "nuts"):
        start = time.perf_counter()
        table = estimates_by(method, cohort.evaluation)
        seconds = time.perf_counter() - start
        if method != "likelihood":  # an unidentified subject has a posterior as wide as the prior
            table["identified"] = subjects["identified (likelihood)"]
        subjects = subjects.join(table.add_suffix(f" ({method})"))
        rows[method] = {**summary(table, truth), "seconds": seconds}
    return subjects, pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def estimates_by(method: Literal["likelihood", "grid", "nuts"], cohort: Evaluation) -> pd.DataFrame:
    """Estimate subjects; ``estimate``, ``low`` and ``high`` by subject, and ``identified``."""
    columns = ["estimate", "low", "high"]
    if method == "likelihood":
        maxima = estimate(published_layout(), cohort, prob=_PROB).table.set_index("subject")
        return maxima[[*columns, "identified"]]
    sampled = fit(published_layout(), cohort, method=method, seed=1, progressbar=False)
    profiles = sampled.profiles(prob=_PROB).set_index("subject")
    return profiles.rename(columns={"mean": "estimate"})[columns]


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
    support = layout.latents[0].range
    rows = []
    for repeat in range(_REPEATS):
        evaluation = windows(1 + repeat)
        (maximum,) = estimate(layout, evaluation).table["estimate"]
        ends = evaluation.items["lower"], evaluation.items["upper"]
        plateaus = point_collapse(*ends, *evaluation.coded.counts(0))
        peak = collapse_peak(plateaus, low=support.low, high=support.high)
        rows.append({"likelihood": maximum, "collapse": (peak["low"] + peak["high"]) / 2})
    return pd.DataFrame(rows)
