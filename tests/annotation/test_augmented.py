"""Demands that borrow from other dimensions, against enumeration with the known correlation."""

import numpy as np
import pytest
import xarray as xr
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.annotation import AnnotationError

CUTS = np.array([-0.8, 0.0, 0.9])
CONFUSION = 0.55 * np.eye(4) + 0.45 / 4  # of the level that is said, given the true one
ITEMS, CORRELATION = 4000, 0.7


def demands_of(chances):
    items, dimensions, levels = chances.shape
    names = {"item": np.arange(items), "dimension": [f"d{at}" for at in range(dimensions)]}
    return xr.DataArray(chances, names | {"level": np.arange(levels)}, name="demand")


@pytest.fixture(scope="module")
def known():
    """True levels of two related dimensions, what was said, and chances measured apart."""
    random = np.random.default_rng(1)
    covariance = [[1, CORRELATION], [CORRELATION, 1]]
    places = random.multivariate_normal([0, 0], covariance, size=ITEMS)
    truth = np.searchsorted(CUTS, places)
    said = np.array([[random.choice(4, p=CONFUSION[level]) for level in row] for row in truth])
    shares = np.diff(stats.norm.cdf([-np.inf, *CUTS, np.inf]))
    likely = CONFUSION[:, said].transpose(1, 2, 0)
    apart = likely * shares
    return truth, likely, demands_of(apart / apart.sum(axis=-1, keepdims=True))


@pytest.fixture(scope="module")
def found(known):
    return ml.annotation.augmented_demands(known[2])


def enumerated(likely):
    """Chances by the sum over all pairs of levels, with rectangles of the bivariate normal."""
    edges = np.array([-8, *CUTS, 8])
    corners = np.stack(np.meshgrid(edges, edges, indexing="ij"), axis=-1)
    below = stats.multivariate_normal([0, 0], [[1, CORRELATION], [CORRELATION, 1]]).cdf(corners)
    pairs = np.diff(np.diff(below, axis=0), axis=1)
    joint = np.einsum("ia,ib,ab->iab", likely[:, 0], likely[:, 1], pairs)
    joint /= joint.sum(axis=(1, 2), keepdims=True)
    return np.stack([joint.sum(axis=2), joint.sum(axis=1)], axis=1)


@pytest.mark.trust("oracles", "demands borrow from other dimensions as enumeration says")
def test_chances_are_those_of_enumeration(known, found):
    """A correlation known to .02 moves chances by .005, and 200 sweeps have an error of .01."""
    _, likely, apart = known
    right = enumerated(likely)
    assert np.abs(found.values.sum(axis=-1) - 1).max() < 1e-9
    assert np.abs(found.values - right).mean() < 0.015
    assert np.abs(apart.values - right).mean() > 0.04  # a twin that borrows nothing


def test_true_levels_are_foreseen_better(known, found):
    truth, _, apart = known
    gain = np.log(found.values / apart.values)
    gain = np.take_along_axis(gain, truth[..., None], axis=2)[..., 0].sum(axis=1)
    assert gain.mean() > 4 * gain.std() / ITEMS**0.5


def test_unrelated_dimensions_borrow_nothing(known):
    _, _, apart = known
    order = np.random.default_rng(2).permutation(ITEMS)
    shuffled = demands_of(np.stack([apart.values[:, 0], apart.values[order, 1]], axis=1))
    moved = np.abs(ml.annotation.augmented_demands(shuffled).values - shuffled.values)
    assert moved.mean() < 0.015


def test_one_dimension_stays(known):
    _, _, apart = known
    one = apart.isel(dimension=[0], item=slice(50))
    found = ml.annotation.augmented_demands(one)
    np.testing.assert_allclose(found.values, one.values, atol=1e-9)


def test_order_of_dims_and_names_stay(known):
    _, _, apart = known
    turned = apart.isel(item=slice(20)).transpose("level", "item", "dimension")
    found = ml.annotation.augmented_demands(turned)
    assert found.dims == turned.dims
    assert found.name == "demand"
    assert found.indexes["item"].equals(turned.indexes["item"])


def test_a_level_that_no_item_has():
    chances = np.zeros((30, 2, 3))
    chances[:, :, :2] = [0.3, 0.7]
    assert np.isfinite(ml.annotation.augmented_demands(demands_of(chances)).values).all()


def test_certain_levels_that_contradict_each_other():
    """Given the other dimensions, such a level has a chance of 0 in floating point."""
    level = np.random.default_rng(3).integers(0, 6, 4000)
    levels = np.stack([level] * 3, axis=1)
    levels[0] = [0, 0, 5]
    certain = np.eye(6)[levels]
    found = ml.annotation.augmented_demands(demands_of(certain))
    np.testing.assert_allclose(found.values, certain, atol=1e-9)


def test_what_is_refused(known):
    _, _, apart = known
    with pytest.raises(AnnotationError, match="with the dims item, dimension, level"):
        ml.annotation.augmented_demands(apart.values)
    with pytest.raises(AnnotationError, match="with the dims item, dimension, level"):
        ml.annotation.augmented_demands(apart.sum("dimension"))
    broken = apart.isel(item=slice(5)).copy()
    broken[3, 1] = np.nan
    with pytest.raises(AnnotationError, match=r"1 cell\(s\): 3 on d1"):
        ml.annotation.augmented_demands(broken)
