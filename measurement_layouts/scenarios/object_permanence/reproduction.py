"""Profiles, forecasts, criticism and descriptions of thirty agents, compared with the paper's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...reports.description.describe import describe
from ...reports.description.rules import Rules
from ...reports.description.sentences import Description
from ...validation.criticism.criticise import criticise
from ...validation.prediction.estimators import Estimator
from ...validation.prediction.score import score_forecast
from ...validation.prediction.splits import masked
from ..figures import Figure, Reproduction
from ..files import published_table
from ..scenario import Scenario
from . import AGENTS, CANDIDATES, normalised, simulated_cohort, true_profiles
from .layouts import LAYOUTS, PUBLISHED, RECOMMENDED
from .truth import RANGES

COHORTS = 5
TABLES = {"rmse": "object_permanence_table1.csv", "scores": "object_permanence_table8.csv"}
INCLUDED = [name for name, agent in AGENTS.items() if agent.missing is None]
_CAPABILITIES = ("OP", "FlatNav", "Visual", "Lava", "Platform", "Ramp", "Memory")  # in Table 1
_UNIFORM = ("Agent1", "Agent2", "Agent3", "Agent5")
_SIDES = {"Agent12": 1, "Agent13": -1}
_FRAUDSTERS = ("Agent15", "Agent16")
_CONTEXTS = {19: "cup grid", 21: "cup chick", 23: "grid chick", 25: "cup", 27: "chick", 29: "grid"}
_WEAKNESSES = {
    "Agent6": {"lavaAbility"},
    "Agent7": {"lavaAbility", "rednessTolerance"},
    "Agent8": {"greennessTolerance"},
    "Agent9": {"rampAbility"},
    "Agent10": {"lavaAbility"},
    "Agent11": {"visualAbility"},
    "Agent14": {"similarAbility"},
    "Agent17": {"memoryAbility"},
    "Agent18": {"OPAbility"},
}
for _first, _names in _CONTEXTS.items():
    for _number in (_first, _first + 1):
        _WEAKNESSES[f"Agent{_number}"] = {f"paradigmAbility[{name}]" for name in _names.split()}


@dataclass(frozen=True, eq=False)
class Trial:
    """Results of one cohort.

    Attributes
    ----------
    errors : dict of str to DataFrame
        Estimated minus true capabilities, as shares of their ranges, by layout.
    brier : DataFrame
        Brier score of each agent on the held-out arenas, by method.
    criticised : Series
        First property that criticism of the published layout finds, or NaN.
    right : Series
        Whether the description agrees with the agent's design.
    """

    errors: dict[str, pd.DataFrame]
    brier: pd.DataFrame
    criticised: "pd.Series[str]"
    right: "pd.Series[bool]"


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Analyse five simulated cohorts; real results have no published tables."""
    if data is not None:
        raise DataError(
            f"the published tables are of simulated agents, and {data} has others; leave --data "
            f"out, or fit them: measurement-layouts run {scenario.name} --data {data}"
        )
    tables = read_tables(published)
    return compare([run_trial(seed) for seed in range(1, COHORTS + 1)], tables)


def read_tables(folder: Path) -> dict[str, pd.DataFrame]:
    """Read Tables 1 and 8, with the capabilities and agents in their order here."""
    rows = {"rmse": list(_CAPABILITIES), "scores": list(AGENTS)}
    return {
        name: published_table(folder, file, partial(_in_order, rows=rows[name]), index=0)
        for name, file in TABLES.items()
    }


def _in_order(table: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    return table.loc[rows]


def run_trial(seed: int, agents: list[str] | None = None, progressbar: bool = True) -> Trial:
    """Simulate a cohort, fit both layouts to four fifths of the arenas, and analyse the fits."""
    evaluation = simulated_cohort(seed).evaluation.select(subjects=agents or list(AGENTS))
    items = evaluation.items
    order = np.random.default_rng([seed, 2]).permutation(len(items))
    held_out = list(items.index[np.sort(order[: round(0.2 * len(items))])])
    training = masked(evaluation, held_out)
    options: dict[str, Any] = {"draws": 500, "tune": 500, "chains": 4, "reruns": 0}
    options |= {"seed": seed, "progressbar": progressbar}
    fits = {name: fit(make(), training, **options) for name, make in LAYOUTS.items()}
    forecasts = {name: fitted.forecast(items.loc[held_out]) for name, fitted in fits.items()}
    forecasts["aggregate"] = Estimator("aggregate").forecast(training, held_out)
    scores = {
        name: score_forecast(forecast, evaluation)["brier"] for name, forecast in forecasts.items()
    }
    criticism = criticise(fits[PUBLISHED], training, candidates=CANDIDATES, seed=seed)
    description = describe(fits[RECOMMENDED], rules=Rules(scale="range"))
    return Trial(
        {name: _errors(fitted) for name, fitted in fits.items()},
        pd.DataFrame(scores),
        criticism.first(),
        pd.Series({name: is_right(name, description) for name in evaluation.subjects}),
    )


def _errors(fitted: Fit) -> pd.DataFrame:
    """Compare posterior means with the true profiles, which depend on the layout's ranges."""
    nodes, profiles = fitted.layout.nodes, fitted.profiles()
    ranges = {name: nodes[name].range.high for name in RANGES}
    means = profiles[profiles["node"].isin(RANGES)].pivot(
        index="subject", columns="node", values="mean"
    )
    truth = true_profiles(ranges).loc[means.index]
    return normalised(means, ranges) - normalised(truth, ranges)


def is_right(agent: str, description: Description) -> bool:
    """Compare a description under the recommended layout with Tables 6 and 7.

    - Agents 1, 2, 3 and 5: success does not depend on the items, and nothing else is stated.
    - Agent 4, a random walker: it passes nearly nothing, and lava or platforms are a weakness.
    - Agents 12 and 13: a bias to the right and to the left, and no weakness.
    - Agents 15 and 16: a bias towards where the reward was last seen, and no weakness.
    - All others: the stated weaknesses are exactly those of the design.

    The description of no other agent may state one of these biases.

    References
    ----------
    Burden et al. (2023), Tables 6 and 7; Figure 15 is the paper's own comparison.
    """
    findings = description.findings.query("subject == @agent and what == 'bias'")
    biases = findings.set_index("where")["size"]
    weak = set(description.weaknesses(agent))
    side = float(np.sign(biases.get("rightLeftBias", 0.0)))
    strategy = float(biases.get("lastSeenStrategy", 0.0)) > 0.5
    if agent in _UNIFORM:
        return description.is_uniform(agent)
    if side != _SIDES.get(agent, 0) or strategy != (agent in _FRAUDSTERS):
        return False
    if agent == "Agent4":
        dangers = weak & {"lavaAbility", "platformAbility"}
        return description.rate(agent) == "nearly nothing" and bool(dangers)
    return weak == _WEAKNESSES.get(agent, set())


def compare(trials: Sequence[Trial], tables: Mapping[str, pd.DataFrame]) -> Reproduction:
    """Compare cohorts with the paper's tables."""
    rmse = _rmse(trials, tables["rmse"])
    figures = [
        Figure(
            f"{RECOMMENDED}: RMSE of {name}, {group} agents",
            float(row[f"{group} {RECOMMENDED}"]),
            "<" if name == "mean" else "<=",
            float(row[f"{group} Table 1"]),
            published=float(row[f"{group} Table 1"]),
        )
        for group in ("overall", "included")
        for name, row in rmse.iterrows()
    ]
    theirs, briers = tables["scores"], [trial.brier for trial in trials]
    means = pd.concat(briers).groupby(level=0, sort=False).mean()
    published, ours = float(theirs["layout_brier"].mean()), float(means[RECOMMENDED].mean())
    name = f"{RECOMMENDED}: mean Brier on held-out arenas"
    figures.append(Figure(name, ours, "<", 0.11, published=published))
    losses = pd.concat([brier[RECOMMENDED] - brier["aggregate"] for brier in briers], axis=1)
    limit = np.fmax(2 * losses.std(axis=1) / len(trials) ** 0.5, 0.0005)  # one cohort has no error
    worse = losses.index[losses.mean(axis=1) > limit]
    name = f"agents whose Brier is above the aggregate's {', '.join(worse)}".strip()
    goal = "none by more than two standard errors over cohorts and 0.0005"
    their_worse = int((theirs["layout_brier"] > theirs["aggregate_brier"]).sum())
    figures.append(Figure(name, len(worse), "==", 0, goal, their_worse))

    right = pd.concat([trial.right for trial in trials], axis=1).sum(axis=1)
    name, described = "descriptions that are right, of 30, mean", float(right.sum() / len(trials))
    figures.append(Figure(name, described, ">=", 28, published=22.5))
    first = pd.concat([trial.criticised for trial in trials], axis=1)
    missing = pd.Series({name: agent.missing for name, agent in AGENTS.items()})
    named = float(first.eq(missing.reindex(first.index), axis=0).sum().mean())
    name = f"agents whose missing property is named first, of {missing.notna().sum()}, mean"
    figures.append(Figure(name, named, ">=", 14))
    alarms = float(first.loc[first.index.isin(INCLUDED)].notna().to_numpy().mean())
    figures.append(Figure("share of false alarms over the other agents", alarms, "<=", 0.05))
    shown = {
        "root mean square error of capabilities": rmse,
        "held-out Brier scores, means over cohorts": theirs.add_prefix("Table 8: ").join(means),
        "agents": pd.DataFrame({"right": right, "first criticised": first.iloc[:, 0]}),
    }
    return Reproduction(figures, shown)


def _rmse(trials: Sequence[Trial], table: pd.DataFrame) -> pd.DataFrame:
    """Compute root mean square errors over agents and cohorts, with those of Table 1."""
    columns = {}
    for group, agents in (("overall", list(AGENTS)), ("included", INCLUDED)):
        columns[f"{group} Table 1"] = table[f"{group}_rmse"].set_axis(list(RANGES))
        for layout in LAYOUTS:
            errors = pd.concat([trial.errors[layout] for trial in trials])
            square = errors[errors.index.isin(agents)] ** 2
            columns[f"{group} {layout}"] = np.sqrt(square.mean())
    rmse = pd.DataFrame(columns)
    return pd.concat([rmse, rmse.mean().to_frame("mean").T]).rename_axis("capability")
