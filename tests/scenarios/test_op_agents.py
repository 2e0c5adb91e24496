"""The thirty agents: each rule against the words of Tables 6 and 7, and their success rates."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.battery import COLOURS

PUBLISHED_RATES = "object_permanence_figure13_means.csv"
CONTRADICTED = "Agent7"
NEAR = 0.03  # three standard errors of a rate from 2,188 outcomes
PLAIN = {  # nothing in the way, nothing hidden
    "paradigm": "basic",
    "occluderPresence": 0,
    "rewardVisible": 1,
    "rampPresence": 0,
    "lavaPresence": 0,
    "platformPresence": 0,
    "transparentWalls": 0,
    "goalDistance": 10.0,
    "goalSize": 4.0,
    "rightLeftPosition": 0,
    "similarPositions": 0,
    "rewardDeflected": 0,
    "timeUnderOcc": np.nan,
    "numberOfPositions": np.nan,
    "occluderRedness": np.nan,
    "occluderGreenness": np.nan,
    "occluderBlueness": np.nan,
}
HIDDEN = {
    "occluderPresence": 1,
    "rewardVisible": 0,
    "timeUnderOcc": 1.0,
    "numberOfPositions": 2.0,
    "occluderRedness": 100.0,
    "occluderGreenness": 100.0,
    "occluderBlueness": 100.0,
}
GRID = {**HIDDEN, "paradigm": "grid", "numberOfPositions": 7.0}
LAVA, RAMP, PLATFORM = ({f"{what}Presence": 1} for what in ("lava", "ramp", "platform"))


def chance(number, **columns):
    arena = pd.DataFrame([PLAIN | columns])
    return float(op.AGENTS[f"Agent{number}"].rule(arena)[0])


# what the tables say: agent, arena, chance of passing
WORDS = [
    *((number, {}, sure) for number, sure in ((1, 1), (2, 0.5), (3, 0.1), (5, 0.9))),
    *((number, GRID | LAVA, sure) for number, sure in ((1, 1), (2, 0.5), (3, 0.1), (5, 0.9))),
    (6, {}, 0.95),
    (6, LAVA, 0.1),
    (6, HIDDEN | RAMP | PLATFORM, 0.95),
    (7, {}, 0.95),
    (7, LAVA, 0.1),
    (7, HIDDEN | {"occluderRedness": 200.0}, 0.95),
    (7, HIDDEN | {"occluderRedness": 201.0}, 0.1),
    (7, HIDDEN | LAVA | {"occluderRedness": 201.0}, 0.1),
    (7, HIDDEN | {"occluderGreenness": 255.0}, 0.95),
    (8, {}, 0.95),
    (8, LAVA, 0.95),
    (8, HIDDEN | {"occluderGreenness": 200.0}, 0.95),
    (8, HIDDEN | {"occluderGreenness": 201.0}, 0.1),
    (8, HIDDEN | {"occluderRedness": 255.0}, 0.95),
    (9, {}, 0.95),
    (9, RAMP, 0.1),
    (9, LAVA | PLATFORM, 0.95),
    (10, {}, 0.8),
    (10, LAVA, 0.5),
    (10, HIDDEN | {"paradigm": "cup"}, 0.8),
    (10, {"paradigm": "grid", "goalDistance": 9.0}, 0.8),  # for the OP tasks only
    (10, GRID | {"goalDistance": 9.0}, 0.6),
    (10, GRID | {"goalDistance": 20.0}, 0.7),
    (10, GRID | {"goalDistance": 35.0}, 0.8),
    *(
        (11, {"goalSize": size}, sure)
        for size, sure in (
            *((0.4, 0.1), (0.5, 0.1), (1.0, 0.3), (1.5, 0.5), (2.0, 0.7)),
            *((2.5, 0.8), (3.0, 0.9), (3.5, 0.9), (5.0, 0.9)),
        )
    ),
    *((12, {"rightLeftPosition": side}, sure) for side, sure in ((1, 0.95), (-1, 0.3), (0, 0.6))),
    *((13, {"rightLeftPosition": side}, sure) for side, sure in ((1, 0.3), (-1, 0.95), (0, 0.6))),
    (14, HIDDEN, 0.95),
    (15, HIDDEN, 1),
    (15, HIDDEN | LAVA | {"paradigm": "chick"}, 1),
    (15, HIDDEN | LAVA | {"paradigm": "chick", "rewardDeflected": 1}, 0),
    (16, HIDDEN, 0.95),
    (16, HIDDEN | {"paradigm": "chick", "rewardDeflected": 1}, 0.25),
    (17, {}, 0.95),
    (18, {}, 0.95),
    *(
        (18, HIDDEN | {"numberOfPositions": places}, sure)
        for places, sure in (
            *((1.0, 0.95), (2.0, 0.95), (3.0, 0.75), (4.0, 0.75)),
            *((7.0, 0.6), (10.0, 0.6), (11.0, 0.3)),
        )
    ),
]


@pytest.mark.parametrize(("number", "arena", "expected"), WORDS)
def test_rules_in_the_words_of_the_tables(number, arena, expected):
    assert chance(number, **arena) == pytest.approx(expected, abs=1e-12)


PASSED = {  # besides the basic ("navigation") tasks
    19: ("chick",),
    21: ("grid",),
    23: ("cup",),
    25: ("chick", "grid"),
    27: ("cup", "grid"),
    29: ("chick", "cup"),
}


@pytest.mark.parametrize("number", PASSED)
@pytest.mark.parametrize("paradigm", ["basic", "chick", "cup", "grid"])
@pytest.mark.parametrize("arena", [{}, HIDDEN | LAVA | RAMP | PLATFORM])
def test_paradigms_of_the_context_specific_agents(number, paradigm, arena):
    passes = paradigm in ("basic", *PASSED[number])
    arena = arena | {"paradigm": paradigm}
    assert chance(number, **arena) == (1 if passes else 0)
    assert chance(number + 1, **arena) == (0.75 if passes else 0.1)


def test_a_random_walker_passes_safe_arenas_rather():
    """Agent 4: the table gives no numbers."""
    for danger in (LAVA, PLATFORM, {"goalDistance": 30.0}, {"goalSize": 1.0}, HIDDEN):
        assert chance(4, **danger) < chance(4)
    assert chance(4, **LAVA, **PLATFORM) < chance(4, **LAVA)
    assert op.AGENTS["Agent4"].rule(op.battery()).mean() < 0.05


def test_similar_places_and_long_times_are_harder():
    """Agents 14 and 17: the table gives no numbers."""
    assert chance(14, **HIDDEN, similarPositions=1) < 0.5 < chance(14, **HIDDEN)
    times = [chance(17, **HIDDEN | {"timeUnderOcc": time}) for time in np.linspace(0, 4, 41)]
    assert times[0] > 0.5 > times[-1]
    assert (np.diff(times) <= 0).all()


def test_names_and_classes_are_those_of_the_tables(published_tables):
    table = pd.read_csv(published_tables / "object_permanence_tables6_7_agents.csv", index_col=0)
    assert [agent.name for agent in op.AGENTS.values()] == [
        name.replace(" ", "") for name in table.index
    ]
    assert [agent.kind for agent in op.AGENTS.values()] == list(table["agent_class"])
    assert all(name == agent.name and agent.about for name, agent in op.AGENTS.items())


@pytest.fixture(scope="module")
def rates():
    """Expected success of each agent, mean over batteries."""
    batteries = [op.battery(seed) for seed in range(1, 5)]
    found = {
        name: np.mean([agent.rule(items).mean() for items in batteries])
        for name, agent in op.AGENTS.items()
    }
    return pd.Series(found)


def test_success_rates_are_those_of_figure_13(rates, published_tables):
    published = pd.read_csv(published_tables / PUBLISHED_RATES, index_col=0)["Success"]
    apart = rates - published.loc[rates.index]
    assert list(apart.index[apart.abs() > NEAR]) == [CONTRADICTED]


def any_arenas(rng, count=500):
    """Arenas anywhere in the declared ranges, whatever the paradigm."""
    flags = ("rampPresence", "lavaPresence", "platformPresence", "transparentWalls")
    table = pd.DataFrame({name: rng.integers(0, 2, count) for name in flags}).assign(
        paradigm=rng.choice(["cup", "grid", "chick", "basic"], count),
        occluderPresence=rng.integers(0, 2, count),
        goalDistance=rng.uniform(0, 56, count),
        goalSize=rng.uniform(0.4, 5, count),
        rightLeftPosition=rng.integers(-1, 2, count),
        similarPositions=rng.integers(0, 2, count),
        rewardDeflected=rng.integers(0, 2, count),
        timeUnderOcc=rng.uniform(0, 4, count),
        numberOfPositions=rng.integers(1, 12, count),
        **{f"occluder{colour}": rng.integers(0, 256, count) for colour in COLOURS},
    )
    table["rewardVisible"] = 1 - table["occluderPresence"]
    undefined = ["timeUnderOcc", "numberOfPositions", *(f"occluder{colour}" for colour in COLOURS)]
    return table.astype(dict.fromkeys(undefined, float)).where(
        (table["occluderPresence"] == 1).to_numpy()[:, None] | ~table.columns.isin(undefined)
    )


@pytest.fixture(scope="module")
def anywhere():
    return any_arenas(np.random.default_rng(5))


def depends_on(name, items):
    """Properties that change the agent's chance on some arena when shuffled among the arenas."""
    rule, rng = op.AGENTS[name].rule, np.random.default_rng(6)
    expected = rule(items)
    return {
        column
        for column in items.columns
        if not np.array_equal(
            rule(items.assign(**{column: rng.permutation(items[column])})), expected
        )
    }


# Agent 10's rule asks for the tests in holes, and only these have three or more other places:
# what it depends on, the published layout knows.
EXCEPTIONS = {"Agent10": {"paradigm"}}


@pytest.mark.parametrize("name", op.AGENTS)
def test_an_agent_depends_on_the_candidate_that_is_named_and_on_no_other(name, anywhere):
    missing = op.AGENTS[name].missing
    expected = EXCEPTIONS.get(name, set()) if missing is None else {missing}
    assert depends_on(name, anywhere) & set(op.CANDIDATES) == expected
