"""Priors whose parameters are formulas of latents, and a prior for each label."""

import json

import numpy as np
import pandas as pd
import pymc as pm
import pytest
from helpers.densities import Fused
from helpers.function_cases import AS_WRITTEN
from scipy import integrate, stats

import measurement_layouts as ml
from measurement_layouts import Prior
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.inference.model.variables import noncentred
from measurement_layouts.inference.posterior.density import prior_density
from measurement_layouts.layouts.drawing.captions import facts
from measurement_layouts.layouts.elements import elements
from measurement_layouts.linking import logistic, presence, product, total

LABELS = ("read", "write", "count")
DEMAND = ml.MetaFeature("demand", low=0, high=5, labels=LABELS)
ITEMS = 40


def of_formulas(rate=lambda general: 1 / general):
    """Priors of both kinds, with formulas over labels and of labels."""
    general = ml.Capability("general", low=0.5, high=5)
    twice = ml.Derived("twice", 2 * general)
    skill = ml.Capability(
        "skill",
        labels=LABELS,
        prior={
            "read": Prior("Normal", mu=twice - 1, sigma=1),
            "write": Prior("Uniform", lower=0, upper=general),
            "count": Prior("Gamma", alpha=2, beta=1),
        },
    )
    more = ml.Bias("more", labels=LABELS, prior=Prior("Normal", mu=0, sigma=0.3 * general))
    lean = ml.Bias("lean", prior=Prior("Normal", mu=total(skill, over="dimension"), sigma=1))
    effort = ml.Capability("effort", prior=Prior("Exponential", lam=rate(general)))
    margin = logistic(skill + more - DEMAND + 0.1 * lean)
    return ml.Layout(
        "formulas", ml.Success("done", product(margin, over="dimension") * logistic(effort))
    )


def by_hand(demand, won):
    """Write the same model in PyMC."""
    with pm.Model() as model:
        general = pm.Uniform("general", 0.5, 5)
        read = pm.Normal("skill[read]", 2 * general - 1, 1)
        write = pm.Uniform("skill[write]", 0, general)
        count = pm.Gamma("skill[count]", alpha=2, beta=1)
        more = pm.Normal("more", 0, 0.3 * general, shape=3)
        lean = pm.Normal("lean", read + write + count, 1)
        effort = pm.Exponential("effort", lam=1 / general)
        chance = pm.math.sigmoid(effort)
        for place, skill in enumerate((read, write, count)):
            chance *= pm.math.sigmoid(skill + more[place] - demand[:, place] + 0.1 * lean)
        pm.Binomial("done", n=1, p=chance, observed=won)
    return model


def data():
    rng = np.random.default_rng(5)
    return rng.uniform(0, 5, (ITEMS, 3)), rng.integers(0, 2, ITEMS)


def density(layout, demand, won):
    """Log-density and slope of the machine code."""
    subject = SubjectData(won, np.ones(ITEMS, dtype=int), {})
    return Fused(layout, {"demand": demand}, subject)


def at(model, points):
    """Lay points out by the names of a PyMC model's values."""
    first = model.initial_point()  # compiled anew each time
    names = [model.rvs_to_values[variable].name for variable in model.free_RVs]
    ends = np.cumsum([np.size(first[name]) for name in names])[:-1]
    return [
        {
            name: part.reshape(np.shape(first[name]))
            for name, part in zip(names, np.split(point, ends), strict=True)
        }
        for point in points
    ]


@pytest.mark.parametrize(
    "rate", [lambda general: 1 / general, lambda general: general], ids=["as by hand", "twin"]
)
def test_the_density_is_that_of_a_model_written_by_hand(rate):
    demand, won = data()
    layout = of_formulas(rate)
    assert not noncentred(layout, ITEMS)
    model = by_hand(demand, won)
    fused, logp, slope = (
        density(layout, demand, won),
        model.compile_logp(mode=AS_WRITTEN),
        model.compile_dlogp(mode=AS_WRITTEN),
    )
    points = np.random.default_rng(1).normal(size=(8, 9))
    found = [fused(point)[:2] for point in points]
    named = at(model, points)
    expected = [float(logp(point)) for point in named]
    if rate(2.0) == 2.0:  # another formula is another density
        assert not np.isclose([value for value, _ in found], expected, rtol=1e-9).any()
        return
    np.testing.assert_allclose([value for value, _ in found], expected, rtol=1e-11)
    for (_, gradient), point in zip(found, named, strict=True):
        np.testing.assert_allclose(gradient, slope(point), rtol=1e-9, atol=1e-9)
    found = ml.to_pymc(layout, *evaluated(demand, won)).compile_logp(mode=AS_WRITTEN)
    np.testing.assert_allclose([found(point) for point in named], expected, rtol=1e-11)


def evaluated(demand, won):
    """Make an evaluation of one subject, and name it."""
    names = [f"item {place}" for place in range(len(won))]
    items = pd.DataFrame(demand, index=names, columns=list(DEMAND.columns))
    return ml.Evaluation.from_wide(pd.DataFrame([won], index=["Ann"], columns=names), items), "Ann"


def one_coin(won, tosses, wrong=False):
    """A chance about a general chance, which is a beta's parameter and has no tosses of its own."""
    general = ml.Capability("general", low=0, high=1)
    share = 1 - general if wrong else general
    chance = ml.Capability("chance", prior=Prior("Beta", alpha=1 + 8 * share, beta=9 - 8 * share))
    layout = ml.Layout("coin", ml.Success("heads", chance))
    names = ["toss"]
    counts = pd.DataFrame({"toss": [won]}, index=["Ann"])
    items = pd.DataFrame(index=names)
    return layout, ml.Evaluation(items, counts, counts * 0 + tosses)


@pytest.mark.parametrize("method", ["grid", pytest.param("nuts", marks=pytest.mark.slow)])
def test_a_posterior_known_by_quadrature(method):
    """A general share g, chance ~ Beta(1 + 8 g, 9 - 8 g): given g, wins are beta-binomial.

    The twin with another prior is integrated alone: NUTS would compile it for seconds.
    """
    won, tosses = 9, 10

    def weighted(value):
        return integrate.quad(
            lambda g: value(g) * stats.betabinom.pmf(won, tosses, 1 + 8 * g, 9 - 8 * g), 0, 1
        )[0]

    mass = weighted(lambda g: 1.0)
    expected = {
        "general": weighted(lambda g: g) / mass,
        "chance": weighted(lambda g: (1 + 8 * g + won) / (10 + tosses)) / mass,
    }
    for wrong in (False, True)[: 1 + (method == "grid")]:
        fit = ml.fit(
            *one_coin(won, tosses, wrong), method=method, seed=2, progressbar=False, draws=1000
        )
        table = fit.profiles().set_index("node")
        error = 4 * table["sd"] / np.sqrt(400)  # four standard errors of 400 independent draws
        for name, mean in expected.items():
            near = abs(table.loc[name, "mean"] - mean) < error[name]
            assert near != (wrong and name == "general")


def test_a_prior_for_each_label_is_updated_alone():
    """One label's items tell of it alone: Beta(2, 5) and uniform, each conjugate."""
    skill = ml.Capability(
        "skill",
        labels=("a", "b"),
        prior={"b": Prior("Uniform", lower=0, upper=1), "a": Prior("Beta", alpha=2, beta=5)},
    )
    asked = ml.MetaFeature("asked", levels=(0, 1), labels=("a", "b"))
    layout = ml.Layout("two", ml.Success("done", product(presence(skill, asked), over="dimension")))
    items = pd.DataFrame([[1, 0], [0, 1]], index=["a", "b"], columns=list(asked.columns))
    won = pd.DataFrame([[7, 1]], index=["Ann"], columns=["a", "b"])
    evaluation = ml.Evaluation(items, won, won * 0 + 10)
    truth = {"a": stats.beta(9, 8), "b": stats.beta(2, 10)}
    for method in ("grid", "nuts"):
        fit = ml.fit(layout, evaluation, method=method, seed=3, progressbar=False)
        table = fit.profiles().set_index("label")
        for label, known in truth.items():
            assert abs(table.loc[label, "mean"] - known.mean()) < 4 * known.std() / np.sqrt(1000)
            assert abs(table.loc[label, "sd"] / known.std() - 1) < 4 / np.sqrt(2 * 1000)
    a, b = elements(layout)
    places = np.array([0.1, 0.5, 0.9])
    drawn = draw_prior(layout)["skill"]
    np.testing.assert_allclose(prior_density(a, drawn[:, 0], places), stats.beta(2, 5).pdf(places))
    np.testing.assert_allclose(prior_density(b, drawn[:, 1], places), 1)


def test_it_is_written_read_and_drawn():
    layout = of_formulas()
    written = json.loads(json.dumps(layout.to_dict()))
    read = ml.Layout.from_dict(written)
    assert read.fingerprint == layout.fingerprint
    assert read.to_dict() == layout.to_dict()
    assert of_formulas(lambda general: general).fingerprint != layout.fingerprint
    edges = {("general", "effort"), ("twice", "skill"), ("general", "skill"), ("skill", "lean")}
    assert edges <= set(layout.graph.edges)
    assert "∼ Exponential(λ=1 / general)" in " ".join(facts(layout.nodes["effort"]))
    assert {"write ∼ Uniform(lower=0,", "upper=general)"} <= set(facts(layout.nodes["skill"]))


def test_a_cycle_through_a_formula_is_refused():
    written = of_formulas().to_dict()
    (general,) = (node for node in written["nodes"] if node["name"] == "general")
    general["prior"]["parameters"]["upper"] = {"op": "+", "of": [9, {"node": "effort"}]}
    with pytest.raises(ml.LayoutError, match="general: it depends on itself; remove one"):
        ml.Layout.from_dict(written)


def test_a_fit_is_forecast_saved_and_described(tmp_path):
    evaluation, _ = evaluated(*data())
    fit = ml.fit(
        of_formulas(), evaluation, draws=100, tune=300, chains=2, reruns=0, seed=1,
        progressbar=False,
    )  # fmt: skip
    fit.save(tmp_path / "fit.nc")
    again = ml.load(tmp_path / "fit.nc")
    pd.testing.assert_frame_equal(again.profiles(), fit.profiles())
    assert fit.forecast(evaluation.items).data["mean"].notnull().all()
    assert "effort" in str(ml.describe(fit))
    assert "effort" in str(ml.check(fit.layout, evaluation))
