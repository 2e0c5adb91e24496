"""Published figures of object permanence, compared with the obtained ones of several cohorts."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ....common.errors import DataError
from ....common.messages import some
from ...figures import Figure, Reproduction
from ...files import published_table
from ...scenario import Scenario
from ..agents import AGENTS
from ..layouts import LAYOUTS, PUBLISHED, RECOMMENDED
from ..truth import RANGES
from .trial import Trial, run_trial

COHORTS = 5
TABLES = {
    "rmse": "object_permanence_table1.csv",
    "scores": "object_permanence_table8.csv",
    "means": "object_permanence_figure13_means.csv",
}
INCLUDED = [name for name, agent in AGENTS.items() if agent.missing is None]
_CAPABILITIES = dict(
    zip(RANGES, ("OP", "FlatNav", "Visual", "Lava", "Platform", "Ramp", "Memory"), strict=True)
)
_FIGURE_13 = {"OPAbility": "objPermAbility", "visualAbility": "visualAcuityAbility"}
_FIGURE_13 |= {"noiseLevel": "noisePar"}
_SMALLEST = 0.0005  # smallest difference that Table 8 would show
_BRIER, _RIGHT, _NAMED, _FALSE = 0.110, 28, 14, 0.05  # goals


class Published(NamedTuple):
    """Tables 1 and 8 and Figure 13."""

    rmse: pd.DataFrame
    scores: pd.DataFrame
    means: pd.DataFrame


def read_tables(folder: Path) -> Published:
    """Read the published tables.

    Parameters
    ----------
    folder : Path
        Folder of ``object_permanence_table1.csv``, ``_table8.csv`` and ``_figure13_means.csv``.

    Raises
    ------
    DataError
        When one of them does not exist, or has other agents or capabilities.

    References
    ----------
    Burden et al. (2023), Tables 1 and 8, Figure 13.
    """
    found = []
    for name, file in TABLES.items():
        table = published_table(folder, file, "give the paper's table", lambda raw: raw, index=0)
        rows = list(_CAPABILITIES.values()) if name == "rmse" else list(AGENTS)
        lacking = [row for row in rows if row not in table.index]
        if lacking:
            raise DataError(
                f"{Path(folder) / file} has no row {some(lacking)}; give the paper's table"
            )
        found.append(table.loc[rows])
    return Published(*found)


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Analyse several simulated cohorts, and compare the results with the paper's figures.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data : Path, optional
        Must not be given, since the tables are of the simulated agents.
    published : Path
        Folder of published tables.

    Raises
    ------
    DataError
        When data are given, or the tables cannot be read; this is checked before anything is
        simulated.
    """
    if data is not None:
        raise DataError(
            f"the published tables are of simulated agents, and {data} has others; leave --data "
            f"out, or fit them: measurement-layouts run {scenario.name} --data {data}"
        )
    tables = read_tables(published)
    return compare([run_trial(seed) for seed in range(1, COHORTS + 1)], tables)


def compare(trials: Sequence[Trial], tables: Published) -> Reproduction:
    """Assemble figures and tables.

    Parameters
    ----------
    trials : sequence of Trial
        One trial per cohort.
    tables : Published
        The paper's tables.
    """
    rmse, scores, named = _rmse(trials, tables), _scores(trials, tables), _named(trials)
    right = pd.concat([trial.right for trial in trials], axis=1)
    figures = [
        *_rmse_figures(rmse),
        *_score_figures(trials, scores),
        Figure(
            "descriptions that are right, of 30, mean over cohorts",
            float(right.sum().mean()),
            ">=",
            _RIGHT,
            published=22.5,
        ),
        *_criticism_figures(trials),
    ]
    texts = pd.DataFrame({"right in cohorts": right.sum(axis=1), "first text": trials[0].texts})
    texts = texts.loc[list(AGENTS)].rename_axis("agent")
    settled = pd.DataFrame([{k: len(v) for k, v in trial.unsettled.items()} for trial in trials])
    settled.index += 1
    return Reproduction(
        figures,
        {
            "root mean square error of capabilities": rmse.set_axis(
                [" ".join(name) for name in rmse.columns], axis=1
            ),
            "held-out scores, means over cohorts": scores,
            "first property named by criticism of the published layout": named,
            "descriptions under the recommended layout": texts,
            "means under the published layout, and Figure 13": _means(trials, tables),
            "estimated less true capabilities, recommended layout": _errors(trials),
            "agents with an R-hat above 1.05, by cohort": pd.DataFrame(settled).rename_axis(
                "cohort"
            ),
        },
    )


def _rmse(trials: Sequence[Trial], tables: Published) -> pd.DataFrame:
    """Compute root mean square errors over agents and cohorts, with those of Table 1."""
    columns = {}
    for group, agents in (("overall", list(AGENTS)), ("included", INCLUDED)):
        columns[group, "Table 1"] = tables.rmse[f"{group}_rmse"].set_axis(list(RANGES))
        for layout in LAYOUTS:
            errors = pd.concat([trial.errors(layout) for trial in trials])
            squares = errors[errors.index.isin(agents)] ** 2
            columns[group, layout] = np.sqrt(squares.mean())
    table = pd.DataFrame(columns).rename_axis("capability")
    return pd.concat([table, table.mean().to_frame("mean").T]).rename_axis("capability")


def _rmse_figures(rmse: pd.DataFrame) -> list[Figure]:
    figures = []
    for group in ("overall", "included"):
        for name, row in rmse[group].iterrows():
            theirs, ours = float(row["Table 1"]), float(row[RECOMMENDED])
            better = name == "mean"
            figures.append(
                Figure(
                    f"{RECOMMENDED}: RMSE of {name}, {group} agents",
                    ours,
                    "<" if better else "<=",
                    theirs,
                    "below Table 1's mean" if better else "not above Table 1",
                    published=theirs,
                )
            )
    return figures


def _scores(trials: Sequence[Trial], tables: Published) -> pd.DataFrame:
    ours = pd.concat([trial.scores for trial in trials]).groupby(level=0, sort=False).mean()
    theirs = tables.scores.rename(columns=lambda name: f"Table 8: {name.replace('_', ' ')}")
    ours.columns = pd.Index([": ".join(name[::-1]) for name in ours.columns.to_list()])
    table = theirs.join(ours)
    return pd.concat([table, table.mean().to_frame("mean").T]).rename_axis("agent")


def _score_figures(trials: Sequence[Trial], scores: pd.DataFrame) -> list[Figure]:
    losses = [
        trial.scores["brier"][RECOMMENDED] - trial.scores["brier"]["aggregate"] for trial in trials
    ]
    apart = pd.concat(losses, axis=1)
    error = apart.std(axis=1) / np.sqrt(len(trials))
    worse = apart.index[apart.mean(axis=1) > np.fmax(2 * error, _SMALLEST)]  # one has no error
    theirs, ours = scores["Table 8: layout brier"], scores[f"{RECOMMENDED}: brier"]
    their_worse = int((theirs > scores["Table 8: aggregate brier"]).drop("mean").sum())
    return [
        Figure(
            f"{RECOMMENDED}: mean Brier on held-out arenas",
            float(ours["mean"]),
            "<",
            _BRIER,
            f"below {_BRIER:.3f}",
            published=float(theirs["mean"]),
        ),
        Figure(
            "agents whose Brier is above the aggregate's"
            + (f" ({', '.join(worse)})" * bool(len(worse))),
            len(worse),
            "==",
            0,
            "none by more than two standard errors over cohorts and 0.0005",
            published=their_worse,
        ),
    ]


def _named(trials: Sequence[Trial]) -> pd.DataFrame:
    firsts = pd.concat([trial.criticised for trial in trials], axis=1)
    firsts.columns = [f"cohort {number}" for number in range(1, len(trials) + 1)]
    true = pd.Series({name: agent.missing or "" for name, agent in AGENTS.items()}, name="true one")
    return pd.concat([true.loc[firsts.index], firsts.fillna("")], axis=1).rename_axis("agent")


def _criticism_figures(trials: Sequence[Trial]) -> list[Figure]:
    missing = pd.Series({name: agent.missing for name, agent in AGENTS.items()}).dropna()
    hits = [int((trial.criticised.reindex(missing.index) == missing).sum()) for trial in trials]
    alarms = [trial.criticised.reindex(INCLUDED).notna() for trial in trials]
    return [
        Figure(
            f"agents whose missing property is named first, of {len(missing)}, mean over cohorts",
            float(np.mean(hits)),
            ">=",
            _NAMED,
        ),
        Figure(
            "share of false alarms over the other agents and cohorts",
            float(np.mean(alarms)),
            "<=",
            _FALSE,
            f"at most {_FALSE:.0%}",
        ),
    ]


def _errors(trials: Sequence[Trial]) -> pd.DataFrame:
    """Average the error of every capability over cohorts, as a share of its range."""
    errors = pd.concat([trial.errors(RECOMMENDED) for trial in trials])
    return errors.groupby(level=0).mean().loc[list(AGENTS)].rename_axis("agent")


def _means(trials: Sequence[Trial], tables: Published) -> pd.DataFrame:
    ours = pd.concat([trial.profiles[PUBLISHED] for trial in trials]).groupby(level=0).mean()
    columns = {}
    for name in ours.columns:
        columns[name] = ours[name]
        columns[f"{name}, Figure 13"] = tables.means[_FIGURE_13.get(name, name)]
    return pd.DataFrame(columns).loc[list(AGENTS)].rename_axis("agent")
