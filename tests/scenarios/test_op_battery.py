"""The battery of object permanence: its counts, its rules, and what the paper says of both."""

import numpy as np
import pytest

from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.battery import COLOURS

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
COLOUR_COLUMNS = [f"occluder{colour}" for colour in COLOURS]
UNDEFINED = ["timeUnderOcc", "numberOfPositions", *COLOUR_COLUMNS]


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


def test_missing_where_and_only_where_nothing_is_hidden(items):
    hidden = items["occluderPresence"] == 1
    assert hidden.sum() == HIDDEN
    assert (items["rewardVisible"] == 1 - items["occluderPresence"]).all()
    for name in UNDEFINED:
        assert (items[name].notna() == hidden).all(), name
    assert items.drop(columns=UNDEFINED).notna().all(axis=None)


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


def test_cohorts_are_drawn_from_the_rules():
    """Success rates lie where the rules put them."""
    rates = op.simulated_cohort(4).evaluation.success_rates()
    for name, agent in op.AGENTS.items():
        chances = agent.rule(op.battery(4))
        error = np.sqrt((chances * (1 - chances)).sum()) / COUNT
        assert abs(rates[name] - chances.mean()) <= 3.5 * error + 1e-12, name  # 30 looks
