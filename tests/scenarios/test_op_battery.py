"""The battery of object permanence: its counts, its rules, and what the paper says of both."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.inference.model.features import (
    check_training,
    outside_range,
    read_features,
)
from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.battery import COLOURS, PARADIGMS

SEEDS = range(1, 9)
COUNT = 2188
HIDDEN = 359 + 191 + 36
ROLES = {  # appendix D.2
    "cup test": 359,
    "cup control": 239,
    "grid test": 191,
    "grid control": 239,
    "chick test": 36,
    "chick control": 1195,
    "basic": 521,
}
HIDING_COLUMNS = ["paradigm[cup]", "paradigm[grid]", "paradigm[chick]"]
COLOUR_COLUMNS = [f"occluder{colour}" for colour in COLOURS]
UNDEFINED = ["timeUnderOcc", "numberOfPositions", *COLOUR_COLUMNS]
TABLE_4 = [
    *("rewardVisible", "timeUnderOcc", "numberOfPositions", "goalDistance", "rightLeftPosition"),
    *("goalSize", "occluderPresence", "lavaPresence", "platformPresence", "rampPresence"),
    *("transparentWalls", *COLOUR_COLUMNS),
]


@pytest.fixture(scope="module", params=(1, 2, 3))
def items(request):
    return op.battery(request.param)


@pytest.fixture(scope="module")
def many():
    return [op.battery(seed) for seed in SEEDS]


def kind(items, paradigm, hidden):
    return items[(items["paradigm"] == paradigm) & (items["occluderPresence"] == hidden)]


def test_the_paper_counts_each_role(items):
    assert op.roles(items).sum().to_dict() == ROLES
    assert len(items) == COUNT
    assert items.index.is_unique


def test_the_shared_controls_are_those_the_text_names(items):
    """All have a role; chick controls besides their own are basic, or grid and straight ahead."""
    roles = op.roles(items)
    shared = roles.sum(axis=1) > 1
    assert roles.any(axis=1).all()
    assert sum(ROLES.values()) - COUNT == shared.sum() == 592
    assert roles["chick control"][shared].all()
    basic = items["paradigm"] == "basic"
    assert (shared & basic).sum() == basic.sum() == 521
    rest = items[shared & ~basic]
    assert len(rest) == 71
    assert (rest["paradigm"] == "grid").all()
    assert (rest["rightLeftPosition"] == 0).all()
    assert (rest["occluderPresence"] == 0).all()


def test_published_success_tells_the_size_of_each_paradigm(items, published_tables):
    """Agents 19, 21 and 23 pass basic tasks and one paradigm, and nothing else."""
    means = pd.read_csv(published_tables / "object_permanence_figure13_means.csv", index_col=0)
    found = items["paradigm"].value_counts()
    for agent, paradigm in (("Agent19", "chick"), ("Agent21", "grid"), ("Agent23", "cup")):
        implied = means.loc[agent, "Success"] * COUNT - found["basic"]
        assert found[paradigm] == pytest.approx(implied, abs=12), paradigm  # half a digit is 11


def test_every_dimension_of_table_4_is_there(items):
    assert [name for name in TABLE_4 if name not in items.columns] == []
    assert [name for name in op.CANDIDATES if name not in items.columns] == []
    for name in HIDING_COLUMNS:
        assert (items[name] == (items["paradigm"] == name[9:-1])).all()
    assert set(items["paradigm"]) == set(PARADIGMS)


@pytest.mark.parametrize(
    ("paradigm", "hidden", "ramp", "lava", "platform", "transparent"),
    [
        ("cup", 1, "always", "sometimes", "never", "never"),
        ("cup", 0, "always", "sometimes", "never", "sometimes"),
        ("grid", 1, "always", "never", "always", "never"),
        ("grid", 0, "never", "never", "always", "never"),
        ("chick", 1, "never", "always", "always", "never"),
        ("chick", 0, "never", "sometimes", "sometimes", "sometimes"),
        ("basic", 0, "sometimes", "sometimes", "sometimes", "sometimes"),
    ],
)
def test_obstacles_of_each_paradigm(items, paradigm, hidden, ramp, lava, platform, transparent):
    chosen = kind(items, paradigm, hidden)
    for column, how in (
        ("rampPresence", ramp),
        ("lavaPresence", lava),
        ("platformPresence", platform),
        ("transparentWalls", transparent),
    ):
        assert set(chosen[column]) == {"always": {1}, "never": {0}, "sometimes": {0, 1}}[how]


def test_cups_are_the_only_tests_without_platforms(items):
    """Section 5.3, of Agent 23; and, of Agent 14, that grid and cup tasks both contain ramps."""
    tests = items[items["occluderPresence"] == 1]
    assert set(tests.loc[tests["platformPresence"] == 0, "paradigm"]) == {"cup"}
    assert set(tests.loc[tests["rampPresence"] == 1, "paradigm"]) == {"cup", "grid"}


@pytest.mark.parametrize(
    ("paradigm", "places"), [("cup", {2}), ("grid", {3, 7, 11}), ("chick", {1})]
)
def test_other_places(items, paradigm, places):
    """Three cups, 4, 8 or 12 holes, and two sides: one place less."""
    assert set(kind(items, paradigm, 1)["numberOfPositions"]) == places


def test_missing_where_and_only_where_nothing_is_hidden(items):
    hidden = items["occluderPresence"] == 1
    assert hidden.sum() == HIDDEN
    assert (items["rewardVisible"] == 1 - items["occluderPresence"]).all()
    for name in UNDEFINED:
        assert (items[name].notna() == hidden).all(), name
    assert items.drop(columns=UNDEFINED).notna().all(axis=None)


def test_ranges_of_table_4(items):
    assert items["timeUnderOcc"].dropna().between(0, 4).all()
    assert items["goalDistance"].between(0, 56).all()
    assert set(items["rightLeftPosition"]) == {-1, 0, 1}
    assert set(items["goalSize"]) == set(np.arange(0.5, 5.5, 0.5))
    for name in COLOUR_COLUMNS:
        colour = items[name].dropna()
        assert colour.between(0, 255).all()
        assert (colour == colour.round()).all()
        assert (colour > 200).any()
        assert (colour <= 200).any()


def test_rewards_are_deflected_in_some_chick_tests_only(items):
    deflected = items[items["rewardDeflected"] == 1]
    assert set(deflected["paradigm"]) == {"chick"}
    assert set(deflected["occluderPresence"]) == {1}
    assert len(deflected) == 24  # of 36


def test_places_look_alike_in_cup_and_grid_arenas_only(items):
    found = items.groupby("paradigm")["similarPositions"].agg(set).to_dict()
    assert found == {"cup": {0, 1}, "grid": {0, 1}, "chick": {0}, "basic": {0}}


def as_claimed(shares, claim, sd):
    """Whether the mean of several batteries' shares is the claim, printed with two digits."""
    return abs(np.mean(shares) - claim) <= 0.005 + 3 * sd / np.sqrt(len(shares))


def binomial(*kinds):
    """Standard deviation of a share of all arenas, from counts and chances."""
    return np.sqrt(sum(count * chance * (1 - chance) for count, chance in kinds)) / COUNT


SHARES = {
    "lava": (0.49, binomial((598, 0.4), (603, 0.75), (521, 0.65))),
    "ramp": (0.40, binomial((521, 0.165))),
    "green": (0.08, binomial((HIDDEN, 0.31))),
}


@pytest.mark.parametrize("what", SHARES)
def test_shares_that_the_success_rates_imply(many, what):
    claim, sd = SHARES[what]
    if what == "green":
        shares = [(items["occluderGreenness"] > 200).mean() for items in many]
    else:
        shares = [(items[f"{what}Presence"] == 1).mean() for items in many]
    assert as_claimed(shares, claim, sd)
    assert not as_claimed(shares, claim + 0.03, sd)  # the twin: another share is told apart
    assert not as_claimed(shares, claim - 0.03, sd)


def test_small_goals_are_the_more_frequent_ones(many):
    """Agent 11 passes 0.59 in Figure 13, which sizes drawn evenly would not give."""
    sizes = pd.concat(items["goalSize"] for items in many)
    small = (sizes <= 2.5).mean()
    assert small == pytest.approx(0.75, abs=3 * np.sqrt(0.75 * 0.25 / len(sizes)))
    passed = sizes.map({0.5: 0.1, 1: 0.3, 1.5: 0.5, 2: 0.7, 2.5: 0.8}).fillna(0.9)
    evenly = np.mean([0.1, 0.3, 0.5, 0.7, 0.8, *[0.9] * 5])
    assert passed.mean() == pytest.approx(0.59, abs=0.015)
    assert evenly != pytest.approx(0.59, abs=0.015)


def test_a_seed_makes_the_same_battery_and_another_makes_another():
    pd.testing.assert_frame_equal(op.battery(4), op.battery(4))
    one, other = op.battery(4), op.battery(5)
    assert list(one.index) == list(other.index)
    fixed = {"paradigm", "occluderPresence", "rewardVisible", "rewardDeflected", *HIDING_COLUMNS}
    same = {name for name in one.columns if one[name].equals(other[name])}
    assert same == fixed


@pytest.mark.parametrize("name", ["published layout", "recommended layout"])
def test_layouts_read_every_battery(many, name):
    layout = op.SCENARIO.layouts[name]()
    for items in many[:3]:
        features = read_features(layout, items)
        assert all(np.isfinite(values).all() for values in features.values())
        assert not outside_range(layout, features).any(axis=None)
        check_training(layout, items, features)


def test_cohorts_are_drawn_from_the_rules(monkeypatch):
    """The same for a seed; success rates lie where the rules put them."""
    truth = pd.DataFrame(index=list(op.AGENTS))
    monkeypatch.setattr(op, "true_profiles", lambda: truth)  # they take a while
    one, again, other = (op.simulated_cohort(seed) for seed in (4, 4, 5))
    pd.testing.assert_frame_equal(one.evaluation.successes, again.evaluation.successes)
    assert not one.evaluation.successes.equals(other.evaluation.successes)
    pd.testing.assert_frame_equal(one.evaluation.items, op.battery(4), check_names=False)
    assert one.evaluation.subjects == list(op.AGENTS) == list(one.profiles.index)
    rates = one.evaluation.success_rates()
    for name, agent in op.AGENTS.items():
        chances = agent.rule(op.battery(4))
        error = np.sqrt((chances * (1 - chances)).sum()) / COUNT
        assert abs(rates[name] - chances.mean()) <= 3.5 * error + 1e-12, name  # 30 looks
