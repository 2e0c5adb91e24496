"""Profiles, forecasts, criticism and descriptions of thirty agents, compared with the paper's."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
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
    **{
        f"Agent{number + more}": {f"paradigmAbility[{name}]" for name in names.split()}
        for number, names in _CONTEXTS.items()
        for more in (0, 1)
    },
}


class Published(NamedTuple):
    """Tables 1 and 8."""

    rmse: pd.DataFrame
    scores: pd.DataFrame


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


def read_tables(folder: Path) -> Published:
    """Read the tables, and check that all rows are there."""
    tables = []
    for file, rows in zip(TABLES.values(), (_CAPABILITIES, AGENTS), strict=True):
        table = published_table(folder, file, "give the paper's table", lambda raw: raw, index=0)
        lacking = [row for row in rows if row not in table.index]
        if lacking:
            raise DataError(
                f"{Path(folder) / file} has no row {some(lacking)}; give the paper's table"
            )
        tables.append(table.loc[list(rows)])
    return Published(*tables)


def run_trial(seed: int, agents: list[str] | None = None, progressbar: bool = True) -> Trial:
    """Simulate a cohort, fit both layouts to four fifths of the arenas, and analyse the fits."""
    evaluation = simulated_cohort(seed).evaluation.select(subjects=agents or list(AGENTS))
    items = evaluation.items
    order = np.random.default_rng([seed, 2]).permutation(len(items))
    held_out = list(items.index[np.sort(order[: round(0.2 * len(items))])])
    training = masked(evaluation, held_out)
    options: dict[str, Any] = {
        "draws": 500,
        "tune": 500,
        "chains": 4,
        "reruns": 0,
        "progressbar": progressbar,
    }
    fits = {name: fit(make(), training, seed=seed, **options) for name, make in LAYOUTS.items()}
    forecasts = {name: fitted.forecast(items.loc[held_out]) for name, fitted in fits.items()}
    forecasts["aggregate"] = Estimator("aggregate").forecast(training, held_out)
    scores = {name: score_forecast(each, evaluation)["brier"] for name, each in forecasts.items()}
    criticism = criticise(fits[PUBLISHED], training, candidates=CANDIDATES, seed=seed)
    description = describe(fits[RECOMMENDED], rules=Rules(scale="range"))
    right = {name: is_right(name, description) for name in evaluation.subjects}
    return Trial(
        {name: _errors(fitted) for name, fitted in fits.items()},
        pd.DataFrame(scores),
        criticism.first(),
        pd.Series(right),
    )


def _errors(fitted: Fit) -> pd.DataFrame:
    """Compare posterior means with the true profiles, which depend on the layout's ranges."""
    latents = {latent.name: latent for latent in fitted.layout.latents}
    ranges = {name: latents[name].range.high for name in RANGES}
    means = fitted.profiles().query("node in @RANGES", local_dict={"RANGES": list(RANGES)})
    table = normalised(means.pivot(index="subject", columns="node", values="mean"), ranges)
    return table - normalised(true_profiles(ranges), ranges).loc[table.index]


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


def compare(trials: Sequence[Trial], tables: Published) -> Reproduction:
    """Compare cohorts with the paper's tables."""
    rmse = _rmse(trials, tables.rmse)
    right = pd.concat([trial.right for trial in trials], axis=1).sum(axis=1)
    firsts = pd.concat([trial.criticised for trial in trials], axis=1)
    missing = pd.Series({name: agent.missing for name, agent in AGENTS.items()})
    briers = pd.concat([trial.brier for trial in trials]).groupby(level=0, sort=False).mean()
    name = f"agents whose missing property is named first, of {missing.notna().sum()}, mean"
    named = firsts.eq(missing.reindex(firsts.index), axis=0).sum().mean()
    alarms = firsts.loc[firsts.index.isin(INCLUDED)].notna().to_numpy().mean()
    described = float(right.sum() / len(trials))
    figures = [
        *_rmse_figures(rmse),
        *_score_figures(trials, briers, tables.scores),
        Figure("descriptions that are right, of 30, mean", described, ">=", 28, published=22.5),
        Figure(name, float(named), ">=", 14),
        Figure("share of false alarms over the other agents", float(alarms), "<=", 0.05),
    ]
    theirs = tables.scores.add_prefix("Table 8: ")
    return Reproduction(
        figures,
        {
            "root mean square error of capabilities": rmse.set_axis(
                [" ".join(column) for column in rmse.columns], axis=1
            ),
            "held-out Brier scores, means over cohorts": theirs.join(briers),
            "agents": pd.DataFrame({"right": right, "first criticised": firsts.iloc[:, 0]}),
        },
    )


def _rmse(trials: Sequence[Trial], table: pd.DataFrame) -> pd.DataFrame:
    """Compute root mean square errors over agents and cohorts, with those of Table 1."""
    columns = {}
    for group, agents in (("overall", list(AGENTS)), ("included", INCLUDED)):
        columns[group, "Table 1"] = table[f"{group}_rmse"].set_axis(list(RANGES))
        for layout in LAYOUTS:
            errors = pd.concat([trial.errors[layout] for trial in trials])
            columns[group, layout] = np.sqrt((errors[errors.index.isin(agents)] ** 2).mean())
    rmse = pd.DataFrame(columns)
    return pd.concat([rmse, rmse.mean().to_frame("mean").T]).rename_axis("capability")


def _rmse_figures(rmse: pd.DataFrame) -> list[Figure]:
    """Compare each error of the recommended layout with Table 1."""
    return [
        Figure(
            f"{RECOMMENDED}: RMSE of {name}, {group} agents",
            float(row[RECOMMENDED]),
            "<" if name == "mean" else "<=",
            float(row["Table 1"]),
            published=float(row["Table 1"]),
        )
        for group in ("overall", "included")
        for name, row in rmse[group].iterrows()
    ]


def _score_figures(
    trials: Sequence[Trial], briers: pd.DataFrame, table: pd.DataFrame
) -> list[Figure]:
    """Compare held-out Brier scores with the paper's, and with those of the aggregate."""
    losses = [trial.brier[RECOMMENDED] - trial.brier["aggregate"] for trial in trials]
    apart = pd.concat(losses, axis=1)
    limit = np.fmax(2 * apart.std(axis=1) / len(trials) ** 0.5, 0.0005)  # one cohort has no error
    worse = apart.index[apart.mean(axis=1) > limit]
    their_worse = int((table["layout_brier"] > table["aggregate_brier"]).sum())
    theirs, ours = float(table["layout_brier"].mean()), float(briers[RECOMMENDED].mean())
    return [
        Figure(f"{RECOMMENDED}: mean Brier on held-out arenas", ours, "<", 0.11, published=theirs),
        Figure(
            f"agents whose Brier is above the aggregate's {', '.join(worse)}".strip(),
            len(worse),
            "==",
            0,
            "none by more than two standard errors over cohorts and 0.0005",
            their_worse,
        ),
    ]
