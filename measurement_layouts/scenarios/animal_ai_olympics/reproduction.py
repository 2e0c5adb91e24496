"""Published figures of the Animal-AI Olympics, compared with the obtained ones."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.posterior.posterior import success_rates
from ...inference.sampling.convergence import RHAT_LIMIT
from ..figures import Figure, Reproduction
from ..files import published_table
from ..scenario import Scenario
from .data import SPELLING
from .layouts import published_layout

TABLE = "aaio_figure9.csv"
_CLOSENESS = {
    "visualAbility": (0.995, 0.05),
    "navigationAbility": (0.98, 0.30),
    "noiseLevel": (0.85, 0.05),
}
_NEEDED = ("success_mean", *(f"{node}_mean" for node in _CLOSENESS))
_BIAS = "rightLeftBias"
_COMPARED = [f"{node}_{of}" for node in (*_CLOSENESS, _BIAS) for of in ("mean", "sd")]


def figure_9(folder: Path, subjects: Sequence[str]) -> pd.DataFrame:
    """Read the published profiles from a folder of published tables.

    Parameters
    ----------
    folder : Path
        Folder of ``aaio_figure9.csv``.
    subjects : sequence of str
        Names of the agents in the data.

    Returns
    -------
    DataFrame
        One row per agent, in that order: ``success_mean``, the profile elements' means and, if the
        table has them, their standard deviations.

    Raises
    ------
    DataError
        When the table is not in the folder, lacks a column, has values that are not numbers, or has
        other agents.

    References
    ----------
    Burden et al. (2023), Figure 9.
    """
    path = Path(folder) / TABLE
    need = f"it needs the columns agent, {', '.join(_NEEDED)}, with numbers in all but the first"
    table = published_table(
        folder, TABLE, need, lambda raw: raw[_columns(raw)].astype(float), index="agent"
    )
    names = [SPELLING.get(subject, subject) for subject in subjects]
    for found, what in (
        ([name for name in names if name not in table.index], "lacks"),
        ([name for name in table.index if name not in names], "has, and the data have not,"),
        (list(table.index[table.index.duplicated()]), "has more than once"),
    ):
        if found:
            raise DataError(f"{path} {what} {some(found)}; give the table of the same agents")
    return table.loc[names].set_axis(list(subjects), axis=0)


def _columns(raw: pd.DataFrame) -> list[str]:
    """List the columns that are needed, and the optional ones."""
    return [*_NEEDED, *(name for name in _COMPARED if name in raw and name not in _NEEDED)]


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Fit the published layout to the real data, and compare it with Figure 9.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data, published : Path
        Folders of the real data (which are found or downloaded by default) and of published tables.

    Raises
    ------
    DataError
        When either cannot be read; this is checked before anything is fitted.
    """
    evaluation = scenario.load(data)
    table = figure_9(published, evaluation.subjects)
    found = fit(published_layout(), evaluation, seed=1)
    return Reproduction(compare(found, table), {"profiles and Figure 9": beside(found, table)})


def compare(fit: Fit, table: pd.DataFrame) -> list[Figure]:
    """Compare a fit of the published layout to the real data with Figure 9.

    Parameters
    ----------
    fit : Fit
        Fit of all agents; an agent that failed counts as different.
    table : DataFrame
        Result of `figure_9`.
    """
    apart = success_rates(fit).reindex(table.index).round(2).sub(table["success_mean"]).abs()
    figures = [
        Figure(
            "agents whose success rate differs from Figure 9 at two decimals",
            int((~(apart < 1e-9)).sum()),
            "==",
            0,
            f"success rates equal to two decimals for all {len(table)} agents",
            published=0,
        )
    ]
    profiles = fit.profiles()
    means = profiles.pivot_table(index="subject", columns="node", values="mean").loc[fit.subjects]
    for node, limits in _CLOSENESS.items():
        figures += _closeness(node, means[node], table.loc[fit.subjects, f"{node}_mean"], limits)
    return [*figures, *_sampling(fit)]


def beside(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Compare means and standard deviations of all four elements with Figure 9.

    There are no goals here. The means of the bias have a correlation of only about 0.5. Its
    posterior is nearly its prior (standard deviations are about 0.8, compared with 1), since 22 of
    the 69 tasks have a reward to one side. Monte Carlo error is not the reason: agents with the
    same outcomes differ by at most 0.06 within Figure 9 and within this fit, but by about 0.4
    between the two. The published coding of ``XPos`` is therefore not the side that was recorded;
    of some twenty codings that were tried for 14 agents, none has a correlation above 0.45, and
    this one has 0.37.

    Parameters
    ----------
    fit : Fit
        Fit of all agents.
    table : DataFrame
        Result of `figure_9`.

    Returns
    -------
    DataFrame
        One row per element and statistic of the table: ``correlation``, and ``mean absolute
        difference`` and ``mean difference`` of the fit from the table.
    """
    profiles = fit.profiles().set_index(["subject", "node"])
    rows = {}
    for name in (column for column in _COMPARED if column in table):
        node, _, statistic = name.rpartition("_")
        ours = profiles[statistic].xs(node, level="node").loc[fit.subjects]
        apart = ours - table.loc[fit.subjects, name]
        rows[f"{node}: {statistic}"] = {
            "correlation": float(np.corrcoef(ours, table.loc[fit.subjects, name])[0, 1]),
            "mean absolute difference": float(apart.abs().mean()),
            "mean difference": float(apart.mean()),
        }
    return pd.DataFrame(rows).T.rename_axis("element")


def _closeness(
    node: str, ours: pd.Series, theirs: pd.Series, limits: tuple[float, float]
) -> list[Figure]:
    least, most = limits
    return [
        Figure(
            f"{node}: correlation of means",
            float(np.corrcoef(ours, theirs)[0, 1]),
            ">=",
            least,
            f"r >= {least}",
        ),
        Figure(
            f"{node}: mean absolute difference",
            float((ours - theirs).abs().mean()),
            "<=",
            most,
            f"mean absolute difference <= {most}",
        ),
    ]


def _sampling(fit: Fit) -> list[Figure]:
    verdict = fit.diagnostics()
    high = verdict.index[~(verdict["rhat"] <= RHAT_LIMIT)]
    named = f" (above: {', '.join(high)})" if len(high) else ""
    return [
        Figure(
            "divergences", int(verdict["divergences"].sum()), "<=", 0, "no divergences", published=0
        ),
        Figure(
            f"agents with an R-hat above {RHAT_LIMIT} that are not named{named}",
            sum(not verdict.loc[name, "reason"] for name in high),
            "==",
            0,
            f"every R-hat <= {RHAT_LIMIT} or the agent named",
        ),
    ]
