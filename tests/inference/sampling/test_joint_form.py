"""How a joint layout is sampled is chosen and compiled before chains, which are threads, start."""

import numpy as np
import pandas as pd
import pytest
from helpers.populations import exam_layout

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.sampling import engine, joint_nuts

SHORT = {"draws": 10, "tune": 20, "chains": 2, "seed": 3, "n_jobs": 2, "progressbar": False}


def evaluated() -> ml.Evaluation:
    """Draw subjects who lie far apart."""
    rng = np.random.default_rng(1)
    people, items = [f"s{at}" for at in range(60)], [f"i{at}" for at in range(10)]
    log_odds = rng.normal(0, 1.5, (60, 1)) + np.linspace(-2, 2, 10)
    outcomes = pd.DataFrame((rng.logistic(size=(60, 10)) < log_odds).astype(int), people, items)
    known = pd.DataFrame({"tests": rng.uniform(-2, 2, 60)}, people)
    return ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=items), subjects=known)


@pytest.mark.slow
def test_chains_compile_nothing(monkeypatch):
    """Two threads that compile one kernel would name its tables twice."""
    emitted = []
    once = engine.emit
    monkeypatch.setattr(
        engine, "emit", lambda planned, **more: emitted.append(1) or once(planned, **more)
    )
    layout, evaluation = exam_layout(), evaluated()
    form = joint_nuts.joint_form(Cohort.of_evaluation(layout, evaluation))
    before = len(emitted)
    assert before >= 2  # of the short run, and of the form chosen
    assert form.kernel is not None
    ml.fit(layout, evaluation, **SHORT)
    assert len(emitted) == before
