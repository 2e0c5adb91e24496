"""Factorised evaluation computes what plain arrays compute, from fewer numbers.

Tolerance 1e-12, relative: values are the same to the last digit but for sums and products along
labels, of 3 to 18 parts of one sign, each step of which rounds to 1e-16.
"""

import itertools

import numpy as np
import pytest
from helpers.random_layouts import random_layouts, rich_layout
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

import measurement_layouts as ml
from measurement_layouts.inference.forecasts import factored
from measurement_layouts.inference.forecasts.blocks import Block, group_alike
from measurement_layouts.inference.forecasts.factored import Cells, Factored, Frame
from measurement_layouts.inference.model.alignment import align
from measurement_layouts.linking import arrays, evaluate, generalised_mean, logistic, product

ROUNDING = 1e-12
ITEMS, LABELS, DRAWS = 7, 4, 5


def random_values(layout, rng, items, draws):
    """Meta-features that repeat, profiles as (draws, labels), and constants."""
    features, profile = {}, {}
    for node in (*layout.meta_features, *layout.latents):
        low, high = node.range.low, node.range.high
        low = low if np.isfinite(low) else min(high, 5.0) - 8
        high = high if np.isfinite(high) else low + 8
        labels = tuple(map(len, node.dims.values()))
        if node in layout.latents:
            profile[node.name] = rng.uniform(low, high, (draws, *labels))
        else:
            few = node.levels or rng.uniform(low, high, rng.choice([1, 3, items]))
            features[node.name] = rng.choice(few, (items, *labels)).astype(float)
    return features, profile, {constant.name: rng.uniform() for constant in layout.constants}


def plain(layout, features, profile, constants):
    """Every named derived value and the outcome, by arrays written out."""
    dims = tuple(layout.dims)
    known = dict(constants)
    for node in layout.meta_features:
        known[node.name] = align(features[node.name], node, dims, per_item=True)
    for node in layout.latents:
        known[node.name] = align(profile[node.name], node, dims, leading=1, per_item=False)
    named = {}
    evaluate(layout.outcome, known, dims, named=named)
    return named


def factorised(layout, features, profile, constants, items):
    """Compute the same by a block: for every item, in the order of the table."""
    block = Block.of(layout, features, *group_alike(features, items))
    tables = {name: values.reshape(len(values), -1).T for name, values in profile.items()}
    targets = [*layout.derived, layout.outcome]
    found = {}
    for target, value in zip(targets, block.values(targets, tables, constants), strict=True):
        table = value.table[block.places(value, target)]
        found[target.name] = np.empty_like(table)
        found[target.name][block.items] = table
    return found


def agree(layout, seed, items, draws=3):
    values = random_values(layout, np.random.default_rng(seed), items, draws)
    found, wanted = factorised(layout, *values, items), plain(layout, *values)
    for node in (*layout.derived, layout.outcome):
        own = [len(names) for dim, names in layout.dims.items() if dim in node.dims]
        shape = (draws, items, *(len(n) if d in node.dims else 1 for d, n in layout.dims.items()))
        exact = np.broadcast_to(wanted[node.name], shape).reshape(draws, items, *own)
        ours = found[node.name]
        ours = np.broadcast_to(
            ours[..., None] if ours.ndim == 1 + len(own) else ours, (items, *own, draws)
        )
        np.testing.assert_allclose(np.moveaxis(ours, -1, 0), exact, rtol=ROUNDING, atol=1e-300)


@given(random_layouts(), st.integers(0, 2**32 - 1), st.integers(1, 30))
def test_random_layouts(layout, seed, items):
    agree(layout, seed, items)


@pytest.mark.parametrize("items", [1, 2, 40])
def test_everything_in_one_layout(items):
    """Labels, a band with infinite ends, powers, a function of one's own."""
    agree(rich_layout(), 1, items)


@pytest.mark.parametrize("tile", [1, 50])
def test_looking_up_in_parts_changes_nothing(monkeypatch, tile):
    values = random_values(rich_layout(), np.random.default_rng(2), 30, 4)
    whole = factorised(rich_layout(), *values, 30)
    monkeypatch.setattr(factored, "_TILE", tile)
    for name, parts in factorised(rich_layout(), *values, 30).items():
        assert np.array_equal(parts, whole[name])


@pytest.mark.parametrize("power", [-np.inf, -1.5, 0, 1, 2, np.inf])
@pytest.mark.parametrize("weights", [None, (3, 1, 2, 1, 5, 1, 1)])
def test_means_over_labels(power, weights):
    """Seven labels: two rounds of threes, and rests."""
    labels = tuple("abcdefg")
    skill = ml.Capability("skill", low=0, high=1, labels=labels)
    flag = ml.MetaFeature("flag", levels=(0, 0.5, 1), labels=labels)
    mean = generalised_mean(skill * flag, power=power, weights=weights, over="dimension")
    agree(ml.Layout("mean", ml.Success("ok", mean)), 3, 25)


# --- how much is computed ------------------------------------------------------------------------


@pytest.fixture
def demands():
    labels = tuple(f"d{number}" for number in range(18))
    demand = ml.MetaFeature("demand", levels=range(6), labels=labels)
    ability = ml.Capability("ability", low=0, high=5, labels=labels)
    cope = ml.Derived("cope", logistic(ability - demand))
    mean = ml.Derived("mean", generalised_mean(cope, power=0, over="dimension"))
    return ml.Layout("demands", ml.Success("ok", mean * 0.5))


def tables(layout, features, items, draws=2):
    block = Block.of(layout, features, *group_alike(features, items))
    profile = {
        latent.name: np.random.default_rng(1).uniform(
            0, 1, (max(1, *map(len, latent.dims.values()), 1), draws)
        )
        for latent in layout.latents
    }
    targets = [*layout.derived, layout.outcome]
    found = block.values(targets, profile, {constant.name: 0.5 for constant in layout.constants})
    return block, {node.name: value.table for node, value in zip(targets, found, strict=True)}


def test_a_label_is_computed_once_per_level(demands, rng):
    """6 levels of 18 labels, whatever the number of items; written out there would be 9,000."""
    features = {"demand": rng.choice(6, (500, 18)).astype(float)}
    block, found = tables(demands, features, 500)
    assert found["cope"].shape == (6 * 18, 2)
    assert found["ok"].shape == (500, 2)
    # 6 threes of labels have 216 combinations each; 5 sums of these and 3 steps more are per item
    assert block.frame.made <= 2 * (8 * 6 * 18 + 6 * (36 + 216) + 8 * 500)


def test_items_that_are_alike_are_computed_once(demands, rng):
    few = rng.choice(6, (20, 18)).astype(float)
    features = {"demand": few[rng.permutation(np.repeat(np.arange(20), 50))]}
    assert tables(demands, features, 1000)[1]["ok"].shape == (20, 2)


def test_a_part_of_few_meta_features_is_computed_on_their_combinations(animal_ai, rng):
    """The side effect has 3 values; items differ in all else."""
    features = {name: rng.uniform(-1, 1, 300) for name in ("rewardSize", "rewardDistance")}
    features |= {
        "rewardBehind": rng.choice([0, 0.5, 1.0], 300),
        "XPos": rng.choice([-1.0, 0, 1], 300),
    }
    found = tables(animal_ai, features, 300)[1]
    assert {name: len(table) for name, table in found.items()} == {
        "rightLeftEffect": 3,
        "navigationPerformance": 300,
        "visualPerformance": 300,
        "taskPerformance": 300,
    }


# --- cells ---------------------------------------------------------------------------------------


indices = st.sampled_from([(ITEMS, LABELS), (ITEMS, 1), (1, LABELS), (1, 1)]).flatmap(
    lambda shape: arrays_of.arrays(np.intp, shape, elements=st.integers(0, 3))
)


@given(st.lists(indices, min_size=1, max_size=4), st.booleans())
def test_joint_cells_look_up_what_each_would(chosen, same):
    frame = Frame(axes=2)
    parts = [Cells(index, 4) if index.max() else Cells(index, 1) for index in chosen]
    parts += parts[:1] if same else []
    joint, rows = frame.join(tuple(parts))
    shape = np.broadcast_shapes(*(part.index.shape for part in parts))
    assert joint.index.shape == shape
    assert joint.index.max() < joint.count <= max(4, np.prod(shape))
    for part, own in zip(parts, rows, strict=True):
        table = np.arange(part.count) if own is None else own
        table = np.broadcast_to(table, joint.count) if part.count == 1 else table
        assert (table[joint.index] == part.index).all()
    assert frame.join(tuple(parts))[0] is joint


# --- any function of NumPy -----------------------------------------------------------------------


def operands(rng):
    """Make a feature of few values, a labelled latent and a scalar one, both ways."""
    frame = Frame(axes=2)
    written = (
        rng.choice([0.0, 0.5, 2.0], (ITEMS, LABELS)),
        rng.uniform(0.1, 2, (DRAWS, 1, LABELS)),
        rng.uniform(0.1, 2, (DRAWS, 1, 1)),
    )
    made = (
        Factored.group(written[0], frame),
        Factored(written[1][:, 0].T, frame.each((1, LABELS)), frame),
        Factored(written[2][:, 0].T, frame.each((1, 1)), frame),
    )
    return written, made


FUNCTIONS = [
    lambda a, b, c: a + b * c - 2 / b,
    lambda a, b, c: (a - b) ** 2 + b**c + a**0.5 + (a + 1) ** -1.5 + 2.0**a,
    lambda a, b, c: -a + abs(a - b) + +c + (a > b) * (c <= 1.0),
    lambda a, b, c: np.where(a > b, a, np.where(c > 1, 0.0, b)),
    lambda a, b, c: np.where((a > b) & ~np.isinf(c) | (a == 0), 1, 2),
    lambda a, b, c: arrays.as_float(a > b) + arrays.softplus(a) + arrays.sigmoid(b - c),
    lambda a, b, c: np.float64(2) * a + np.array(3.0) * b + np.array([[1.0, 2, 3, 4]]) * c,
    lambda a, b, c: a * np.arange(DRAWS, dtype=float)[:, None, None] + b,
    lambda a, b, c: np.sum(a * b, axis=-1, keepdims=True) + c,
    lambda a, b, c: np.prod(a * b, axis=-1, keepdims=True) * np.max(b, axis=2, keepdims=True),
    lambda a, b, c: np.min(b - a, axis=-1, keepdims=True) - np.max(a, axis=-1, keepdims=True),
    lambda a, b, c: np.sum(a > b, axis=-1, keepdims=True),
    lambda a, b, c: arrays.sum(arrays.stack((a, b, c)), axis=0),
    lambda a, b, c: np.max(arrays.stack((a, b, 1.5)), axis=0, keepdims=True)[0],
    lambda a, b, c: np.stack([b, b * 2], axis=-1).sum(axis=-1),
    lambda a, b, c: arrays.prod(
        arrays.stack((a, b)) * np.array([2.0, 3.0])[:, None, None, None], axis=0
    ),
    # not known, so computed on arrays written out
    lambda a, b, c: np.median(a * b, axis=-1, keepdims=True) + np.clip(b - c, 0, 1),
    lambda a, b, c: np.sum(a + b, axis=-1)[..., None],
    lambda a, b, c: (a + b).mean(axis=-1, keepdims=True) * (a * b)[..., :1],
    lambda a, b, c: np.cumsum(a * b, axis=-1),
    lambda a, b, c: np.add.reduce(a + b, axis=-1, keepdims=True) + np.modf(b)[0],
    lambda a, b, c: np.concatenate([a + b, b + a], axis=-1)[..., :LABELS],
    lambda a, b, c: np.add(a, b, dtype=np.float32) + np.sort(a + b, axis=-1),
    lambda a, b, c: np.stack([len(b) * row for row in a + b]),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_of_numpy(function, rng):
    written, made = operands(rng)
    wanted, found = function(*written), function(*made)
    assert isinstance(found, Factored | np.ndarray)
    assert found.shape == wanted.shape
    assert found.ndim == wanted.ndim
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=ROUNDING)


def test_what_cannot_be_computed_is_refused_as_by_numpy(rng):
    a, b, _ = operands(rng)[1]
    with pytest.raises(np.exceptions.AxisError):
        np.sum(a * b, axis=7, keepdims=True)
    with pytest.raises(AttributeError, match="no_such"):
        a.no_such()
    with pytest.raises(ValueError, match="broadcast"):
        a + np.zeros((2, 3, 4, 9))


def test_a_function_along_items_is_computed_on_all_of_them(rng):
    """Twin of sums along labels: cells would be counted once each."""
    (written, *_), (made, *_) = operands(rng)
    assert np.sum(made, axis=0, keepdims=True) == pytest.approx(written.sum(axis=0, keepdims=True))


def test_the_number_of_labels_is_that_of_the_positions(rng):
    """A mean over labels divides by it, also where all labels are alike."""
    labels = ("x", "y", "z")
    same = ml.MetaFeature("same", low=0, high=1, labels=labels)
    skill = ml.Capability("skill", low=0, high=1)
    mean = generalised_mean(same, power=1, over="dimension")
    agree(ml.Layout("mean", ml.Success("ok", product(mean, skill))), 4, 6)
    frame = Frame(axes=2)
    assert Factored.group(np.full((5, 3), 0.5), frame).shape == (5, 3)


def test_combinations_of_whole_numbers_do_not_overflow():
    """Codes of pairs of a million cells each go beyond 32 bits."""
    frame, count = Frame(axes=1), 3_000_000
    index = np.arange(6) * (count // 6)
    joint, rows = frame.join((Cells(index, count), Cells(index[::-1].copy(), count)))
    assert joint.count == 6
    assert [row.tolist() for row in rows] == [index.tolist(), index[::-1].tolist()]
    assert all(a <= b for a, b in itertools.pairwise(joint.index))
