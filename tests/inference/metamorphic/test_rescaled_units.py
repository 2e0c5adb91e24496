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


# --- exceptions by design ------------------------------------------------------------------------
