"""Analysis of one cohort: profiles, forecasts of held-out arenas, criticism, descriptions."""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd

from ....inference.fit import Fit
from ....inference.fitting import fit
from ....reports.description.describe import describe
from ....reports.description.rules import Rules
from ....reports.description.sentences import Description
from ....validation.criticism.criticise import criticise
from ....validation.prediction.estimators import Estimator
from ....validation.prediction.score import score_forecast
from ....validation.prediction.splits import masked
from ..agents import AGENTS
from ..battery import CANDIDATES
from ..cohort import simulated_cohort
from ..layouts import LAYOUTS, PUBLISHED, RECOMMENDED
from ..truth import RANGES, normalised, true_profiles

_HELD_OUT = 0.2
_SETTLED = 1.05  # largest R-hat if means need only two digits


@dataclass(frozen=True, eq=False)
class Trial:
    """Results of one cohort, as tables with one row per agent.

    Attributes
    ----------
    profiles : dict of str to DataFrame
        Posterior means of every element in its unit, by layout.
    scores : DataFrame
        Brier score, calibration and refinement of each method on the held-out arenas: columns
        (score, method).
    criticised : Series
        First property that criticism of the published layout finds, or NaN.
    right : Series
        Whether the description agrees with the agent's design.
    texts : Series
        The descriptions.
    unsettled : dict of str to list of str
        Agents with an R-hat above 1.05, by layout.
    """

    profiles: dict[str, pd.DataFrame]
    scores: pd.DataFrame
    criticised: pd.Series
    right: pd.Series
    texts: pd.Series
    unsettled: dict[str, list[str]]

    def errors(self, layout: str) -> pd.DataFrame:
        """Return estimated minus true capabilities, as shares of their ranges."""
        ranges, truth = _truth(layout)
        estimates = normalised(self.profiles[layout], ranges)
        return estimates - truth.loc[estimates.index]


@cache
def _truth(layout: str) -> tuple[dict[str, float], pd.DataFrame]:
    """Return the upper ends of a layout's ranges, and the true profiles as shares of them."""
    latents = {latent.name: latent for latent in LAYOUTS[layout]().latents}
    ranges = {name: latents[name].range.high for name in RANGES}
    return ranges, normalised(true_profiles(ranges), ranges)


def run_trial(seed: int, agents: list[str] | None = None, progressbar: bool = True) -> Trial:
    """Simulate a cohort, fit both layouts to four fifths of the arenas, and analyse the fits.

    Parameters
    ----------
    seed : int
        Seed of battery, outcomes, split and fits.
    agents : list of str, optional
        Agents to fit (default: all).
    progressbar : bool
        Whether to show the number of finished agents and the remaining time.

    Returns
    -------
    Trial
        Means, scores, results of criticism, and whether descriptions are right.
    """
    evaluation = simulated_cohort(seed).evaluation.select(subjects=agents or list(AGENTS))
    items = evaluation.items
    count = round(_HELD_OUT * len(items))
    chosen = np.random.default_rng([seed, 2]).permutation(len(items))[:count]
    held_out = list(items.index[np.sort(chosen)])
    training = masked(evaluation, held_out)
    fits = {
        name: fit(
            make(),
            training,
            draws=500,
            tune=500,
            chains=4,
            seed=seed,
            reruns=0,
            progressbar=progressbar,
        )
        for name, make in LAYOUTS.items()
    }
    scored = {
        name: score_forecast(each.forecast(items.loc[held_out]), evaluation)
        for name, each in fits.items()
    }
    aggregate = Estimator("aggregate").forecast(training, held_out)
    scored["aggregate"] = score_forecast(aggregate, evaluation)
    criticism = criticise(fits[PUBLISHED], training, candidates=CANDIDATES, seed=seed)
    description = describe(fits[RECOMMENDED], rules=Rules(scale="range"))
    subjects = fits[RECOMMENDED].subjects
    return Trial(
        {name: means_of(each) for name, each in fits.items()},
        pd.concat(scored, axis=1).swaplevel(axis=1)[["brier", "calibration", "refinement"]],
        criticism.first(),
        pd.Series({name: is_right(name, description) for name in subjects}),
        description.texts,
        {name: unsettled(each) for name, each in fits.items()},
    )


def means_of(each: Fit) -> pd.DataFrame:
    """Return posterior means, with one row per agent and one column per element."""
    table = each.profiles()
    names = table["node"] + table["label"].map(lambda label: f"[{label}]" if label else "")
    wide = table.assign(element=names).pivot(index="subject", columns="element", values="mean")
    return wide.loc[each.subjects]


def unsettled(each: Fit) -> list[str]:
    """List the agents with an R-hat above 1.05."""
    table = each.diagnostics()
    return list(table.index[~(table["rhat"] <= _SETTLED)])


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
    named = found[found["what"] == "bias"].set_index("where")["size"]
    side = float(np.sign(named.get("rightLeftBias", 0.0)))
    strategy = float(named.get("lastSeenStrategy", 0.0)) > _MOSTLY
    if agent in UNIFORM:
        return description.is_uniform(agent)
    if side != _SIDES.get(agent, 0) or strategy != (agent in _FRAUDSTERS):
        return False
    if agent == "Agent4":
        return description.rate(agent) == "nearly nothing" and bool(weak & _DANGERS)
    return weak == WEAKNESSES.get(agent, set())
