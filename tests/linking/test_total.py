"""The total: its range, unit and labels."""

import numpy as np
import pytest

from measurement_layouts import Bias, Capability, Layout, LayoutError, MetaFeature, Success
from measurement_layouts.linking import evaluate, logistic, total

LABELS = tuple(f"D{number}" for number in range(1, 19))
DEMAND = MetaFeature("demand", low=-1, high=5, unit="level", labels=LABELS)
DEPTH, WIDTH = (MetaFeature(name, low=-1, high=9, unit="m") for name in ("depth", "width"))


def test_range_counts_the_labels():
    assert str(total(DEMAND, over="dimension").range) == "[-18, 90]"
    assert str(total(DEPTH, WIDTH).range) == "[-2, 18]"
    assert str(total(Bias("lean") * DEMAND, over="dimension").range) == "[-inf, inf]"


def test_keeps_the_unit_of_its_parts():
    assert total(DEMAND, over="dimension").unit == DEMAND.unit
    with pytest.raises(LayoutError, match="in one total with depth, which has unit m"):
        total(DEPTH, MetaFeature("wait", low=1, high=9, unit="s"))
    joined = total(Bias("lean") * DEMAND, over="dimension")
    assert (Capability("reach", low=0, high=9, unit="m") - joined).unit == DEPTH.unit


def test_a_weighted_sum_of_labels():
    weight = Bias("weight", labels=LABELS)
    rng = np.random.default_rng(1)
    known = {"weight": rng.normal(size=(5, 1, 18)), "demand": rng.uniform(-1, 5, (4, 18))}
    value = evaluate(total(weight * DEMAND, over="dimension"), known, ("dimension",))
    assert value.shape == (5, 4, 1)
    expected = known["weight"][:, 0] @ known["demand"].T
    np.testing.assert_allclose(value[..., 0], expected, rtol=1e-12)


def test_labels_of_another_dimension_stay():
    sided = Bias("side", labels=("left", "right"), dim="hand")
    both = total(DEMAND * sided, over="dimension")
    assert both.dims == {"hand": ("left", "right")}
    known = {"demand": np.arange(36.0).reshape(2, 18, 1), "side": np.array([[1.0, -2.0]])}
    value = evaluate(both, known, ("dimension", "hand"))
    assert value.shape == (2, 1, 2)
    np.testing.assert_array_equal(value[:, 0, 0], [153, 477])
    np.testing.assert_array_equal(value[:, 0, 1], [-306, -954])


def test_a_layout_with_it_is_written_and_read_back():
    layout = Layout("sum", Success("ok", logistic(Bias("ease") - total(DEMAND, over="dimension"))))
    again = Layout.from_dict(layout.to_dict())
    assert again == layout
    assert again.fingerprint == layout.fingerprint
    inner = again.outcome.expression.arguments[0].parents[1]
    assert str(inner.range) == "[-18, 90]"


def test_several_operands_are_not_reduced():
    with pytest.raises(
        LayoutError, match="joins the labels of one operand, but 2 operands were given"
    ):
        total(DEMAND, DEMAND, over="dimension")
    with pytest.raises(LayoutError, match="name one, or give nodes labels="):
        total(DEPTH, over="dimension")
