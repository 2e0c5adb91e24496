"""WeirdML: time horizons of 87 language models on 17 machine-learning tasks."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..layouts import (
    Bias,
    Capability,
    Category,
    Derived,
    Effect,
    Layout,
    MetaFeature,
    Prior,
    Slope,
    Spread,
    Success,
)
from ..linking import arrays, linking_function, logistic, total
from ..linking.arrays import Array
from ..linking.expression import Expr
from .figures import Figure, Reproduction
from .files import Files
from .pooling import normal, pooled
from .scenario import Case, Cohort, Scenario

THRESHOLDS = (0.25, 0.5, 0.7, 0.9, 0.95)
TASKS = (
    *("blunders_easy", "blunders_hard", "chess_winners", "classify_sentences"),
    *("classify_shuffled", "digits_generalize", "digits_unsup", "insert_patches"),
    *("kolmo_shuffle", "number_patterns", "shapes_easy", "shapes_hard", "shapes_variable"),
    *("splash_easy", "splash_hard", "xor_easy", "xor_hard"),
)
DOUBLING = "doubling"  # doubling of an hour
_AT_EVEN_ODDS = "human hours at even odds, in doublings of one"
_LOWEST, _HIGHEST = -12, 16  # about a second, and thirty years of work
_USUAL = Prior("Normal", mu=1, sigma=4)  # two hours; 90 % of the mass is from 1 minute to 200 hours


def published_layout() -> Layout:
    r"""Return the layout behind the published horizons.

    .. math:: P = \sigma(a (\theta - h))

    with h the human hours and :math:`\theta` the horizon, both in doublings of an hour: at
    :math:`2^\theta` hours success has a probability of one half. Outcomes are assumed to be
    independent.

    Examples
    --------
    >>> print(published_layout())
    time-horizon
      reached = logistic(horizon − logHours, slope)
    """
    horizon, hours = _horizon(), _hours()
    half = Prior("HalfNormal", sigma=2)
    slope = Slope("slope", prior=half, about="per doubling of the hours")
    return Layout("time-horizon", Success("reached", logistic(horizon - hours, slope)))


def recommended_layout(tasks: Sequence[str] = TASKS) -> Layout:
    r"""Return our layout, in which tasks of the same hours differ in difficulty.

    .. math:: P = \sigma(a (\theta + \tau z_j - h)), \qquad z_j \sim N(0, 1)

    for task j. The spread :math:`\tau` of tasks is inferred for each subject. The horizon then
    refers to a new task, at a success probability of one half. Thresholds of a task are not assumed
    to be independent, since they share :math:`z_j`. Each subject is fitted separately;
    `population_layout` fits all together, and its notes compare the two.

    Parameters
    ----------
    tasks : sequence of str
        Names of tasks, as in the columns ``isTask[name]``.

    Notes
    -----
    A cost of the threshold beyond its hours was tried for new tasks, with each of the 17 tasks held
    out in turn and the form chosen on the others. The Brier score is then 0.101 instead of 0.103,
    with a standard error of 0.003, and the AUROC 0.891 instead of 0.878, but the calibration error
    of all forecasts together is 0.020 instead of 0.008.

    Examples
    --------
    >>> print(recommended_layout())
    time-horizon-by-task
      effectiveHorizon = horizon + taskSpread × total(ease × isTask, over=task)
      reached = logistic(effectiveHorizon − logHours, slope)
    """
    reach = _effective(tasks)
    outcome = Success("reached", logistic(reach - _hours(), _slope()))
    return Layout("time-horizon-by-task", outcome)


def population_layout() -> Layout:
    r"""Return the layout of a population of models, with an ease of each task beyond its hours.

    .. math:: P = \sigma(a (\theta_s + e_i + u_{st} - h_i)), \quad
        e_i \sim \mathrm{Normal}(b_t, \tau_e), \quad u_{st} \sim \mathrm{Normal}(0, \tau_u)

    for model s and threshold i of task t. A task's ease :math:`b_t` is the same for all models, and
    eases of all tasks sum to zero; thresholds vary about the ease of their task; and each model has
    an individual effect on each task, :math:`u_{st}`, which all thresholds of the task share. All
    are in doublings.

    Notes
    -----
    Outcomes are the counts of `recommended_layout`: runs that reached each threshold, out of all. A
    run counts at every threshold below the one that it reached; the dependence that this causes is
    included in :math:`u_{st}`.

    *Use this layout* to forecast cells of a table of models and tasks, and for models that have
    tried few tasks: the Brier score of held-out cells is 0.058, compared with 0.076 for the
    recommended layout. *Do not use it* for the published horizons, in which difficulty depends only
    on hours, or for new tasks, whose ease is unknown: the Brier score of held-out tasks is 0.139,
    compared with 0.118, and worse in both splits.

    Examples
    --------
    >>> print(population_layout())
    time-horizon-population
      effectiveHorizon = horizon + ease + own
      reached = logistic(effectiveHorizon − logHours, slope)
    """
    task = Category("task")
    of_tasks = Prior("ZeroSumNormal", sigma=_spread("taskSpread", 2))
    of_task = Effect("taskEase", unit=DOUBLING, per=task, prior=of_tasks)
    of_item = normal(of_task, _spread("easeSpread", 1))
    ease = Effect("ease", unit=DOUBLING, per="item", prior=of_item)
    of_cell = normal(0, _spread("ownSpread", 2))
    of_subject = Effect("own", unit=DOUBLING, per=("subject", task), prior=of_cell)
    horizon = pooled("horizon", 1, 4, DOUBLING, _AT_EVEN_ODDS)
    reach = Derived("effectiveHorizon", horizon + ease + of_subject)
    outcome = Success("reached", logistic(reach - _hours(), _slope()))
    return Layout("time-horizon-population", outcome)


def nested_layout(tasks: Sequence[str] = TASKS) -> Layout:
    r"""Return our layout for the counts of `conditional_counts`.

    .. math:: P(\mathrm{reached} \mid \mathrm{reached\ below}) = \frac{\sigma(a (\theta + \tau z_j -
        h))}{\sigma(a (\theta + \tau z_j - h + s))}

    where s is the ``step`` to the next lower threshold. The product over a task's thresholds is the
    likelihood of its runs, each of which counts once. For items with ``nested`` 0, forecasts refer
    to all runs, as in `recommended_layout`.

    Parameters
    ----------
    tasks : sequence of str
        Names of tasks, as in the columns ``isTask[name]``; if there are none, difficulty depends
        only on hours.

    Examples
    --------
    >>> [latent.name for latent in nested_layout(tasks=()).latents]
    ['horizon', 'slope']
    """
    slope, hours = _slope(), _hours()
    nested = MetaFeature("nested", levels=(0, 1), about="0: the lowest threshold of its task")
    step = MetaFeature(
        "step", low=0, high=10, unit=DOUBLING, given=nested, about="to the one below"
    )
    margin = Derived("margin", (_effective(tasks) if tasks else _horizon(_USUAL)) - hours)
    outcome = Success("reached", reached(margin, slope, nested, step))
    return Layout("time-horizon-nested", outcome)


@linking_function(range=(0, 1), same_unit=("margin", "step"))
def reached(margin: Array, slope: Array, nested: Array, step: Array) -> Array:
    r"""Compute the probability to reach a threshold given that the one below was reached.

    .. math:: \frac{\sigma(a m)}{\sigma(a (m + s))}, \quad \mathrm{or} \quad \sigma(a m)

    Parameters
    ----------
    margin : expression or array
        Capability minus demand of this threshold.
    slope : expression or array
        Slope, positive.
    nested : expression or array
        0 if there is no threshold below, otherwise 1.
    step : expression or array
        Demand of this threshold minus that of the threshold below; not negative.

    Returns
    -------
    expression or array
        Probability, in [0, 1].

    Examples
    --------
    Half of all runs reach the threshold, and three quarters the one below, so that the conditional
    probability is two thirds:

    >>> import math
    >>> round(float(reached(0.0, 1.0, 1.0, math.log(3))), 4)
    0.6667
    """
    here, below = arrays.softplus(-slope * margin), arrays.softplus(-slope * (margin + step))
    return arrays.exp(nested * below - here)


def _hours() -> MetaFeature:
    about = "human hours, in doublings of one"
    return MetaFeature("logHours", low=-10, high=14, unit=DOUBLING, about=about)


def _horizon(prior: Prior | None = None) -> Capability:
    anywhere = Prior("Uniform", lower=_LOWEST, upper=_HIGHEST)
    return Capability("horizon", unit=DOUBLING, prior=prior or anywhere, about=_AT_EVEN_ODDS)


def _slope() -> Slope:
    prior = Prior("LogNormal", mu=0, sigma=0.7)
    return Slope("slope", prior=prior, about="per doubling of the hours")


def _spread(name: str, scale: float) -> Spread:
    return Spread(name, unit=DOUBLING, prior=Prior("HalfNormal", sigma=scale))


def _effective(tasks: Sequence[str]) -> Expr:
    """Return the horizon for the item's task."""
    names = tuple(tasks)
    each = normal(0, 1)
    ease = Bias("ease", labels=names, dim="task", prior=each, about="of a task for its hours")
    is_task = MetaFeature("isTask", levels=(0, 1), labels=names, dim="task")
    prior = Prior("HalfNormal", sigma=2)
    spread = Slope("taskSpread", unit=DOUBLING, prior=prior, about="of tasks of equal hours")
    return Derived(
        "effectiveHorizon", _horizon(_USUAL) + spread * total(ease * is_task, over="task")
    )


_COUNTS = "counts_model_task_threshold.csv"
_ITEMS = "item_features_task_threshold.csv"
_HORIZONS = "reference_horizons_no_cal.csv"
FILES = Files("weirdml")
"""Tables made from github.com/htihle/weirdml-time-horizons at commit 965c7f1. That repository does
not contain these files, so that they cannot be downloaded from there."""


def load(folder: Path | None = None) -> Evaluation:
    """Read the numbers of runs of each model that reached each threshold of each task.

    Parameters
    ----------
    folder : Path, optional
        Folder of the four files, or a folder with them in its folder ``weirdml`` (default: the
        folder in the environment variable ``MEASUREMENT_LAYOUTS_DATA``).

    Returns
    -------
    Evaluation
        87 subjects and 85 items; trials are runs, and successes are runs that reached the
        threshold. Properties: ``task``; ``threshold`` of the accuracy; ``hours`` that people would
        need, as estimated by language models (geometric mean over ``estimators`` of them);
        ``logHours``, the same in doublings of an hour; ``isTask[blunders_easy]`` and so on, 1 for
        the item's task; ``nested``, 0 for a task's lowest threshold; and ``step``, the doublings
        from the hours of the threshold below.

    Raises
    ------
    DataError
        When a file does not exist, or is not the known one.

    References
    ----------
    Ihle (2026), WeirdML time horizons; the data have the MIT licence.
    """
    paths = FILES.find(folder)
    raw, counts = (pd.read_csv(paths[name]) for name in (_ITEMS, _COUNTS))
    names = raw["task"] + " " + raw["threshold"]
    items = raw[["task", "thr", "geomean_hours", "n_est"]].set_index(pd.Index(names, name="item"))
    items.columns = pd.Index(["task", "threshold", "hours", "estimators"])
    items.insert(3, "logHours", np.log2(items["hours"]))
    counts = counts.assign(item=counts["task"] + " " + counts["threshold"])
    successes, trials = (
        counts.pivot(index="model", columns="item", values=what)[items.index] for what in "kn"
    )
    return Evaluation(_marked(items), successes, trials)


def _marked(items: pd.DataFrame) -> pd.DataFrame:
    """Add the flags of tasks, and the distance of each threshold from the one below."""
    items = items.copy()
    for task in TASKS:
        items[f"isTask[{task}]"] = (items["task"] == task).astype("int64")
    step = items.sort_values("threshold").groupby("task")["logHours"].diff().reindex(items.index)
    return items.assign(nested=step.notna().astype("int64"), step=step)


def released(folder: Path | None = None) -> pd.Series:
    """Read the models' dates of release; the folder is that of `load`."""
    counts = pd.read_csv(FILES.find(folder)[_COUNTS], parse_dates=["release_date"])
    return counts.groupby("model")["release_date"].first().rename("released")


def published_horizons(folder: Path | None = None) -> pd.DataFrame:
    """Read the published horizons of ten models.

    Each horizon is the maximum of a logistic likelihood with one slope, in which every run,
    threshold and estimator of hours is a data point; intervals are from a bootstrap over tasks.

    Parameters
    ----------
    folder : Path, optional
        As in `load`.

    Returns
    -------
    DataFrame
        Indexed by model, in the order of release: ``released``; ``hours``, ``low``, ``high``
        (median, 2.5 and 97.5 %); ``points``, the number of data points.
    """
    path = FILES.find(folder)[_HORIZONS]
    table = pd.read_csv(path, index_col=0, parse_dates=["release_date"])
    names = {
        "release_date": "released",
        "x50_hours_q50": "hours",
        "x50_hours_q025": "low",
        "x50_hours_q975": "high",
        "n_data": "points",
    }
    chosen = table[list(names)].rename(columns=names).rename_axis("subject")
    return chosen.sort_values("released")


def conditional_counts(evaluation: Evaluation) -> Evaluation:
    """Compute conditional counts: the trials of a threshold are runs that reached the one below.

    A run that reached 50 % has also reached 25 %. If it is counted at every threshold, it looks
    like several independent runs, and intervals are too short. Here the trials of a threshold are
    the successes of the next lower one of the same task. The likelihood of these counts is that of
    the runs.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation whose trials are runs, and whose successes are runs that reached the item's
        threshold. The items have ``task`` and ``threshold``.

    Returns
    -------
    Evaluation
        The same items and successes, with fewer trials.

    Raises
    ------
    DataError
        When two items share task and threshold, thresholds of one task have different numbers of
        runs, or more runs reached a threshold than the one below.

    Examples
    --------
    >>> items = pd.DataFrame({"task": "xor", "threshold": [0.25, 0.5]}, ["low", "high"])
    >>> runs = pd.DataFrame({"low": [5], "high": [5]}, ["Ann"])
    >>> counts = Evaluation(items, pd.DataFrame({"low": [4], "high": [1]}, ["Ann"]), runs)
    >>> conditional_counts(counts).trials.loc["Ann"].tolist()
    [5, 4]
    """
    items, runs, reached = evaluation.items, evaluation.trials, evaluation.successes
    trials = runs.copy()
    for task, thresholds in items.sort_values("threshold").groupby("task"):
        names = thresholds.index
        alike = runs[names].eq(runs[names[0]], axis=0).all(axis=None)
        falling = not reached[names].diff(axis=1).gt(0).any(axis=None)
        if not (thresholds["threshold"].is_unique and alike and falling):
            raise DataError(
                f"counts of {task} at {some(names)}: a threshold repeats, runs differ between "
                "thresholds, or more runs reached a threshold than the one below; give counts of "
                "the same runs at every threshold"
            )
        trials[names[1:]] = reached[names[:-1]].to_numpy()
    return Evaluation(items, reached, trials, subjects=evaluation.subject_table)


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
    return _marked(items)


def release_dates() -> pd.Series:
    """Return the dates of release of the simulated models, at equal distances."""
    dates = pd.date_range(_FIRST, _LAST, periods=SUBJECTS).normalize()
    names = pd.Index([f"sim-{number:02d}" for number in range(1, SUBJECTS + 1)], name="subject")
    return pd.Series(dates, names, name="released")


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
    table = pd.DataFrame({"horizon": _START + months / MONTHS - lag}, dates.index)
    table = table.assign(slope=SLOPE, taskSpread=SPREAD)
    table[[f"ease[{task}]" for task in TASKS]] = rng.normal(size=(SUBJECTS, len(TASKS)))
    return table


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
    from ..estimation.horizons import horizon_trend, time_horizons
    from ..inference.fitting import fit

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
    name, largest = "published layout: horizons in the published interval", float(factor)
    figures = [
        Figure("models with other counts than published", different, "==", 0, published=0),
        Figure(name, int(inside.sum()), ">=", 10),
        Figure("recommended layout: largest factor to the published", largest, "<=", 1.25),
        Figure("months in which horizons double, from 5", abs(float(months) - 5), "<=", 1),
    ]
    return Reproduction(figures, {"horizons in hours": table})
