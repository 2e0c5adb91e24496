"""Published figures of the Animal-AI Olympics, and how close ours come."""

from pathlib import Path

import numpy as np
import pandas as pd

from ...inference.diagnostics import RHAT_LIMIT
from ...inference.errors import DataError
from ...inference.results import Fit
from ...inference.validation import HoldOut
from ..figures import Figure
from .data import SPELLING

TABLE = "aaio_figure9.csv"
MIDDLE = (0.2, 0.7)
OURS = "recommended layout"
_CLOSENESS = {
    "visualAbility": (0.995, 0.05),
    "navigationAbility": (0.98, 0.30),
    "noiseLevel": (0.85, 0.05),
}


def compare(fit: Fit, folder: Path) -> list[Figure]:
    """Hold a fit of the published layout to the real data against Figure 9.

    Raises
    ------
    DataError
        When the table is not in the folder, or its agents are not the fit's.
    """
    table = _figure_9(Path(folder), fit.subjects)
    rates = (fit.observed["successes"].sum("item") / fit.observed["trials"].sum("item")).to_series()
    unequal = int((rates.round(2).sub(table["success_mean"]).abs() > 1e-9).sum())
    figures = [
        Figure(
            "agents whose success rate differs from Figure 9 at two decimals",
            0,
            unequal,
            "==",
            0,
            "success rates equal to two decimals for all 68 agents",
        )
    ]
    profiles = fit.profiles()
    means = profiles.pivot_table(index="subject", columns="node", values="mean").loc[fit.subjects]
    for node, (least, most) in _CLOSENESS.items():
        ours, theirs = means[node], table[f"{node}_mean"]
        correlation = float(np.corrcoef(ours, theirs)[0, 1])
        difference = float((ours - theirs).abs().mean())
        figures += [
            Figure(
                f"{node}: correlation of means", None, correlation, ">=", least, f"r >= {least}"
            ),
            Figure(
                f"{node}: mean absolute difference",
                0,
                difference,
                "<=",
                most,
                f"mean absolute difference <= {most}",
            ),
        ]
    verdict = fit.diagnostics()
    figures.append(
        Figure(
            "divergences",
            0,
            int(verdict["divergences"].sum()),
            "<=",
            0,
            "no divergences",
        )
    )
    high = verdict.index[~(verdict["rhat"] <= RHAT_LIMIT)]
    named = f" (above: {', '.join(high)})" if len(high) else ""
    figures.append(
        Figure(
            f"agents with an R-hat above {RHAT_LIMIT} that are not named{named}",
            None,
            sum(not verdict.loc[name, "reason"] for name in high),
            "==",
            0,
            "every R-hat <= 1.01 or the agent named",
        )
    )
    return figures


def judge(scores: HoldOut) -> list[Figure]:
    """Report every method's mean Brier score on held-out items; ours is to be below each."""
    figures = []
    for who, window in (("all agents", (0.0, 1.0)), ("agents with success in [0.2, 0.7]", MIDDLE)):
        table = scores.summary(success=window)["mean"]
        ours, others = float(table[OURS]), table.drop(OURS)
        name = "{}: mean Brier on held-out items, {}".format
        goal = "below every other method's"
        figures.append(Figure(name(OURS, who), None, ours, "<", float(others.min()), goal))
        figures += [
            Figure(name(method, who), None, float(value), ">", ours, f"above that of the {OURS}")
            for method, value in others.items()
        ]
    return figures


def _figure_9(folder: Path, subjects: list[str]) -> pd.DataFrame:
    path = folder / TABLE
    if not path.is_file():
        raise DataError(f"there is no {path}; give the folder of published tables as --published")
    table = pd.read_csv(path, index_col="agent")
    names = [SPELLING.get(subject, subject) for subject in subjects]
    missing = sorted(set(names) ^ set(table.index))
    if missing:
        raise DataError(f"{path} and the fit have different agents: {', '.join(missing)}")
    return table.loc[names].set_axis(subjects, axis=0)
