"""Layouts: what they hold, and which they refuse."""

import copy
import pickle

import numpy as np
import pytest
from helpers.random_layouts import rich_layout

from measurement_layouts import (
    Bias,
    Capability,
    Derived,
    Layout,
    LayoutError,
    MetaFeature,
    Noise,
    Success,
)
from measurement_layouts.linking import band, logistic, mean_failure, mixture, presence, product

sight = Capability("sight", low=0, high=2)
smallness = MetaFeature("smallness", low=0, high=2)
see = Derived("see", logistic(sight - smallness))


def layout_of(expression, **options):
    return Layout("looking", Success("found", expression), **options)


def nested(times, name=None):
    expr = sight - smallness
    for i in range(times):
        expr = expr + 1
        if name and i % 50 == 0:
            expr = Derived(f"{name}{i}", expr)
    return expr


def doubled(times):
    expr = sight - smallness
    for _ in range(times):
        expr = expr + expr
    return expr


@pytest.mark.parametrize(
    ("build", "complaint"),
    [
        (
            lambda: layout_of(see * logistic(Capability("sight", low=0, high=3))),
            "two different nodes are",
        ),
        (
            lambda: layout_of(see * logistic(Capability("smallness", low=0, high=3))),
            "two different nodes are",
        ),
        (
            lambda: layout_of(product(see, Derived("found", logistic(sight)))),
            "two different nodes are",
        ),
        (
            lambda: layout_of(mixture(see, by=Noise("meanFailure"), toward=mean_failure)),
            "two different nodes are",
        ),
        (lambda: layout_of(0.5), "layout 'looking': found"),
        (lambda: layout_of(MetaFeature("flag", levels=(0, 1)) * 0.5), "layout 'looking': found"),
        (lambda: layout_of(see * logistic(3 - MetaFeature("depth", low=0, high=9))), "depth:"),
        (
            lambda: layout_of(
                see * logistic(Derived("deep", 2 * MetaFeature("depth", low=0, high=9)) - smallness)
            ),
            "depth, smallness: no latent",
        ),
        (lambda: layout_of(see * band(0.5, smallness, 2.0)), "smallness:"),
        (lambda: Layout("looking", see), "layout 'looking': its"),
        (lambda: Layout("looking", logistic(sight)), "its outcome is"),
        (lambda: Layout("", Success("found", see)), "the layout's name '' is not"),
        (lambda: Layout(5, Success("found", see)), "the layout's name 5 is not"),
        (lambda: Layout("\ud800", Success("found", see)), r"name='\\ud800' contains"),
        (lambda: layout_of(Success("seen", see) * 0.5), "seen:"),
        (
            lambda: layout_of(
                logistic(Capability("skill", low=0, high=1))
                * product(
                    logistic(Capability("many", low=0, high=1, labels=("a", "b"), dim="skill")),
                    over="skill",
                )
            ),
            "'skill': it names a node",
        ),
        (lambda: layout_of(logistic(doubled(40))), "found:"),
        (lambda: layout_of(logistic(nested(300))), "found:"),
    ],
)
def test_a_layout_refuses(build, complaint):
    with pytest.raises(LayoutError, match=complaint):
        build()


def test_demands_that_something_opposes_are_taken():
    flag = MetaFeature("flag", levels=(0, 1))
    layout_of(product(see, presence(logistic(sight), flag)))
    layout_of(see * logistic(Derived("gap", sight - smallness) * 2))
    layout_of(logistic(Bias("lean") * smallness))
    layout_of(see * flag)


def test_two_equal_nodes_are_one():
    twin = Capability("sight", low=0, high=2)
    layout = layout_of(see * logistic(twin))
    assert layout.latents == (sight,)
    assert list(layout.nodes) == ["sight", "smallness", "see", "found"]


def test_what_a_layout_holds():
    layout = rich_layout()
    assert [node.name for node in layout.meta_features] == [
        *("demand", "low_end", "high_end", "far", "up", "side", "on")
    ]
    assert [node.name for node in layout.latents] == [
        *("spread", "talent", "steep", "risk", "reach", "lean", "noise")
    ]
    assert [node.name for node in layout.derived] == ["able", "weakest", "fitting"]
    assert [constant.name for constant in layout.constants] == ["meanFailure"]
    assert layout.dims == {"skill": ("see", "walk", "reason")}
    assert layout.outcome.name == "solved"


def test_the_graph():
    lean = Derived("leaning", Bias("lean") * 2)
    layout = layout_of(
        mixture(product(see, logistic(lean)), by=Noise("noise"), toward=mean_failure)
    )
    graph = layout.graph
    assert set(graph.edges) == {
        *(("sight", "see"), ("smallness", "see"), ("lean", "leaning")),
        *(("see", "found"), ("leaning", "found"), ("noise", "found")),
    }
    per_item = {name for name, held in graph.nodes(data="per_item") if held}
    assert per_item == {"smallness", "see", "found"}
    assert dict(graph.nodes(data="kind")) == {
        "sight": "capability",
        "smallness": "meta-feature",
        "see": "derived",
        "lean": "bias",
        "leaning": "derived",
        "noise": "noise",
        "found": "outcome",
    }


def test_layouts_are_equal_by_what_they_hold_and_survive_copies():
    layout = rich_layout()
    assert layout == rich_layout()
    assert hash(layout) == hash(rich_layout())
    assert layout != rich_layout(weight=0.25)
    assert layout != rich_layout(name="other")
    for clone in (copy.deepcopy(layout), pickle.loads(pickle.dumps(layout))):
        assert clone == layout
        assert clone.fingerprint == layout.fingerprint
        assert clone.to_dict() == layout.to_dict()


def test_texts_of_numpy_are_texts():
    chance = Capability(np.str_("p"), low=0, high=1, about=np.str_("a coin's"))
    layout = Layout(np.str_("coin"), Success("heads", chance))
    assert [type(text) for text in (layout.name, chance.name, chance.about)] == [str] * 3
    assert "np.str_" not in repr(chance) + repr(layout)
