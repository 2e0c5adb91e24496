"""WeirdML: time horizons of 87 language models on 17 machine-learning tasks."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ..figures import Figure, Reproduction
from ..scenario import Case, Cohort, Scenario
from .data import (
    CALIBRATION,
    SINCE,
    TASKS,
    THRESHOLDS,
    calibrated,
    conditional_counts,
    dated,
    load,
    published_horizons,
    released,
    with_nesting,
    with_tasks,
)
from .layouts import (
    nested_layout,
    population_layout,
    published_layout,
    reached,
    recommended_layout,
    trend_layout,
)

SUBJECTS, RUNS = 24, 5
SLOPE, SPREAD = 1.6, 1.5
MONTHS = 5.0  # doubling time of horizons, in months
_FIRST, _LAST = "2023-07-01", "2026-01-01"
_START = -1.5  # first horizon, in doublings of an hour
_SHARE = 0.25  # share of simulations for layouts with a latent for each task


def battery(seed: int = 1) -> pd.DataFrame:
    """Simulate hours for five thresholds of each task, which rise like those of the real tasks.

    Only the names of the tasks are real.

    Returns
    -------
    DataFrame
        Items with the columns of the real battery.

    Examples
    --------
    >>> items = battery()
    >>> len(items), round(float(items["hours"].median()))
    (85, 21)
    """
    rng = np.random.default_rng(seed)
    start = rng.normal(1.2, 0.6, (len(TASKS), 1))
    rises = rng.uniform(0.7, 2.3, (len(TASKS), len(THRESHOLDS) - 1))
    hours = np.cumsum(np.hstack([start, rises]), axis=1).ravel()
    index = pd.MultiIndex.from_product([TASKS, THRESHOLDS], names=["task", "threshold"])
    items = index.to_frame(index=False).assign(hours=np.exp2(hours), logHours=hours, estimators=4)
    items.index = pd.Index([f"item-{number:02d}" for number in range(1, len(items) + 1)])
    return with_nesting(with_tasks(items))


def release_dates() -> pd.Series:
    """Return the dates of release of the simulated models, at equal distances."""
    dates = pd.date_range(_FIRST, _LAST, periods=SUBJECTS).normalize()
    return pd.Series(dates, _subjects(), name="released")


def true_profiles(seed: int = 1) -> pd.DataFrame:
    """Draw models, every second of which leads with a horizon that doubles in five months.

    Parameters
    ----------
    seed : int
        Seed of the lags of other models, and of the ease of tasks for each model.

    Returns
    -------
    DataFrame
        One row per model: ``horizon``, ``slope``, ``taskSpread`` and ``ease`` of each task.
    """
    rng = np.random.default_rng([seed, 1])
    dates = release_dates()
    months = (dates - dates.iloc[0]).dt.days.to_numpy() * 12 / 365.25
    lag = rng.uniform(0.5, 3, SUBJECTS) * (np.arange(SUBJECTS) % 2 == 0)
    table = pd.DataFrame(
        {"horizon": _START + months / MONTHS - lag, "slope": SLOPE, "taskSpread": SPREAD},
        dates.index,
    )
    names = [f"ease[{task}]" for task in TASKS]
    ease = pd.DataFrame(rng.normal(size=(SUBJECTS, len(TASKS))), dates.index, names)
    return pd.concat([table, ease], axis=1)


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate five runs of each model on each task.

    The result of a run is one draw, and it reaches all thresholds up to this result. Counts of a
    task's thresholds are therefore nested, like the real ones.

    Parameters
    ----------
    seed : int
        Seed of battery, profiles and runs.

    Returns
    -------
    Cohort
        Outcomes and true profiles.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 24 subjects, 85 items, 10200 trials, properties task, threshold, ...>
    """
    items, profiles = battery(seed), true_profiles(seed)
    reached = runs(items, profiles, np.random.default_rng([seed, 2]))
    return Cohort(Evaluation(items, reached, reached * 0 + RUNS), profiles)


def runs(items: pd.DataFrame, profiles: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Count the runs, of five, that reached each threshold, shape (subjects, items)."""
    ease = profiles[[f"ease[{task}]" for task in TASKS]].to_numpy()
    usual = profiles["horizon"].to_numpy()[:, None] + profiles[["taskSpread"]].to_numpy() * ease
    luck = rng.logistic(size=(*usual.shape, RUNS)) / profiles["slope"].to_numpy()[:, None, None]
    far = (usual[:, :, None] + luck)[:, items["task"].map(TASKS.index)]
    counts = (far > items["logHours"].to_numpy()[:, None]).sum(axis=2)
    return pd.DataFrame(counts, profiles.index, items.index)


def _nested() -> dict[str, Case]:
    """Return the case of conditional counts."""
    conditional = conditional_counts(simulated_cohort(1).evaluation)
    return {"nested layout": Case(nested_layout(), conditional.items, _SHARE)}


def _subjects() -> pd.Index:
    return pd.Index([f"sim-{number:02d}" for number in range(1, SUBJECTS + 1)], name="subject")


SCENARIO = Scenario(
    name="weirdml",
    title="WeirdML: time horizons of 87 language models on 17 machine-learning tasks",
    source="Ihle (2026), WeirdML time horizons",
    layouts={"published layout": published_layout, "recommended layout": recommended_layout},
    load=load,
    simulate=simulated_cohort,
    columns=("logHours",),
    shares={"recommended layout": _SHARE},
    cases=_nested,
    population=population_layout,
)


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare the horizons of ten models with the published ones."""
    from ...estimation.horizons import horizon_trend, time_horizons
    from ...inference.fitting import fit

    theirs = published_horizons(data)
    ten = scenario.load(data).select(subjects=theirs.index)
    counts = (ten.trials * ten.items["estimators"]).sum(axis=1)
    plain = fit(published_layout(), ten, method="grid", seed=1, progressbar=False)
    by_task = fit(recommended_layout(), ten, seed=1, progressbar=False)
    ours = time_horizons(by_task, released(data), prob=0.95)
    table = theirs[["hours", "low", "high"]].add_prefix("published ")
    for name, horizons in (("one ability", time_horizons(plain, prob=0.95)), ("by task", ours)):
        table[name] = horizons["hours"].loc[theirs.index]
    inside = table["one ability"].between(theirs["low"], theirs["high"])
    factor = np.exp(np.abs(np.log(table["by task"] / theirs["hours"])).max())
    months = horizon_trend(ours).months
    different = int(counts.ne(theirs["points"]).sum())
    return Reproduction(
        [
            Figure("models with other counts than published", different, "==", 0, published=0),
            Figure(
                "published layout: horizons in the published interval",
                int(inside.sum()),
                ">=",
                10,
            ),
            Figure(
                "recommended layout: largest factor to the published", float(factor), "<=", 1.25
            ),
            Figure("months in which horizons double, from 5", abs(float(months) - 5), "<=", 1),
        ],
        {"horizons in hours": table},
    )


__all__ = [
    "CALIBRATION",
    "SCENARIO",
    "SINCE",
    "TASKS",
    "battery",
    "calibrated",
    "conditional_counts",
    "dated",
    "load",
    "nested_layout",
    "population_layout",
    "published_horizons",
    "published_layout",
    "reached",
    "recommended_layout",
    "release_dates",
    "released",
    "simulated_cohort",
    "trend_layout",
    "true_profiles",
    "with_nesting",
    "with_tasks",
]
