"""Published profiles of the Animal-AI Olympics, compared with the obtained ones."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

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
    names = [SPELLING.get(subject, subject) for subject in subjects]

    def prepare(raw: pd.DataFrame) -> pd.DataFrame:
        return raw[_NEEDED].astype(float).loc[names].set_axis(list(subjects), axis=0)

    return published_table(folder, TABLE, prepare, index="agent")


def compare(fit: Fit, table: pd.DataFrame) -> list[Figure]:
    """Compare success rates, posterior means and the sampling with what they should be."""
    difference = (success_rates(fit).loc[table.index].round(2) - table["success_mean"]).abs()
    name = "agents whose success rate differs from Figure 9 at two decimals"
    figures = [Figure(name, int((~(difference < 1e-9)).sum()), "==", 0, published=0)]
    numbers = beside(fit, table)
    for node, (least, most) in _CLOSENESS.items():
        row, name = f"{node}: mean", f"{node}: correlation of means"
        figures.append(Figure(name, float(numbers["correlation"][row]), ">=", least))
        name = "mean absolute difference"
        figures.append(Figure(f"{node}: {name}", float(numbers[name][row]), "<=", most))
    verdict = fit.diagnostics()
    divergences = int(verdict["divergences"].sum())
    figures.append(Figure("divergences", divergences, "<=", 0, published=0))
    high = verdict[~(verdict["rhat"] <= RHAT_LIMIT)]
    name = f"agents with an R-hat above {RHAT_LIMIT} that are not named, of {len(high)}"
    figures.append(Figure(name, int(high["reason"].eq("").sum()), "==", 0))
    return figures


def beside(fit: Fit, table: pd.DataFrame) -> pd.DataFrame:
    """Compare posterior means and standard deviations with those of Figure 9."""
    profiles = fit.profiles().set_index(["subject", "node"])
    rows = {}
    for name in _NEEDED[1:]:
        node, _, statistic = name.rpartition("_")
        ours = profiles[statistic].xs(node, level="node").loc[fit.subjects]
        theirs = table.loc[fit.subjects, name]
        rows[f"{node}: {statistic}"] = {
            "correlation": float(np.corrcoef(ours, theirs)[0, 1]),
            "mean absolute difference": float((ours - theirs).abs().mean()),
            "mean difference": float((ours - theirs).mean()),
        }
    return pd.DataFrame(rows).T.rename_axis("element")
