"""Animal-AI configuration files: written here in the environment's form, read as plain data."""

import math
import sys

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.scenarios.animal_ai_arenas import read_arenas

# Where agents and rewards stand in four tasks of the Animal-AI Olympics (Crosby et al., 2020), and
# what Burnell et al. (2022) recorded of them: size, distance and side.
TASKS = {
    "1-1-3": (((6, 6), 225, (4.5, 4.5), 1), (1, 2.121320344, "straight")),
    "1-12-2": (((20, 3), 180, (35, 22.5), 5), (5, 24.6018292, "left")),
    "1-12-3": (((20, 3), 180, (5, 22.5), 5), (5, 24.6018292, "right")),
    "7-1-1": (((7, 7), 225, (32, 32), 1), (1, 35.35533906, "behind")),
}
AGENT = "- !Item {name: Agent, positions: [!Vector3 {x: 20, y: 0, z: 5}], rotations: [0]}"


def item(name, x, z, size, *, y=0, turn=0, colour=(1, 2, 3)):
    """An object in the environment's form."""
    width, height, depth = np.broadcast_to(size, 3)
    red, green, blue = colour
    return f"""    - !Item
      name: {name}
      positions:
      - !Vector3 {{x: {x}, y: {y}, z: {z}}}
      sizes:
      - !Vector3 {{x: {width}, y: {height}, z: {depth}}}
      rotations: [{turn}]
      colors:
      - !RGB {{r: {red}, g: {green}, b: {blue}}}
"""


def arena(*items, key=0, head="", agent=f"    {AGENT}\n"):
    top = f"  {key}: !Arena\n    pass_mark: 2\n    t: 250\n{head}    items:\n"
    return "".join([top, agent, *items])


def written(folder, *arenas, name="task.yml"):
    path = folder / name
    path.write_text("!ArenaConfig\narenas:\n" + "".join(arenas))
    return path


def read(folder, *items, **options):
    return read_arenas(written(folder, arena(*items, **options))).iloc[0]


@pytest.mark.trust("oracles", "Animal-AI arenas have the recorded sizes, distances and sides")
@pytest.mark.parametrize("task", TASKS)
def test_tasks_of_the_competition_have_the_recorded_properties(task, tmp_path):
    """Tolerance: the recorded distances have ten digits."""
    ((x, z), turn, (gx, gz), size), (recorded, distance, side) = TASKS[task]
    agent = item("Agent", x, z, 1, turn=turn)
    found = read(tmp_path, item("GoodGoal", gx, gz, size), agent=agent)
    assert (found["size"], found["side"]) == (recorded, side)
    assert found["distance"] == pytest.approx(distance, abs=1e-8)
    assert found["goalDistance"] == pytest.approx(abs(gx - x) + abs(gz - z))
    expected = {"straight": (0, 0), "left": (0.5, -1), "right": (0.5, 1), "behind": (1, 0)}[side]
    assert (found["rewardBehind"], found["XPos"]) == expected


def test_sides_turn_with_the_agent(tmp_path):
    """Twin: the same reward, seen from an agent that looks elsewhere."""
    agents = [item("Agent", 20, 5, 1, turn=turn) for turn in (0, 90, 180, 270)]
    goal = item("GoodGoal", 20, 35, 1)
    sides = [read(tmp_path, goal, agent=agent)["side"] for agent in agents]
    assert sides == ["straight", "left", "behind", "right"]


@pytest.mark.parametrize(
    ("wall", "hides"),
    [
        (item("Wall", 20, 20, (10, 5, 1), colour=(200, 100, 50)), 1),
        (item("Wall", 30, 20, (10, 5, 1)), 0),
        (item("Wall", 27, 20, (10, 5, 1), turn=0), 0),
        (item("Wall", 20, 20, (10, 0.2, 1)), 0),
        (item("Wall", 20, 20, (10, 5, 1), y=3), 0),
        (item("Wall", 26, 20, (1, 5, 20), turn=90), 1),
        (item("Wall", 26, 20, (1, 5, 20), turn=0), 0),
        (item("WallTransparent", 20, 20, (10, 5, 1)), 0),
        (item("Wall", 20, 38, (10, 5, 1)), 0),
    ],
    ids=["across", "beside", "short of it", "low", "above", "turned", "along", "glass", "beyond"],
)
def test_what_hides_the_reward(tmp_path, wall, hides):
    found = read(tmp_path, wall, item("GoodGoal", 20, 35, 2))
    assert found["occluderPresence"] == hides
    assert found["transparentWalls"] == int("Transparent" in wall)
    colours = found[["occluderRedness", "occluderGreenness", "occluderBlueness"]]
    assert colours.notna().all() == bool(hides)


def test_crossing_of_a_turned_wall_is_that_of_its_corners(tmp_path):
    """Against the signed areas of the wall's corners, at random places and turns."""
    rng = np.random.default_rng(1)
    found, expected = [], []
    for _ in range(60):
        x, z, turn = rng.uniform(8, 32), rng.uniform(10, 30), rng.uniform(0, 360)
        wide, deep = rng.uniform(0.5, 14, 2)
        wall = item("Wall", x, z, (wide, 5, deep), turn=turn)
        found.append(read(tmp_path, wall, item("GoodGoal", 20, 39, 1))["occluderPresence"])
        angle = math.radians(turn)
        across = np.array([math.cos(angle), -math.sin(angle)]) * wide / 2
        along = np.array([math.sin(angle), math.cos(angle)]) * deep / 2
        middle = np.array([x, z])
        corners = [middle + a * across + b * along for a in (-1, 1) for b in (-1, 1)]
        sides = [corner[0] > 20 for corner in corners]
        edges = [(corners[a], corners[b]) for a, b in ((0, 1), (1, 3), (3, 2), (2, 0))]
        heights = [
            p[1] + (20 - p[0]) / (q[0] - p[0]) * (q[1] - p[1])
            for p, q in edges
            if (p[0] > 20) != (q[0] > 20)
        ]
        between = [5 < height < 39 for height in heights]
        expected.append(float(any(sides) and not all(sides) and any(between)))
    assert found == expected
    assert 5 < sum(found) < 55


def test_counts_time_and_lights(tmp_path):
    rest = [item("DeathZone", 5, 5, 3), item("Ramp", 9, 9, 3), item("BadGoal", 30, 30, 1)]
    goals = [item("GoodGoalMulti", 20, 15, 1), item("GoodGoal", 10, 35, 3)]
    found = read(tmp_path, *goals, *rest, head="    blackouts: [-20]\n")
    names = ("goals", "badGoals", "lavaPresence", "rampPresence", "size", "timeLimit", "passMark")
    assert found[[*names]].tolist() == [2, 1, 1, 1, 3.0, 250.0, 2.0]
    assert found["lights"] == "alternating"
    assert read(tmp_path, *goals)["lights"] == "on"
    assert read(tmp_path, *goals, head="    blackouts: [20]\n")["lights"] == "off"


def test_what_is_drawn_at_random_is_missing(tmp_path):
    found = read(tmp_path, "    - !Item {name: GoodGoal}\n")
    assert found[["size", "distance", "angle", "occluderPresence", "XPos"]].isna().all()
    assert found["side"] is None
    placed = read(tmp_path, item("GoodGoal", -1, 30, 2))
    assert placed["size"] == 2
    assert math.isnan(placed["distance"])
    turned = read(tmp_path, item("GoodGoal", 20, 30, 2), agent=item("Agent", 20, 5, 1, turn=-1))
    assert turned["distance"] == 25
    assert math.isnan(turned["angle"])


def test_several_arenas_and_folders(tmp_path):
    goal = item("GoodGoal", 20, 35, 2)
    both = written(tmp_path, arena(goal), arena(goal, key=1), name="both.yml")
    (tmp_path / "more").mkdir()
    alone = written(tmp_path / "more", arena(goal), name="alone.yaml")
    assert list(read_arenas(both).index) == ["both:0", "both:1"]
    assert list(read_arenas(tmp_path).index) == ["both:0", "both:1", "alone"]
    with pytest.raises(ml.DataError, match="two arenas have the name 'alone'"):
        read_arenas([alone, tmp_path])


@pytest.mark.slow
def test_they_are_items_of_the_recommended_layout(tmp_path):
    """From files to outcomes to a forecast, with the columns as the layout names them."""
    from measurement_layouts.scenarios import animal_ai_olympics as aaio

    places = ((20, 12, 2), (8, 20, 1), (32, 20, 3), (20, 1, 2), (25, 36, 1))
    for number, (x, z, size) in enumerate(places):
        written(tmp_path, arena(item("GoodGoal", x, z, size)), name=f"t{number}.yml")
    items = read_arenas(tmp_path)
    layout = aaio.recommended_layout()
    columns = [column for feature in layout.meta_features for column in feature.columns]
    assert set(columns) <= set(items.columns)
    outcomes = pd.DataFrame([[1, 1, 1, 0, 0]], ["Ann"], items.index)
    short = {"draws": 50, "tune": 50, "chains": 2, "seed": 1, "reruns": 0, "progressbar": False}
    fit = ml.fit(layout, ml.Evaluation.from_wide(outcomes, items), **short)
    assert fit.subjects == ["Ann"]


@pytest.mark.trust("security", "an arena file makes no object")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("!!python/object/apply:os.system ['touch {place}']", "the tag 'tag:yaml.org,2002:python"),
        ("!Evil {{a: 1}}", "has the tag '!Evil'; arenas have !Arena"),
        ("a: &a [1]\nb: *a", "has an anchor"),
        ("[1, 2", "is not YAML"),
        ("", "has no 'arenas:'"),
        ("!ArenaConfig\narenas: 3", "has no 'arenas:'"),
        ("arenas: {{0: {{items: [{{positions: []}}]}}}}", "an item without a name"),
        ("arenas: {{0: {{items: [{{name: Wall, sizes: 3}}]}}}}", "Wall has a property that is no"),
        ("arenas: {{0: {{items: [{{name: Wall, sizes: [3]}}]}}}}", "'3' where x, y, z are needed"),
        ("arenas: {{0: {{items: [], t: soon}}}}", "'soon' where a number is needed"),
    ],
)
def test_files_of_another_kind_are_refused(text, told, tmp_path):
    place, path = tmp_path / "made", tmp_path / "bad.yml"
    path.write_text(text.format(place=place))
    with pytest.raises(ml.DataError, match=r"bad\.yml") as error:
        read_arenas(path)
    assert told in str(error.value)
    assert not place.exists()


def test_no_file_a_huge_one_and_no_reader(tmp_path, monkeypatch):
    with pytest.raises(ml.DataError, match="there is no arena in"):
        read_arenas(tmp_path / "nowhere")
    large = tmp_path / "large.yml"
    large.write_text("# " + "x" * 4_000_001)
    with pytest.raises(ml.DataError, match="more than 4,000,000 bytes"):
        read_arenas(large)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(ml.DataError, match=r"PyYAML.*measurement-layouts\[arenas\]"):
        read_arenas(written(tmp_path, arena(item("GoodGoal", 20, 35, 2))))
