"""The thirty agents' known profiles: worked out by hand, and never better for a worse rule."""

import numpy as np
import pytest

from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence import truth

STEP = 1 / 2400  # of a range: how finely the demand is looked for
FULL = {"OPAbility": 52.8, "flatNavAbility": 56.0, "visualAbility": 6.0, "memoryAbility": 4.8}
OBSTACLES = ("lavaAbility", "platformAbility", "rampAbility")


@pytest.fixture(scope="module")
def profiles():
    return op.true_profiles()


def able(chance, **changes):
    """Everything as good as can be, but for the chance of passing where nothing is hard."""
    return FULL | dict.fromkeys(OBSTACLES, chance) | changes


def constant(chance):
    return {name: chance * high for name, high in truth.RANGES.items()}


# A random walker walks sqrt(2 log 2) standard deviations of 13 with a chance of a half, passes half
# of the goals of size 2.5, and finds a reward with one other place in half of the arenas.
WALKER = able(0.2, rampAbility=1.0, OPAbility=4.0, visualAbility=2.5)
WALKER["flatNavAbility"] = 13 * np.sqrt(2 * np.log(2))

BY_HAND = {
    "Agent1": constant(1.0),
    "Agent2": constant(0.5),
    "Agent3": constant(0.1),
    "Agent4": WALKER,
    "Agent5": constant(0.9),
    "Agent6": able(0.95, lavaAbility=0.1),
    "Agent7": able(0.95, lavaAbility=0.1),
    "Agent8": able(0.95),
    "Agent9": able(0.95, rampAbility=0.1),
    "Agent10": able(0.8, lavaAbility=0.5),
    "Agent11": able(0.9, visualAbility=5 - 1.5),  # a chance of a half at size 1.5
    "Agent12": able(0.95),  # on its good side
    "Agent13": able(0.95),
    "Agent14": able(0.95),
    "Agent15": able(1.0, OPAbility=0.0),
    "Agent16": able(0.95, OPAbility=0.0),
    "Agent17": able(0.95, memoryAbility=1.5),
    "Agent18": able(0.95, OPAbility=4 * (7 + 4 / 3)),  # 0.6 at 7 places, 0.3 at 11
    "Agent19": able(1.0, OPAbility=4 * 1.5),  # halfway from the chick's one place to two
    "Agent20": able(0.75, OPAbility=4 * (1 + 0.25 / 0.65)),  # 0.75 at one place, 0.1 at two
    "Agent21": able(1.0),
    "Agent22": able(0.75),
    "Agent23": able(1.0, OPAbility=4 * 2.5),  # halfway from the cups' two places to three
    "Agent24": able(0.75, OPAbility=4 * (2 + 0.25 / 0.65)),
    "Agent25": able(1.0),
    "Agent26": able(0.75),
    "Agent27": able(1.0),
    "Agent28": able(0.75),
    "Agent29": able(1.0, OPAbility=4 * 2.5),
    "Agent30": able(0.75, OPAbility=4 * (2 + 0.25 / 0.65)),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_profiles_worked_out_by_hand(profiles, name):
    for capability, expected in BY_HAND[name].items():
        tolerance = 1e-12 if capability in OBSTACLES else STEP * truth.RANGES[capability] + 1e-9
        assert profiles.loc[name, capability] == pytest.approx(expected, abs=tolerance), capability


def test_ranges_are_those_of_the_published_layout():
    nodes = op.published_layout().nodes
    for name, high in truth.RANGES.items():
        assert (nodes[name].range.low, nodes[name].range.high) == (0, high)
