"""The model of raters: known truth, closed forms, small tables, and what it refuses."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.made_raters import made_up
from scipy import stats

from measurement_layouts.annotation import AnnotationError, Ratings
from measurement_layouts.estimation import rater_model

CUTS = np.array([-1.2, -0.4, 0.3, 1.0, 1.8])
GRID = np.linspace(-6, 6, 2401)
WEIGHTS = stats.norm.pdf(GRID) / stats.norm.pdf(GRID).sum()


def grades(rng, cuts, noises, items):
    """Grades by raters with thresholds and noises of their own, and the positions of the items."""
    positions = rng.normal(size=items)
    columns = [
        np.searchsorted(thresholds, positions + noise * rng.normal(size=items))
        for thresholds, noise in zip(cuts, noises, strict=True)
    ]
    return np.column_stack(columns).astype(float), positions


def ratings_of(levels):
    names = [f"r{number}" for number in range(levels.shape[1])]
    tables = zip(names, levels.T, strict=True)
    return Ratings.from_wide({name: pd.DataFrame({"d": column}) for name, column in tables})


def expected(positions, cuts, noise, power=1):
    """Mean of a rater's grade (or of its square), by the normal distribution alone."""
    above = stats.norm.sf((cuts - np.asarray(positions)[..., None]) / noise)
    steps = np.arange(1, 6) ** power - np.arange(5) ** power
    return (above * steps).sum(axis=-1)


def true_traits(cuts, noises):
    """Bias and reliability of each rater, by sums over a fine grid of positions."""
    pairs = list(zip(cuts, noises, strict=True))
    means = np.stack([expected(GRID, *pair) for pair in pairs])
    squares = np.stack([expected(GRID, *pair, power=2) for pair in pairs])
    truth = means.mean(axis=0)
    covariance = (means * truth) @ WEIGHTS - (means @ WEIGHTS) * (truth @ WEIGHTS)
    variance = truth**2 @ WEIGHTS - (truth @ WEIGHTS) ** 2
    total = squares @ WEIGHTS - (means @ WEIGHTS) ** 2
    return (means - truth) @ WEIGHTS, covariance**2 / variance / total


def excess_hits(model, positions, cuts, noises):
    """Probability given to each item's true grade, less what calibrated ones have on average."""
    pairs = zip(cuts, noises, strict=True)
    truth = np.mean([expected(positions, *pair) for pair in pairs], axis=0)
    chances = model.demands.to_numpy()[:, 0]
    hits = chances[np.arange(len(truth)), np.rint(truth).astype(int)]
    return hits - (chances**2).sum(axis=1)


TWO = ([CUTS - 0.3, CUTS + 0.3], [0.7, 0.7])


@pytest.fixture(scope="module")
def two():
    levels, positions = grades(np.random.default_rng(1), *TWO, 2000)
    return rater_model(ratings_of(levels)), positions


def test_known_raters_are_found(two):
    """Intervals of 99.9 % contain the truth, and chances of grades are calibrated."""
    model, positions = two
    table = model.raters(prob=0.999).loc["d"]
    for name, values in zip(("bias", "reliability"), true_traits(*TWO), strict=True):
        assert (table[f"{name}_low"] < values).all()
        assert (values < table[f"{name}_high"]).all()
        assert (table[f"{name}_high"] - table[f"{name}_low"] < 0.2).all()
    excess = excess_hits(model, positions, *TWO)
    assert abs(excess.mean()) < 4 * excess.std() / math.sqrt(len(excess))
    beside = excess_hits(model, positions[::-1], *TWO)  # the twin: true grades of other items
    assert beside.mean() < -10 * beside.std() / math.sqrt(len(beside))
    assert model.reliability().loc["d", "r_hat"] < 1.01


@pytest.mark.slow
def test_three_raters_have_separate_noises_if_asked_for():
    noises = [0.4, 1.0, 0.7]
    levels, _ = grades(np.random.default_rng(3), [CUTS] * 3, noises, 1000)
    levels[np.random.default_rng(4).random(levels.shape) < 0.1] = np.nan
    table = rater_model(ratings_of(levels), equal=False, draws=300).raters(prob=0.999).loc["d"]
    reliabilities = true_traits([CUTS] * 3, noises)[1]
    assert (
        (table["reliability_low"] < reliabilities) & (reliabilities < table["reliability_high"])
    ).all()
    assert table["reliability"].argsort().tolist() == [1, 2, 0]


def test_small_tables_have_wide_intervals_and_the_seed_decides(two):
    rng = np.random.default_rng(5)
    levels, _ = grades(rng, *TWO, 10)
    levels[3] = [np.nan, 2]
    levels[7] = np.nan
    few, again = (rater_model(ratings_of(levels), draws=200, seed=2) for _ in range(2))
    assert few.demands.equals(again.demands)
    wide, narrow = (model.reliability().loc["d"] for model in (few, two[0]))
    assert wide["one_high"] - wide["one_low"] > 3 * (narrow["one_high"] - narrow["one_low"])
    random_item = few.demands[7, 0]
    assert float(random_item.max()) < float(few.demands[:, 0].max("level").median())
    assert few.demands.sum("level").to_numpy() == pytest.approx(1)
    constant = rater_model(ratings_of(np.full((10, 2), 3.0)), draws=200)
    assert constant.demands.idxmax("level").to_numpy().ravel().tolist() == [3.0] * 10
    assert constant.reliability().loc["d", ["one_low", "one_high"]].between(0, 1).all()


def test_the_raters_needed_are_spearmans_and_browns():
    model = made_up({"planning": 0.9, "inhibition": 0.2})
    table = model.reliability(least=0.7)
    for name, one in table["one"].items():
        averaged = [k * one / (k * one + 1 - one) for k in range(1, 200)]
        assert table.loc[name, "needed"] == 1 + np.argmax(np.array(averaged) >= 0.7)
    assert table["enough"].to_dict() == {"planning": True, "inhibition": False}


@pytest.mark.parametrize(
    ("levels", "options", "words"),
    [
        (np.zeros((9, 1)), {}, "there are 1 rater, and 2"),
        (np.zeros((9, 2)), {"equal": False}, "2 raters, and 3 are needed"),
        (np.full((9, 2), np.nan), {}, "no rater rated the"),
        (np.zeros((9, 2)), {"draws": 1}, "draws=1"),
    ],
)
def test_what_does_not_determine_the_model_is_refused(levels, options, words):
    with pytest.raises(AnnotationError, match=words):
        rater_model(ratings_of(levels), **options)


@pytest.mark.slow
def test_intervals_contain_the_truth_as_often_as_stated(simulations):
    """Of 25 tables of 30 items whose raters are drawn from the prior; three standard errors."""
    inside, excess = [], []
    tables = simulations // 2
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        noises = np.repeat(rng.lognormal(), 2)
        shares = rng.dirichlet(np.ones(6), 2)
        cuts = stats.norm.ppf(np.cumsum(shares, axis=1)[:, :-1]) * np.sqrt(1 + noises[0] ** 2)
        levels, positions = grades(rng, cuts, noises, 30)
        model = rater_model(ratings_of(levels), draws=250, seed=seed)
        table = model.raters(prob=0.9).loc["d"]
        bias, reliability = true_traits(cuts, noises)
        inside.append(
            [
                table["bias_low"].iloc[0] < bias[0] < table["bias_high"].iloc[0],
                table["reliability_low"].iloc[0]
                < reliability[0]
                < table["reliability_high"].iloc[0],
            ]
        )
        excess.append(excess_hits(model, positions, cuts, noises).mean())
    assert (np.abs(np.mean(inside, axis=0) - 0.9) < 3 * math.sqrt(0.9 * 0.1 / tables)).all()
    assert abs(np.mean(excess)) < 3 * np.std(excess) / math.sqrt(tables)
