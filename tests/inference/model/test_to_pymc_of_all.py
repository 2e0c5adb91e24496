"""`to_pymc` without a subject: the model of all, and derived nodes on request."""

import numpy as np
import pandas as pd
import pytest
from helpers import shared_layouts, small_layouts
from helpers.function_cases import AS_WRITTEN
from helpers.populations import shared, spread_of
from scipy.special import expit
from scipy.stats import halfnorm, norm

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic


def layout():
    """A Rasch model with fixed spreads of eases, and its margin as a node."""
    mean, spread = shared("mean"), spread_of("spread")
    ability = ml.Capability("ability", prior=shared_layouts.normal(mean, spread))
    ease = ml.Bias("ease", per="item")
    margin = ml.Derived("margin", ability + ease)
    return ml.Layout("by hand", ml.Success("solved", logistic(margin)))


@pytest.fixture(scope="module")
def evaluation():
    return shared_layouts.simulated(layout(), people=4, tasks=3)[0]


def test_its_density_is_the_one_by_hand(evaluation):
    model = ml.to_pymc(layout(), evaluation)
    rng = np.random.default_rng(1)
    ability, ease = rng.normal(size=4), rng.normal(size=3)
    point = {
        "mean": 0.3,
        "spread_log__": np.log(0.8),
        "ability_noncentred__": (ability - 0.3) / 0.8,  # fewer than ten outcomes for each
        "ease": ease,
    }
    chance = expit(ability[:, None] + ease)
    hits = evaluation.successes.to_numpy()
    expected = (
        norm.logpdf(0.3)
        + halfnorm.logpdf(0.8)
        + np.log(0.8)
        + norm.logpdf(ability, 0.3, 0.8).sum()
        + 4 * np.log(0.8)
        + norm.logpdf(ease).sum()
        + np.where(hits, np.log(chance), np.log1p(-chance)).sum()
    )
    assert model.compile_logp(mode=AS_WRITTEN)(point) == pytest.approx(expected, rel=1e-10)
    assert model.named_vars_to_dims["ability"] == ("subject",)
    assert model.named_vars_to_dims["solved"] == ("cell",)
    assert "margin" not in model.named_vars


def test_derived_nodes_are_variables_on_request(evaluation):
    model = ml.to_pymc(layout(), evaluation, derived=True)
    known = {model["ability"]: np.arange(4.0), model["ease"]: np.array([0.1, 0.2, 0.3])}
    found = model["margin"].eval(known, mode=AS_WRITTEN)
    expected = (np.arange(4.0)[:, None] + [0.1, 0.2, 0.3]).ravel()
    np.testing.assert_allclose(found, expected)
    assert model.named_vars_to_dims["margin"] == ("cell",)


def test_derived_nodes_of_one_subject():
    alone = small_layouts.animal_ai()
    items = small_layouts.battery(count=5)
    outcomes = np.array([[1, 0, 1, 1, 0]])
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(outcomes, ["Ann"], items.index), items)
    plain, full = (ml.to_pymc(alone, evaluation, "Ann", derived=kept) for kept in (False, True))
    assert not plain.deterministics
    assert {node.name for node in full.deterministics} == {node.name for node in alone.derived}
    assert all(full.named_vars_to_dims[node.name][0] == "item" for node in alone.derived)


def test_subjects_are_named_where_each_stands_alone(evaluation):
    with pytest.raises(DataError, match="subject='subject 1': layout 'by hand' is a model of all"):
        ml.to_pymc(layout(), evaluation, "subject 1")
    alone = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    with pytest.raises(DataError, match="subject= is missing, but layout 'coin' is a model of a"):
        ml.to_pymc(alone, evaluation)
