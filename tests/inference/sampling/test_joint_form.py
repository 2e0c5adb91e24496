"""How a joint layout is sampled is chosen and compiled before chains, which are threads, start."""

from helpers.populations import cohort_data, exam_layout

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.sampling import joint, joint_nuts

SHORT = {"draws": 10, "tune": 20, "chains": 2, "seed": 3, "n_jobs": 2, "progressbar": False}


def test_chains_compile_nothing(monkeypatch):
    """Two threads that compile one kernel would name its tables twice."""
    emitted = []
    once = joint.emit
    monkeypatch.setattr(joint, "emit", lambda planned: emitted.append(1) or once(planned))
    layout, evaluation = exam_layout(), cohort_data(seed=11)
    form = joint_nuts.joint_form(Cohort.of_evaluation(layout, evaluation))
    before = len(emitted)
    assert before == 2 + (form.inner is not None)  # of the short run, and of the form chosen
    ml.fit(layout, evaluation, **SHORT)
    assert len(emitted) == before
