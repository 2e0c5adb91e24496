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
