"""Sequential Monte Carlo against a posterior with a closed form."""

import numpy as np
import pytest

from measurement_layouts.inference.sampling.particles import sample_particles

PLACES = np.linspace(-1, 1, 500)  # draws of what is shared: a shift
SCALE = np.array([0.2, 0.5, 1.0])


def log_likelihood(scores, places):
    """Three sums of own score and shift are seen as 1, with errors of different size."""
    seen = scores + PLACES[places, None]
    return -0.5 * (((seen - 1) / SCALE) ** 2).sum(axis=1)


def exactly():
    """Weights of the places, and means of the scores."""
    width = 1 + SCALE**2
    logs = (-0.5 * (1 - PLACES[:, None]) ** 2 / width).sum(axis=1)
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    return weights, ((1 - PLACES[:, None]) / width * weights[:, None]).sum(axis=0)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_scores_and_places_are_those_of_the_closed_form(seed):
    weights, means = exactly()
    found = sample_particles(log_likelihood, 3, len(PLACES), chains=4, draws=1000, seed=seed)
    spread = found.scores.std(axis=(0, 1))
    assert (abs(found.scores.mean(axis=(0, 1)) - means) < 4 * spread / 600**0.5).all()
    shift = PLACES[found.picks]
    assert abs(shift.mean() - weights @ PLACES) < 4 * shift.std() / 400**0.5
    assert found.effective == pytest.approx(1 / (weights**2).sum(), rel=0.1)
    unweighted = PLACES.mean()  # the twin: places taken equally
    assert abs(shift.mean() - unweighted) > 4 * shift.std() / 400**0.5


def test_two_modes_both_have_their_share():
    """The prior makes them alike, and no step leads from one to the other."""

    def two(scores, places):
        return -0.5 * ((abs(scores[:, 0]) - 2) / 0.1) ** 2

    found = sample_particles(two, 1, 10, chains=4, draws=1000, seed=1)
    assert (found.scores > 0).mean() == pytest.approx(0.5, abs=0.1)
