"""Shared values and scores, compared with independent ones; items that differ between batches."""

from pathlib import Path

import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...validation.prediction.cross_validate import cross_validate
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from .batches import batch_differences

RASCH, RECOMMENDED, BATCHES = (
    "Rasch layout",
    "recommended layout",
    "items that differ between batches",
)
KNOWN = {"spread": 0.92, "weight": 0.70}
"""Shared values of the recommended layout in log-odds, from a separate model in PyMC."""
KNOWN_BRIER = {RASCH: 0.1916, RECOMMENDED: 0.1892}
"""Mean scores of three splits, from separate point estimates of the same two models."""
_SPLITS = (0, 1, 2)
_TOLERANCE = 0.001
_SDS = 2.0


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare a population with independent values, and find items that differ between batches.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data : Path, optional
        Folder of the real data (default: the folder in the environment variable).
    published : Path or None
        Not used: the source publishes the data, but no results of these models.

    Raises
    ------
    DataError
        When the data cannot be read; this is checked before anything is fitted.
    """
    evaluation = scenario.load(data)
    shared = _fitted(scenario, RECOMMENDED, evaluation).population()
    differences = batch_differences(_fitted(scenario, BATCHES, evaluation))
    scores = held_out_scores(scenario, evaluation)
    return Reproduction(
        [*shared_figures(shared), *score_figures(scores), *batch_figures(differences)],
        {
            "values that students share": shared.set_index("node")[["mean", "sd", "low", "high"]],
            "Brier scores on held-out outcomes, by split": scores,
            "how much easier for the second batch, in log-odds": differences,
        },
    )


def _fitted(scenario: Scenario, name: str, evaluation: Evaluation) -> Fit:
    layout = scenario.layouts[name]()
    return fit(layout, evaluation, draws=500, tune=500, chains=2, seed=1, progressbar=False)


def held_out_scores(scenario: Scenario, evaluation: Evaluation) -> pd.DataFrame:
    """Score layouts and baselines on a random fifth of the outcomes, three times.

    Parameters
    ----------
    scenario : Scenario
        This one.
    evaluation : Evaluation
        All outcomes.

    Returns
    -------
    DataFrame
        Brier scores over all held-out outcomes, with one row per method and one column per split.
    """
    methods = {name: make() for name, make in scenario.layouts.items()} | dict(scenario.baselines)
    found = {}
    for split in _SPLITS:
        scores = cross_validate(
            methods,
            evaluation,
            split="cells",
            repeats=1,
            columns=scenario.columns,
            seed=split,
            progressbar=False,
        )
        found[f"split {split}"] = scores.summary()["mean"]
    return pd.DataFrame(found)


def shared_figures(shared: pd.DataFrame) -> list[Figure]:
    """Compare a spread and a weight with independent values, in posterior standard deviations."""
    rows = shared.set_index("node")[["mean", "sd"]].astype(float)
    distances = (rows["mean"] - pd.Series(KNOWN)).div(rows["sd"]).abs()[list(KNOWN)]
    return [
        Figure(
            f"{name}: distance from {known:.2f}, in posterior standard deviations",
            distance,
            "<=",
            _SDS,
        )
        for (name, known), distance in zip(KNOWN.items(), distances, strict=True)
    ]


def score_figures(scores: pd.DataFrame) -> list[Figure]:
    """Compare mean Brier scores over splits with independent ones, and layouts with each other."""
    means = scores.mean(axis=1)
    return [
        *(
            Figure(
                f"{name}: mean Brier of held-out outcomes, three splits",
                float(means[name]),
                "<=",
                known + _TOLERANCE,
                published=known,
            )
            for name, known in KNOWN_BRIER.items()
        ),
        Figure(
            f"{BATCHES}: mean Brier of held-out outcomes, three splits",
            float(means[BATCHES]),
            "<",
            float(means[RECOMMENDED]),
            f"below the {RECOMMENDED}",
        ),
    ]


def batch_figures(differences: pd.DataFrame) -> list[Figure]:
    """Count the items that differ between batches, among the rewritten ones and the others."""
    changed = differences["rewritten"] == 1
    sizes = differences["mean"].abs().groupby(changed).mean()
    return [
        Figure(
            "rewritten items: mean size of the difference between batches, log-odds",
            float(sizes[True]),
            ">",
            float(sizes[False]),
            "above that of the items with the same wording",
        ),
        *(
            Figure(
                f"{what} whose difference between batches has an interval without 0",
                float(differences.loc[own, "differs"].sum()),
                ">=",
                0,
                "as found",
            )
            for what, own in (("rewritten items, of 8,", changed), ("others, of 5,", ~changed))
        ),
    ]
