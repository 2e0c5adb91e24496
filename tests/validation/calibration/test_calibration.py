"""Every scenario's posterior is checked by simulation: true values have uniform ranks.

``pytest -m slow tests/validation/calibration/test_calibration.py --simulations 1000``
takes twenty times as many as here, sees deviations a quarter as large, and has all layouts instead
of one of each mechanism. Layouts whose simulations cost more take a part of them; see
`Scenario.calibration`. If all layouts are calibrated, the chance that one fails is at most 1 % over
all of them, for a seed that is fixed.
"""

import numpy as np
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import scenarios
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.layouts import Layout, Success
from measurement_layouts.linking import mixture
from measurement_layouts.validation.calibration import run

pytestmark = pytest.mark.slow
FEWEST = 20
EVERY = {name: scenarios.get(name) for name in scenarios.NAMES}
TWICE = {"animal-ai-olympics": "published layout", "object-permanence": "published layout"}
"""Their noise pulls towards the subject's own mean failure, so that outcomes count twice."""
FEWER = "adele", "abilities, all needed"
"""Its simulations cost most; every other item of its small battery is enough."""
HALF = "published layout, pull towards a half"
SPOILT = "animal-ai-olympics", HALF
"""It is calibrated; tests that must fail spoil it."""
ALL = [
    *((name, layout) for name, scenario in EVERY.items() for layout in scenario.layouts),
    *((name, HALF) for name in TWICE),
    ("weirdml", "nested layout"),
]
FIRST = {
    SPOILT,  # guesses and lapses
    ("object-permanence", "recommended layout"),
    ("propensities", "recommended layout"),
    ("adele", "abilities, all needed"),
    ("dispositions", "recommended layout"),
    ("math-exam", "recommended layout"),
}
"""One layout of each mechanism, which every change is checked with."""
CASES = {f"{name}, {layout}": (name, layout) for name, layout in ALL if TWICE.get(name) != layout}


def calibration(name, layout, simulations, *, whole=False):
    case, method = EVERY[name].calibration()[layout], EVERY[name].method
    count = simulations if whole else max(FEWEST, round(case.share * simulations))
    options = {"simulations": count, "method": method, "progressbar": False}
    options["subjects"] = case.subjects
    items = case.items.iloc[:: 2 if (name, layout) == FEWER else 1]
    return ml.validation.sbc(case.layout, items, alpha=0.01 / len(CASES), **options)


@pytest.fixture(scope="module")
def fit_once():
    """Fit what is fitted first; the calibration of one layout and tests that spoil it share it."""
    kept = []

    def fit(layout, evaluation, **more):
        if not kept:
            kept.append((evaluation, ml.fit(layout, evaluation, **more)))
        first, fitted = kept[0]
        assert evaluation.successes.equals(first.successes)
        return fitted

    return fit


@pytest.mark.parametrize(
    ("name", "layout"),
    [pytest.param(*case, id=title) for title, case in CASES.items()],
)
def test_true_values_have_uniform_ranks(name, layout, simulations, monkeypatch, fit_once):
    if simulations < 1000 and (name, layout) not in FIRST:
        pytest.skip("one layout of each mechanism is calibrated, unless --simulations is 1000")
    if (name, layout) == SPOILT:
        simulations = max(100, simulations)
        monkeypatch.setattr(run, "fit", fit_once)
    found = calibration(name, layout, simulations)
    assert not found.inconclusive, found.status["reason"].value_counts()
    assert found.calibrated, found.table()
    assert not found.uses_outcomes_twice
    assert found.simulations == len(found.ranks) // len(found.quantities)  # none is left out


def test_every_layout_is_checked():
    everything = {(name, layout) for name, one in EVERY.items() for layout in one.calibration()}
    assert everything == set(ALL)
    assert everything - set(CASES.values()) == set(TWICE.items())


@pytest.mark.parametrize(
    ("name", "layout"),
    [pytest.param(*case, id=case[0]) for case in TWICE.items()],
)
def test_outcomes_that_count_twice_are_found_and_said(name, layout, simulations):
    """The published pull of the noise is known to be not calibrated; see `mixture`."""
    found = calibration(name, layout, max(200, simulations), whole=True)
    assert found.uses_outcomes_twice
    assert not found.inconclusive, found.status["reason"].value_counts()
    assert not found.calibrated, found.table()
    assert "outcomes count twice" in repr(found)


@pytest.fixture
def half(simulations):
    """From nothing to the calibration of a layout that is calibrated; tests spoil it."""
    return lambda: calibration(*SPOILT, max(100, simulations))


def test_a_wrong_likelihood_is_noticed(half, monkeypatch):
    """Twin that must fail: outcomes from noise towards failure, fitted as noise towards a half."""
    real = run.simulate

    def simulate(layout, items, profiles, **more):
        performance, noise, _ = layout.outcome.expression.arguments
        other = Success(layout.outcome.name, mixture(performance, by=noise, toward=0.0))
        return real(Layout("other", other), items, profiles, **more)

    monkeypatch.setattr(run, "simulate", simulate)
    assert half().verdict().startswith("not calibrated")


def spoilt(monkeypatch, fit_once, change):
    """Let the sampler give other draws: `change` takes a layout, a latent's name and its draws."""

    def fit(layout, evaluation, **more):
        fitted = fit_once(layout, evaluation, **more)
        tree = fitted.data.copy()
        draws = {
            name: (variable.dims, change(layout, name, variable.to_numpy()))
            for name, variable in fitted.posterior.data_vars.items()
        }
        tree["posterior"] = xr.DataTree(xr.Dataset(draws, fitted.posterior.coords))
        return ml.Fit(layout, tree, {})

    monkeypatch.setattr(run, "fit", fit)


def test_a_posterior_that_is_too_narrow_is_noticed(half, fit_once, monkeypatch):
    """Twin that must fail: draws at seven tenths of their distance from their mean."""

    def narrow(layout, name, draws):
        mean = draws.mean(axis=(0, 1), keepdims=True)
        return mean + 0.7 * (draws - mean)

    spoilt(monkeypatch, fit_once, narrow)
    found = half()
    assert found.verdict().startswith("not calibrated")
    assert (found.table()["coverage"].drop("log-likelihood") < 0.88).all()


def test_a_posterior_that_is_the_prior_is_noticed_by_the_log_likelihood_alone(
    half, fit_once, monkeypatch
):
    """Twin that must fail: profiles of other subjects, drawn from the prior."""

    def prior(layout, name, draws):
        place = [latent.name for latent in layout.latents].index(name)
        return np.random.default_rng(place).choice(draw_prior(layout)[name], draws.shape)

    spoilt(monkeypatch, fit_once, prior)
    found = half()
    assert found.verdict() == "not calibrated (log-likelihood)"
