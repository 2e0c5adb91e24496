"""Published profiles of the Animal-AI Olympics, compared with the obtained ones."""

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
from . import SPELLING, published_layout

TABLE = "aaio_figure9.csv"
_CLOSENESS = {  # least correlation and largest mean absolute difference of posterior means
    "visualAbility": (0.995, 0.05),
    "navigationAbility": (0.98, 0.30),
    "noiseLevel": (0.85, 0.05),
}
_COMPARED = (*_CLOSENESS, "rightLeftBias")
_NEEDED = ["success_mean", *(f"{node}_{of}" for node in _COMPARED for of in ("mean", "sd"))]


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Fit the 68 real agents, and compare their profiles with Figure 9."""
    evaluation = scenario.load(data)
    table = figure_9(published, evaluation.subjects)
    fitted = fit(published_layout(), evaluation, seed=1)
    return Reproduction(compare(fitted, table), {"profiles and Figure 9": beside(fitted, table)})


def figure_9(folder: Path, subjects: Sequence[str]) -> pd.DataFrame:
    """Read Figure 9, one row for each subject of the data."""
    need = f"it needs the columns agent, {', '.join(_NEEDED)}, with numbers in all but the first"
    table = published_table(
        folder, TABLE, need, lambda raw: raw[_NEEDED].astype(float), index="agent"
    )
    names = [SPELLING.get(subject, subject) for subject in subjects]
    if sorted(names) != sorted(table.index):
        different = set(names).symmetric_difference(table.index) or table.index.duplicated()
        raise DataError(
            f"{Path(folder) / TABLE} has not one row for each agent of the data "
            f"({some(sorted(map(str, different)))}); give the table of the same agents"
        )
    return table.loc[names].set_axis(list(subjects), axis=0)


def compare(fit: Fit, table: pd.DataFrame) -> list[Figure]:
    """Compare success rates, posterior means and the sampling with what they should be."""
    apart = success_rates(fit).reindex(table.index).round(2).sub(table["success_mean"]).abs()
    figures = [
        Figure(
            "agents whose success rate differs from Figure 9 at two decimals",
            int((~(apart < 1e-9)).sum()),
            "==",
            0,
            published=0,
        )
    ]
    numbers = beside(fit, table)
    correlation, difference = numbers["correlation"], numbers["mean absolute difference"]
    for node, (least, most) in _CLOSENESS.items():
        name, row = f"{node}: correlation of means", f"{node}: mean"
        figures.append(Figure(name, float(correlation[row]), ">=", least))
        name = f"{node}: mean absolute difference"
        figures.append(Figure(name, float(difference[row]), "<=", most))
    verdict = fit.diagnostics()
    high = verdict.index[~(verdict["rhat"] <= RHAT_LIMIT)]
    unnamed = sum(not verdict.loc[name, "reason"] for name in high)
    name = f"agents with an R-hat above {RHAT_LIMIT} that are not named, of {len(high)}"
    divergences = int(verdict["divergences"].sum())
    figures.append(Figure("divergences", divergences, "<=", 0, published=0))
    return [*figures, Figure(name, unnamed, "==", 0)]


def beside(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Compare posterior means and standard deviations with those of Figure 9."""
    profiles = fit.profiles().set_index(["subject", "node"])
    rows = {}
    for name in _NEEDED[1:]:
        node, _, statistic = name.rpartition("_")
        ours = profiles[statistic].xs(node, level="node").loc[fit.subjects]
        apart = ours - table.loc[fit.subjects, name]
        rows[f"{node}: {statistic}"] = {
            "correlation": float(np.corrcoef(ours, table.loc[fit.subjects, name])[0, 1]),
            "mean absolute difference": float(apart.abs().mean()),
            "mean difference": float(apart.mean()),
        }
    return pd.DataFrame(rows).T.rename_axis("element")
