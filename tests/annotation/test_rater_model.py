"""The model of raters: known truth, closed forms, and what it refuses."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from measurement_layouts.annotation import AnnotationError, Ratings
from measurement_layouts.annotation.rater_density import Raters

LEVELS = np.arange(6.0)
CUTS = np.array([-1.2, -0.4, 0.3, 1.0, 1.8])


def said_by(noises, items=2000, shift=(0.0, 0.0), correlation=0.0, seed=1):
    """Levels of ordered raters, and the places of the items."""
    random = np.random.default_rng(seed)
    place, shared = random.normal(size=(2, items))
    said = []
    for noise, away in zip(noises, np.resize(shift, len(noises)), strict=True):
        own = random.normal(size=items)
        error = math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * own
        said.append(np.searchsorted(CUTS + away, place + noise * error).astype(float))
    return np.column_stack(said), place


def ratings_of(said, names=None):
    names = names or [f"r{number}" for number in range(said.shape[1])]
    return Ratings.from_wide(
        {name: pd.DataFrame({"d": said[:, place]}) for place, name in enumerate(names)}
    )


@pytest.fixture(scope="module")
def two():
    said, place = said_by((0.7, 0.7), shift=(-0.3, 0.3))
    return said, place, ratings_of(said).rater_model()


def expected_level(place, noise, shift):
    """What a rater says on average, by the normal distribution alone."""
    return stats.norm.sf((CUTS + shift - np.asarray(place)[..., None]) / noise).sum(axis=-1)


def test_known_raters_are_found(two):
    """Posterior sds of 2,000 items are a few hundredths; intervals of 99.9 % hold the truth."""
    said, place, model = two
    own = np.stack([expected_level(place, 0.7, shift) for shift in (-0.3, 0.3)])
    truth = own.mean(axis=0)
    table = model.raters(prob=0.999).loc["d"]
    for rater in range(2):
        row = table.iloc[rater]
        known = np.corrcoef(own[rater], truth)[0, 1] ** 2 * own[rater].var()
        known /= said[:, rater].var()
        for name, value in (("bias", (own[rater] - truth).mean()), ("reliability", known)):
            slack = 3 * said.std() / math.sqrt(len(said)) / 5  # of the items that were drawn
            assert row[f"{name}_low"] - slack < value < row[f"{name}_high"] + slack
    chances = model.demands().to_numpy()[:, 0]
    level = np.rint(truth).astype(int)
    hits = chances[np.arange(len(level)), level]
    errors = hits - (chances**2).sum(axis=1)  # calibrated chances hit as often as they say
    assert abs(errors.mean()) < 4 * errors.std() / math.sqrt(len(level))


def test_other_truths_are_noticed(two):
    """Twin: true levels of other items are not hit as often as the chances say."""
    _, place, model = two
    chances = model.demands().to_numpy()[:, 0]
    level = np.rint(expected_level(place[::-1], 0.7, 0.0)).astype(int)
    errors = chances[np.arange(len(level)), level] - (chances**2).sum(axis=1)
    assert errors.mean() < -10 * errors.std() / math.sqrt(len(level))


@pytest.mark.parametrize("correlation", [0.0, 0.3])
def test_chances_of_patterns_are_scipys(correlation):
    """Of two raters by the bivariate normal: every pattern, to the quadrature's error."""
    patterns = np.stack(np.meshgrid(np.arange(6), np.arange(6)), axis=-1).reshape(-1, 2)
    raters = Raters(patterns, np.ones(36), LEVELS, (0, 1), correlation)
    parameters = np.random.default_rng(1).normal(0, 0.5, raters.size)
    noise = raters.noises(parameters[None])[0]
    sums = np.cumsum(raters.shares(parameters[None])[0], axis=-1)[:, :-1]
    sd = np.sqrt(1 + noise**2)
    cuts = [np.array([-9, *stats.norm.ppf(each), 9]) for each in sums]
    link = (1 + correlation * noise.prod()) / sd.prod()
    normal = stats.multivariate_normal([0, 0], [[1, link], [link, 1]])
    corners = np.array([[normal.cdf([a, b]) for b in cuts[1]] for a in cuts[0]])
    expected = np.diff(np.diff(corners, axis=0), axis=1)
    found = raters.joint(parameters[None])[0].sum(axis=-1)
    assert found == pytest.approx(expected[patterns[:, 0], patterns[:, 1]], abs=2e-6)


def test_a_missing_rating_is_summed_over():
    whole = Raters(np.array([[2, level] for level in range(6)]), np.ones(6), LEVELS, (0, 0), 0.0)
    part = Raters(np.array([[2, -1]]), np.ones(1), LEVELS, (0, 0), 0.0)
    parameters = np.random.default_rng(2).normal(0, 0.5, (1, whole.size))
    assert part.joint(parameters).sum() == pytest.approx(whole.joint(parameters).sum(), rel=1e-9)


def test_a_third_rater_tells_noises_apart():
    said, _ = said_by((0.4, 1.0, 0.7), items=1500, seed=3)
    of_three = reliabilities(ratings_of(said))
    assert of_three[0] > of_three[2] + 0.05
    assert of_three[2] > of_three[1] + 0.05
    of_two = reliabilities(ratings_of(said[:, :2]))
    assert abs(of_two[0] - of_two[1]) < 0.05


def reliabilities(ratings, **options):
    """Of each rater."""
    return ratings.rater_model(**options).raters()["reliability"].to_numpy()


def test_shared_errors_look_like_agreement_unless_stated():
    said, _ = said_by((1.0, 1.0), items=3000, correlation=0.3, seed=4)
    known = 0.5  # of the share of true variance, before levels are cut
    naive, stated = (
        reliabilities(ratings_of(said), error_correlation=each)[0] for each in (0, 0.3)
    )
    level = reliabilities(ratings_of(said_by((1.0, 1.0), items=3000, seed=5)[0]))[0]
    assert naive > stated + 0.08
    assert stated == pytest.approx(level, abs=0.05)
    assert stated < known


def test_averaged_raters_are_spearmans_and_browns(two):
    """And what is foreseen for five raters holds where five are simulated."""
    _, _, model = two
    one = model.reliability().loc["d", "one"]
    assert model.averaged(2)["d"] == pytest.approx(2 * one / (1 + one))
    said, place = said_by((0.7,) * 5, items=20_000, seed=6)
    truth = expected_level(place, 0.7, 0.0)
    found = np.corrcoef(said.mean(axis=1), truth)[0, 1] ** 2
    assert model.averaged(5)["d"] == pytest.approx(found, abs=0.025)
    table = model.reliability(least=0.9).loc["d"]
    assert model.averaged(int(table["needed"]))["d"] >= 0.9
    assert model.averaged(int(table["needed"]) - 1)["d"] < 0.9
    assert not table["enough"]


def test_no_number_of_annotations_outdoes_shared_errors(two):
    _, _, model = two
    shared = replace(model, error_correlation=0.5)
    assert math.isinf(shared.reliability(least=0.9).loc["d", "needed"])
    one = model.reliability().loc["d", "one"]
    assert shared.averaged(10**9)["d"] == pytest.approx(one / (one + (1 - one) / 2))


def test_confusions_say_where_a_rater_goes_wrong(two):
    """By quadrature of the ordered probit over the places whose nearest level is 2."""
    _, _, model = two
    grid = np.linspace(-5, 5, 20_001)
    truth = np.mean([expected_level(grid, 0.7, shift) for shift in (-0.3, 0.3)], axis=0)
    weight = stats.norm.pdf(grid) * (np.rint(truth) == 2)
    cuts = np.array([-np.inf, *(CUTS + 0.3), np.inf])
    chances = np.diff(stats.norm.cdf((cuts - grid[:, None]) / 0.7), axis=1)
    expected = integrate.trapezoid(chances * weight[:, None], grid, axis=0)
    found = model.confusions().sel(dimension="d", rater="r1", true_level=2)
    assert found.to_numpy() == pytest.approx(expected / expected.sum(), abs=0.04)
    assert model.confusions().sum("level").to_numpy() == pytest.approx(1)


def test_demands_are_as_agreed(two):
    _, _, model = two
    demands = model.demands()
    assert demands.name == "demand"
    assert demands.dims == ("item", "dimension", "level")
    assert demands["level"].to_numpy().tolist() == [0, 1, 2, 3, 4, 5]
    assert demands.sum("level").to_numpy() == pytest.approx(1)


def test_a_correlation_of_errors_out_of_range_is_refused():
    ratings = ratings_of(said_by((0.7, 0.7), items=30)[0])
    with pytest.raises(AnnotationError, match=r"error_correlation=1\.0"):
        ratings.rater_model(error_correlation=1.0)


def test_one_rater_alone_is_refused():
    alone = ratings_of(said_by((0.7,), items=30)[0])
    with pytest.raises(AnnotationError, match="the noise of one rater cannot be estimated"):
        alone.rater_model()
