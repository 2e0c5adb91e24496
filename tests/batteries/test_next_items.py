"""The items that would narrow profiles most, against sums over all draws."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits, small_layouts

import measurement_layouts as ml
from measurement_layouts.batteries import next_items
from measurement_layouts.linking import logistic


def _entropy(p):
    return -(p * np.log(p) + (1 - p) * np.log1p(-p))


def _by_hand(chances, values):
    """Mutual information of each item, and the part of each element's variance it removes."""
    mean = chances.mean(axis=0)
    information = _entropy(mean) - _entropy(chances).mean(axis=0)
    left = np.empty((chances.shape[1], values.shape[1]))
    for item, p in enumerate(chances.T):
        for element, value in enumerate(values.T):
            after = [
                np.cov(value, aweights=weights, ddof=0) * weights.mean() for weights in (p, 1 - p)
            ]
            left[item, element] = sum(after) / value.var()
    return information, left


@pytest.fixture(scope="module")
def alone():
    """A subject whose navigation and vision are known within the draws of a crafted fit."""
    see, go = (ml.Capability(name, low=-4, high=4) for name in ("see", "go"))
    size, way = (ml.MetaFeature(name, low=-4, high=4) for name in ("size", "way"))
    layout = ml.Layout("both", ml.Success("done", logistic(see - size) * logistic(go - way)))
    rng = np.random.default_rng(3)
    items = pd.DataFrame(rng.uniform(-3, 3, (6, 2)), [*"abcdef"], ["size", "way"])
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(1, ["Ann"], items.index), items)
    draws = {name: rng.normal(0.5, 0.8, (1, 2, 300)) for name in ("see", "go")}
    return small_layouts.crafted(layout, evaluation, draws)


def _bank(count=30, seed=8):
    rng = np.random.default_rng(seed)
    names = [f"new-{number:02d}" for number in range(count)]
    return pd.DataFrame(rng.uniform(-3, 3, (count, 2)), names, ["size", "way"])


def _chances(fit, bank):
    drawn = np.stack([fit.posterior[name].to_numpy().ravel() for name in ("see", "go")], axis=1)
    passed = 1 / (1 + np.exp(-(drawn[:, None] - bank[["size", "way"]].to_numpy())))
    return passed.prod(axis=-1), drawn


def test_the_first_item_tells_most_and_what_it_narrows_is_exact(alone):
    bank = _bank()
    chances, values = _chances(alone, bank)
    information, left = _by_hand(chances, values)
    found = next_items(alone, bank, 4)
    first = bank.index.get_loc(found["item"][0])
    assert first == information.argmax()
    for row in found.itertuples():
        place = bank.index.get_loc(row.item)
        assert row.chance == pytest.approx(chances[:, place].mean(), rel=1e-5)
        assert row.node == ("see", "go")[left[place].argmin()]
        assert row.narrower == pytest.approx(1 - np.sqrt(left[place].min()), rel=1e-3)
    assert found["item"].is_unique
    assert found["rank"].tolist() == [1, 2, 3, 4]


def test_the_second_is_chosen_for_what_it_adds(alone):
    """What is second best one by one adds less than another item does."""
    bank = _bank(seed=3)
    chances, values = _chances(alone, bank)
    information, _ = _by_hand(chances, values)
    first, second = np.argsort(-information)[:2]
    added = np.zeros(len(bank))
    for outcome in (chances[:, first], 1 - chances[:, first]):
        weights = outcome / outcome.sum()
        own = weights @ _entropy(chances)
        added += outcome.mean() * (_entropy(weights @ chances) - own)
    added[first] = -1
    assert added.argmax() != second
    found = next_items(alone, bank, 2)["item"].tolist()
    assert found == bank.index[[first, added.argmax()]].tolist()


def test_items_that_were_fitted_are_not_asked_again(alone):
    bank = pd.concat([_bank(3), alone.constants[["size", "way"]].to_dataframe()[["size", "way"]]])
    found = next_items(alone, bank, 10)
    assert sorted(found["item"]) == ["new-00", "new-01", "new-02"]
    assert next_items(alone, bank.iloc[3:], 10).empty


def test_a_joint_fit_knows_its_items():
    layout = joint_fits.rasch()
    evaluation = joint_fits.evaluation_of(6, 8)
    draws = joint_fits.random_draws(layout, evaluation, 100, seed=1)
    fit = joint_fits.crafted(layout, evaluation, draws)
    fresh = pd.DataFrame(index=["new-1", "new-2"])
    found = next_items(fit, fresh, 2, subjects=fit.subjects[:2])
    assert found["subject"].tolist() == [fit.subjects[0]] * 2 + [fit.subjects[1]] * 2
    expected = fit.forecast(fresh, subjects=fit.subjects[:1]).data["mean"].to_series()
    own = found[found["subject"] == fit.subjects[0]].set_index("item")["chance"]
    np.testing.assert_allclose(own, expected.droplevel(0)[own.index], atol=1e-5)


def test_unknown_subjects_and_counts_are_refused(alone):
    with pytest.raises(ml.FitError, match="Bob"):
        next_items(alone, _bank(), subjects=["Bob"])
    with pytest.raises(ml.FitError, match="n="):
        next_items(alone, _bank(), 0)
    with pytest.raises(ml.DataError, match="size"):
        next_items(alone, _bank()[["way"]])
