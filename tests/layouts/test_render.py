"""Diagrams and equations: what is in them, and that they can be drawn."""

import json
import logging
import os
import re
import shutil
from itertools import combinations

import graphviz
import pytest

import measurement_layouts as ml
from measurement_layouts.layouts.drawing import captions
from measurement_layouts.layouts.drawing.style import STYLES
from measurement_layouts.linking import (
    band,
    generalised_mean,
    guessing,
    logistic,
    mean_failure,
    mixture,
    product,
)

needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None and not os.environ.get("CI"),
    reason="Graphviz's program dot is not installed",
)
MAGIC = {"png": b"\x89PNG", "pdf": b"%PDF", "svg": b"<?xml"}


def animal_ai():
    size = ml.MetaFeature("rewardSize", low=-1.9, high=1.9, unit="sd", about="smaller is harder")
    distance = ml.MetaFeature("rewardDistance", low=-2.4, high=2.4, unit="sd")
    behind = ml.MetaFeature("rewardBehind", levels=(0, 0.5, 1))
    x_pos = ml.MetaFeature("XPos", levels=(-1, 0, 1))
    navigation = ml.Capability("navigationAbility", low=0, high=5.3, unit="sd")
    visual = ml.Capability("visualAbility", low=0, high=1.9, unit="sd")
    effect = ml.Derived("rightLeftEffect", ml.Bias("rightLeftBias") * x_pos)
    margin = navigation - distance * (0.5 * behind + 1) + effect
    navigate = ml.Derived("navigationPerformance", logistic(margin))
    see = ml.Derived("visualPerformance", logistic(visual - size))
    performance = mixture(navigate * see, by=ml.Noise("noiseLevel"), toward=mean_failure)
    return ml.Layout("animal-ai-olympics", ml.Success("taskPerformance", performance))


def every_kind():
    """Labels, a band, a slope, a hierarchical prior, and names with odd characters."""
    labels = tuple(f"D{number}" for number in range(18))
    general = ml.Capability("general ability", prior=ml.Prior("Gamma", alpha=2, beta=1))
    prior = ml.Prior("Exponential", lam=general)
    ability = ml.Capability("end", prior=prior, labels=labels, unit="level")
    demand = ml.MetaFeature("demand", levels=range(12), unit="level", labels=labels)
    mastery = ml.Derived(
        "mastery of_it", product(logistic(ability - demand, ml.Slope("a.slope")), over="dimension")
    )
    risk = ml.Propensity("risk-aversion", low=-4, high=4)
    low = ml.MetaFeature("band.low", low=-float("inf"), high=4)
    high = ml.MetaFeature("band.high", low=-4, high=float("inf"))
    mood = ml.Unseen("mood.of the item", 0.0, 1.0)
    inside = ml.Derived("graph", band(risk + ml.Bias("caution") + mood, low, high))
    mean = generalised_mean(mastery, inside, power=-float("inf"), weights=(2.0, 1.0))
    chance = ml.MetaFeature("chance", low=0, high=1)
    performance = mixture(guessing(mean, chance), by=ml.Noise("noise"), toward=mean_failure)
    return ml.Layout('Is <it> "drawn" & {shown}?', ml.Success("solved", performance))


def wide():
    """Eight capabilities, each with its own property: too wide to run downwards."""
    abouts = ["length", "depth", "noise", "height", "weight", "colour", "number", "speed"]
    passed = [
        logistic(
            ml.Capability(f"{about} ability", low=0, high=9) - ml.MetaFeature(about, low=0, high=9)
        )
        for about in abouts
    ]
    performance = mixture(product(*passed), by=ml.Noise("slips"), toward=mean_failure)
    return ml.Layout("wide", ml.Success("solved", performance))


LAYOUTS = [animal_ai(), every_kind(), wide()]
ALL_LAYOUTS = pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name[:6])


def block(source, name):
    """Lines of a top-level subgraph (the graphviz package indents by tabs)."""
    lines = source.splitlines()
    start = lines.index(f'\tsubgraph "cluster/{name}" {{')
    return "\n".join(lines[start : lines.index("\t}", start)])


def declared(text, name):
    """Attributes of a node's own line, as written; None where it has none."""
    shown = name if re.fullmatch(r"[A-Za-z]\w*", name) and name != "graph" else f'"{name}"'
    found = [line for line in text.splitlines() if line.strip().startswith(f"{shown} [")]
    assert len(found) <= 1
    return found[0] if found else None


@ALL_LAYOUTS
def test_the_plate_holds_what_an_item_has(layout):
    source = layout.to_graphviz()
    plate = block(source, "items")
    for name, per_item in layout.graph.nodes(data="per_item"):
        assert declared(source, name) is not None
        assert (declared(plate, name) is not None) == per_item


@ALL_LAYOUTS
def test_observed_nodes_are_shaded_and_no_others(layout):
    def darkness(colour):
        return 255 - sum(int(colour[at : at + 2], 16) for at in (1, 3, 5)) / 3

    source = layout.to_graphviz()
    shades = {True: [], False: []}
    for node in layout.nodes.values():
        fill = re.search(r'fillcolor="(#\w{6})"', declared(source, node.name))[1]
        shades[node.kind in ("meta-feature", "outcome")].append(darkness(fill))
    assert min(shades[True]) > max(shades[False]) + 15


def test_kinds_differ_in_colour_and_in_black_and_white():
    assert set(STYLES) == {node.kind for node in every_kind().nodes.values()} | {
        "effect",
        "spread",
        "measured",
    }
    for one, other in combinations(STYLES.values(), 2):
        shaded = [style.fill == STYLES["outcome"].fill for style in (one, other)]
        assert (one.shape, one.dashed, one.double, shaded[0]) != (
            *(other.shape, other.dashed, other.double, shaded[1]),
        )
        assert (one.fill, one.border) != (other.fill, other.border)


@ALL_LAYOUTS
def test_every_edge_is_drawn_once(layout):
    source = graphviz.Source(layout.to_graphviz()).source.replace('"', "")
    drawn = set(
        re.findall(r"^\t+([^[\]\n{}]+?) -> ([^[\]\n{}]+?)(?: \[(?!.*invis).*\])?$", source, re.M)
    )
    for parent, child in layout.graph.edges:
        joint = f"{parent}/{child}"
        if (parent, child) not in drawn:
            enter, leave = "we" if "rankdir=LR" in source else "ns"
            halves = {(parent, f"{joint}:{enter}"), (f"{joint}:{leave}", child)}
            assert halves <= drawn
            drawn -= halves
        drawn.discard((parent, child))
    assert not drawn


def test_nodes_say_what_they_are():
    nodes = {**animal_ai().nodes, **every_kind().nodes}

    def said(name):
        return " | ".join([*captions.facts(nodes[name]), *captions.formula(nodes[name])])

    assert said("navigationAbility") == "∼ Uniform [0, 5.3] sd"
    assert said("rightLeftBias") == "∼ Normal(μ=0, σ=1)"
    assert said("rewardDistance") == "[−2.4, 2.4] sd"
    assert said("rewardBehind") == "{0, 0.5, 1}"
    assert said("band.low") == "(−∞, 4]"
    assert said("demand") == "{0, 1, 2, …, 11} level | × 18 dimension"
    assert said("end") == "[0, ∞) level | ∼ Exponential( | λ=general ability) | × 18 dimension"
    assert said("rightLeftEffect") == "= rightLeftBias × XPos"
    assert said("taskPerformance") == (
        "∼ Binomial(trials, p) | p = mixture(navigationPerformance | "
        "× visualPerformance, noiseLevel, meanFailure)"
    )


def test_wrapping_keeps_names_whole():
    text = "= logistic(my ability − a b.c × (0.5 × how far + 1) + right-left effect)"
    assert captions.wrap(text, 44) == [
        "= logistic(my ability − a b.c × (0.5",
        "× how far + 1) + right-left effect)",
    ]


@needs_dot
@ALL_LAYOUTS
def test_dot_draws_it(layout, capfd):
    picture = graphviz.Source(layout.to_graphviz()).pipe(format="json", encoding="utf-8")
    drawing = json.loads(picture)
    titles = {part["_gvid"]: part["name"] for part in drawing["objects"]}
    plate = next(part for part in drawing["objects"] if part["name"] == "cluster/items")
    inside = {titles[number] for number in plate["nodes"]} & set(layout.nodes)
    assert inside == {name for name, own in layout.graph.nodes(data="per_item") if own}
    assert set(layout.nodes) <= set(titles.values())
    places = {
        part["name"]: [float(place) for place in part["pos"].split(",")]
        for part in drawing["objects"]
        if "pos" in part
    }
    right = drawing["rankdir"] == "LR"
    assert right == (layout.name == "wide")
    depth = {name: x if right else -y for name, (x, y) in places.items()}
    aside = {name: -y if right else x for name, (x, y) in places.items()}
    features = {depth[feature.name] for feature in layout.meta_features}
    assert max(depth[latent.name] for latent in layout.latents) < min(features)
    assert len(features) == 1
    assert all(depth[parent] < depth[child] for parent, child in layout.graph.edges)
    in_order = [name for name in layout.nodes if depth[name] in features]
    assert in_order == sorted(in_order, key=aside.get)
    legend = [y for name, (_, y) in places.items() if name.startswith("legend/")]
    own = [places[name][1] for name in layout.nodes]
    assert min(legend) > max(own) if right else max(legend) < min(own)
    assert capfd.readouterr().err == ""


@ALL_LAYOUTS
@pytest.mark.parametrize("ending", ["svg", "png", "pdf", "PNG"])
def test_draw_writes_the_file_that_its_name_asks_for(layout, ending, tmp_path):
    path = tmp_path / f"a picture.{ending}"
    path.write_text("an older one")
    assert layout.draw(path) == path
    assert path.read_bytes().startswith(MAGIC[ending.lower()])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("layout.gif", "'animal-ai-olympics'.*whose"),
        ("layout", r"whose ending is ''"),
        ("missing/layout.svg", "there is no folder"),
    ],
)
def test_draw_says_what_is_wrong_with_a_path(name, said, tmp_path):
    with pytest.raises(ml.LayoutError, match=said):
        animal_ai().draw(tmp_path / name)
    assert not list(tmp_path.iterdir())


@ALL_LAYOUTS
@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_matplotlib_draws_where_dot_is_missing(layout, ending, tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("PATH", "")
    with caplog.at_level(logging.INFO, "measurement_layouts"):
        path = layout.draw(tmp_path / f"layout.{ending}")
    assert path.read_bytes().startswith(MAGIC[ending])
    assert "matplotlib draws" in caplog.text
    assert "Generated by graphviz" not in layout._repr_svg_()


def test_a_layout_without_meta_features_is_drawn(tmp_path, monkeypatch):
    layout = ml.Layout("plain", ml.Success("pass", ml.Capability("skill", low=0, high=1)))
    layout.draw(tmp_path / "by dot.png")
    monkeypatch.setenv("PATH", "")
    layout.draw(tmp_path / "by matplotlib.png")


@ALL_LAYOUTS
def test_mermaid_is_a_flowchart_with_a_plate(layout):
    lines = layout.to_mermaid().splitlines()
    assert lines[0] == "---"
    assert json.loads(lines[1].removeprefix("title: ")) == layout.name
    start, end = lines.index('  subgraph p0["items"]'), lines.index("  end")
    way = "LR" if layout.name == "wide" else "TD"
    assert f"flowchart {way}" in lines[:start]
    node = re.compile(r'\s+(n\d+_[A-Za-z0-9_]*)\W{1,3}"<b>([^"]*)</b>([^"]*)"\W{1,3}:::([a-z]+)')
    ids = {}
    for number, line in enumerate(lines):
        if found := node.fullmatch(line):
            name = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), found[2])
            ids[name] = found[1]
            assert found[4] == layout.nodes[name].kind.replace("-", "")
            assert (start < number < end) == layout.graph.nodes[name]["per_item"]
    assert list(ids) != []
    assert set(ids) == set(layout.nodes)
    assert len(set(ids.values())) == len(ids)
    edges = {f"  {ids[parent]} --> {ids[child]}" for parent, child in layout.graph.edges}
    assert edges == {line for line in lines if "-->" in line}
    for kind in captions.kinds(layout):
        assert any(line.startswith(f"  classDef {kind.replace('-', '')} ") for line in lines)
