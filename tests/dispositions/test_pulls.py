"""How people's log-odds are spread over scenarios, against quadrature and known truth."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad, quad_vec
from scipy.special import expit
from scipy.stats import norm

from measurement_layouts import DataError
from measurement_layouts.dispositions.pulls import expected_rates, fit_pulls

TRUTH = {"calm": (-0.5, 1.0), "torn": (1.0, 2.5)}


def drawn(seed, scenarios=400, votes=10):
    rng = np.random.default_rng(seed)
    group = np.repeat(list(TRUTH), scenarios)
    mean, spread = np.array([TRUTH[name] for name in group]).T
    positive = rng.binomial(votes, expit(rng.normal(mean, spread)))
    counts = pd.DataFrame({"positive": positive, "negative": votes - positive}, dtype=float)
    return counts, pd.Series(group, counts.index)


def log_likelihood(counts, mean, spread):
    """By SciPy, but for the binomial coefficients."""
    kinds, times = np.unique(counts[["positive", "negative"]], axis=0, return_counts=True)

    def density(h):
        return expit(h) ** kinds[:, 0] * expit(-h) ** kinds[:, 1] * norm.pdf(h, mean, spread)

    found, _ = quad_vec(density, mean - 9 * spread, mean + 9 * spread, epsrel=1e-10)
    return times @ np.log(found)


def test_the_maximum_of_the_likelihood():
    """The same likelihood by SciPy is lower at every neighbour, by what its curvature says."""
    counts, by = drawn(1)
    table = fit_pulls(counts, by)
    for name, (mean, spread, _) in table.iterrows():
        part = counts[by == name]
        best = log_likelihood(part, mean, spread)
        for shift in ((0.02, 0), (-0.02, 0), (0, 0.02), (0, -0.02)):
            assert log_likelihood(part, mean + shift[0], spread + shift[1]) < best


def test_known_means_and_spreads_are_found():
    """Over 12 draws the average lies within 4 standard errors; that of the raw rates does not."""
    found, raw = [], []
    for seed in range(12):
        counts, by = drawn(seed, scenarios=300)
        found.append(fit_pulls(counts, by).loc[list(TRUTH)].to_numpy())
        rate = (counts["positive"] + 0.5) / (counts.sum(axis=1) + 1)
        odds = np.log(rate / (1 - rate)).groupby(by).agg(["mean", "std"])
        raw.append(odds.loc[list(TRUTH)].to_numpy())
    truth = np.array(list(TRUTH.values()))

    def far(values):
        values = np.array(values)[..., :2] - truth
        return np.abs(values.mean(axis=0) / (values.std(axis=0, ddof=1) / len(values) ** 0.5))

    assert (far(found) < 4).all()
    claimed = np.array(found)[..., 2].mean(axis=0)
    scatter = np.log(np.array(found)[..., 1]).std(axis=0, ddof=1)
    assert (abs(np.log(claimed / scatter)) < 4 / 22**0.5).all()  # error of a spread of 12 values
    assert (far(raw)[:, 1] > 4).all()  # twin: raw log-odds are spread otherwise


def test_expected_rates_against_quadrature():
    for positive, negative, mean, spread in ((9, 1, 0, 2), (0, 10, -1, 1.5), (3.5, 6.5, 0.5, 0.7)):

        def density(h, y=positive, n=negative, m=mean, s=spread):
            return expit(h) ** y * expit(-h) ** n * norm.pdf(h, m, s)

        below = quad(density, -30, 30, limit=300, points=[mean])[0]
        above = quad(lambda h, f=density: expit(h) * f(h), -30, 30, limit=300, points=[mean])[0]
        found = expected_rates(*(np.array([float(x)]) for x in (positive, negative, mean, spread)))
        np.testing.assert_allclose(found, above / below, rtol=1e-7)


@pytest.mark.parametrize("votes", [[(10, 0)] * 8, [(5, 5)] * 40], ids=["unanimous", "all alike"])
def test_votes_that_tell_no_spread(votes):
    counts = pd.DataFrame(votes, columns=["positive", "negative"], dtype=float)
    with pytest.raises(
        DataError, match=r"Empathy: the votes on its .* do not determine the spread"
    ):
        fit_pulls(counts, pd.Series("Empathy", counts.index))
