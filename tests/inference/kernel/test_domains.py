"""A domain holds each combination once, and every row finds its own again."""

import numpy as np
import pytest

import measurement_layouts as ml
from measurement_layouts.inference.kernel.domains import Domains
from measurement_layouts.linking import logistic, product

ITEMS = 600


@pytest.fixture
def features(rng):
    return {
        "size": rng.choice([0.1, 0.5, 2.0], ITEMS),
        "far": rng.choice([1.0, 2.0, 3.0, 4.0], ITEMS),
        "demand": rng.integers(0, 5, (ITEMS, 2)).astype(float),
    }


@pytest.fixture
def domains(features):
    size, far = ml.MetaFeature("size", low=0, high=3), ml.MetaFeature("far", low=0, high=5)
    demand = ml.MetaFeature("demand", low=0, high=5, labels=("a", "b"))
    ability = ml.Capability("ability", low=0, high=5)
    margin = ability - size * far - demand
    layout = ml.Layout("x", ml.Success("ok", product(logistic(margin), over="dimension")))
    return Domains(
        {f.name: f.label_dims for f in layout.row_features},
        features,
        ITEMS,
        ["size", "far", "demand"],
    )


def test_rows_are_the_items_that_differ(domains, features):
    table = np.column_stack([features["size"], features["far"], features["demand"]])
    rows = np.unique(table, axis=0)
    assert domains.rows.size == len(rows)
    first = np.column_stack([domains.features[name] for name in ("size", "far", "demand")])
    np.testing.assert_array_equal(first[domains.collapsed], table)


def test_combinations_of_two_meta_features(domains):
    found = domains.of(frozenset({"size", "far"}), ())
    if found is domains.rows:
        pytest.fail("12 combinations deserve a table")
    assert found.size == 12
    for name in ("size", "far"):
        values = domains.features[name]
        np.testing.assert_array_equal(values[found.origin][found.index], values)


def test_labels_have_cells_of_their_own(domains):
    found = domains.of(frozenset({"demand"}), ("dimension",))
    assert (found.dim, found.size) == ("dimension", 5)
    values = domains.features["demand"]
    cells = values[found.origin, np.arange(2)]
    np.testing.assert_array_equal(cells[found.index, np.arange(2)], values)


def test_reduced_labels_have_a_table_where_few_combinations_are_there(domains, features):
    found = domains.of(frozenset({"demand"}), ())
    assert (found.dim, found.size) == (None, 25)  # of 5 levels and 2 labels; there are 600 items
    whole = domains.features["demand"]
    np.testing.assert_array_equal(whole[found.origin][found.index], whole)
    with_size = domains.of(frozenset({"demand", "size"}), ())
    assert with_size.size == len(np.unique(np.column_stack([features["size"], features["demand"]]),
                                           axis=0))  # fmt: skip


def test_reduced_labels_of_many_combinations_belong_to_the_rows(domains):
    assert domains.of(frozenset({"demand", "size", "far"}), ()) is domains.rows


def test_from_a_finer_domain_to_a_coarser_one(domains):
    both, one = (domains.of(frozenset(names), ()) for names in ({"size", "far"}, {"size"}))
    to_one = domains.map(both, one)
    np.testing.assert_array_equal(to_one[both.index], one.index)
    cells = domains.of(frozenset({"demand", "size"}), ("dimension",))
    to_size = domains.map(cells, one)
    np.testing.assert_array_equal(
        to_size[cells.index, np.arange(2)], np.stack([one.index, one.index], axis=1)
    )


def test_what_no_meta_feature_touches_has_no_domain(domains):
    assert domains.of(frozenset(), ()) is None


def test_equal_partitions_are_one_domain(features):
    size, twice = ml.MetaFeature("size", low=0, high=3), ml.MetaFeature("twice", low=0, high=6)
    ability = ml.Capability("ability", low=0, high=5)
    layout = ml.Layout("x", ml.Success("ok", logistic(ability - size) * logistic(ability - twice)))
    spread = np.arange(ITEMS, dtype=float)
    data = {"size": features["size"], "twice": 2 * features["size"], "more": spread}
    found = Domains(
        {f.name: f.label_dims for f in layout.row_features}, {**data}, ITEMS, ["size", "twice"]
    )
    assert found.of(frozenset({"size"}), ()) is found.of(frozenset({"twice"}), ())
