"""A unit exchanged together with all that has it: the posterior is the old one in the new unit.

Of the log-density everything cancels up to a constant: on the unconstrained scale a uniform latent
is a share of its range, and a positive one moves by the logarithm of the factor, so that nothing is
left; a latent on the whole line leaves minus that logarithm. Tolerance 1e-10, as for the kernel.
"""

import numpy as np
import pytest
from helpers.fits import ERRORS, farthest, farthest_forecast, fitted
from helpers.log_density import ours, points
from helpers.rescaled import FAMILIES, UNITS, lengths, moved, reaching
from helpers.transformations import Problem
from hypothesis import given, settings
from hypothesis import strategies as st

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic, uncertain_band

ROUNDING = 1e-10
MANY = 12
LENGTHS = {"reach": 1, "help": 1, "slope": -1, "noise": 0}
"""The power of the unit that a latent of `rescaled.reaching` has."""


def measured(layout, rng_seed, factor=1.0, items=30):
    """Lengths and counts: of the same seed the same, in the unit; the last is not attempted."""
    rng = np.random.default_rng(rng_seed)
    table = lengths(rng, items, factor)
    trials = np.append(rng.integers(1, 4, items - 1), 0)
    return Problem(layout, table.assign(successes=rng.binomial(trials, 0.5), trials=trials))


def density(problem):
    return ours(problem.layout, problem.evaluation, problem.subject)


def changes(one, other, move, count=4):
    """What the log-density changes by, at some points."""
    first, second = density(one), density(other)
    return np.array(
        [second(move(point))[0] - first(point)[0] for point in points(first.size, count)]
    )


def hold_rescaled(family, size, unit, factor, seed):
    """`help` is on the whole line and leaves one logarithm, too."""
    metres = measured(reaching(family, "m", size), seed)
    layout = reaching(family, unit, size, factor=factor)
    found = changes(
        metres,
        measured(layout, seed, factor),
        lambda point: moved(family, factor, layout, point),
    )
    wanted = (FAMILIES[family].constant - 1) * np.log(factor)
    np.testing.assert_allclose(found, wanted, atol=ROUNDING * 100)  # of some 100


@pytest.mark.parametrize("family", FAMILIES)
def test_metres_in_centimetres(family):
    hold_rescaled(family, 2.0, "cm", UNITS["cm"], seed=1)


@pytest.mark.slow
def test_any_unit():

    @settings(max_examples=MANY)
    @given(
        family=st.sampled_from(sorted(FAMILIES)),
        size=st.floats(0.3, 5),
        factor=st.floats(1e-3, 1e3),
        seed=st.integers(0, 2**31),
    )
    def hold(family, size, factor, seed):
        hold_rescaled(family, size, "cubit", factor, seed)

    hold()


@pytest.mark.parametrize("forgotten", ["range", "slope"])
def test_what_is_forgotten_changes_the_posterior(forgotten):
    """Twin that must fail: the distances in centimetres, but the range or the slope in metres."""
    layout = reaching("normal", "cm", forgotten=forgotten)
    found = changes(
        measured(reaching("normal", "m"), 1),
        measured(layout, 1, UNITS["cm"]),
        lambda point: moved("normal", UNITS["cm"], layout, point),
    )
    assert np.ptp(found) > 0.1


def in_metres(fit, factor):
    posterior = fit.posterior.isel(subject=0)
    return posterior.assign(
        {name: posterior[name] / factor**power for name, power in LENGTHS.items()}
    )


def fitted_in(unit, **changed):
    problem = measured(reaching("uniform", unit, **changed), 3, UNITS[unit], items=60)
    return problem, fitted(problem)


@pytest.fixture(scope="module")
def metres():
    return fitted_in("m")


def test_a_fit_in_another_unit_has_the_posterior_and_the_forecasts(metres):
    """NUTS rounds otherwise in another unit, so the draws differ and the posterior does not."""
    (one, fit), (other, fit_in_inches) = metres, fitted_in("inch")
    found = in_metres(fit_in_inches, UNITS["inch"])
    assert farthest(one.layout, found, in_metres(fit, 1)) < ERRORS
    tables = (problem.evaluation.items for problem in (one, other))
    assert farthest_forecast(fit, fit_in_inches, *tables) < ERRORS


@pytest.mark.parametrize("forgotten", ["range", "slope"])
def test_a_fit_with_something_forgotten_has_another_posterior(metres, forgotten):
    """Twin that must fail, by sampling."""
    (one, fit), (_, other) = metres, fitted_in("inch", forgotten=forgotten)
    found = in_metres(other, UNITS["inch"])
    assert farthest(one.layout, found, in_metres(fit, 1)) > 2 * ERRORS


def steep(unit):
    """One latent, so that it can be integrated."""
    factor = UNITS[unit]
    reach = ml.Capability("reach", low=-5 * factor, high=9 * factor, unit=unit)
    far = ml.MetaFeature("distance", low=-10 * factor, high=10 * factor, unit=unit)
    return ml.Layout("steep", ml.Success("reached", logistic(reach - far, slope=0.8 / factor)))


def test_an_integrated_posterior_is_rescaled_draw_by_draw():
    """It is refined until its moments are settled to 1e-6, and draws are stratified."""
    drawn = {}
    for unit, factor in UNITS.items():
        problem = measured(steep(unit), 4, factor)
        fit = ml.fit(problem.layout, problem.evaluation, method="grid", seed=1, progressbar=False)
        drawn[unit] = fit.posterior["reach"].to_numpy() / factor
    for draws in drawn.values():
        np.testing.assert_allclose(draws, drawn["m"], rtol=0, atol=1e-5 * drawn["m"].std())


# --- exceptions by design ------------------------------------------------------------------------


def leaning(link, factor):
    """How far a propensity goes, in a band of items, where the slope is given per unit."""
    risk = ml.Propensity("risk", low=-4 * factor, high=4 * factor)
    low, high = (ml.MetaFeature(name, low=-9 * factor, high=9 * factor) for name in ("low", "high"))
    return ml.Layout("leaning", ml.Success("ok", link(risk, low, high, factor)))


def by_band(risk, low, high, factor):
    return band(risk, low, high, 2 / factor, min_width=0.1 * factor)


def by_uncertain_band(risk, low, high, factor):
    return uncertain_band(risk, low, high, 0.5 * factor, 2 / factor, min_width=0.1 * factor)


@pytest.mark.parametrize("link", [by_band, by_uncertain_band], ids=["band", "uncertain band"])
def test_bands_are_written_for_one_unit(link):
    """The steepness of the published band has exp(1 / half its width), which no unit cancels.

    So a band is to be given in the levels that the rubrics have; in another unit it is another
    model, and here that is pinned.
    """
    rng = np.random.default_rng(5)
    problems = []
    low = rng.uniform(-3, 0, 20)
    ends = {"low": low, "high": low + rng.uniform(0.5, 3, 20)}
    outcomes = {"successes": rng.integers(0, 2, 20), "trials": 1}
    for factor in (1.0, 2.0):
        items = {name: values * factor for name, values in ends.items()} | outcomes
        table = measured(steep("m"), 1, items=20).items.iloc[:, :0].assign(**items)
        problems.append(Problem(leaning(link, factor), table))
    assert np.ptp(changes(*problems, np.asarray)) > 0.1
