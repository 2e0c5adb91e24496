"""A joint layout's machine code against its plain PyMC model, at random points."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.function_cases import AS_WRITTEN
from helpers.joint_points import levels, plain_density, plain_point
from helpers.populations import cohort_data, full_layout, random_layout

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.pymc_model import build_model
from measurement_layouts.inference.sampling.engine import Kernel
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import logistic, total

_LAYOUTS, _FAST = 8, 4


@pytest.mark.parametrize(
    "seed",
    [
        pytest.param(seed, marks=[pytest.mark.slow] if seed >= _FAST else [])
        for seed in range(_LAYOUTS)
    ],
)
def test_density_and_gradient_are_the_plain_models(seed):
    layout = random_layout(seed) if seed else full_layout()
    cohort = Cohort.of_evaluation(layout, cohort_data())
    kernel, model = Kernel(cohort), build_model(cohort, ())
    density, plain = LogDensity(kernel.on()), plain_density(model)
    rng = np.random.default_rng(seed)
    for _ in range(2):
        at = rng.normal(size=density.size) * 0.7
        value, gradient = density.with_gradient(at)
        point, idle = plain_point(model, levels(kernel, at))
        expected, slopes = plain(point)
        expected += idle
        assert abs(value - expected) < 1e-10 * max(1, abs(expected))
        found = plain_point(model, levels(kernel, gradient))[0]
        steepest = max(1, *(np.abs(wanted).max() for wanted in slopes.values()))
        for name, wanted in slopes.items():
            assert np.shape(wanted) == np.shape(found[name])
            assert np.abs(found[name] - wanted).max() < 1e-10 * steepest


def test_partly_centred_coordinates_have_the_same_density():
    """Of values x = m + s**(1 - w) (z - w m), with the logarithm of dx/dz."""
    layout = full_layout()
    cohort = Cohort.of_evaluation(layout, cohort_data())
    rng = np.random.default_rng(3)
    names = ("ability", "ofSchool", "pair")
    weights = {
        latent.name: rng.random(cohort.size(latent.plates))
        for latent in layout.latents
        if latent.name in names
    }
    partly, centred = Kernel(cohort, weights), Kernel(cohort)
    densities = [LogDensity(kernel.on()) for kernel in (partly, centred)]
    at = rng.normal(size=densities[0].size) * 0.6
    z = levels(partly, at)
    x, change = dict(z), 0.0

    def turned(name, location, scale):
        weight = weights[name]
        x[name] = location + scale ** (1 - weight) * (z[name] - weight * location)
        return ((1 - weight) * math.log(scale)).sum()

    spread = {name: math.exp(float(z[name])) for name in ("schoolSpread", "spread", "pairSpread")}
    change += turned("ofSchool", 0.0, spread["schoolSpread"])
    mean = z["mean"] + z["gain"] * cohort.covariates["tests"] + x["ofSchool"][cohort.of["school"]]
    change += turned("ability", mean, spread["spread"])
    change += turned("pair", 0.0, spread["pairSpread"])
    there = np.empty_like(at)
    for part in centred.parts:
        values = x[part.latent.name]
        size = math.prod(part.plates + part.labels)
        laid = np.empty(size)
        laid[centred.order(part.latent.plates).ravel()] = np.ravel(values)
        there[part.offset : part.offset + size] = laid
    assert abs(densities[0](at) - densities[1](there) - change) < 1e-10


def test_partly_centred_slopes_have_the_same_density():
    """Logarithms of LogNormal values are centred by degree; PyMC's coordinate is the logarithm."""
    per_item = ml.Prior("LogNormal", mu=0.3, sigma=ml.Spread("slopeSpread"))
    slope = ml.Slope("slope", per="item", prior=per_item)
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=1))
    layout = ml.Layout("two parameters", ml.Success("solved", logistic(slope * skill)))
    cohort = Cohort.of_evaluation(layout, cohort_data())
    rng = np.random.default_rng(4)
    weights = {"slope": rng.random(cohort.size(["item"]))}
    partly, plain = Kernel(cohort, weights), Kernel(cohort)
    at = rng.normal(size=len(partly.start)) * 0.6
    z, spread = levels(partly, at), math.exp(float(levels(partly, at)["slopeSpread"]))
    weight = weights["slope"]
    logarithm = 0.3 + spread ** (1 - weight) * (z["slope"] - weight * 0.3)
    there = at.copy()
    (part,) = [part for part in plain.parts if part.latent.name == "slope"]
    place = plain.order(part.latent.plates).ravel() + part.offset
    there[place] = logarithm
    change = ((1 - weight) * math.log(spread)).sum()
    densities = [LogDensity(kernel.on()) for kernel in (partly, plain)]
    assert abs(densities[0](at) - densities[1](there) - change) < 1e-10


def test_slopes_with_an_inferred_spread_converge_on_rasch_data():
    """Without deviations of the logarithms, R-hat is above 1.3 here."""
    rng = np.random.default_rng(3)
    margin = rng.normal(0, 1.1, (300, 1)) - np.linspace(-2, 2, 30)
    solved = (rng.random(margin.shape) < 1 / (1 + np.exp(-margin))).astype(int)
    table = pd.DataFrame(solved).rename("p{}".format).rename(columns="i{}".format)
    evaluation = ml.Evaluation.from_wide(table, pd.DataFrame(index=table.columns))
    mean = ml.Bias("meanLogSlope", per="population", prior=ml.Prior("Normal", mu=0, sigma=1))
    apart = ml.Spread("slopeSpread", prior=ml.Prior("HalfNormal", sigma=1))
    slope = ml.Slope("slope", per="item", prior=ml.Prior("LogNormal", mu=mean, sigma=apart))
    skill = ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=1))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=3))
    layout = ml.Layout("two parameters", ml.Success("solved", logistic(slope * skill + ease)))
    options = {"draws": 400, "tune": 500, "chains": 2, "reruns": 0, "progressbar": False}
    row = ml.fit(layout, evaluation, seed=1, **options).diagnostics().iloc[0]
    assert row["divergences"] <= 2
    assert row["rhat"] < 1.05


def test_plates_of_one_level_have_machine_code():
    """A single school, task and subject: nothing varies along their plates."""
    evaluation = cohort_data()
    alone = evaluation.select(subjects=["s1"])
    items = alone.items.assign(task="a")
    alone = type(alone)(items, alone.successes, alone.trials, subjects=alone.subject_table)
    cohort = Cohort.of_evaluation(full_layout(), alone)
    kernel, model = Kernel(cohort), build_model(cohort, ())
    at = np.random.default_rng(1).normal(size=len(kernel.start))
    point, idle = plain_point(model, levels(kernel, at))
    expected = float(model.compile_logp(mode=AS_WRITTEN)(point)) + idle
    assert abs(LogDensity(kernel.on())(at) - expected) < 1e-10 * abs(expected)


_CROSSED = {"colour": [*"xxyyzz"] * 2, "size": [*"pq"] * 6}
_NESTED = {"colour": [*"xxyyzz"] * 2, "size": [*"ppqqqq"] * 2}  # no item is x and q


@pytest.mark.parametrize("kinds", [_CROSSED, _NESTED], ids=["crossed", "some pairs without items"])
def test_subjects_may_lack_pairs_of_levels_of_two_categories(kinds):
    rng = np.random.default_rng(3)
    items = pd.DataFrame(kinds, [f"i{number}" for number in range(12)])
    tried = rng.random((5, 12)) < 0.6
    outcomes = pd.DataFrame(rng.integers(0, 2, (5, 12)), [*"abcde"], items.index).where(tried)
    colour, size = ml.Category("colour"), ml.Category("size")
    level = ml.Bias("level", per=colour)
    spread = ml.Spread("spread", per=size)
    taste = ml.Bias(
        "taste", per=("subject", colour, size), prior=ml.Prior("Normal", mu=level, sigma=spread)
    )
    layout = ml.Layout("tastes", ml.Success("liked", logistic(taste)))
    cohort = Cohort.of_evaluation(layout, ml.Evaluation.from_wide(outcomes, items))
    kernel, model = Kernel(cohort), build_model(cohort, ())
    at = rng.normal(size=len(kernel.start)) * 0.7
    point, idle = plain_point(model, levels(kernel, at))
    expected = plain_density(model)(point)[0] + idle
    assert LogDensity(kernel.on())(at) == pytest.approx(expected, rel=1e-10)


def test_a_spread_for_each_label_in_any_degree_of_centring():
    rng = np.random.default_rng(4)
    labels = ("read", "write")
    own = {each: ml.Prior("Normal", mu=0, sigma=ml.Spread(f"spread {each}")) for each in labels}
    skill = ml.Bias("skill", labels=labels, prior=own)
    needs = ml.MetaFeature("needs", low=0, high=1, labels=labels)
    layout = ml.Layout(
        "letters", ml.Success("done", logistic(total(skill * needs, over="dimension")))
    )
    items = pd.DataFrame(rng.random((6, 2)), columns=[f"needs[{each}]" for each in labels])
    outcomes = pd.DataFrame(rng.integers(0, 2, (4, 6)), [*"abcd"])
    cohort = Cohort.of_evaluation(layout, ml.Evaluation.from_wide(outcomes, items))
    plain = plain_density(build_model(cohort, ()))
    spreads = {f"spread {each}": rng.normal(size=()) for each in labels}
    kernel = Kernel(cohort, {"skill": np.zeros(4)})
    for deviations in rng.normal(size=(2, 2, 4)):
        scales = np.exp([spreads[f"spread {each}"] for each in labels])[:, None]
        values = scales * deviations  # the density of deviations has the scales as Jacobian
        names = [f"skill[{each}]" for each in labels]
        point = {f"{name}_log__": value for name, value in spreads.items()}
        point |= dict(zip(names, values, strict=True))
        at = np.concatenate([[*spreads.values()], deviations.ravel()])
        expected = plain(point)[0] + 4 * np.log(scales).sum()
        assert LogDensity(kernel.on())(at) == pytest.approx(expected, rel=1e-10)
