"""Joint layouts with measured demands: ranks of true values, and of a fit with too sure levels."""

import numpy as np
import pandas as pd
import pytest
from helpers.measured_exams import LEVELS
from helpers.populations import normal

import measurement_layouts as ml
from measurement_layouts.inference.fitting import fit
from measurement_layouts.linking import logistic
from measurement_layouts.validation.calibration import run

OPTIONS = {"simulations": 40, "seed": 3, "draws": 1000, "tune": 600, "progressbar": False}


def layout():
    """Subjects around a mean, an ease of each item, and a demand that was judged."""
    mean, spread = ml.Bias("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=normal(mean, spread))
    ease = ml.Bias("ease", per="item", prior=normal(0, 0.5))
    margin = ability + ease - ml.Measured("hard", levels=LEVELS)
    return ml.Layout("exam", ml.Success("right", logistic(margin, slope=2)))


def data():
    """Fourteen items whose levels are hardly known, and ten subjects."""
    chances = np.random.default_rng(1).dirichlet([3.0] * len(LEVELS), 14)
    columns = [f"hard {level:g}" for level in LEVELS]
    items = pd.DataFrame(chances, [f"q{row}" for row in range(14)], columns)
    return items, pd.DataFrame(index=[f"s{row}" for row in range(10)])


def certain(evaluation):
    """Take the likeliest level of each item for certain."""
    items = evaluation.items
    sure = np.eye(items.shape[1])[items.to_numpy().argmax(axis=1)]
    table = pd.DataFrame(sure, items.index, items.columns)
    return ml.Evaluation(
        table, evaluation.successes, evaluation.trials, subjects=evaluation.subject_table
    )


@pytest.mark.slow
@pytest.mark.trust("calibration")
def test_subjects_who_share_levels_are_calibrated():
    items, subjects = data()
    found = ml.validation.sbc(layout(), items, subjects=subjects, trials=3, **OPTIONS)
    assert found.calibrated, found.table()


@pytest.mark.slow
@pytest.mark.trust("calibration")
def test_levels_that_are_taken_for_certain_are_found(monkeypatch):
    """The twin: the likeliest level of each item as if it were known."""
    wrong = lambda own, evaluation, **more: fit(own, certain(evaluation), **more)  # noqa: E731
    monkeypatch.setattr(run, "fit", wrong)
    items, subjects = data()
    fewer = {"simulations": 25, "draws": 600, "tune": 400, "reruns": 0}
    found = ml.validation.sbc(layout(), items, subjects=subjects, trials=3, **OPTIONS | fewer)
    assert found.verdict().startswith("not calibrated")
    assert not found.table().loc[["ease", "log-likelihood"], "inside"].any()
