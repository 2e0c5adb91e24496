"""Properties of items that nobody observed: declared, checked, written and drawn."""

import pickle

import networkx as nx
import numpy as np
import pytest

import measurement_layouts as ml
from measurement_layouts import LayoutError, MetaFeature, Unseen
from measurement_layouts.layouts.outcomes.unseen import SCORES
from measurement_layouts.linking import evaluate, logistic

MEASURED = MetaFeature("measured", low=-2, high=2)
ERROR = MetaFeature("error", low=0, high=2)
FOR, AGAINST = (MetaFeature(name, low=0, high=30) for name in ("for", "against"))
NOISE = ml.Noise("noise")
LEVEL = ml.Slope("level")
LABELLED = MetaFeature("demand", low=0, high=5, labels=("AS", "CEc"))


def told(**changes):
    parts = {"positive": FOR, "negative": AGAINST, "noise": NOISE}
    return Unseen("hard", MEASURED, ERROR, **parts | changes)


def layout(*unseen):
    slope = ml.Slope("slope")
    return ml.Layout("votes", ml.Success("ok", logistic(slope * sum(unseen or (told(),)))))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"spread": MEASURED}, "its spread measured ranges"),
        ({"spread": -0.1}, "its spread (-0.1|−0.1)"),
        ({"positive": MEASURED}, "its positive measured .* a"),
        ({"negative": -FOR}, "its negative .* a count is"),
        ({"noise": LEVEL}, "its noise level ranges over"),
        ({"mean": LABELLED}, "value per label of"),
        ({"spread": "wide"}, "hard:"),
        (
            {
                "mean": MetaFeature("far", low=0, high=2, unit="m"),
                "spread": MetaFeature("error", low=0, high=2, unit="s"),
            },
            "error:",
        ),
    ],
)
def test_declarations(changes, message):
    parts = {"mean": MEASURED, "spread": ERROR} | changes
    with pytest.raises(LayoutError, match=message):
        Unseen("hard", **parts)


def test_two_of_them_are_refused():
    other = Unseen("odd", 0.0, 1.0)
    with pytest.raises(LayoutError, match="ok: hard and odd are both unseen; join them"):
        layout(told(), other)
    with pytest.raises(LayoutError, match=r"has one value per label of \['dimension'\]"):
        ml.Success("ok", logistic(LABELLED - told()))


def test_written_and_read():
    one = layout()
    assert str(one) == (
        "votes\n"
        "  hard ~ Normal(measured, error), given for for, against against, "
        "drawn anew with probability noise\n"
        "  ok = logistic(slope × hard)"
    )
    assert "given" not in str(layout(Unseen("hard", MEASURED, ERROR)))
    for copy in (ml.Layout.from_dict(one.to_dict()), pickle.loads(pickle.dumps(one))):
        assert copy == one
        assert copy.fingerprint == one.fingerprint
        assert copy.to_dict() == one.to_dict()
    assert repr(told(about="x")).startswith("Unseen('hard', mean=")


def test_the_graph_leads_through_it():
    graph = layout().graph
    plates = ("subject", "item")  # its mean is the item's, its noise the subject's
    assert graph.nodes["hard"] == {"kind": "unseen", "plates": plates, "per_item": True}
    assert set(graph.predecessors("hard")) == {"measured", "error", "for", "against", "noise"}
    assert set(graph.predecessors("ok")) == {"slope", "hard"}
    assert nx.is_directed_acyclic_graph(graph)
    alone = ml.Layout("x", ml.Success("ok", logistic(LEVEL - Unseen("hard", 0.0, 1.0))))
    assert alone.graph.nodes["ok"]["per_item"]


def test_weights_are_those_of_the_formula():
    """By hand at random places; they add up to 1, and noise brings the prior's back."""
    rng = np.random.default_rng(3)
    node, dims = told(), ("hard score",)
    mean, spread, noise = rng.normal(size=4), rng.uniform(0, 2, 4), 0.3
    votes = rng.integers(0, 30, (2, 4)).astype(float)
    columns = {"measured": mean, "error": spread, "for": votes[0], "against": votes[1]}
    known = {name: values[:, None] for name, values in columns.items()} | {"noise": noise}
    place = mean[:, None] + spread[:, None] * SCORES
    sigma = 1 / (1 + np.exp(-place))
    prior = np.exp(-(SCORES**2) / 2)
    given = prior * sigma ** votes[0][:, None] * (1 - sigma) ** votes[1][:, None]
    wanted = (1 - noise) * given / given.sum(axis=1, keepdims=True) + noise * prior / prior.sum()
    found = evaluate(node.weights, known, dims)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(evaluate(node, known, dims), place)
    assert np.abs(evaluate(node.weights, known | {"noise": 0.0}, dims) - wanted).max() > 1e-3
