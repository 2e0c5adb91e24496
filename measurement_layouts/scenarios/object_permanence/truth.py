"""True profiles of the agents, computed from their rules on the scale of each capability."""

import itertools
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from .agents import AGENTS, Agent

RANGES = {  # of the capabilities, upper ends; 1.2 times the most demanding arena, where they can be
    "OPAbility": 52.8,
    "flatNavAbility": 56.0,
    "visualAbility": 6.0,
    "lavaAbility": 1.0,
    "platformAbility": 1.0,
    "rampAbility": 1.0,
    "memoryAbility": 4.8,
}
_LONGEST = 4.0  # seconds that each place counts, so that places have the unit of OPAbility
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
_WITH = {"lava": ("cup", "chick", "basic"), "platform": ("grid", "chick", "basic")}
_WITH["ramp"] = ("cup", "grid", "basic")
_HIDING = ("cup", "grid", "chick")
_PLACES = (1, 2, 3, 7, 11)  # numbers of places besides the right one
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
    arenas = _arenas(ranges)
    profiles = {name: _profile(agent, ranges, arenas) for name, agent in AGENTS.items()}
    return pd.DataFrame(profiles).T[list(RANGES)]


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


def _arenas(ranges: Mapping[str, float]) -> dict[str, pd.DataFrame]:
    """Make the arenas in which every agent is tried, by capability and by paradigm of places."""
    demands = {name: ranges[name] * np.linspace(0, 1, _STEPS) for name in RANGES}
    hidden = {"occluderPresence": 1, "timeUnderOcc": 0.5, "numberOfPositions": 1.0}
    kept = {**hidden, "timeUnderOcc": demands["memoryAbility"]}
    hiding = {**hidden, "numberOfPositions": np.array(_PLACES, dtype=float), "rewardDeflected": 1}
    return {
        "flatNavAbility": _of_cases(goalDistance=demands["flatNavAbility"]),
        "visualAbility": _of_cases(goalSize=5 - demands["visualAbility"]),
        "memoryAbility": _of_cases(_HIDING, **kept),
        **{paradigm: _of_cases((paradigm,), **hiding) for paradigm in _MOST_PLACES},
        **{
            f"{obstacle}Ability": _of_cases(where, **{f"{obstacle}Presence": np.ones(1)})
            for obstacle, where in _WITH.items()
        },
    }


def _profile(
    agent: Agent, ranges: Mapping[str, float], arenas: Mapping[str, pd.DataFrame]
) -> dict[str, float]:
    if agent.constant is not None:
        return {name: agent.constant * ranges[name] for name in RANGES}
    amounts = ranges["OPAbility"] * np.linspace(0, 1, _STEPS) / _LONGEST
    chances = {
        name: _best(agent, arenas[name])
        for name in ("flatNavAbility", "visualAbility", "memoryAbility")
    }
    chances["OPAbility"] = _places(agent, amounts, arenas)
    profile = {name: _half(each) * ranges[name] for name, each in chances.items()}
    for name in (f"{obstacle}Ability" for obstacle in _WITH):
        profile[name] = float(_best(agent, arenas[name])[0])
    return profile


def _places(agent: Agent, amounts: np.ndarray, arenas: Mapping[str, pd.DataFrame]) -> np.ndarray:
    """Return probabilities for the numbers of places in arenas, interpolated between them."""
    positions = np.array(_PLACES, dtype=float)
    chances = np.max(
        [
            np.where(positions <= most, _best(agent, arenas[paradigm]), 0.0)
            for paradigm, most in _MOST_PLACES.items()
        ],
        axis=0,
    )
    return np.asarray(np.interp(amounts, positions, chances))


def _best(agent: Agent, arenas: pd.DataFrame) -> np.ndarray:
    """Return probabilities on the best side of the best paradigm."""
    count = arenas.index[-1] + 1
    return np.asarray(agent.rule(arenas).reshape(-1, count).max(axis=0))


def _of_cases(paradigms: Iterable[str] = (*_HIDING, "basic"), **columns: object) -> pd.DataFrame:
    """Lay out arenas on each side of each paradigm; one column is an array, whose places count."""
    (count,) = {len(part) for part in columns.values() if isinstance(part, np.ndarray)}
    cases = list(itertools.product(paradigms, (-1, 0, 1)))
    arenas = pd.DataFrame(_EASY | columns, range(count)).iloc[np.tile(range(count), len(cases))]
    each = (np.repeat(part, count) for part in zip(*cases, strict=True))
    return arenas.assign(**dict(zip(("paradigm", "rightLeftPosition"), each, strict=True)))


def _half(chances: np.ndarray) -> float:
    """Find the share of a range at which evenly spaced probabilities fall below 1/2."""
    below = np.flatnonzero(chances < 0.5)
    return float(below[0] / (len(chances) - 1)) if len(below) else 1.0
