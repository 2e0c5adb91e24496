"""The collapse of bands onto the line: its plateaus, and how far off its maximum is."""

import numpy as np
import pytest
from helpers.one_band import band_layout, bands_of, chance, evaluation, skill_layout

import measurement_layouts as ml
from measurement_layouts.estimation.collapse import best_place, point_collapse
from measurement_layouts.estimation.estimate import estimate

THETA = -1.5


def test_plateaus_are_those_of_the_formula(rng):
    ends = np.round(bands_of(rng, 30), 1)
    ends[0], ends[1] = (-np.inf, 1.0), (2.0, 2.0)
    trials = rng.integers(0, 4, 30)
    successes = rng.binomial(trials, 0.4)
    table = point_collapse(*ends.T, successes, trials)
    assert (table["high"][:-1].to_numpy() == table["low"][1:].to_numpy()).all()
    for row in table.itertuples():
        x = row.high - 1e-9 if np.isinf(row.low) else (row.low + row.high) / 2
        holds = (ends[:, 0] <= x) & (x <= ends[:, 1])
        assert row.trials == trials[holds].sum()
        expected = successes[holds].sum() / max(row.trials, 1)
        assert row.success == pytest.approx(expected) if row.trials else np.isnan(row.success)


def test_few_trials_do_not_win_and_of_equals_the_widest_does():
    thin = point_collapse([0, 1, 9], [9, 9, 10], [30, 40, 1], [40, 41, 1])
    assert best_place(thin, -99, 99) == 5
    equal = point_collapse([0, 2, 9], [1, 8, 10], [4, 4, 4], [4, 4, 4])
    assert best_place(equal, -99, 99) == 5
    assert best_place(equal, 4, 99) == 6
    assert np.isnan(best_place(point_collapse([0], [np.inf], [1], [1]), -np.inf, np.inf))


def test_bad_bands_are_refused():
    with pytest.raises(ml.DataError, match="shapes"):
        point_collapse([0, 1], [1, 2], [1], [1])
    with pytest.raises(ml.DataError, match="high: these are not numbers"):
        point_collapse([-1], ["far"], [1], [1])
    with pytest.raises(ml.DataError, match="1 band"):
        point_collapse([0, 3], [1, 2], [1, 1], [1, 1])


def test_a_collapse_has_the_columns_of_all_estimates(rng):
    ends = bands_of(rng, 30, least=1.0)
    outcomes = np.stack([rng.binomial(1, chance(np.array([0.5]), *ends.T)[0]), np.zeros(30)])
    given = evaluation({"lower": ends[:, 0], "upper": ends[:, 1]}, outcomes)
    collapse, likelihood = (
        estimate(band_layout(), given, method=method) for method in ("collapse", "likelihood")
    )
    assert list(collapse.table) == list(likelihood.table)
    first, second = collapse.table.itertuples()
    assert first.estimate == best_place(point_collapse(*ends.T, outcomes[0], np.ones(30)), -9, 9)
    assert np.isnan([first.se, first.low, first.high]).all()
    assert first.log_likelihood <= likelihood.table["log_likelihood"][0]
    assert not second.identified
    assert collapse.ranges == likelihood.ranges


def test_only_a_single_band_can_be_collapsed():
    with pytest.raises(ml.LayoutError, match=r"has 0 bands; a collapse needs one band of skill"):
        estimate(skill_layout(), evaluation({"demand": [1.0, 2.0]}, [1, 0]), method="collapse")


@pytest.mark.slow
def test_likelihood_is_unbiased_where_the_collapse_is_not():
    """Figure 6's experiment: a thousand windows with uniform ends in [-5, 5].

    The paper has -1.514 by maximum likelihood, and -1.091 by a collapse fitted in a way that it
    does not describe. Ours is off as well, to the other side.
    """
    rng = np.random.default_rng(9)
    places = []
    for _ in range(100):
        ends = bands_of(rng, 1000)
        outcomes = rng.binomial(1, chance(np.array([THETA]), *ends.T)[0])
        places.append(best_place(point_collapse(*ends.T, outcomes, np.ones(1000)), -5, 5))
    error = np.std(places) / len(places) ** 0.5
    assert abs(np.mean(places) - THETA) > 5 * error
    ends = ends[:300]  # enough for a likelihood
    outcomes = rng.binomial(1, chance(np.full(30, THETA), *ends.T))
    found = estimate(
        band_layout(), evaluation({"lower": ends[:, 0], "upper": ends[:, 1]}, outcomes)
    )
    ours = found.table["estimate"]
    assert abs(ours.mean() - THETA) < 3.3 * ours.std() / len(ours) ** 0.5
    assert ours.std() < 0.1 < abs(np.mean(places) - THETA)
