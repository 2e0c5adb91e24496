"""Levels of items that subjects share: machine code against the plain model."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_points import levels, plain_density, plain_point
from helpers.measured_exams import LEVELS, data, exam, judged, one
from helpers.populations import normal

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.joint_model import joint_model
from measurement_layouts.inference.sampling.joint import JointKernel
from measurement_layouts.inference.sampling.joint_nuts import joint_form
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import guessing, logistic, mixture


def tasked():
    """Likings of subjects for tasks, not all of them tried, guesses and lapses."""
    liking = ml.Bias("liking", per=("subject", ml.Category("task")), prior=normal(0, 0.5))
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    ability = ml.Capability("ability", prior=normal(ml.Bias("gain", per="population") * tests, 1))
    knows = logistic(ability + liking - ml.Measured("demand", levels=LEVELS))
    right = guessing(knows, ml.MetaFeature("chance", low=0, high=0.5))
    lapses = mixture(right, by=ml.Noise("noise"), toward=0.5)
    return ml.Layout("tasked", ml.Success("right", lapses))


def evaluation_of(layout, rng):
    """Random chances of levels and outcomes, with the properties that these layouts need."""
    (demand,) = layout.measured
    kinds = [f"[{label}]" for label in demand.labels or ()] or [""]
    _, columns = judged(rng, node=demand.name, kinds=kinds)
    columns = columns.assign(task=list("aabb"), chance=[0.0, 0.25, 0.25, 0.0])
    found = data(rng, columns)
    trials = found.trials.copy()
    trials.loc["Cyd", ["q2", "q3"]] = 0
    solved = found.successes.where(trials > 0, 0)
    tests = pd.DataFrame({"tests": rng.normal(size=3).clip(-3, 3)}, trials.index)
    return ml.Evaluation(columns, solved, trials, subjects=tests)


@pytest.mark.trust("oracles", "PyMC: density of joint layouts")
@pytest.mark.parametrize("declare", [exam, one, tasked])
def test_density_and_gradient_are_the_plain_models(declare, rng):
    layout = declare()
    cohort = Cohort.of_evaluation(layout, evaluation_of(layout, rng))
    kernel, model = JointKernel(cohort), joint_model(cohort)
    density, plain = LogDensity(kernel.compiled()), plain_density(model)
    for _ in range(3):
        at = rng.normal(size=density.size)
        value, gradient = density.with_gradient(at)
        point, idle = plain_point(model, levels(kernel, at))
        expected, slopes = plain(point)
        assert abs(value - expected - idle) < 1e-10 * max(1, abs(expected))
        found = plain_point(model, levels(kernel, gradient))[0]
        steepest = max(1, *(np.abs(wanted).max() for wanted in slopes.values()))
        for name, wanted in slopes.items():
            assert np.abs(found[name] - wanted).max() < 1e-10 * steepest


def test_other_chances_of_levels_are_another_density(rng):
    """The twin: what is compared depends on the chances of every item but the first two."""
    layout = one()
    evaluation = evaluation_of(layout, rng)
    other = evaluation.items.copy()
    first, second = other.columns[:2]
    other.loc["q3", [first, second]] = other.loc["q3", [second, first]].to_numpy().copy()
    changed = ml.Evaluation(other, evaluation.successes, evaluation.trials)
    kernels = [JointKernel(Cohort.of_evaluation(layout, own)) for own in (evaluation, changed)]
    at = rng.normal(size=len(kernels[0].start))
    values = [LogDensity(kernel.compiled())(at) for kernel in kernels]
    assert abs(values[0] - values[1]) > 1e-3


def test_a_level_that_an_item_cannot_have_stays_impossible(rng):
    """Also where the outcomes are 400 nats more likely under it."""
    _, columns = judged(rng, node="hard", kinds=[""])
    columns[:] = [1.0, 0.0, 0.0]
    tried = pd.DataFrame(50, ["Ann"], columns.index)
    failed = ml.Evaluation(columns, 0 * tried, tried)
    cohort = Cohort.of_evaluation(one(slope=9), failed)
    kernel, model = JointKernel(cohort), joint_model(cohort)
    density, plain = LogDensity(kernel.compiled()), plain_density(model)
    at = np.array([0.3, 1.5])
    value, gradient = density.with_gradient(at)
    point, _ = plain_point(model, levels(kernel, at))
    expected, slopes = plain(point)
    assert expected < -1500
    assert abs(value - expected) < 1e-10 * abs(expected)
    found = plain_point(model, levels(kernel, gradient))[0]
    for name, wanted in slopes.items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-9)


def test_the_sampler_uses_machine_code(rng):
    layout = exam()
    form = joint_form(Cohort.of_evaluation(layout, evaluation_of(layout, rng)))
    assert isinstance(form.kernel, JointKernel)
