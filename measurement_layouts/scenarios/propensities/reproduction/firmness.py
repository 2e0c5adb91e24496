"""Two parameters of a propensity: their recovery, and their predictions."""

from typing import Any

import numpy as np
import pandas as pd

from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
from ....inference.posterior.posterior import rows_of
from ....layouts.elements import elements
from ....validation.prediction.cross_validate import Method, cross_validate
from ....validation.prediction.layouts import FittedLayout
from ...figures import Figure
from ...scenario import Cohort
from ..cohort import battery
from ..layouts import RECOMMENDED, firmness_layout, recommended_layout

SUBJECTS = 200
FIRMNESS = "firmness layout"
_PROB = 0.9
_ERRORS = 3  # number of standard errors of a coverage
_SAMPLING: dict[str, Any] = {"draws": 500, "tune": 500, "chains": 2}


def firmness_cohort(subjects: int = SUBJECTS, seed: int = 1) -> Cohort:
    """Simulate subjects whose places, wobbles and slips are draws from the layout's priors.

    Intervals of 90 % should therefore contain 90 % of the true values, also of places beyond the
    scale. Each subject answers the 350 items of risk aversion once.

    Parameters
    ----------
    subjects : int
        Number of subjects.
    seed : int
        Seed of profiles and answers.

    Examples
    --------
    >>> firmness_cohort(3).profiles.columns.tolist()
    ['propensity', 'wobble', 'noise']
    """
    rng = np.random.default_rng([seed, 2])
    names = pd.Index([f"simulated-{number:03d}" for number in range(1, subjects + 1)])
    truth = {
        "propensity": rng.normal(0, 2, subjects),
        "wobble": np.abs(rng.normal(0, 1, subjects)),
        "noise": rng.beta(1, 9, subjects),
    }
    items = battery("risk_aversion").drop(columns="propensity")
    return Cohort.drawn(firmness_layout(), items, pd.DataFrame(truth, names), seed)


def firmness_recovery(cohort: Cohort, seed: int = 1) -> pd.DataFrame:
    """Fit both layouts to a cohort, and compare their intervals with the true values.

    Parameters
    ----------
    cohort : Cohort
        Result of `firmness_cohort`.
    seed : int
        Seed of the draws.

    Returns
    -------
    DataFrame
        Indexed by layout and latent: number of ``subjects``, ``coverage`` of 90 % intervals,
        ``bias``, ``rmse``, and ``sd``, the mean posterior standard deviation.
    """
    two = fit(firmness_layout(), cohort.evaluation, seed=seed, progressbar=False, **_SAMPLING)
    one = fit(recommended_layout(), cohort.evaluation, method="grid", seed=seed, progressbar=False)
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for name, found in ((FIRMNESS, two), (RECOMMENDED, one)):
        profiles = found.profiles(prob=_PROB)
        for element in elements(found.layout):
            own = rows_of(profiles, element, found.subjects)
            truth = cohort.profiles.loc[own.index, element.name]
            error = own["mean"] - truth
            rows[name, element.name] = {
                "subjects": len(own),
                "coverage": float(((own["low"] <= truth) & (truth <= own["high"])).mean()),
                "bias": float(error.mean()),
                "rmse": float((error**2).mean() ** 0.5),
                "sd": float(own["sd"].mean()),
            }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(["layout", "latent"])


def judge_firmness(table: pd.DataFrame) -> list[Figure]:
    """Judge whether 90 % intervals of place and wobble contain the truth nine times out of ten."""
    figures = []
    for latent, word in (("propensity", "place"), ("wobble", "wobble")):
        own = table.xs(FIRMNESS)
        subjects, found = (float(own[name][latent]) for name in ("subjects", "coverage"))
        error = (_PROB * (1 - _PROB) / subjects) ** 0.5
        figures.append(
            Figure(
                f"two parameters, {subjects:.0f} simulated subjects: coverage of 90 % "
                f"intervals of the {word} ({found:.3f}), distance from 0.9",
                abs(found - _PROB),
                "<=",
                _ERRORS * error,
                f"at most {_ERRORS} standard errors, {_ERRORS * error:.3f}",
            )
        )
    return figures


def held_out(evaluation: Evaluation, seed: int = 1) -> pd.DataFrame:
    """Score both layouts on single held-out outcomes, a fifth at a time.

    Parameters
    ----------
    evaluation : Evaluation
        The real study.
    seed : int
        Seed of folds and draws.

    Returns
    -------
    DataFrame
        Indexed by layout, with the columns of `CrossValidation.differences`; differences are from
        the layout of one parameter.
    """
    options = {name: value for name, value in _SAMPLING.items() if name != "starts"}
    methods: dict[str, Method] = {
        RECOMMENDED: FittedLayout(recommended_layout(), method="grid"),
        FIRMNESS: FittedLayout(firmness_layout(), **options),
    }
    found = cross_validate(
        methods, evaluation, split="cells", repeats=1, seed=seed, progressbar=False
    )
    return found.differences()
