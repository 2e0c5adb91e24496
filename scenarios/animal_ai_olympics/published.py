"""Published figures of the Animal-AI Olympics, and how close ours come."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ...inference.convergence import RHAT_LIMIT
from ...inference.errors import DataError
from ...inference.wording import some
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from .data import SPELLING
from .layouts import published_layout

if TYPE_CHECKING:
    from ...inference.prediction.result import CrossValidation
    from ...inference.results import Fit

TABLE = "aaio_figure9.csv"
MIDDLE = (0.2, 0.7)
OURS = "recommended layout"
_CLOSENESS = {
    "visualAbility": (0.995, 0.05),
    "navigationAbility": (0.98, 0.30),
    "noiseLevel": (0.85, 0.05),
}
_NEEDED = ("success_mean", *(f"{node}_mean" for node in _CLOSENESS))


def figure_9(folder: Path, subjects: Sequence[str]) -> pd.DataFrame:
    """Read the published profiles from a folder of published tables.

    Parameters
    ----------
    folder : Path
        Where ``aaio_figure9.csv`` lies.
    subjects : sequence of str
        Agents as the data spell them.

    Returns
    -------
    DataFrame
        One row per agent, in that order: ``success_mean`` and the profile elements' means.

    Raises
    ------
    DataError
        When the table is not in the folder, lacks a column, holds something else than numbers, or
        its agents are others.

    References
    ----------
    Burden et al. (2023), Figure 9.
    """
    path = Path(folder) / TABLE
    if not path.is_file():
        raise DataError(f"there is no {path}; give the folder of published tables as --published")
    try:
        table = pd.read_csv(path, index_col="agent")[list(_NEEDED)].astype(float)
    except (KeyError, ValueError) as error:
        raise DataError(
            f"{path} cannot be read ({error}); it needs the columns agent, {', '.join(_NEEDED)}, "
            "with numbers in all but the first"
        ) from error
    names = [SPELLING.get(subject, subject) for subject in subjects]
    for found, what in (
        ([name for name in names if name not in table.index], "lacks"),
        ([name for name in table.index if name not in names], "has, and the data have not,"),
        (list(table.index[table.index.duplicated()]), "has more than once"),
    ):
        if found:
            raise DataError(f"{path} {what} {some(found)}; give the table of the same agents")
    return table.loc[names].set_axis(list(subjects), axis=0)


def reproduce(scenario: Scenario, data: Path | None, published: Path) -> Reproduction:
    """Fit the published layout to the real data, and hold it against Figure 9.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data, published : Path
        Folders of the real data (found or downloaded without one) and of published tables.

    Raises
    ------
    DataError
        When either cannot be read; before anything is fitted.
    """
    from ...inference.fitting import fit

    evaluation = scenario.load(data)
    table = figure_9(published, evaluation.subjects)
    return Reproduction(compare(fit(published_layout(), evaluation, seed=1), table))


def compare(fit: "Fit", table: pd.DataFrame) -> list[Figure]:
    """Hold a fit of the published layout to the real data against Figure 9.

    Parameters
    ----------
    fit : Fit
        Of all agents; one that failed counts as differing.
    table : DataFrame
        As `figure_9` reads it.
    """
    rates = (fit.observed["successes"].sum("item") / fit.observed["trials"].sum("item")).to_series()
    apart = rates.reindex(table.index).round(2).sub(table["success_mean"]).abs()
    figures = [
        Figure(
            "agents whose success rate differs from Figure 9 at two decimals",
            0,
            int((~(apart < 1e-9)).sum()),
            "==",
            0,
            f"success rates equal to two decimals for all {len(table)} agents",
        )
    ]
    profiles = fit.profiles()
    means = profiles.pivot_table(index="subject", columns="node", values="mean").loc[fit.subjects]
    for node, limits in _CLOSENESS.items():
        figures += _closeness(node, means[node], table.loc[fit.subjects, f"{node}_mean"], limits)
    return [*figures, *_sampling(fit)]


def judge(scores: "CrossValidation") -> list[Figure]:
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


def _closeness(
    node: str, ours: pd.Series, theirs: pd.Series, limits: tuple[float, float]
) -> list[Figure]:
    least, most = limits
    return [
        Figure(
            f"{node}: correlation of means",
            None,
            float(np.corrcoef(ours, theirs)[0, 1]),
            ">=",
            least,
            f"r >= {least}",
        ),
        Figure(
            f"{node}: mean absolute difference",
            None,
            float((ours - theirs).abs().mean()),
            "<=",
            most,
            f"mean absolute difference <= {most}",
        ),
    ]


def _sampling(fit: "Fit") -> list[Figure]:
    verdict = fit.diagnostics()
    high = verdict.index[~(verdict["rhat"] <= RHAT_LIMIT)]
    named = f" (above: {', '.join(high)})" if len(high) else ""
    return [
        Figure("divergences", 0, int(verdict["divergences"].sum()), "<=", 0, "no divergences"),
        Figure(
            f"agents with an R-hat above {RHAT_LIMIT} that are not named{named}",
            None,
            sum(not verdict.loc[name, "reason"] for name in high),
            "==",
            0,
            f"every R-hat <= {RHAT_LIMIT} or the agent named",
        ),
    ]
