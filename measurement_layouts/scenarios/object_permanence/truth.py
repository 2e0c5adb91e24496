"""True profiles of the agents, computed from their rules on the scale of each capability."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from .agents import AGENTS, Agent
from .battery import HIDING, PARADIGMS

RANGES = {  # of the capabilities, upper ends; 1.2 times the most demanding arena, where they can be
    "OPAbility": 52.8,
    "flatNavAbility": 56.0,
    "visualAbility": 6.0,
    "lavaAbility": 1.0,
    "platformAbility": 1.0,
    "rampAbility": 1.0,
    "memoryAbility": 4.8,
}
_SECONDS = 4.0  # seconds that each place counts, so that places have the unit of OPAbility
_STEPS = 2401
_EASY = {
    "occluderPresence": 0,
    "lavaPresence": 0,
    "platformPresence": 0,
    "rampPresence": 0,
    "goalDistance": 0.0,
    "goalSize": 5.0,
    "similarPositions": 0,
    "rewardDeflected": 0,
    "timeUnderOcc": np.nan,
    "numberOfPositions": np.nan,
    "occluderRedness": np.nan,
    "occluderGreenness": np.nan,
}
_OBSTACLES = {
    "lavaAbility": ("lavaPresence", ("cup", "chick", "basic")),
    "platformAbility": ("platformPresence", ("grid", "chick", "basic")),
    "rampAbility": ("rampPresence", ("cup", "grid", "basic")),
}
"""Capabilities, with the obstacle that each opposes and the paradigms that have it."""
_PLACES = np.array([1.0, 2.0, 3.0, 7.0, 11.0])  # numbers of places besides the right one
_MOST_PLACES = {"chick": 1, "cup": 2, "grid": 11}


def true_profiles(ranges: Mapping[str, float] = RANGES) -> pd.DataFrame:
    """Compute every agent's profile from its rule.

    - The true value of a capability that opposes an amount (distance, smallness, time, places) is
      the demand at which the agent's probability of passing falls below one half; it is the upper
      end of the range if this never happens, and 0 if the probability is always below one half.
    - The true value of a capability that opposes an obstacle is the probability of passing with it.
    - Agents whose probability is constant (1, 2, 3 and 5) have no level on any scale; the
      probability itself is used.

    All other demands are as easy as possible: no obstacles, and a large goal close by, on the side
    and in the paradigm that are best for the agent. Object permanence is measured with a reward
    that has moved from where it was last seen and was hidden only briefly, so that nothing else
    helps and memory is not needed; a place counts as 4 s, as in Table 5. The object permanence of
    an agent that passes only one paradigm is between the number of places of that paradigm and the
    next larger number.

    Agent 14 thus has no weakness on these scales (no capability opposes places that look alike),
    Agent 17 remembers for 1.5 s and has full object permanence, Agent 18 has object permanence up
    to 8.3 places, where its probability falls below one half between 7 and 11, and the fraudsters,
    Agents 15 and 16, have none.

    Parameters
    ----------
    ranges : mapping of str to float
        Upper ends of the capabilities' ranges (default: those of the published layout).

    Returns
    -------
    DataFrame
        One row per agent, one column per capability of the published layout, in its unit.

    References
    ----------
    Burden et al. (2023), Tables 5, 6 and 7; the paper does not print its true values.

    Examples
    --------
    >>> true_profiles().loc[["Agent6", "Agent17", "Agent18"], ["lavaAbility", "memoryAbility",
    ...                                                        "OPAbility"]].round(2)
             lavaAbility  memoryAbility  OPAbility
    Agent6          0.10            4.8      52.80
    Agent17         0.95            1.5      52.80
    Agent18         0.95            4.8      33.35
    """
    steps = np.linspace(0, 1, _STEPS)
    amounts = {name: high * steps for name, high in ranges.items()}
    hidden = {"occluderPresence": 1, "timeUnderOcc": 0.5, "numberOfPositions": 1.0}
    moved = {**hidden, "rewardDeflected": 1, "numberOfPositions": _PLACES}
    arenas = {
        "flatNavAbility": _arenas(goalDistance=amounts["flatNavAbility"]),
        "visualAbility": _arenas(goalSize=5 - amounts["visualAbility"]),
        "memoryAbility": _arenas(HIDING, **{**hidden, "timeUnderOcc": amounts["memoryAbility"]}),
    }
    obstacles = {name: _arenas(has, **{what: [1]}) for name, (what, has) in _OBSTACLES.items()}
    places = {paradigm: _arenas((paradigm,), **moved) for paradigm in _MOST_PLACES}
    rows = {}
    for agent in AGENTS.values():
        if agent.constant is not None:
            rows[agent.name] = {name: agent.constant * high for name, high in ranges.items()}
            continue
        chances = {name: _best(agent, table) for name, table in arenas.items()}
        few = [
            np.where(most >= _PLACES, _best(agent, places[paradigm]), 0)
            for paradigm, most in _MOST_PLACES.items()
        ]
        positions = amounts["OPAbility"] / _SECONDS
        chances["OPAbility"] = np.interp(positions, _PLACES, np.max(few, axis=0))
        row = {name: _half(chance) * ranges[name] for name, chance in chances.items()}
        rows[agent.name] = row | {name: _best(agent, obstacles[name])[0] for name in _OBSTACLES}
    return pd.DataFrame.from_dict(rows, orient="index", columns=list(RANGES))


def normalised(profiles: pd.DataFrame, ranges: Mapping[str, float] = RANGES) -> pd.DataFrame:
    """Divide capabilities by the upper ends of their ranges.

    Parameters
    ----------
    profiles : DataFrame
        Profiles with the columns of `true_profiles`.
    ranges : mapping of str to float
        Upper ends of the ranges.

    Returns
    -------
    DataFrame
        Shares of the ranges, in [0, 1].

    Examples
    --------
    >>> normalised(true_profiles()).loc["Agent11", "visualAbility"].round(2)
    np.float64(0.58)
    """
    return profiles[list(RANGES)] / pd.Series(ranges)[list(RANGES)]


def _arenas(paradigms: Sequence[str] = PARADIGMS, **demands: object) -> pd.DataFrame:
    """Make arenas that are easy but for some demands, on each side of each paradigm."""
    sides = pd.DataFrame({"rightLeftPosition": (-1, 0, 1)})
    cases = pd.DataFrame({"paradigm": paradigms}).merge(sides, how="cross")
    (count,) = {len(column) for column in demands.values() if isinstance(column, list | np.ndarray)}
    return cases.merge(pd.DataFrame(_EASY | demands, range(count)), how="cross")


def _best(agent: Agent, arenas: pd.DataFrame) -> np.ndarray:
    """Return probabilities at each demand, on the best side of the best paradigm."""
    cases = arenas[["paradigm", "rightLeftPosition"]].drop_duplicates()
    best: np.ndarray = agent.rule(arenas).reshape(len(cases), -1).max(axis=0)
    return best


def _half(chances: np.ndarray) -> float:
    """Find the share of a range at which evenly spaced probabilities fall below 1/2."""
    below = np.flatnonzero(chances < 0.5)
    return float(below[0] / (len(chances) - 1)) if len(below) else 1.0
