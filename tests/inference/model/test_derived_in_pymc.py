"""Derived nodes of a PyMC model: its graph is the layout's, and `pymc.do` reaches the outcome."""

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from helpers import graded_layouts, shared_layouts, small_layouts
from helpers.function_cases import AS_WRITTEN
from helpers.populations import normal, shared, spread_of
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic, product
from measurement_layouts.scenarios import object_permanence

LEVELS = {
    "twice": (),
    "expected": ("subject",),
    "hard": ("item",),
    "liking": ("subject", "task"),
    "margin": ("cell",),
}


def population():
    """Derived nodes of the population, of subjects, items, subjects and tasks, and cells."""
    tests = ml.MetaFeature("tests", low=-3, high=3, per="subject")
    length = ml.MetaFeature("length", low=-3, high=3)
    mean, gain, weight = (shared(name) for name in ("mean", "gain", "weight"))
    twice = ml.Derived("twice", 2 * mean)
    expected = ml.Derived("expected", twice + gain * tests)
    ability = ml.Capability("ability", prior=normal(expected, spread_of("spread")))
    of_task = ml.Bias("ofTask", per=ml.Category("task"), prior=normal(0, spread_of("taskSpread")))
    hard = ml.Derived("hard", weight * length - of_task)
    liking = ml.Derived("liking", ability * of_task)
    margin = ml.Derived("margin", ability - hard + 0.1 * liking)
    return ml.Layout("everywhere", ml.Success("solved", logistic(margin)))


def labelled():
    """Nodes with labels, two that are the same for all items, one of which a prior depends on."""
    names = {"labels": ("add", "divide"), "dim": "skills"}
    usual = ml.Derived("usual", 0.5 * ml.Bias("level"))
    skill = ml.Capability("skill", prior=normal(usual, 1), **names)
    share = ml.Derived("share", logistic(skill))
    each = ml.Derived("each", logistic(skill - ml.MetaFeature("demand", low=0, high=3, **names)))
    able = ml.Derived("able", product(each * share, over="skills"))
    return ml.Layout("labelled", ml.Success("solved", able))


def unseen():
    """A node that is computed from something nobody saw: a value for each place of the integral."""
    skill, measured = (
        ml.Capability("skill", low=0, high=5),
        ml.MetaFeature("measured", low=0, high=5),
    )
    margin = ml.Derived("margin", skill - ml.Unseen("hard", measured, 1.0))
    return ml.Layout("unseen", ml.Success("solved", logistic(margin)))


def graded():
    """Several outcomes, a row for each of their steps."""
    layout, items = (
        graded_layouts.layout(graded_layouts.graded(), graded_layouts.success()),
        graded_layouts.items(4),
    )
    tables, _ = graded_layouts.random_outcomes(layout, items, np.random.default_rng(1))
    return layout, ml.Evaluation.of_outcomes(layout, tables, items), "Ann"


def models(name):
    """A layout, its model with derived nodes, and its model without."""
    if name == "joint":
        layout, subject = population(), None
        evaluation = shared_layouts.simulated(layout, people=4, tasks=6)[0]
    elif name == "graded":
        layout, evaluation, subject = graded()
    else:
        layout, items = {
            "alone": (small_layouts.animal_ai(), small_layouts.battery(count=3)),
            "labelled": (
                labelled(),
                pd.DataFrame({"demand[add]": [0.0, 1.0, 2.0], "demand[divide]": [3.0, 0.5, 1.0]}),
            ),
            "unseen": (unseen(), pd.DataFrame({"measured": [0.0, 1.0, 2.0]})),
        }[name]
        evaluation, subject = small_layouts.counts([1, 0, 2], [2, 2, 2], items=items), "Ann"
    kept = ml.to_pymc(layout, evaluation, subject, derived=True)
    return layout, kept, ml.to_pymc(layout, evaluation, subject)


@pytest.mark.parametrize("name", ["alone", "joint", "labelled", "graded"])
def test_the_density_is_that_of_the_plain_model(name):
    layout, kept, plain = models(name)
    assert {node.name for node in layout.derived} <= set(kept.named_vars)
    assert not {node.name for node in layout.derived} & set(plain.named_vars)
    point = {
        variable: np.random.default_rng(2).normal(size=np.shape(value))
        for variable, value in plain.initial_point(1).items()
    }
    ours, theirs = (each.compile_logp(mode=AS_WRITTEN)(point) for each in (kept, plain))
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_nodes_have_the_plates_of_the_diagram():
    layout, kept, _ = models("joint")
    assert {node.name: kept.named_vars_to_dims[node.name] for node in layout.derived} == LEVELS
    ability, of_task = np.arange(4.0), np.array([1.0, 2.0, 3.0])
    liking = kept["liking"].eval(
        {kept["ability"]: ability, kept["ofTask"]: of_task}, mode=AS_WRITTEN
    )
    np.testing.assert_allclose(liking, np.outer(ability, of_task))
    _, alone, _ = models("labelled")
    dims = {name: alone.named_vars_to_dims[name] for name in ("usual", "share", "each", "able")}
    expected = {"usual": (), "share": ("skills",), "each": ("item", "skills"), "able": ("item",)}
    assert dims == expected


def test_do_on_a_derived_node_reaches_what_is_computed_from_it():
    """Tolerance: none; the chance of success is the formula of the values that were set."""
    _, kept, _ = models("alone")
    done = pm.do(kept, {"navigationPerformance": np.array([0.0, 0.5, 1.0])})
    chance = done["taskPerformance"].owner.inputs[-1]
    sees, noise = np.array([0.2, 0.4, 0.9]), 0.1
    found = chance.eval(
        {done["visualPerformance"]: sees, done["noiseLevel"]: noise}, mode=AS_WRITTEN
    )
    failure = float(kept["meanFailure"].get_value())
    expected = 0.9 * np.array([0.0, 0.5, 1.0]) * sees + 0.1 * failure
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_prior_and_posterior_predictive_checks_have_every_node():
    """The paper's printed formula, node by node, from the draws that the checks return."""
    cohort = object_permanence.simulated_cohort().evaluation
    layout = object_permanence.published_layout()
    chosen = cohort.select(subjects=["Agent6"], items=cohort.items.index[::200])
    with ml.to_pymc(layout, chosen, "Agent6", derived=True):
        drawn = pm.sample_prior_predictive(
            draws=20, random_seed=1, compile_kwargs={"mode": AS_WRITTEN}
        ).prior
    assert {node.name for node in layout.derived} <= set(drawn)
    size = chosen.items["goalSize"].to_numpy()
    seen = expit(drawn["visualAbility"].to_numpy()[..., None] - (5 - size))
    assert drawn["visualAcuityPerformance"].dims == ("chain", "draw", "item")
    np.testing.assert_allclose(drawn["visualAcuityPerformance"], seen)
