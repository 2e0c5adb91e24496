"""Label dimensions: how arrays line up, and what is refused."""

import time

import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest

from measurement_layouts import Capability, Layout, LayoutError, MetaFeature, Success
from measurement_layouts.linking import (
    arrays,
    evaluate,
    generalised_mean,
    linking_function,
    logistic,
    product,
)

SKILLS, SIDES = ("see", "walk", "reason"), ("left", "right")


def ability(labels=SKILLS, dim="skill", name="ability"):
    return Capability(name, low=0, high=1, labels=labels, dim=dim)


def demand(labels=SKILLS, dim="skill", name="demand"):
    return MetaFeature(name, low=0, high=1, labels=labels, dim=dim)


def test_two_label_dimensions_line_up_with_draws_and_items():
    """Shapes (draw, item, skill, side): each operand has what it has, and 1 elsewhere."""
    rng = np.random.default_rng(1)
    draws, items = 5, 4
    skill, side = ability(), ability(SIDES, "side", "sided")
    needed = demand()
    margin = skill - needed + side
    assert margin.dims == {"skill": SKILLS, "side": SIDES}
    mean = generalised_mean(logistic(margin), power=1, over="skill")
    assert mean.dims == {"side": SIDES}
    chance = product(mean, over="side")
    assert chance.dims == {}
    values = {
        "ability": rng.normal(size=(draws, 1, 3, 1)),
        "sided": rng.normal(size=(draws, 1, 1, 2)),
        "demand": rng.normal(size=(items, 3, 1)),
    }
    computed = evaluate(chance, values, ("skill", "side"))
    assert computed.shape == (draws, items, 1, 1)
    for draw in range(draws):
        for item in range(items):
            table = values["ability"][draw, 0] - values["demand"][item] + values["sided"][draw, 0]
            expected = (1 / (1 + np.exp(-table))).mean(axis=0).prod()
            assert computed[draw, item, 0, 0] == pytest.approx(expected, rel=1e-12)
    swapped = {name: value.swapaxes(-1, -2) for name, value in values.items()}
    turned = evaluate(chance, swapped, ("side", "skill"))
    np.testing.assert_allclose(turned, computed, rtol=1e-12)
    variables = {name: pt.tensor(name, shape=value.shape) for name, value in values.items()}
    compute = pytensor.function(
        [*variables.values()],
        evaluate(chance, variables, ("skill", "side")),
        mode=pytensor.compile.mode.Mode(linker="py", optimizer="fast_run"),
    )
    np.testing.assert_allclose(compute(*values.values()), computed, rtol=1e-12)


def test_labels_that_differ_are_refused_by_name():
    with pytest.raises(
        LayoutError,
        match=r"demand: it has labels \(see, walk\) on dimension 'skill', but ability has "
        r"\(see, walk, reason\); give both the same labels in the same order",
    ):
        ability() - demand(("see", "walk"))
    with pytest.raises(LayoutError, match="give both the same labels in the same order"):
        product(ability(), demand(("walk", "see", "reason")))
    many = tuple(f"label {i}" for i in range(18))
    with pytest.raises(LayoutError, match=r"label 5, \.\.\. 18 in all"):
        ability(many) - demand()


def test_labels_of_nodes_that_never_meet_must_agree_too():
    one = product(logistic(ability() - demand()), over="skill")
    other = product(logistic(ability(("a", "b"), name="other")), over="skill")
    with pytest.raises(LayoutError, match="on dimension 'skill'"):
        Layout("clash", Success("both", one * other))


def test_reducing_a_dimension_that_is_not_there_is_refused():
    with pytest.raises(
        LayoutError, match=r"over='side', but the label dimensions of .* \['skill'\]"
    ):
        product(ability(), over="side")
    with pytest.raises(LayoutError, match="dimensions of x are none; name one, or give nodes"):
        product(MetaFeature("x", low=0, high=1), over="side")
    with pytest.raises(
        LayoutError, match="joins the labels of one operand, but 2 operands were given"
    ):
        product(ability(), demand(), over="skill")


def test_evaluating_needs_the_names_of_the_axes():
    with pytest.raises(LayoutError, match=r"product: its dimension .skill. is not among"):
        evaluate(product(ability(), over="skill"), {"ability": np.ones((1, 3))})


def test_an_outcome_has_no_labels_left():
    with pytest.raises(
        LayoutError, match=r"passed: its probability has one value per label of \['skill'\]"
    ):
        Success("passed", logistic(ability() - demand()))


def test_a_custom_function_can_reduce_too():
    @linking_function(range=(0, 1), domain={"p": (0, 1)})
    def weakest(p, *, over=None):
        return arrays.min(p, axis=over, keepdims=True)

    expr = weakest(ability(), over="skill")
    assert expr.dims == {}
    value = evaluate(expr, {"ability": np.array([[0.3, 0.2, 0.9]])}, ("skill",))
    np.testing.assert_array_equal(value, [[0.2]])


def test_eighteen_dimensions_are_declared_at_once():
    begun = time.perf_counter()
    labels = tuple(f"D{i}" for i in range(18))
    margin = ability(labels) - demand(labels)
    layout = Layout("general", Success("solved", product(logistic(margin), over="skill")))
    assert layout.dims == {"skill": labels}
    assert len(layout.fingerprint) == 16
    assert time.perf_counter() - begun < 0.5
