"""Joint layouts drawn: which plate holds what, in every kind of diagram; and their equations."""

import json
import os
import re
import shutil
from itertools import combinations

import graphviz
import pytest
from helpers.joint_layouts import JOINT, crossed, exam

from measurement_layouts.layouts.drawing.frames import frames

needs_dot = pytest.mark.skipif(
    shutil.which("dot") is None and not os.environ.get("CI"),
    reason="Graphviz's program dot is not installed",
)
ALL_LAYOUTS = pytest.mark.parametrize("name", JOINT)


def every_frame(layout):
    """Frames by name, each with the nodes in it and in those inside."""
    return {
        frame.name: (frame, {name for inner in frame for name in inner.nodes})
        for outermost in frames(layout)
        for frame in outermost
    }


def test_categories_lie_around_what_they_are_of():
    school, area, between, last = frames(exam())
    assert [frame.title for frame in school] == ["school", "subjects"]
    assert [frame.title for frame in area] == ["area", "topic: numbers, shapes", "items"]
    assert (between.title, last.title) == ("subjects × topic", "subjects × items")
    assert area.inside[0].inside[0].nodes == ("ease", "steps", "chance")
    assert school.about == "where they learnt"
    assert [frame.corner for frame in (school, area, last)] == ["left", "right", "right"]


def test_categories_that_cut_each_other_stand_beside_items():
    titles = {frame.title: frame for frame in frames(crossed())}
    assert {"subjects", "items", "colour of items", "shape of items"} <= set(titles)
    assert titles["group × shape"].nodes == ("favour",)
    assert not any(frame.inside for frame in titles.values())


@ALL_LAYOUTS
def test_each_node_is_in_the_frame_of_its_plates(name):
    layout = JOINT[name]()
    own = {node: frame.name for frame, _ in every_frame(layout).values() for node in frame.nodes}
    plates = dict(layout.graph.nodes(data="plates"))
    assert own == {node: "/".join(held) for node, held in plates.items() if held}


@needs_dot
@ALL_LAYOUTS
def test_dot_draws_the_plates(name, capfd):
    layout = JOINT[name]()
    picture = graphviz.Source(layout.to_graphviz()).pipe(format="json", encoding="utf-8")
    objects = json.loads(picture)["objects"]
    titles = {part["_gvid"]: part["name"] for part in objects}
    clusters = {
        part["name"].removeprefix("cluster/"): (
            {titles[number] for number in part["nodes"]},
            [float(end) for end in part["bb"].split(",")],
        )
        for part in objects
        if part["name"].startswith("cluster/") and part["name"] != "cluster/legend"
    }
    assert {frame: inside for frame, (inside, _) in clusters.items()} == {
        frame: inside for frame, (_, inside) in every_frame(layout).items()
    }
    for (one, box), (other, around) in combinations(clusters.values(), 2):
        if not (one <= other or other <= one):
            assert apart(box, around)
    y = {part["name"]: float(part["pos"].split(",")[1]) for part in objects if "pos" in part}
    assert all(y[parent] > y[child] for parent, child in layout.graph.edges)
    assert capfd.readouterr().err == ""


def apart(one, other):
    """Whether two boxes (left, bottom, right, top) share no place."""
    return one[2] <= other[0] or other[2] <= one[0] or one[3] <= other[1] or other[3] <= one[1]


@ALL_LAYOUTS
@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize("by_dot", [True, False], ids=["dot", "matplotlib"])
def test_a_joint_layout_is_drawn(name, ending, by_dot, tmp_path, monkeypatch):
    if not by_dot:
        monkeypatch.setenv("PATH", "")
    path = JOINT[name]().draw(tmp_path / f"layout.{ending}")
    assert path.stat().st_size > 1000


def test_matplotlib_says_of_which_plates_a_node_is(monkeypatch):
    monkeypatch.setenv("PATH", "")
    svg = exam()._repr_svg_()
    for plates in ("subjects", "topic: numbers, shapes", "subjects × items"):
        assert f"<!-- of {plates} -->" in svg


@ALL_LAYOUTS
def test_mermaid_nests_the_plates(name):
    layout = JOINT[name]()
    lines = layout.to_mermaid().splitlines()
    open_frames, held = [], {}
    for line in lines:
        if found := re.match(r'\s+subgraph (p\d+)\["(.*)"\]', line):
            open_frames.append(found[1])
        elif line.strip() == "end":
            open_frames.pop()
        elif found := re.match(r"\s+n\d+_\w+\W+<b>([^<]*)</b>", line):
            node = re.sub(r"#(\d+);", lambda code: chr(int(code[1])), found[1])
            held[node] = len(open_frames)
    assert open_frames == []
    deep = {node: 0 for node in layout.nodes}
    for _, inside in every_frame(layout).values():
        for node in inside:
            deep[node] += 1
    assert held == deep
    edges = [line for line in lines if " --> " in line]
    assert len(edges) == len(layout.graph.edges)
    for number in range(len(every_frame(layout))):
        assert f"  style p{number} fill:none,stroke:#8A9097,color:#1A1A1A" in lines
