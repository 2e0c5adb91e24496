"""Check whether the description of an agent agrees with its design."""

import numpy as np

from ....reports.description.sentences import Description

UNIFORM = ("Agent1", "Agent2", "Agent3", "Agent5")
_SIDES = {"Agent12": 1, "Agent13": -1}
_MOSTLY = 0.5
_FRAUDSTERS = ("Agent15", "Agent16")
_CONTEXTS = {19: "cup grid", 21: "cup chick", 23: "grid chick", 25: "cup", 27: "chick", 29: "grid"}
_DANGERS = {"lavaAbility", "platformAbility"}
WEAKNESSES = {
    "Agent6": {"lavaAbility"},
    "Agent7": {"lavaAbility", "rednessTolerance"},
    "Agent8": {"greennessTolerance"},
    "Agent9": {"rampAbility"},
    "Agent10": {"lavaAbility"},
    "Agent11": {"visualAbility"},
    "Agent14": {"similarAbility"},
    "Agent17": {"memoryAbility"},
    "Agent18": {"OPAbility"},
    **{
        f"Agent{number + more}": {f"paradigmAbility[{name}]" for name in names.split()}
        for number, names in _CONTEXTS.items()
        for more in (0, 1)
    },
}


def is_right(agent: str, description: Description) -> bool:
    """Compare a description under the recommended layout with Tables 6 and 7.

    - Agents 1, 2, 3 and 5: success does not depend on the items, and nothing else is stated.
    - Agent 4, a random walker: it passes nearly nothing, and lava or platforms are a weakness.
    - Agents 12 and 13: a bias to the right and to the left, and no weakness.
    - Agents 15 and 16: a bias towards where the reward was last seen, and no weakness.
    - All others: the stated weaknesses are exactly those of the design.

    The description of no other agent may state one of these biases.

    Parameters
    ----------
    agent : str
        Name of the agent.
    description : Description
        Description of a fit of the recommended layout.

    Returns
    -------
    bool
        Whether the description is right.

    References
    ----------
    Burden et al. (2023), Tables 6 and 7; Figure 15 is the paper's own comparison.
    """
    findings = description.findings
    found = findings[findings["subject"] == agent]
    weak = set(description.weaknesses(agent))
    named = found[found["kind"] == "bias"].set_index("element")["value"]
    side = float(np.sign(named.get("rightLeftBias", 0.0)))
    strategy = float(named.get("lastSeenStrategy", 0.0)) > _MOSTLY
    if agent in UNIFORM:
        return description.is_uniform(agent)
    if side != _SIDES.get(agent, 0) or strategy != (agent in _FRAUDSTERS):
        return False
    if agent == "Agent4":
        return description.rate(agent) == "nearly nothing" and bool(weak & _DANGERS)
    return weak == WEAKNESSES.get(agent, set())
