"""An embedded battery and models with known horizons, made by our own simulator."""

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ..scenario import Case, Cohort, Scenario, calibration_cases
from .data import TASKS, THRESHOLDS, with_nesting, with_tasks
from .layouts import nested_layout
from .nesting import conditional_counts

SUBJECTS, RUNS = 24, 5
SLOPE, SPREAD = 1.6, 1.5
MONTHS = 5.0  # in which horizons double
_FIRST, _LAST = "2023-07-01", "2026-01-01"
_START = -1.5  # doublings of an hour
_SHARE = 0.25  # of simulations, for layouts with a latent for each task


def battery(seed: int = 1) -> pd.DataFrame:
    """Make up hours for five thresholds of each task, rising as those of the real ones do.

    The tasks bear the real ones' names, and nothing else of theirs.

    Returns
    -------
    DataFrame
        The columns of the real battery.

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
    places = pd.MultiIndex.from_product([TASKS, THRESHOLDS], names=["task", "threshold"])
    items = places.to_frame(index=False).assign(hours=np.exp2(hours), logHours=hours, estimators=4)
    items.index = pd.Index([f"item-{number:02d}" for number in range(1, len(items) + 1)])
    return with_nesting(with_tasks(items))


def release_dates() -> pd.Series:
    """Return when the simulated models came out: at even steps."""
    dates = pd.date_range(_FIRST, _LAST, periods=SUBJECTS).normalize()
    return pd.Series(dates, _subjects(), name="released")


def true_profiles(seed: int = 1) -> pd.DataFrame:
    """Draw models: every second leads, horizons of leaders double in five months, others lag.

    Parameters
    ----------
    seed : int
        Seed of lags, and of which tasks are easy to whom.

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

    How far a run gets is one draw: it reaches all thresholds up to there. So counts of one task's
    thresholds are nested, as the real ones are.

    Parameters
    ----------
    seed : int
        Seed of battery, profiles and runs.

    Returns
    -------
    Cohort
        Outcomes and the profiles behind them.

    Examples
    --------
    >>> simulated_cohort().evaluation
    <Evaluation: 24 subjects, 85 items, 10200 trials, properties task, threshold, ...>
    """
    items, profiles = battery(seed), true_profiles(seed)
    reached = runs(items, profiles, np.random.default_rng([seed, 2]))
    return Cohort(Evaluation(items, reached, reached * 0 + RUNS), profiles)


def runs(items: pd.DataFrame, profiles: pd.DataFrame, rng: np.random.Generator) -> pd.DataFrame:
    """Count how many of five runs reached each threshold: subjects by items."""
    ease = profiles[[f"ease[{task}]" for task in TASKS]].to_numpy()
    usual = profiles["horizon"].to_numpy()[:, None] + profiles[["taskSpread"]].to_numpy() * ease
    luck = rng.logistic(size=(*usual.shape, RUNS)) / profiles["slope"].to_numpy()[:, None, None]
    far = (usual[:, :, None] + luck)[:, items["task"].map(TASKS.index)]
    counts = (far > items["logHours"].to_numpy()[:, None]).sum(axis=2)
    return pd.DataFrame(counts, profiles.index, items.index)


def with_nested(scenario: Scenario) -> dict[str, Case]:
    """Take every layout, and that for runs which reached the threshold below."""
    conditional = conditional_counts(scenario.simulate(1).evaluation)
    nested = Case(nested_layout(), conditional.items, _SHARE)
    return calibration_cases(scenario, shares={scenario.recommended: _SHARE}) | {
        "nested layout": nested
    }


def _subjects() -> pd.Index:
    return pd.Index([f"sim-{number:02d}" for number in range(1, SUBJECTS + 1)], name="subject")
