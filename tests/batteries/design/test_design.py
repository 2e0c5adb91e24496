"""Designed batteries, against all subsets and exact posteriors."""

import itertools

import numpy as np
import pandas as pd
import pytest
from helpers.small_layouts import crafted

import measurement_layouts as ml
from measurement_layouts.batteries import design
from measurement_layouts.batteries.design import gains as gain_parts
from measurement_layouts.linking import band, logistic, mixture


def looking(slope=1.0):
    smallness = ml.MetaFeature("smallness", low=-50, high=60)
    sight = ml.Capability("sight", low=0, high=10)
    return ml.Layout("looking", ml.Success("found", logistic(sight - smallness, slope)))


def two(slope=2.0):
    size, distance = (ml.MetaFeature(name, low=-60, high=60) for name in ("size", "distance"))
    sight, walk = (ml.Capability(name, low=0, high=10) for name in ("sight", "walk"))
    both = logistic(sight - size, slope) * logistic(walk - distance, slope)
    return ml.Layout("two", ml.Success("ok", mixture(both, 0.05, toward=0)))


def banded(slope=4.0):
    low, high = (ml.MetaFeature(name, low=-9, high=9) for name in ("lower", "upper"))
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=2))
    inside = mixture(band(risk, low, high, slope=slope), 0.1, toward=1 / 3)
    return ml.Layout("banded", ml.Success("ok", inside))


def bank(count=41, **columns):
    table = columns or {"smallness": np.linspace(0, 10, count)}
    found = pd.DataFrame(table)
    return found.set_axis([f"item-{number:02d}" for number in range(len(found))])


def exact_sds(chances, values, rng, subjects=400):
    """Average exact posterior sds of subjects drawn from a grid of equally likely profiles."""
    truth = rng.integers(len(values), size=subjects)
    right = rng.random((subjects, chances.shape[1])) < chances[truth]
    log = right @ np.log(chances).T + ~right @ np.log1p(-chances).T
    weights = np.exp(log - log.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return np.sqrt(np.maximum(weights @ values**2 - (weights @ values) ** 2, 0)).mean(axis=0)


def sight_chances(demands, grid):
    return 1 / (1 + np.exp(np.asarray(demands)[None] - grid[:, None]))


def two_exact(table, rng):
    side = np.linspace(0.05, 9.95, 60)
    grid = np.array(list(itertools.product(side, side)))
    parts = [
        1 / (1 + np.exp(-2 * (grid[:, [place]] - table[name].to_numpy()[None])))
        for place, name in enumerate(("size", "distance"))
    ]
    return exact_sds((0.95 * parts[0] * parts[1]).clip(1e-9, 1 - 1e-9), grid, rng).mean()


def test_greedy_against_all_subsets(rng):
    """3 items of 9 in two needed capabilities: exact sds within 5 % of the best of 84 subsets.

    Twin: the worst subset, and the median one, are further away.
    """
    sizes = [2.0, 5, 8, 2, 5, 8, -50, -50, -50]
    distances = [-50.0, -50, -50, 5, 5, 8, 2, 5, 8]
    table = bank(size=sizes, distance=distances)
    seed = rng.integers(2**31)
    subsets = [list(chosen) for chosen in itertools.combinations(table.index, 3)]
    exact = {
        frozenset(chosen): two_exact(table.loc[chosen], np.random.default_rng(seed))
        for chosen in subsets
    }
    found = design(two(), table, n=3)
    own, best = exact[frozenset(found.battery.index)], min(exact.values())
    assert own < 1.05 * best
    assert np.median(list(exact.values())) > 1.05 * best
    assert max(exact.values()) > 1.3 * best


@pytest.mark.parametrize("n", [4, 8, 16])
def test_expected_sd_against_quadrature(rng, n):
    """One capability: expected sds within 8 % of the average exact posterior's.

    400 subjects and 200 draws know their averages to 2 or 3 %. Twin: half as many items.
    """
    found = design(looking(), bank(), n=n)
    grid = np.linspace(0, 10, 801)
    demands = found.battery["smallness"]
    exact = exact_sds(sight_chances(demands, grid), grid[:, None], rng, 1000)[0]
    assert found.latents.loc["sight", "after"] == pytest.approx(exact, rel=0.08)
    half = exact_sds(sight_chances(demands[: n // 2], grid), grid[:, None], rng, 1000)[0]
    assert half > 1.15 * exact


def test_symmetric_bands_are_not_taken_for_telling(rng, monkeypatch):
    """Bands about 0 leave the sign open: half-open items are chosen, and the exact sd is small.

    Twin: by the normal law alone the sign stays open.
    """
    widths = np.linspace(0.3, 4, 20)
    edges = np.linspace(-3, 3, 10)
    table = bank(lower=np.r_[-widths, edges], upper=np.r_[widths, edges + 5.9])
    grid = np.random.default_rng(1).normal(0, 2, 4000)[:, None]

    def realised(battery):
        chances = 0.1 / 3 + 0.9 * band(
            grid, battery["lower"].to_numpy(), battery["upper"].to_numpy(), slope=4
        )
        return exact_sds(chances.clip(1e-6, 1 - 1e-6), grid, rng)[0]

    found = design(banded(), table, n=8)
    assert found.latents.loc["risk", "after"] == pytest.approx(realised(found.battery), rel=0.25)
    symmetric = table.iloc[:8]
    told = design(banded(), symmetric, n=8)
    assert told.latents.loc["risk", "after"] == pytest.approx(realised(symmetric), rel=0.1)
    assert realised(found.battery) < 0.6 * realised(symmetric)
    uncertain = gain_parts.Uncertainty.of

    def normal(covariance, divergence, source):
        known = uncertain(covariance, divergence, source)
        variance = np.diagonal(covariance, axis1=1, axis2=2)
        return gain_parts.Uncertainty(known.weights, known.by_draws & False, variance)

    monkeypatch.setattr(gain_parts.Uncertainty, "of", normal)
    wrong = design(banded(), symmetric, n=8)
    assert wrong.latents.loc["risk", "after"] < 0.4 * realised(symmetric)


def two_bank():
    pairs = [(a, b) for a in (-50.0, 1, 3, 5, 7, 9) for b in (-50.0, 1, 3, 5, 7, 9)]
    sizes, distances = np.array(pairs).T
    return bank(size=sizes, distance=distances, source=[f"s{k % 4}" for k in range(36)])


def test_the_target_is_what_gets_known():
    sight = design(two(), two_bank(), n=6, target="sight").latents["after"]
    walk = design(two(), two_bank(), n=6, target={"walk": 3, "sight": 0.1}).latents["after"]
    assert sight["sight"] < 0.8 * walk["sight"]
    assert walk["walk"] < 0.8 * sight["walk"]


def test_quotas_are_kept_and_cost_little():
    """Twin: without quotas, more items of one source are chosen."""
    table = two_bank()
    free = design(two(), table, n=8)
    assert free.battery["source"].value_counts().max() > 2
    even = design(two(), table, n=8, quotas={"source": 2})
    assert even.battery["source"].value_counts().tolist() == [2, 2, 2, 2]
    assert (even.latents["after"] < 1.25 * free.latents["after"]).all()
    one = design(two(), table, n=8, quotas={"source": {"s1": 1, "s2": 0}}).battery["source"]
    assert len(one) == 8
    assert (one == "s1").sum() <= 1
    assert "s2" not in set(one)
    assert len(design(two(), table, n=30, quotas={"source": 3}).battery) == 12


def test_what_stays_confounded():
    one, other = ml.Bias("one"), ml.Bias("two")
    layout = ml.Layout("sum", ml.Success("ok", logistic(one + other)))
    found = design(layout, bank(colour=["red"] * 200), n=200).confounded
    assert found[["node", "with"]].to_numpy().tolist() == [["one", "two"]]
    assert found["correlation"].item() < -0.9
    assert design(two(), two_bank(), n=20).confounded.empty


def test_a_fit_is_a_starting_point(rng):
    """Who is known to see from 7 to 8 is given hard items; the prior's subjects others."""
    draws = {"sight": rng.uniform(7, 8, (2, 2, 500))}
    items = bank(3)
    outcomes = pd.DataFrame([[1, 1, 0]] * 2, ["Ann", "Bob"], items.index)
    fit = crafted(looking(), ml.Evaluation.from_wide(outcomes, items), draws)
    found = design(looking(), bank(), n=5, given=fit, subject="Ann")
    assert found.latents.loc["sight", "before"] == pytest.approx(1 / 12**0.5, rel=0.05)
    assert found.battery["smallness"].between(6, 9).all()
    assert found.latents.loc["sight", "after"] < found.latents.loc["sight", "before"]
    with pytest.raises(ml.FitError, match="given has 2 subjects, Ann, Bob; name the one"):
        design(looking(), bank(), given=fit)
    with pytest.raises(ml.FitError, match="not in this fit: Cyd"):
        design(looking(), bank(), given=fit, subject="Cyd")
    with pytest.raises(ml.FitError, match="given is a fit of layout 'looking'"):
        design(two(), two_bank(), given=fit)


def test_steps_of_graded_outcomes():
    memory = ml.Capability("memory", low=0, high=10)
    performance = logistic(memory - ml.MetaFeature("hidden", low=0, high=10))
    graded = ml.Graded("path", performance, grades=("none", "some", "all"), gap=1.5)
    found = design(ml.Layout("x", graded), bank(hidden=np.linspace(0, 10, 21)), n=8)
    assert len(found.battery) == 8
    one = ml.Layout("y", ml.Success("path", performance))
    passed = design(one, bank(hidden=np.linspace(0, 10, 21)), n=8)
    assert found.latents["after"].item() < passed.latents["after"].item()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, ml.FitError, "n=0"),
        ({"target": "smell"}, ml.FitError, "no profile element smell"),
        ({"costs": "price"}, ml.DataError, "price"),
        ({"costs": {"item-00": 1}}, ml.DataError, "40 item.s. have no cost"),
        ({"quotas": {"price": 1}}, ml.DataError, "no column price"),
        ({"quotas": {"smallness": {"big": 1}}}, ml.DataError, "no item has 'big' in"),
        ({"quotas": {"smallness": 0}}, ml.FitError, "leave no item"),
    ],
)
def test_refused(options, error, message):
    with pytest.raises(error, match=message):
        design(looking(), bank(), **options)


def test_layouts_that_are_refused():
    near = ml.Prior("Normal", mu=ml.Bias("mean", per="population"), sigma=1)
    joint = ml.Layout("x", ml.Success("ok", logistic(ml.Capability("a", prior=near))))
    with pytest.raises(ml.LayoutError, match="its subjects share mean"):
        design(joint, bank())
