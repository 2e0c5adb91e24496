"""Estimates from posteriors: the same form, and the same verdict on whom the data cannot place."""

import numpy as np
import pytest
from helpers import small_layouts
from helpers.one_band import band_layout, bands_of, chance, evaluation, skill_layout

import measurement_layouts as ml
from measurement_layouts.estimation.estimate import estimate, of_several
from measurement_layouts.linking import logistic, mixture

QUIET = {"seed": 1, "progressbar": False}


@pytest.fixture(scope="module")
def given():
    rng = np.random.default_rng(3)
    ends = bands_of(rng, 60, least=1.5)
    outcomes = rng.binomial(1, chance(np.array([-1.0, 0.4, 2.5]), *ends.T))
    outcomes = np.concatenate([outcomes, np.zeros((1, 60))])
    return evaluation({"lower": ends[:, 0], "upper": ends[:, 1]}, outcomes)


@pytest.fixture(scope="module")
def by_likelihood(given):
    return estimate(band_layout(), given)


@pytest.fixture(scope="module")
def by_grid(given):
    return estimate(band_layout(), given, method="grid", **QUIET)


def test_a_flat_prior_leaves_the_modes_where_they_are(by_likelihood, by_grid):
    one, other = by_likelihood.modes, by_grid.modes
    np.testing.assert_allclose(one["at"], other["at"], atol=1e-5)
    np.testing.assert_allclose(one["log_likelihood"] - np.log(18), other["log_likelihood"], 1e-6)


def test_a_normal_prior_pulls_the_mode(given):
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=0.2))
    ends = [ml.MetaFeature(name, low=-5, high=5) for name in ("lower", "upper")]
    layout = ml.Layout("pulled", ml.Success("right", ml.linking.band(risk, *ends)))
    found = estimate(layout, given, method="grid", **QUIET)
    first = found.modes[found.modes["subject"] == "subject-0"].iloc[0]
    step = np.array([-1e-4, 1e-4])
    slope = np.diff(found.curves["subject-0"](first["at"] + step))[0] / 2e-4
    assert slope == pytest.approx(first["at"] / 0.2**2, rel=1e-3)


def test_a_posterior_of_much_data_is_what_likelihood_says(by_likelihood, by_grid):
    one, other = by_likelihood.table, by_grid.table
    assert list(one) == list(other)
    assert one["identified"].tolist() == other["identified"].tolist() == [True] * 3 + [False]
    assert other[["estimate", "se", "low", "high"]].iloc[3].isna().all()
    gap = (one["estimate"] - other["estimate"]) / one["se"]
    # skewness moves the mean by a part of the spread that falls with the root of the items
    assert gap[:3].abs().max() < 0.35
    assert by_grid.fit.subjects == by_likelihood.subjects
    assert by_likelihood.fit is None
    assert by_grid.ranges == by_likelihood.ranges


def test_numbers_are_those_of_the_fit(by_grid):
    profiles = by_grid.fit.profiles(prob=0.9)
    three = by_grid.table[:3]
    for ours, theirs in (("estimate", "mean"), ("se", "sd"), ("low", "low"), ("high", "high")):
        assert three[ours].tolist() == profiles[theirs][:3].tolist()


def test_several_latents_are_told_by_what_the_prior_leaves():
    outcome = mixture(skill_layout().outcome.expression, by=ml.Noise("noise"), toward=0.5)
    layout = ml.Layout("noisy", ml.Success("right", outcome))
    demands = np.linspace(0, 5, 40)
    given = evaluation({"demand": demands}, [demands < 2.5, np.ones(40)])
    found = estimate(layout, given, method="grid", **QUIET)
    table = found.table.set_index(["subject", "node"])
    assert table.index.tolist() == [
        (f"subject-{n}", node) for n in (0, 1) for node in ("skill", "noise")
    ]
    assert table["identified"].tolist() == [True, True, False, False]
    assert table["reason"].tolist() == ["", "", "the prior decides", "the prior decides"]
    assert not found.ranges
    assert not found.curves
    assert found.modes.empty


def test_labels_are_elements_of_their_own():
    skill = ml.Capability("skill", low=0, high=5, labels=("read", "write"))
    demand = ml.MetaFeature("demand", low=0, high=5, labels=("read", "write"))
    chances = ml.linking.product(logistic(skill - demand), over="dimension")
    layout = ml.Layout("letters", ml.Success("right", chances))
    columns = {"demand[read]": [0.0, 1.0, 2.0, 3.0], "demand[write]": [3.0, 1.0, 0.0, 2.0]}
    found = estimate(layout, evaluation(columns, [1, 1, 0, 1]), method="grid", **QUIET)
    assert found.table["node"].tolist() == ["skill[read]", "skill[write]"]


def test_trouble_in_sampling_is_a_reason():
    """Draws of two chains that stay apart, and a subject whose sampling failed."""
    given = small_layouts.counts([6], [10])
    apart = np.linspace(0, 0.01, 400).reshape(1, 2, 200) + np.array([0.2, 0.8])[None, :, None]
    fit = small_layouts.crafted(small_layouts.coin(), given, {"p": apart})
    (row,) = of_several(fit, "nuts", 0.9).table.itertuples()
    assert "R-hat" in row.reason


@pytest.mark.slow
def test_nuts_agrees_with_the_grid_or_says_what_went_wrong(given, by_grid):
    found = estimate(band_layout(), given, method="nuts", chains=2, **QUIET)
    one, other = found.table, by_grid.table
    sound = one["identified"] & (one["reason"] == "")
    assert sound.tolist() == [True, True, False, False]  # the third has a mode beside its highest
    # 2,000 draws, a quarter of them effective: four Monte Carlo errors
    apart = (one["estimate"] - other["estimate"]) / other["se"]
    assert apart[sound].abs().max() < 4 / 500**0.5
    assert "divergence" in one["reason"][2]
    assert found.modes.equals(by_grid.modes)
    assert one["reason"][3].startswith(other["reason"][3])
