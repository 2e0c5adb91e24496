"""Published time horizons, compared with the obtained ones."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...estimation.horizons import HorizonTrend, horizon_trend, time_horizons
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...layouts import Layout
from ...validation.leave_one_out.compare import compare_layouts
from ...validation.prediction.assessor import Assessor
from ...validation.prediction.cross_validate import cross_validate
from ...validation.prediction.estimators import Estimator
from ...validation.prediction.layouts import FittedLayout
from ...validation.prediction.splits import Groups
from ..figures import Figure, Relation, Reproduction
from ..scenario import Scenario
from .cohort import simulated_cohort
from .data import calibrated, published_horizons, released
from .layouts import nested_layout, published_layout, recommended_layout
from .nesting import conditional_counts

_PROB = 0.95  # mass of the published intervals
_MONTHS = 5.0  # published doubling time in months, rounded
_COHORTS = 8
_FOLDS = 6
_FACTOR, _WIDTH, _SHORT = 1.25, 0.15, 0.75
_COVERAGE = 0.05  # distance from 90 %: 2.3 standard errors with 192 intervals
_AHEAD = 4.0  # number of standard errors


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Fit the ten models with published horizons, and simulated ones with known horizons.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data : Path or None
        Folder of the real data (default: the folder in the environment variable).
    published : Path or None
        Not used: the published horizons are part of the data.

    Raises
    ------
    DataError
        When the data cannot be read; this is checked before anything is fitted.
    """
    theirs = published_horizons(data)
    corrected = published_horizons(data, hours="calibrated")
    ten = scenario.load(data).select(subjects=theirs.index)
    fits = four_fits(ten, draws=1000, chains=4)
    on_corrected = fit(
        published_layout(), calibrated(ten), method="grid", seed=1, progressbar=False
    )
    ours = {name: time_horizons(found, released(data), prob=_PROB) for name, found in fits.items()}
    plain = {PUBLISHED: time_horizons(on_corrected, prob=_PROB)}
    trends = {name: horizon_trend(table) for name, table in ours.items()}
    independent, nested = (
        compare_layouts({name: fits[name] for name in pair}, progressbar=False)
        for pair in ((PUBLISHED, RECOMMENDED), (NESTED, BOTH))
    )
    tasks = held_out_tasks(ten)
    covered = recovery(cohorts=_COHORTS)
    beside, calibrated_beside = beside_published(ours, theirs), beside_published(plain, corrected)
    return Reproduction(
        [
            _counted(ten, theirs),
            *horizon_figures(beside, calibrated_beside),
            *_trend_figures(trends[RECOMMENDED]),
            *_foresight(independent, tasks),
            *_coverage(covered),
            _sampling(fits),
        ],
        {
            "horizons in hours, 95 % intervals": beside,
            "horizons in hours, hours of people calibrated": calibrated_beside,
            "months in which horizons of the ten double, 90 % intervals": pd.DataFrame(
                {name: [found.months, found.low, found.high] for name, found in trends.items()},
                ["months", "low", "high"],
            ).T,
            "leave-one-out, all counts": independent,
            "leave-one-out, conditional counts": nested,
            "tasks held out": tasks,
            "90 % intervals of simulated horizons": covered,
        },
    )


def beside_published(ours: dict[str, pd.DataFrame], theirs: pd.DataFrame) -> pd.DataFrame:
    """Compare horizons with the published ones.

    Parameters
    ----------
    ours : dict of str to DataFrame
        Results of `time_horizons`, by layout.
    theirs : DataFrame
        Result of `published_horizons`.

    Returns
    -------
    DataFrame
        One row per model and layout: ``hours``, ``low``, ``high``; the same ``published``; the
        ``ratio`` of the obtained to the published hours; ``width``, the ratio of the intervals'
        widths in logarithms; and ``inside``, whether the obtained horizon is in the published
        interval.
    """
    parts = []
    for name, table in ours.items():
        found = table.loc[theirs.index]
        columns = {
            "layout": name,
            **{end: found[end] for end in ("hours", "low", "high")},
            "published": theirs["hours"],
            "published_low": theirs["low"],
            "published_high": theirs["high"],
            "ratio": found["hours"] / theirs["hours"],
            "width": np.log(found["high"] / found["low"]) / np.log(theirs["high"] / theirs["low"]),
            "inside": found["hours"].between(theirs["low"], theirs["high"]),
        }
        parts.append(pd.DataFrame(columns, theirs.index))
    return pd.concat(parts).set_index("layout", append=True)


def held_out_tasks(evaluation: Evaluation) -> pd.DataFrame:
    """Predict held-out tasks, and compare the scores of methods with the published layout's."""
    methods: dict[str, Assessor] = {
        PUBLISHED: FittedLayout(published_layout(), method="grid"),
        RECOMMENDED: FittedLayout(recommended_layout(), draws=300, tune=300),
        "logistic regression": Estimator("logistic", ["logHours"]),
    }
    found = cross_validate(methods, evaluation, split=Groups("task", _FOLDS), progressbar=False)
    names = ["auroc", "ece", "brier", "brier_difference", "brier_se"]
    summary: pd.DataFrame = found.differences()[names]
    return summary


def _counted(evaluation: Evaluation, theirs: pd.DataFrame) -> Figure:
    estimators = evaluation.items["estimators"]
    points, successes = (
        (counts * estimators).sum(axis=1) for counts in (evaluation.trials, evaluation.successes)
    )
    same = points.eq(theirs["points"]) & successes.eq(theirs["successes"])
    what = "models whose data points or successes are not the published ones"
    return Figure(what, int((~same).sum()), "==", 0, "all ten as published", published=0)


def horizon_figures(beside: pd.DataFrame, calibrated_beside: pd.DataFrame) -> list[Figure]:
    """Judge the agreement of horizons and their intervals with the published ones."""
    plain, own = (beside.xs(name, level="layout") for name in (PUBLISHED, RECOMMENDED))
    figures = []
    for name, table in (
        (PUBLISHED, plain),
        (f"{PUBLISHED}, calibrated hours", calibrated_beside),
        (RECOMMENDED, own),
    ):
        what = f"{name}: horizons within the published interval"
        count = len(table)
        goal = f"all {count}"
        figures.append(Figure(what, int(table["inside"].sum()), "==", count, goal, published=count))
    factor = float(np.exp(np.abs(np.log(own["ratio"])).max()))
    width = float(own["width"].mean())
    return [
        *figures,
        Figure(
            f"{RECOMMENDED}: largest factor between our and the published horizon",
            factor,
            "<=",
            _FACTOR,
            published=1,
        ),
        Figure(
            f"{RECOMMENDED}: mean width of intervals over that of the published, distance from 1",
            abs(width - 1),
            "<=",
            _WIDTH,
            f"within {100 * _WIDTH:g} % of the bootstrap over tasks",
            published=0,
        ),
        Figure(
            f"{PUBLISHED}: mean width of intervals over that of the published",
            float(plain["width"].mean()),
            "<",
            _SHORT,
            "too short: runs of a task and thresholds of a run are not independent",
        ),
    ]


def _trend_figures(trend: HorizonTrend) -> list[Figure]:
    what = f"{RECOMMENDED}: months in which horizons of the ten models double"
    goal = "within a month of the published"
    ends: dict[Relation, float] = {"<=": _MONTHS + 1, ">=": _MONTHS - 1}
    return [
        Figure(what, trend.months, relation, end, goal, published=_MONTHS)
        for relation, end in ends.items()
    ]


def _foresight(total: pd.DataFrame, tasks: pd.DataFrame) -> list[Figure]:
    plain = total.loc[PUBLISHED]
    ahead = -float(plain["elpd_diff"] / plain["dse"]) if plain["dse"] else 0.0
    difference, error = (
        float(tasks[name][RECOMMENDED]) for name in ("brier_difference", "brier_se")
    )
    return [
        Figure(
            f"{RECOMMENDED}: leave-one-out score above that of the {PUBLISHED}, in standard errors",
            ahead,
            ">",
            _AHEAD,
            f"more than {_AHEAD:g}",
        ),
        Figure(
            f"{RECOMMENDED}: Brier on held-out tasks less the {PUBLISHED}'s",
            difference,
            "<=",
            2 * error,
            "not above by more than two standard errors",
        ),
    ]


def _coverage(covered: pd.DataFrame) -> list[Figure]:
    rates = covered["coverage"]
    name = "{}: share of 90 % intervals that contain the true horizon".format
    return [
        *(
            Figure(
                f"{name(layout)}, distance from 90 %",
                abs(float(rates[layout]) - 0.9),
                "<=",
                _COVERAGE,
                f"within {100 * _COVERAGE:g} points of 90 %",
            )
            for layout in (RECOMMENDED, BOTH)
        ),
        Figure(name(PUBLISHED), float(rates[PUBLISHED]), "<", _SHORT, "far too few"),
    ]


def _sampling(fits: dict[str, Fit]) -> Figure:
    verdicts = [found.diagnostics()["status"] for found in fits.values()]
    bad = sum(int((verdict != "ok").sum()) for verdict in verdicts)
    return Figure(
        "models whose sampling did not converge", bad, "==", 0, "none in four fits", published=0
    )


PUBLISHED, RECOMMENDED = "published layout", "recommended layout"
NESTED, BOTH = "nested runs", "nested runs, tasks differ"
_MASS = 0.9


def recovery(seed: int = 1, cohorts: int = 4) -> pd.DataFrame:
    """Simulate cohorts, and compare 90 % intervals of their horizons with the true ones.

    Parameters
    ----------
    seed : int
        Seed of the first cohort; the seeds of the others follow.
    cohorts : int
        Number of cohorts, with 24 models each.

    Returns
    -------
    DataFrame
        Indexed by layout: ``coverage``, mean ``width`` of the intervals and ``rmse``, in doublings,
        and the number of ``intervals``.
    """
    parts = [_one(seed + number) for number in range(cohorts)]
    table = pd.concat(parts, ignore_index=True)
    groups = table.groupby("layout", sort=False)
    return pd.DataFrame(
        {
            "coverage": groups["covered"].mean(),
            "width": groups["width"].mean(),
            "rmse": groups["square"].mean() ** 0.5,
            "intervals": groups.size(),
        }
    )


def _one(seed: int) -> pd.DataFrame:
    cohort = simulated_cohort(seed)
    truth = cohort.profiles["horizon"]
    parts = []
    for name, found in four_fits(cohort.evaluation, seed=seed).items():
        table = found.profiles(prob=_MASS).query("node == 'horizon'").set_index("subject")
        true = truth[table.index]
        columns = {
            "layout": name,
            "covered": true.between(table["low"], table["high"]),
            "width": table["high"] - table["low"],
            "square": (table["mean"] - true) ** 2,
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts)


def four_fits(
    evaluation: Evaluation, *, seed: int = 1, draws: int = 500, chains: int = 2
) -> dict[str, Fit]:
    """Fit with and without differences between tasks, to all counts and to conditional ones."""
    conditional = conditional_counts(evaluation)
    cases: dict[str, tuple[Layout, Evaluation]] = {
        PUBLISHED: (published_layout(), evaluation),
        NESTED: (nested_layout(tasks=()), conditional),
        RECOMMENDED: (recommended_layout(), evaluation),
        BOTH: (nested_layout(), conditional),
    }
    return {
        name: fit(
            layout,
            counts,
            method="nuts" if "taskSpread" in layout.nodes else "grid",
            draws=draws,
            tune=draws,
            chains=chains,
            reruns=int(chains > 2),
            seed=seed,
            progressbar=False,
        )
        for name, (layout, counts) in cases.items()
    }
