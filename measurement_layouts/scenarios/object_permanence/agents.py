"""The thirty agents: rules for the probability of passing an arena."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

type Rule = partial[np.ndarray]
type Paradigms = tuple[str, ...]
type Chances = tuple[float, float]

_VIVID = 200  # threshold of a vivid colour for agents 7 and 8
_LONG = 1.5  # longest time for which agent 17 remembers, in seconds
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

    @property
    def constant(self) -> float | None:
        """Probability of passing if it is the same for all arenas, or None."""
        return self.rule.keywords["chance"] if self.rule.func is _always else None


def _always(items: pd.DataFrame, chance: float) -> np.ndarray:
    return np.full(len(items), chance)


def _random_walker(items: pd.DataFrame) -> np.ndarray:
    dangers = items["lavaPresence"] + items["platformPresence"]
    far = np.exp(-0.5 * (items["goalDistance"] / _WALK) ** 2)  # a random walk's displacement
    reached = far * np.clip(items["goalSize"] / 5, 0, 1)
    chosen = 1 / (1 + items["numberOfPositions"].fillna(0))
    return np.asarray(reached * 0.2**dangers * chosen)


def _unless(items: pd.DataFrame, trouble: Callable[[pd.DataFrame], pd.Series]) -> np.ndarray:
    return np.where(trouble(items), UNABLE, ABLE)


def _lava(items: pd.DataFrame) -> pd.Series:
    return items["lavaPresence"] == 1


def _lava_or_red(items: pd.DataFrame) -> pd.Series:
    return _lava(items) | (items["occluderRedness"] > _VIVID)


def _green(items: pd.DataFrame) -> pd.Series:
    return items["occluderGreenness"] > _VIVID


def _ramp(items: pd.DataFrame) -> pd.Series:
    return items["rampPresence"] == 1


def _long(items: pd.DataFrame) -> pd.Series:
    return items["timeUnderOcc"] > _LONG


def _clumsy(items: pd.DataFrame) -> np.ndarray:
    grid = (items["paradigm"] == "grid") & (items["occluderPresence"] == 1)
    row = np.digitize(items["goalDistance"], (17, 27))  # thirds of the ways in grid arenas
    return np.where(_lava(items), 0.5, np.where(grid, 0.6 + 0.1 * row, 0.8))


def _near_sighted(items: pd.DataFrame) -> np.ndarray:
    sizes = np.arange(0.5, 3.5, 0.5)
    return np.asarray(np.interp(items["goalSize"], sizes, [0.1, 0.3, 0.5, 0.7, 0.8, 0.9]))


def _one_sided(items: pd.DataFrame, side: int) -> np.ndarray:
    position = side * items["rightLeftPosition"]
    return np.select([position > 0, position < 0], [0.95, 0.3], 0.6)


def _confused(items: pd.DataFrame) -> np.ndarray:
    return np.where(items["similarPositions"] == 1, 0.3, ABLE)


def _last_seen(items: pd.DataFrame, chances: Chances) -> np.ndarray:
    return np.where(items["rewardDeflected"] == 1, *chances[::-1])


def _many_places(items: pd.DataFrame) -> np.ndarray:
    positions = items["numberOfPositions"].fillna(0)
    return np.array([0.95, 0.75, 0.6, 0.3])[np.digitize(positions, (3, 5, 10.5))]


def _only(
    items: pd.DataFrame, paradigms: tuple[str, ...], chances: tuple[float, float]
) -> np.ndarray:
    return np.where(items["paradigm"].isin((*paradigms, "basic")), *chances)


_SURE, _OFTEN = (1.0, 0.0), (0.75, 0.1)


def _context(number: int, paradigms: Paradigms, chances: Chances) -> Agent:
    kind = "Context-Specific" if number < 26 else "Cognitive Pathology"
    about = f"passes basic tasks and {' and '.join(paradigms)} arenas " + (
        "and fails the others" if chances == _SURE else "three times of four, others once of ten"
    )
    rule = partial(_only, paradigms=paradigms, chances=chances)
    return Agent(f"Agent{number}", kind, about, rule, missing="paradigm")


def _agents() -> list[Agent]:
    reference, heel, fraud = "Reference", "Achilles Heel", "Fraudster"
    agents = [
        Agent("Agent1", reference, "passes everything", partial(_always, chance=1.0)),
        Agent("Agent2", reference, "passes half of everything", partial(_always, chance=0.5)),
        Agent("Agent3", reference, "passes a tenth of everything", partial(_always, chance=0.1)),
        Agent("Agent4", reference, "a random walker", partial(_random_walker)),
        Agent("Agent5", reference, "passes nine tenths", partial(_always, chance=0.9)),
        Agent("Agent6", heel, "fails where there is lava", partial(_unless, trouble=_lava)),
        Agent(
            "Agent7",
            heel,
            "fails where there is lava or a red occluder",
            partial(_unless, trouble=_lava_or_red),
            "occluderRedness",
        ),
        Agent(
            "Agent8",
            heel,
            "fails where there is a green occluder",
            partial(_unless, trouble=_green),
            "occluderGreenness",
        ),
        Agent("Agent9", heel, "fails where there is a ramp", partial(_unless, trouble=_ramp)),
        Agent("Agent10", heel, "clumsy: lava, and holes on the way", partial(_clumsy)),
        Agent("Agent11", heel, "does not see small goals", partial(_near_sighted)),
        Agent("Agent12", heel, "goes right", partial(_one_sided, side=1)),
        Agent("Agent13", heel, "goes left", partial(_one_sided, side=-1)),
        Agent("Agent14", heel, "confuses similar places", partial(_confused), "similarPositions"),
        Agent(
            "Agent15",
            fraud,
            "goes to where it last saw the reward",
            partial(_last_seen, chances=(1.0, 0.0)),
            "rewardDeflected",
        ),
        Agent(
            "Agent16",
            fraud,
            "goes to where it last saw the reward, mostly",
            partial(_last_seen, chances=(0.95, 0.25)),
            "rewardDeflected",
        ),
        Agent("Agent17", heel, "forgets after a while", partial(_unless, trouble=_long)),
        Agent("Agent18", heel, "is confused by many places", partial(_many_places)),
    ]
    contexts = (
        ("chick",),
        ("grid",),
        ("cup",),
        ("chick", "grid"),
        ("cup", "grid"),
        ("chick", "cup"),
    )
    for step, paradigms in enumerate(contexts):
        for more, chances in enumerate((_SURE, _OFTEN)):
            agents.append(_context(19 + 2 * step + more, paradigms, chances))
    return agents


AGENTS = {agent.name: agent for agent in _agents()}
