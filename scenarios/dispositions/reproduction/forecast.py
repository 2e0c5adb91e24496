"""Forecasts for scenarios that a model was not asked, against what knows less."""

import numpy as np
import pandas as pd

from ....inference.baselines import BASELINES, LOGISTIC_REGRESSION, Baseline
from ....inference.data import Evaluation
from ....inference.validation import HoldOut, hold_out
from ..layouts import COLUMNS, RECOMMENDED, disposition_layout
from ..simulated import SimulatedStudy

AGGREGATE, PEOPLE = BASELINES[0].name, "people's rate"


def _as_people(
    train: np.ndarray, successes: np.ndarray, trials: np.ndarray, test: np.ndarray, seed: int
) -> np.ndarray:
    return np.asarray(test[:, 0])


PEOPLE_ONLY = Baseline(PEOPLE, _as_people)
"""Every model chooses as people do, at the posterior mean of their rate."""


def held_out(evaluation: Evaluation, *, seed: int = 1) -> HoldOut:
    """Hold a fifth of the scenarios out, once, and forecast every model's choices there.

    Parameters
    ----------
    evaluation : Evaluation
        From `choices`.
    seed : int
        Of the split and the fits.

    Returns
    -------
    HoldOut
        Of the layout, the aggregate, people's rate alone, and a logistic regression on people's
        rate and the trait.
    """
    return hold_out(
        {RECOMMENDED: disposition_layout()},
        evaluation,
        repeats=1,
        baselines=(BASELINES[0], PEOPLE_ONLY, LOGISTIC_REGRESSION),
        columns=COLUMNS,
        draws=300,
        tune=400,
        seed=seed,
        progressbar=False,
    )


def beside_truth(scores: HoldOut, study: SimulatedStudy) -> pd.DataFrame:
    """Lay each model's Brier scores beside its largest disposition.

    Returns
    -------
    DataFrame
        Indexed by model: a column of Brier scores per method, ``strongest`` (of the dispositions,
        in people's log-odds, without its sign), ``slope`` and ``noise``.
    """
    table = scores.per_subject()
    dispositions = study.truth.filter(like="disposition[").abs().max(axis=1)
    return table.assign(
        strongest=dispositions, slope=study.truth["slope"], noise=study.truth["noise"]
    )
