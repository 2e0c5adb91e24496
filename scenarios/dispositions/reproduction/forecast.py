"""Forecasts of a model's choices in held-out scenarios, compared with baselines."""

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from ....evaluations.evaluation import Evaluation
from ....validation.prediction.cross_validate import cross_validate
from ....validation.prediction.layouts import FittedLayout
from ....validation.prediction.result import CrossValidation
from ..layouts import COLUMNS, RECOMMENDED, disposition_layout
from ..simulated import SimulatedStudy

AGGREGATE, PEOPLE = "aggregate", "people's rate"


class AsPeople:
    """Every model chooses as people do, at the posterior mean of their rate."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS[:1]

    def predict(self, training: Evaluation, items: Sequence[str], *, seed: int) -> xr.DataArray:
        """Predict success, as an `Assessor` does."""
        rates = training.items.loc[list(items), COLUMNS[0]].to_numpy(dtype=float)
        names = {"subject": training.subjects, "item": list(items)}
        return xr.DataArray(np.tile(rates, (len(training.subjects), 1)), names, list(names))


def held_out(evaluation: Evaluation, *, seed: int = 1) -> CrossValidation:
    """Hold out a fifth of the scenarios, once, and forecast every model's choices there.

    Parameters
    ----------
    evaluation : Evaluation
        Result of `choices`.
    seed : int
        Seed of the split and the fits.

    Returns
    -------
    CrossValidation
        Scores of the layout, the aggregate, people's rate alone, and a logistic regression on
        people's rate and the trait.
    """
    return cross_validate(
        {
            RECOMMENDED: FittedLayout(disposition_layout(), draws=300, tune=400),
            AGGREGATE: "aggregate",
            PEOPLE: AsPeople(),
            "logistic regression": "logistic",
        },
        evaluation,
        repeats=1,
        columns=COLUMNS,
        seed=seed,
        progressbar=False,
    )


def beside_truth(scores: CrossValidation, study: SimulatedStudy) -> pd.DataFrame:
    """Compare each model's Brier scores with its largest disposition.

    Returns
    -------
    DataFrame
        Indexed by model: one column of Brier scores per method, ``strongest`` (the largest absolute
        disposition, in people's log-odds), ``slope`` and ``noise``.
    """
    table = scores.per_subject()
    dispositions = study.truth.filter(like="disposition[").abs().max(axis=1)
    return table.assign(
        strongest=dispositions, slope=study.truth["slope"], noise=study.truth["noise"]
    )
