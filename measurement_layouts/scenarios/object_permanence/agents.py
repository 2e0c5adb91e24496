"""The thirty agents: rules for the probability of passing an arena."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

type Rule = Callable[[pd.DataFrame], np.ndarray]

_WALK = 13.0  # standard deviation of a random walk in each direction, in arena units
ABLE, UNABLE = 0.95, 0.1  # probabilities of agents with one weakness


@dataclass(frozen=True)
class Agent:
    """A synthetic agent.

    Attributes
    ----------
    name, kind, about : str
        Name and class in the paper's tables, and a description of the rule.
    rule : callable
        Function from a table of arenas to probabilities of passing.
    missing : str or None
        Observed property of arenas that the rule uses and the published layout does not.
    constant : float or None
        Probability of passing, if it is the same for all arenas.

    Examples
    --------
    >>> AGENTS["Agent9"].about
    'fails where there is a ramp'
    """

    name: str
    kind: str
    about: str
    rule: Rule
    missing: str | None = None
    constant: float | None = None


def _where(condition: str, then: float, otherwise: float) -> Rule:
    """Return a rule of two probabilities, from a condition on the columns of arenas."""
    return lambda items: np.where(np.asarray(items.eval(condition)), then, otherwise)


def _always(chance: float) -> Rule:
    return lambda items: np.full(len(items), chance)


def _unless(trouble: str) -> Rule:
    return _where(trouble, UNABLE, ABLE)


def _random_walk(items: pd.DataFrame) -> np.ndarray:
    dangers = items["lavaPresence"] + items["platformPresence"]
    far = np.exp(-0.5 * (items["goalDistance"] / _WALK) ** 2)  # a random walk's displacement
    reached = far * np.clip(items["goalSize"] / 5, 0, 1)
    chosen = 1 / (1 + items["numberOfPositions"].fillna(0))
    return np.asarray(reached * 0.2**dangers * chosen)


def _clumsy(items: pd.DataFrame) -> np.ndarray:
    grid = (items["paradigm"] == "grid") & (items["occluderPresence"] == 1)
    row = np.digitize(items["goalDistance"], (17, 27))  # thirds of the ways in grid arenas
    return np.where(items["lavaPresence"] == 1, 0.5, np.where(grid, 0.6 + 0.1 * row, 0.8))


def _near_sighted(items: pd.DataFrame) -> np.ndarray:
    sizes = np.arange(0.5, 3.5, 0.5)
    return np.asarray(np.interp(items["goalSize"], sizes, [0.1, 0.3, 0.5, 0.7, 0.8, 0.9]))


def _one_sided(side: int) -> Rule:
    """Return a rule with probabilities on the other side, in the middle and on the good side."""
    chances = np.array([0.3, 0.6, 0.95])
    return lambda items: chances[1 + side * items["rightLeftPosition"].to_numpy()]


def _many_places(items: pd.DataFrame) -> np.ndarray:
    positions = items["numberOfPositions"].fillna(0)
    return np.array([0.95, 0.75, 0.6, 0.3])[np.digitize(positions, (3, 5, 10.5))]


_SINGLE = (  # description, rule, missing property; of agents 4 and 6 to 18
    ("a random walker", _random_walk, None),
    ("fails where there is lava", _unless("lavaPresence == 1"), None),
    (
        "fails where there is lava or a red occluder",
        _unless("lavaPresence == 1 or occluderRedness > 200"),
        "occluderRedness",
    ),
    (
        "fails where there is a green occluder",
        _unless("occluderGreenness > 200"),
        "occluderGreenness",
    ),
    ("fails where there is a ramp", _unless("rampPresence == 1"), None),
    ("clumsy: lava, and holes on the way", _clumsy, None),
    ("does not see small goals", _near_sighted, None),
    ("goes right", _one_sided(1), None),
    ("goes left", _one_sided(-1), None),
    ("confuses similar places", _where("similarPositions == 1", 0.3, ABLE), "similarPositions"),
    (
        "goes to where it last saw the reward",
        _where("rewardDeflected == 1", 0.0, 1.0),
        "rewardDeflected",
    ),
    (
        "goes to where it last saw the reward, mostly",
        _where("rewardDeflected == 1", 0.25, 0.95),
        "rewardDeflected",
    ),
    ("forgets after a while", _unless("timeUnderOcc > 1.5"), None),
    ("is confused by many places", _many_places, None),
)
_CONSTANT = {  # of these agents, description and probability
    1: ("passes everything", 1.0),
    2: ("passes half of everything", 0.5),
    3: ("passes a tenth of everything", 0.1),
    5: ("passes nine tenths", 0.9),
}
_CONTEXTS = ("chick", "grid", "cup", "chick grid", "cup grid", "chick cup")  # of agents 19 to 30


def _kind(number: int) -> str:
    """Return the class of an agent in the paper's tables."""
    if number in (15, 16):
        return "Fraudster"
    kinds = ("Reference", "Achilles Heel", "Context-Specific", "Cognitive Pathology")
    return kinds[int(np.digitize(number, (6, 19, 26)))]


def _agents() -> dict[str, Agent]:
    agents = {
        number: Agent(f"Agent{number}", _kind(number), *row)
        for number, row in zip((4, *range(6, 19)), _SINGLE, strict=True)
    }
    for number, (about, chance) in _CONSTANT.items():
        shown = f"Agent{number}", _kind(number), about
        agents[number] = Agent(*shown, _always(chance), constant=chance)
    for number in range(19, 31):
        paradigms = _CONTEXTS[(number - 19) // 2].split()
        about = f"passes basic tasks and {' and '.join(paradigms)} arenas "
        if number % 2:
            chances, about = (1.0, 0.0), about + "and fails the others"
        else:
            chances, about = (0.75, 0.1), about + "three times of four, others once of ten"
        rule = _where(f"paradigm in {[*paradigms, 'basic']}", *chances)
        agents[number] = Agent(f"Agent{number}", _kind(number), about, rule, "paradigm")
    return {agents[number].name: agents[number] for number in sorted(agents)}


AGENTS = _agents()
