"""Published figures of the propensities study, on real and on simulated subjects."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...estimation.collapse import collapse_peak, point_collapse
from ...estimation.estimate import Estimates, estimate
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.sampling.convergence import NOT_SEARCHED, RHAT_LIMIT
from ...validation.prediction.cross_validate import Method, cross_validate
from ...validation.prediction.layouts import FittedLayout
from ..figures import Figure, Reproduction
from ..files import published_table
from ..scenario import Scenario
from . import FIGURE_6, FURTHEST, obtained, released, simulated_cohort, windows
from .layouts import LAYOUTS, PUBLISHED, RECOMMENDED, published_layout

TABLE = "propensities_tables2_3.csv"
_REPEATS, _WINDOWS = 15, 6
_FAR = 4.6  # Monte Carlo errors; of 368 statistics at most one lies farther, with 99.9 %
_COLLAPSE = -1.091  # published peak of the point collapse
_NORMAL_95 = 1.959963984540054


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Compare estimates, draws, forecasts and recovery with the released and true values."""
    evaluation, table = scenario.load(data), released(data)
    check_obtained(published)
    layout = published_layout()
    real = against_released(estimate(layout, evaluation, prob=0.95), table)
    silent = evaluation.success_rates().eq(0)
    chosen = evaluation.select(subjects=list(real.index[real["identified"]]))
    nuts, grid = (
        fit(layout, chosen, method=method, seed=1, progressbar=False) for method in ("nuts", "grid")
    )
    sampled = sampled_against_integrated(nuts, grid)
    methods: dict[str, Method] = {
        name: FittedLayout(make(), method="grid") for name, make in LAYOUTS.items()
    }
    methods["aggregate"] = "aggregate"
    scores = cross_validate(methods, evaluation, repeats=_REPEATS, seed=1, progressbar=False)
    conditions, recovered = by_condition(scores.scores), recovery()
    figures = [
        *_released_figures(real, list(silent.index[silent])),
        *_sampling_figures(sampled),
        *_score_figures(conditions),
        *_recovery_figures(recovered),
        *_figure_6_figures(figure_6()),
    ]
    tables = {
        "released estimates and our maxima": real,
        "NUTS against the exact posterior": sampled,
        "held-out Brier scores by condition": conditions,
        "384 simulated subjects": recovered,
    }
    return Reproduction(figures, tables)


def check_obtained(folder: Path) -> None:
    """Check that the published tables have the values that the simulation takes as true."""
    keys = ["propensity", "model", "incited"]
    true = obtained().set_index(keys)[["obtained"]].sort_index()

    def checked(raw: pd.DataFrame) -> pd.DataFrame:
        level = pd.to_numeric(raw["incited_level"].replace("unprompted", None))
        table = raw.assign(incited=level).set_index(keys)[["obtained"]].sort_index()
        if not table.equals(true):
            raise ValueError("other values than Tables 2 and 3")
        return table

    published_table(folder, TABLE, checked)


def against_released(estimates: Estimates, released: pd.DataFrame) -> pd.DataFrame:
    """Compare log-likelihoods, maxima and intervals with the released ones, by subject."""
    ours, table = estimates.table.set_index("subject"), released.copy()
    for name, value in released["obtained"].items():
        curve = estimates.curves[str(name)]
        table.loc[name, ["there", "at_origin"]] = curve(np.array([value, 0.0]))
    highest = estimates.modes.groupby("subject")["log_likelihood"].max()
    table["gain"] = highest - table["log_likelihood"]
    table["released_half"] = (table["high"] - table["low"]) / 2
    table["our_half"] = _NORMAL_95 * ours["se"]
    return table.join(ours[["estimate", "identified", "reason"]])


def sampled_against_integrated(nuts: Fit, grid: Fit) -> pd.DataFrame:
    """Compare the mean and three quantiles with the exact ones, in Monte Carlo errors."""
    from arviz_stats.base import array_stats

    rows = {}
    for subject, rhat, reason in nuts.diagnostics()[["rhat", "reason"]].itertuples():
        draws, exact = (
            fitted.posterior["propensity"].sel(subject=subject).to_numpy()
            for fitted in (nuts, grid)
        )
        distances = [abs(draws.mean() - exact.mean()) / array_stats.mcse(draws, method="mean")]
        for prob in (0.05, 0.5, 0.95):
            error = array_stats.mcse(draws, method="quantile", prob=prob)
            distances.append(abs(np.quantile(draws, prob) - np.quantile(exact, prob)) / error)
        separate = "chains stay" in reason or NOT_SEARCHED in reason
        flagged = rhat > RHAT_LIMIT or NOT_SEARCHED in reason
        rows[subject] = (max(distances), flagged, separate, reason)
    columns = ["z", "flagged", "separate modes", "reason"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.loc[nuts.subjects].rename_axis("subject")


def by_condition(scores: pd.DataFrame) -> pd.DataFrame:
    """Average Brier scores by incited level, with the error of the difference to the aggregate."""
    condition = scores["subject"].str.rsplit(" ", n=1).str[1]
    keys = ["condition", "repeat"]
    means = scores.assign(condition=condition).pivot_table("brier", keys, "method", sort=False)
    difference = (means[RECOMMENDED] - means["aggregate"]).groupby("condition").sem()
    return means.groupby("condition", sort=False).mean().assign(se=difference)


def recovery() -> pd.DataFrame:
    """Estimate the 384 simulated propensities by three methods: coverage and bias."""
    cohort = simulated_cohort()
    maxima = estimate(published_layout(), cohort.evaluation, prob=0.9).table.set_index("subject")
    rows = {"likelihood": summary(maxima, cohort.profiles["propensity"])}
    options: dict[str, Any] = {"seed": 1, "progressbar": False}
    for method in ("grid", "nuts"):
        fitted = fit(published_layout(), cohort.evaluation, method=method, **options)
        table = fitted.profiles(prob=0.9).set_index("subject").rename(columns={"mean": "estimate"})
        table["identified"] = maxima["identified"]
        rows[method] = summary(table, cohort.profiles["propensity"])
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("method")


def summary(table: pd.DataFrame, truth: "pd.Series[float]") -> dict[str, float]:
    """Compute the coverage, bias and error of the estimates of identified subjects.

    Parameters
    ----------
    table : DataFrame
        Indexed by subject: ``estimate``, ``low``, ``high`` and ``identified``.
    truth : Series
        True propensities.

    Returns
    -------
    dict of str to float
        ``identified`` (their number), ``coverage``, ``bias`` and ``rmse``.
    """
    table = table[table["identified"]]
    true = truth[table.index]
    error = table["estimate"] - true
    return {
        "identified": len(table),
        "coverage": float(true.between(table["low"], table["high"]).mean()),
        "bias": float(error.mean()),
        "rmse": float((error**2).mean() ** 0.5),
    }


def figure_6() -> pd.DataFrame:
    """Estimate the propensity of Figure 6 by likelihood and by point collapse, several times."""
    layout = published_layout(FURTHEST)
    support = layout.latents[0].range
    rows = []
    for repeat in range(_WINDOWS):
        evaluation = windows(1 + repeat)
        (maximum,) = estimate(layout, evaluation).table["estimate"]
        ends = evaluation.items["lower"], evaluation.items["upper"]
        plateaus = point_collapse(*ends, *evaluation.coded.counts(0))
        peak = collapse_peak(plateaus, low=support.low, high=support.high)
        rows.append({"likelihood": maximum, "collapse": (peak["low"] + peak["high"]) / 2})
    return pd.DataFrame(rows)


def _released_figures(real: pd.DataFrame, silent: list[str]) -> list[Figure]:
    """Compare with the released log-likelihoods, optima and intervals."""
    halves = real[(real["gain"] < 0.01) & real["identified"]]
    ratio = (halves["released_half"] / halves["our_half"]).dropna()
    there, origin = (
        float((real[ours] - real[theirs]).abs().max())
        for ours, theirs in (("there", "log_likelihood"), ("at_origin", "at_zero"))
    )
    name, gain = "largest difference to the released log-likelihood", real["gain"]
    better = "subjects with a maximum better by more than 0.01 nats"
    widths = f"released half-widths of 95 % intervals over ours, median of {len(ratio)} global "
    widths += "optima: distance from 1"
    never = f"subjects without any success that still have an estimate ({', '.join(silent)})"
    estimated = int(real.loc[silent, "identified"].sum())
    return [
        Figure(f"{name} at the released estimate, 96 subjects", there, "<=", 1e-5),
        Figure(f"{name} at 0, 96 subjects", origin, "<=", 1e-5),
        Figure("smallest gain over the released maximum", float(gain.min()), ">=", -1e-6),
        Figure(better, int((gain > 0.01).sum()), ">=", 45, published=0),
        Figure(widths, abs(float(ratio.median()) - 1), "<=", 0.1),
        Figure(never, estimated, "==", 0, published=len(silent)),
    ]


def _sampling_figures(sampled: pd.DataFrame) -> list[Figure]:
    """Count the subjects whose draws are not those of the exact posterior."""
    far, flagged, separate = sampled["z"] > _FAR, sampled["flagged"], sampled["separate modes"]
    goal = f"mean and 5, 50, 95 % quantiles within {_FAR} Monte Carlo errors, or modes apart"
    name = "subjects whose NUTS draws differ from the exact posterior and"
    counts = f"flagged ({flagged.sum()} are), but not for modes apart ({separate.sum()} are)"
    return [
        Figure(f"{name} not flagged", int((far & ~flagged).sum()), "==", 0, goal),
        Figure(f"{name} {counts}", int((far & flagged & ~separate).sum()), "==", 0, goal),
    ]


def _score_figures(conditions: pd.DataFrame) -> list[Figure]:
    """Compare held-out Brier scores with those of the aggregate."""
    ours, rival = conditions[RECOMMENDED], conditions["aggregate"]
    beside = f"aggregate {rival.mean():.3f}, {PUBLISHED} {conditions[PUBLISHED].mean():.3f}"
    name = f"held-out Brier, {RECOMMENDED} ({beside})"
    figures = [Figure(name, float(ours.mean()), "<", float(rival.mean()), "below the aggregate")]
    goal = "above the aggregate by two standard errors at most"
    for condition in map(str, conditions.index):
        limit = rival[condition] + 2 * conditions["se"][condition]
        name = f"held-out Brier at {condition}, {RECOMMENDED} (aggregate {rival[condition]:.3f})"
        figures.append(Figure(name, float(ours[condition]), "<=", float(limit), goal))
    return figures


def _recovery_figures(methods: pd.DataFrame) -> list[Figure]:
    """Judge coverage and bias on simulated subjects."""
    figures = []
    for method, row in methods.iterrows():
        name = f"{method}, {row['identified']:.0f} of 384 simulated subjects"
        coverage = f"coverage of 90 % intervals, distance from 0.9: {name}"
        figures.append(Figure(coverage, abs(float(row["coverage"]) - 0.9), "<=", 0.04))
        figures.append(Figure(f"absolute bias: {name}", abs(float(row["bias"])), "<=", 0.02))
    return figures


def _figure_6_figures(repeats: pd.DataFrame) -> list[Figure]:
    """Compare the two estimates of Figure 6 with the truth and with the published one."""
    likelihood, collapse = repeats["likelihood"], float(repeats["collapse"].mean())
    name = "Figure 6: mean maximum-likelihood estimate of -1.5, distance to the truth"
    error = abs(float(likelihood.mean()) - FIGURE_6)
    limit = 4 * float(likelihood.std()) / int(likelihood.count()) ** 0.5
    figure = Figure(name, error, "<=", limit, "within 4 standard errors", published=0.014)
    name = f"Figure 6: mean point collapse {collapse:.2f}, distance from {_COLLAPSE}"
    return [figure, Figure(name, abs(collapse - _COLLAPSE), "<=", 0.1, published=0)]
