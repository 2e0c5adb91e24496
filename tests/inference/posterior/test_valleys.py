"""Separate modes are seen in draws: seldom where there is one mode, nearly always where two are."""

import numpy as np
import pytest
from scipy import stats
from scipy.signal import lfilter

from measurement_layouts.inference.posterior.summaries import separate_modes
from measurement_layouts.inference.sampling.convergence import rhat_ess

RATE = 0.001  # of false alarms that is stated, with 200 effective draws or more
SHAPES = {
    "uniform": stats.uniform(),
    "normal": stats.norm(),
    "skewed": stats.expon(),
    "heavy tails": stats.t(2),
    "at the lower end": stats.beta(0.5, 3),
    "at the upper end": stats.beta(1, 0.3),
    "peaked at the end": stats.gamma(0.3),
}


def marked(draws):
    """Which elements, (element, chain, draw), are marked."""
    return separate_modes(draws, np.sort(draws.reshape(len(draws), -1)), rhat_ess(draws).rhat)


def alarms(draws):
    return int(marked(draws).sum())


def allowed(count, rate=RATE):
    """How many alarms there may be by chance, but for one test in a million."""
    return int(stats.binom.isf(1e-6, count, rate))


def chains(rng, count, correlation, draws=1000):
    """Uniform draws of four chains that forget at a rate."""
    noise = rng.normal(size=(count, 4, draws))
    noise[..., 0] /= np.sqrt(1 - correlation**2)
    walk = lfilter([1], [1, -correlation], noise, axis=-1) * np.sqrt(1 - correlation**2)
    return stats.norm.cdf(walk)


def mixed(rng, weight, gap, count=50, draws=1000):
    """Draws of two normal modes so many standard deviations apart, visited at random."""
    upper = rng.random((count, 4, draws)) < weight
    return rng.normal(size=upper.shape) + gap * upper


# --- one mode ------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("draws", [50, 250])
def test_one_mode_is_seldom_taken_for_several(shape, draws):
    rng = np.random.default_rng(1)
    count = 3000 if draws == 50 else 750
    drawn = SHAPES[shape].rvs((count, 4, draws), random_state=rng)
    assert alarms(drawn) <= allowed(count)


@pytest.mark.parametrize("correlation", [0.5, 0.9, 0.97, 0.99, 0.998])
def test_slow_chains_are_not_modes(correlation):
    """With R-hat up to 2; chains that have not been everywhere leave gaps."""
    drawn = chains(np.random.default_rng(2), 200, correlation, draws=300)
    assert alarms(drawn) <= allowed(len(drawn))


@pytest.mark.parametrize("moves", [0.0, 1e-3])
def test_a_chain_that_is_stuck_for_a_while_makes_no_mode(moves):
    """Near the end of the range, as where a gradient vanishes; the twin: many short visits do."""
    rng = np.random.default_rng(9)
    stuck, visits = rng.random((2, 20, 4, 500))
    stuck[:, 0, 100:300] = 0.99 + moves * rng.random((20, 200))
    assert alarms(stuck) == 0
    often = rng.random((20, 4, 500)) < 0.1
    visits = np.where(often, 1.5 + moves * rng.random(visits.shape), visits)
    assert alarms(visits) == (20 if moves else 0)


# --- several modes -------------------------------------------------------------------------------


@pytest.mark.parametrize(("weight", "gap"), [(0.5, 5.0), (0.2, 6.0), (0.95, 7.0)])
def test_modes_are_found(weight, gap):
    assert marked(mixed(np.random.default_rng(3), weight, gap)).all()


@pytest.mark.parametrize("places", [(0, 9, 0, 9), (0, 0, 0, 9), (0, 9, 20, 9)])
def test_chains_that_stay_apart_are_marked(places):
    rng = np.random.default_rng(5)
    assert marked(rng.normal(size=(20, 4, 500)) + np.array(places)[:, None]).all()


def test_chains_that_seldom_change_modes_are_marked():
    """Each visits both modes, once."""
    rng = np.random.default_rng(6)
    stay = np.arange(500) < rng.integers(50, 450, (4, 1))
    assert marked(rng.normal(size=(1, 4, 500)) + 9 * stay).all()


def test_each_element_is_judged_on_its_own():
    rng = np.random.default_rng(8)
    drawn = rng.normal(size=(3, 2, 4, 500))
    drawn[1, 0] += 9 * (rng.random((4, 500)) < 0.5)
    ordered = np.sort(drawn.reshape(3, 2, -1))
    found = separate_modes(drawn, ordered, rhat_ess(drawn).rhat)
    assert np.argwhere(found).tolist() == [[1, 0]]
    assert found.shape == (3, 2)
