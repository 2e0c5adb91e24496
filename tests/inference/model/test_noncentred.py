"""Latents whose scale is another latent are sampled as deviations; nothing else changes."""

import numpy as np
import pandas as pd
import pytest
from arviz_stats.base import array_stats
from helpers.densities import Fused, Plain, alone
from helpers.function_cases import AS_WRITTEN
from scipy import stats

import measurement_layouts as ml
from measurement_layouts import Prior, scenarios
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model import prior, variables
from measurement_layouts.inference.model.pymc_model import build_model
from measurement_layouts.inference.model.variables import noncentred
from measurement_layouts.inference.sampling import engine
from measurement_layouts.layouts.elements import elements
from measurement_layouts.linking import logistic, product

LABELS = ("read", "write", "count")
SIDE = ml.MetaFeature("side", levels=(-1, 1))
FAMILIES = {
    "Normal": ({"mu": 1.5, "sigma": "spread"}, stats.norm),
    "precision": ({"mu": 1.5, "tau": "spread"}, stats.norm),
    "StudentT": ({"nu": 5, "mu": 1.5, "sigma": "spread"}, stats.t(5)),
    "Cauchy": ({"alpha": 1.5, "beta": "spread"}, stats.cauchy),
    "Laplace": ({"mu": 1.5, "b": "spread"}, stats.laplace),
    "Logistic": ({"mu": 1.5, "s": "spread"}, stats.logistic),
    "Gumbel": ({"mu": 1.5, "beta": "spread"}, stats.gumbel_r),
}


def layout(family="Normal", labels=None, **parameters):
    """A capability about a place that is known, or is a latent, in spreads that are not known."""
    named = {
        "spread": ml.Capability("spread", prior=Prior("LogNormal", mu=-0.5, sigma=0.7)),
        "general": ml.Capability("general", prior=Prior("Normal", mu=0, sigma=1)),
    }
    given = parameters or {"mu": "general", "sigma": "spread"}
    given = {name: named.get(value, value) for name, value in given.items()}
    skill = ml.Capability("skill", prior=Prior(family, **given), labels=labels)
    part = logistic(skill - SIDE)
    chance = part if labels is None else product(part, over="dimension")
    return ml.Layout("skills", ml.Success("done", chance))


def battery(items):
    return {"side": np.resize([-1.0, 1.0], items)}


def outcomes(items):
    won = np.resize([1, 1, 0], items)
    return SubjectData(won, np.ones(items, dtype=int), {})


# --- which ones ----------------------------------------------------------------------------------


# --- the density ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FAMILIES)
def test_deviations_have_the_family_s_standard_density(name):
    """By SciPy, and by the centred form at the value, with the derivative by hand."""
    family = "Normal" if name == "precision" else name
    parameters, standard = FAMILIES[name]
    made = layout(family, **parameters)
    apart, centred = (
        build_model(alone(made, battery(9), outcomes(9)), deviations)
        for deviations in (None, frozenset())
    )
    assert [variable.name for variable in apart.value_vars] == [
        "spread_log__",
        "skill_noncentred__",
    ]
    log_spread, z = -0.3, 0.8
    scale = np.exp(log_spread * (-0.5 if name == "precision" else 1))
    here = {"spread_log__": log_spread, "skill_noncentred__": z}
    there = {"spread_log__": log_spread, "skill": 1.5 + scale * z}
    own = apart.compile_logp(apart["skill"], mode=AS_WRITTEN)(here)
    assert own == pytest.approx(standard.logpdf(z), abs=1e-12)
    whole, other = (
        apart.compile_logp(mode=AS_WRITTEN)(here),
        centred.compile_logp(mode=AS_WRITTEN)(there),
    )
    assert whole == pytest.approx(other + np.log(scale), abs=1e-10)


def test_deviations_of_logarithms_are_normal():
    """A LogNormal with a latent scale, alone: by SciPy, and by the value's own density."""
    spread = ml.Capability("spread", prior=Prior("LogNormal", mu=-0.5, sigma=0.7))
    slope = ml.Slope("slope", prior=Prior("LogNormal", mu=1.5, sigma=spread))
    made = ml.Layout("steep", ml.Success("done", logistic(slope * SIDE)))
    assert noncentred(made, 9) == {"slope"}
    model = build_model(alone(made, battery(9), outcomes(9)))
    log_spread, z = -0.3, 0.8
    here = {"spread_log__": log_spread, "slope_lognoncentred__": z}
    assert model.compile_logp(model["slope"], mode=AS_WRITTEN)(here) == pytest.approx(
        stats.norm.logpdf(z), abs=1e-12
    )
    scale = np.exp(log_spread)
    value = np.exp(1.5 + scale * z)
    own = stats.lognorm(scale, scale=np.exp(1.5)).logpdf(value)
    assert own + np.log(value * scale) == pytest.approx(stats.norm.logpdf(z), abs=1e-12)
    fused, plain = (of(made, battery(9), outcomes(9)) for of in (Fused, Plain))
    point = np.array([0.2, -0.4])
    assert fused(point)[0] == pytest.approx(plain(point)[0], rel=1e-10)


# --- the posterior -------------------------------------------------------------------------------


@pytest.fixture
def centred(monkeypatch):
    """Sample as before: every latent as it is."""
    monkeypatch.setattr(variables, "_OUTCOMES_PER_VALUE", 0)
    engine._samplers.clear()
    yield
    engine._samplers.clear()


def few(subjects=8, items=6):
    """Simulate subjects on few items, whose posteriors are funnels."""
    made = layout(labels=LABELS)
    drawn = prior.sample_prior(made, subjects, seed=4)
    truth = pd.DataFrame(
        {"general": drawn["general"], "spread": drawn["spread"]}
        | {f"skill[{label}]": drawn["skill"][:, at] for at, label in enumerate(LABELS)},
        index=[f"subject {number}" for number in range(subjects)],
    )
    table = pd.DataFrame(battery(items), index=[f"item {number}" for number in range(items)])
    return made, ml.simulate(made, table, truth, seed=5)


ENOUGH = 400  # 100 for each of four chains, as every fit wants
OPTIONS = {"draws": 500, "tune": 500, "reruns": 0, "seed": 1, "progressbar": False}


def test_funnels_converge():
    table = ml.fit(*few(), **OPTIONS).diagnostics()
    assert (table["ess"] < ENOUGH).sum() <= 1


def test_funnels_sampled_as_they_are_do_not(centred):
    """Twin that must fail."""
    table = ml.fit(*few(), **OPTIONS).diagnostics()
    assert (table["ess"] < ENOUGH).sum() >= 6


def test_as_the_grid_has_it():
    """Within 4 Monte Carlo standard errors; the grid integrates in the same coordinates."""
    made = layout(mu=0.5, sigma="spread")
    items = pd.DataFrame(battery(8), index=[f"item {number}" for number in range(8)])
    won = pd.DataFrame([[1, 1, 1, 0, 1, 1, 1, 0]], index=["Ann"], columns=items.index)
    evaluation = ml.Evaluation.from_wide(won, items)
    options = {"seed": 2, "progressbar": False}
    nuts = ml.fit(made, evaluation, target_accept=0.95, **options)
    grid = ml.fit(made, evaluation, method="grid", **options)
    for name in ("skill", "spread"):
        wanted = grid.posterior[name].to_numpy()
        draws = np.log(nuts.posterior[name].to_numpy()[..., 0] + 10)
        error = float(array_stats.mcse(draws))
        assert abs(draws.mean() - np.log(wanted + 10).mean()) < 4 * error
    heights = [np.median(one.data["sample_stats"]["lp"]) for one in (nuts, grid)]
    assert abs(heights[0] - heights[1]) < 0.1


@pytest.mark.slow
def test_abilities_have_one_posterior_in_either_form(monkeypatch):
    """Means and spreads of all elements, within 4.5 joint Monte Carlo standard errors.

    Of 44 numbers, one is that far off by chance in one of 3,300 runs.
    """
    case = scenarios.get("adele").calibration()["abilities, all needed"]
    truth = pd.DataFrame(4.0, ["Ann"], [element.name for element in elements(case.layout)])
    truth[["scatter", "slope", "noise"]] = 0.4, 1.5, 0.05
    evaluation = ml.simulate(case.layout, case.items, truth, seed=2)
    options = {"target_accept": 0.98, "reruns": 0, "seed": 1, "progressbar": False}
    apart = ml.fit(case.layout, evaluation, draws=500, tune=600, **options)
    monkeypatch.setattr(variables, "_OUTCOMES_PER_VALUE", 0)
    engine._samplers.clear()
    as_they_are = ml.fit(case.layout, evaluation, draws=1200, tune=700, **options)
    engine._samplers.clear()
    for one, other in zip(numbers(apart), numbers(as_they_are), strict=True):
        for method, of in (("mean", np.mean), ("sd", np.std)):
            error = np.hypot(*(float(array_stats.mcse(x, method=method)) for x in (one, other)))
            assert abs(of(one) - of(other)) < 4.5 * error


def numbers(fitted):
    """Draws of each element that all have a variance, (chains, draws)."""
    for latent in fitted.layout.latents:
        draws = fitted.posterior[latent.name].isel(subject=0).to_numpy()
        draws = np.log(draws) if latent.name in ("scatter", "slope", "noise") else draws
        yield from np.moveaxis(draws.reshape(*draws.shape[:2], -1), -1, 0)
