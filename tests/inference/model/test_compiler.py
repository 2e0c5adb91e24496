"""The compiled model is the layout, no more and no less.

Tolerance 1e-10 of the log-density: a sum of some dozens of terms of up to about 100, each rounded
to 1e-16 of itself.

Compiled layouts are told apart by all code they reach: a notebook's cells are run again.
"""

import numpy as np
import pandas as pd
import pymc as pm
import pytensor
import pytest
from helpers import hand_written
from helpers.function_cases import AS_WRITTEN

import measurement_layouts as ml
from measurement_layouts import LayoutError
from measurement_layouts.common.cache import VARIABLE, Recent
from measurement_layouts.inference.kernel import machine
from measurement_layouts.inference.model.pymc_model import to_pymc
from measurement_layouts.inference.sampling import engine
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler
from measurement_layouts.linking import logistic

ROUNDING = 1e-10
FREE = ["labels", "bands", "guesses", "obstacles", "hierarchy"]
POINTS = 5


def fast(model, *outputs):
    """Compile without C or Numba, in a blink."""
    return pytensor.function(
        model.value_vars, list(outputs), mode=AS_WRITTEN, on_unused_input="ignore"
    )


def at(model, point):
    """Lay a point by latent's name out as the model's value variables."""
    names = {variable: rv.name for rv, variable in model.rvs_to_values.items()}
    return [np.asarray(point[names[variable]], dtype=float) for variable in model.value_vars]


def points(case, rng, spread=1.5):
    for _ in range(POINTS):
        yield {name: rng.normal(0, spread, case.shapes.get(name, ())) for name in case.latents}


@pytest.fixture(params=["animal_ai", "animal_ai_counts", *FREE])
def case(request, rng, animal_ai, items):
    made = getattr(hand_written, request.param)
    return made(rng) if request.param in FREE else made(rng, animal_ai, items)


def test_log_density_is_the_one_written_by_hand(case, rng):
    model = to_pymc(case.layout, case.evaluation, "Ann")
    density = fast(model, model.logp())
    for point in points(case, rng):
        ours, by_hand = float(density(*at(model, point))[0]), case.log_density(point)
        assert abs(ours - by_hand) < ROUNDING * max(1, abs(by_hand))


def test_value_and_gradient_are_finite_at_the_extremes(case):
    """At the rim of every range, for every combination of two rims."""
    model = to_pymc(case.layout, case.evaluation, "Ann")
    both = fast(model, model.logp(), model.dlogp())
    for signs in np.ndindex(*[2] * len(case.latents)):
        point = {
            name: np.full(case.shapes.get(name, ()), 30.0 * (2 * sign - 1))
            for name, sign in zip(case.latents, signs, strict=True)
        }
        density, gradient = both(*at(model, point))
        assert np.isfinite(density)
        assert np.isfinite(gradient).all()


def test_items_not_attempted_contribute_nothing(animal_ai, cohort, rng):
    """Dot attempted every other item: the same density without the others."""
    attempted = cohort.trials.columns[cohort.trials.loc["Dot"] > 0]
    assert 0 < len(attempted) < len(cohort.items)
    short = cohort.select(items=attempted, subjects=["Dot"])
    densities = []
    for evaluation in (cohort, short):
        model = to_pymc(animal_ai, evaluation, "Dot")
        density = fast(model, model.logp())
        draw = np.random.default_rng(3)
        point = {name: draw.normal() for name in hand_written.ANIMAL_AI}
        densities.append(float(density(*at(model, point))[0]))
    assert abs(densities[0] - densities[1]) < ROUNDING


def test_it_is_an_ordinary_pymc_model(animal_ai, cohort):
    model = to_pymc(animal_ai, cohort, "Ann")
    assert type(model) is pm.Model
    assert list(model.coords["item"]) == list(cohort.items.index)
    assert model.named_vars_to_dims["rewardSize"] == ("item",)
    assert model.named_vars_to_dims["taskPerformance"] == ("item",)
    assert {variable.name for variable in model.free_RVs} == set(hand_written.ANIMAL_AI)
    with model:
        drawn = pm.sample_prior_predictive(20, random_seed=1, compile_kwargs={"mode": AS_WRITTEN})
    outcomes = drawn["prior_predictive"]["taskPerformance"]
    assert outcomes.dims == ("chain", "draw", "item")
    assert set(np.unique(outcomes)) == {0, 1}


def test_labels_are_dimensions_of_the_pymc_model(rng):
    case = hand_written.labels(rng)
    model = to_pymc(case.layout, case.evaluation, "Ann")
    assert list(model.coords["dimension"]) == ["AS", "CEc", "VO"]
    assert model.named_vars_to_dims["ability"] == ("dimension",)
    assert model.named_vars_to_dims["demand"] == ("item", "dimension")


@pytest.mark.parametrize("prior", [ml.Prior("Norml"), ml.Prior("Normal", mean=1)])
def test_a_prior_that_pymc_does_not_take(prior):
    demand = ml.MetaFeature("demand", low=0, high=1)
    success = ml.Success("ok", logistic(ml.Capability("skill", prior=prior) - demand))
    layout = ml.Layout("wrong", success)
    items = pd.DataFrame({"demand": [0.0, 1.0]}, index=["a", "b"])
    outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    with pytest.raises(LayoutError, match=r"skill: "):
        to_pymc(layout, evaluation, "Ann")
    with pytest.raises(LayoutError, match=r"skill: "):
        ml.fit(layout, evaluation, progressbar=False)
    with pytest.raises(LayoutError, match=r"skill: "):
        compile_sampler(Battery.of(layout, evaluation))


@pytest.fixture
def compilations(monkeypatch):
    """Counts compilations to machine code, with nothing kept from before."""
    made, compile_ = [], machine._compile

    def counted(text):
        made.append(text)
        return compile_(text)

    monkeypatch.setenv(VARIABLE, "")
    monkeypatch.setattr(machine, "_compile", counted)
    monkeypatch.setattr(machine, "_built", Recent(64))
    monkeypatch.setattr(engine, "_samplers", Recent(16))
    return made


def test_one_compilation_serves_all_batteries_and_subjects(
    animal_ai, cohort, sampling, compilations
):
    ml.fit(animal_ai, cohort, **sampling)
    ml.fit(animal_ai, cohort.select(items=cohort.items.index[:9], subjects=["Ann"]), **sampling)
    ml.fit(ml.Layout("another title", animal_ai.outcome), cohort, subjects=["Bob"], **sampling)
    assert len(compilations) == 1


def layout(helper, factor=1.0, power=1):
    @ml.linking.linking_function(range=(0, 1))
    def success(skill, demand):
        return helper(factor * (skill - demand) ** power)

    demand = ml.MetaFeature("demand", low=0, high=1)
    return ml.Layout(
        "own", ml.Success("ok", success(ml.Capability("skill", low=0, high=1), demand))
    )
