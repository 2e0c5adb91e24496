"""Graded outcomes, scores and several outcomes of one layout."""

import json
import pickle
import re

import numpy as np
import pytest

from measurement_layouts import (
    Bias,
    Capability,
    Effect,
    Graded,
    Layout,
    LayoutError,
    MetaFeature,
    Noise,
    Prior,
    Score,
    Slope,
    Success,
    Unseen,
)
from measurement_layouts.layouts.outcomes.steps import MARK
from measurement_layouts.linking import evaluate, logistic, mean_failure, mixture


def able(demand="timeHidden"):
    memory = Capability("objectPermanence", low=0, high=10)
    return logistic(memory - MetaFeature(demand, low=0, high=10))


def whole():
    gap = Slope("gap", labels=("first", "second"), dim="pair")
    path = Graded("path", able(), grades=("lost", "detour", "near", "direct"), gap=gap)
    credit = Score("credit", able(), precision=Slope("precision"), places=4)
    return Layout("permanence", Success("found", able()), path, credit)


def test_hidden_nodes_show_nowhere(tmp_path):
    layout = whole()
    assert [leaf.name for leaf in layout.outcomes] == ["found", "path", "credit"]
    assert set(layout.nodes) == {
        *("objectPermanence", "timeHidden", "found", "gap", "path", "precision", "credit")
    }
    assert [feature.name for feature in layout.meta_features] == ["timeHidden"]
    hidden = [feature.name for feature in layout.row_features[1:]]
    assert len(hidden) == len(set(hidden)) == 8
    assert all(name.startswith(MARK) for name in hidden)
    shown = [str(layout), repr(layout), layout.to_mermaid(), str(layout.graph)]
    shown += [layout.to_graphviz(), json.dumps(layout.to_dict())]
    assert not any(MARK in text or "·" in text for text in shown)
    assert set(layout.graph.nodes) == set(layout.nodes)
    assert ("gap", "path") in layout.graph.edges
    assert layout.graph.nodes["credit"]["per_item"]
    assert layout.draw(tmp_path / "layout.svg").stat().st_size > 1000


def test_round_trips():
    layout = whole()
    read = Layout.from_dict(json.loads(json.dumps(layout.to_dict())))
    assert read == layout == pickle.loads(pickle.dumps(layout))
    assert read.fingerprint == layout.fingerprint
    assert read.outcome == layout.outcome
    assert read.outcome.rows == layout.outcome.rows


def test_fingerprints_tell_what_is_computed():
    made = [
        Layout("x", Success("credit", able())),
        Layout("x", Graded("credit", able())),
        Layout("x", Graded("credit", able(), grades=("a", "b", "c"))),
        Layout("x", Graded("credit", able(), gap=2)),
        Layout("x", Score("credit", able(), precision=2)),
        Layout("x", Score("credit", able(), precision=3)),
        Layout("x", Score("credit", able(), precision=2, places=5)),
    ]
    assert len({layout.fingerprint for layout in made}) == len(made)
    assert Layout("y", Graded("credit", able(), about="how")).fingerprint == made[1].fingerprint


P = able()
CASES = {
    "its performance skill ranges over [0, 9]": lambda: Graded("g", Capability("skill", 0, 9)),
    "g: grades=('one',); name at least two": lambda: Graded("g", P, grades=("one",)),
    "g: grades='ab'; name at least two": lambda: Graded("g", P, grades="ab"),
    "labels repeat a": lambda: Graded("g", P, grades=("a", "b", "a")),
    "the grade '1' is number 0": lambda: Graded("g", P, grades=("1", "2", "3")),
    "its gap 0 ranges over [0, 0], but must be positive": lambda: Graded("g", P, gap=0),
    "its gap −1 ranges over": lambda: Graded("g", P, gap=-1),
    "its gap b ranges over [-inf, inf]": lambda: Graded("g", P, gap=Bias("b")),
    "its gap: ": lambda: Graded("g", P, gap="wide"),
    "two grades have one threshold and no gap": lambda: Graded(
        "g", P, grades=("no", "yes"), gap=Slope("gap")
    ),
    "has [3] labels, and 3 grades have 1 gap(s)": lambda: Graded(
        "g", P, gap=Slope("gap", labels=tuple("abc"))
    ),
    "gap has unit m, but log-odds are pure": lambda: Graded("g", P, gap=Slope("gap", unit="m")),
    "s: its precision 0 ranges over": lambda: Score("s", P, precision=0),
    "s: its precision has one value per label": lambda: Score(
        "s", P, precision=Slope("a", labels=("x", "y"))
    ),
    "s: places=0; give a whole number from 1 to 100": lambda: Score("s", P, precision=1, places=0),
    "s: places=2.5; give": lambda: Score("s", P, precision=1, places=2.5),
    "uses hard, which is unseen": lambda: Score(
        "s", logistic(Capability("c", 0, 9) - Unseen("hard", 0.0, 1.0)), precision=1
    ),
    "g: its noise pulls towards one minus the subject's mean success": lambda: Layout(
        "x", Graded("g", mixture(P, by=Noise("noise"), toward=mean_failure))
    ),
    "b: it uses hard, which is unseen": lambda: Layout(
        "x",
        Success("a", P),
        Success("b", logistic(Capability("c", 0, 9) - Unseen("hard", 0.0, 1.0))),
    ),
    "layout 'x': two of its outcomes are named a": lambda: Layout(
        "x", Success("a", P), Graded("a", P)
    ),
    "b depends on no latent": lambda: Layout("x", Success("a", P), Success("b", 0.5)),
    "a: it is an outcome, but b is computed from it": lambda: Layout(
        "x", Success("b", Success("a", P) * 0.5)
    ),
    "its outcome is 'found'; wrap": lambda: Layout("x", Success("a", P), "found"),
}


@pytest.mark.parametrize("message", CASES)
def test_declarations_that_cannot_be_meant(message):
    with pytest.raises(LayoutError, match=re.escape(message)):
        CASES[message]()


def test_an_outcome_that_is_undefined_somewhere_is_refused():
    flag = MetaFeature("occluder", levels=(0, 1))
    hidden = MetaFeature("timeUnderOccluder", low=0, high=4, given=flag)
    memory = Capability("memory", low=0, high=4)
    fine = Score("fine", logistic(memory - flag * hidden), precision=1)
    Layout("x", fine)
    wrong = Graded("wrong", 0.5 * logistic(memory - hidden) + 0.5 * logistic(memory - flag))
    with pytest.raises(LayoutError, match="but wrong depends on it there"):
        Layout("x", fine, wrong)


def test_grades_may_have_a_slope_and_gaps_for_each_item():
    """The graded response model: sums of logistics, with a slope and thresholds of each item."""
    ability = Capability("ability", prior=Prior("Normal", mu=0, sigma=1))
    ease, slope = Effect("ease", per="item"), Slope("slope", per="item")
    gap = Slope("gap", per="item", labels=("first", "second"), dim="pair")
    grade = Graded("grade", logistic(ability + ease, slope), grades=tuple("abcd"), gap=gap)
    rng = np.random.default_rng(1)
    known = {"ability": 0.4, "ease": rng.normal(size=(5, 1)), "slope": rng.lognormal(size=(5, 1))}
    known["gap"] = rng.lognormal(size=(5, 2))
    thresholds = np.cumsum(np.hstack([np.zeros((5, 1)), known["gap"]]), axis=1)
    thresholds -= thresholds.mean(axis=1, keepdims=True)
    margins = known["slope"] * (known["ability"] + known["ease"]) - thresholds
    expected = (1 / (1 + np.exp(-margins))).sum(axis=1)
    assert evaluate(grade, known, ("pair",)).ravel() == pytest.approx(expected)
