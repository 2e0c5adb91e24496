"""Power of a comparison, against quadrature of a layout of one ability."""

import numpy as np
import pandas as pd
import pytest
from helpers.populations import exam_layout
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.batteries import power
from measurement_layouts.linking import logistic

SIGHT = ml.Capability("sight", low=0, high=10)
LAYOUT = ml.Layout(
    "looking", ml.Success("found", logistic(SIGHT - ml.MetaFeature("smallness", low=0, high=10)))
)
BANK = pd.DataFrame({"smallness": np.linspace(0, 10, 20)}, range(20))


def by_quadrature(items, attempts, gap, simulations=1000):
    """Share of pairs of which an interval of the difference excludes 0, from exact posteriors."""
    rng, grid, decided = np.random.default_rng(2), np.linspace(0, 10, 401), 0
    for _ in range(simulations):
        demands, draws = np.resize(rng.permutation(BANK["smallness"]), items), []
        low = rng.uniform(0, 10 - gap)
        for sight in (low, low + gap):
            successes = rng.binomial(attempts, expit(sight - demands))
            margins = grid[:, None] - demands
            log = (successes * margins - attempts * np.logaddexp(0, margins)).sum(axis=1)
            mass = np.exp(log - log.max())
            draws.append(rng.choice(grid, 1000, p=mass / mass.sum()))
        decided += np.quantile(draws[1] - draws[0], 0.05) > 0
    return decided / simulations


def test_power_is_that_of_exact_posteriors():
    table = power(LAYOUT, BANK, {"sight": -2}, items=[10, 30], attempts=[1, 3], progressbar=False)
    assert table["items"].tolist() == [10, 10, 30, 30]
    assert table["attempts"].tolist() == [1, 3, 1, 3]
    for row in table[:3].itertuples():
        expected = by_quadrature(row.items, row.attempts, 2)
        assert row.decided == pytest.approx(
            expected, abs=3 * (expected * (1 - expected) / 100) ** 0.5
        )
    assert table["decided"][3] > 0.95
    assert table["wrong"].max() <= 0.04


@pytest.mark.parametrize(
    ("difference", "options", "message"),
    [
        ({"sight": 0}, {}, r"difference\['sight'\]=0;"),
        ({"hearing": 1}, {}, "there is no profile element"),
        ({"sight": 11}, {}, "give a smaller difference"),
        (1, {}, "give one by latent"),
        ({"sight": 1}, {"items": 0}, "items=0"),
        ({"sight": 1}, {"pairs": 3}, "pairs=3"),
    ],
)
def test_what_cannot_be_computed_is_refused(difference, options, message):
    with pytest.raises(ml.FitError, match=message):
        power(LAYOUT, BANK, difference, **{"items": 10} | options)


def test_a_layout_with_shared_values_is_refused():
    with pytest.raises(ml.LayoutError, match="subjects share values"):
        power(exam_layout(), BANK, {"sight": 1}, items=10)
