"""Effects of the four departures from Table 5, each of them and all together."""

import numpy as np
import pandas as pd

from ....evaluations.evaluation import Evaluation
from ....inference.fitting import fit
from ....layouts import Layout
from ....validation.prediction.score import score_forecast
from ...figures import Figure
from ..agents import AGENTS
from ..layouts import DEPARTURES, printed_layout
from ..truth import RANGES, normalised
from .trial import means_of, split, truth_of, unsettled

MENDED, PRINTED = "corrected", "as printed"
_UNHIDDEN = {"timeUnderOcc": 0.0, "numberOfPositions": 1.0}


def variants() -> dict[str, Layout]:
    """Make the published layout, that of Table 5, and those with one departure left out.

    Examples
    --------
    >>> list(variants())
    ['corrected', 'demand as printed', 'occluder as printed', 'ranges as printed',
    'walking as printed', 'as printed']
    """
    back = {f"{name} {PRINTED}": [n for n in DEPARTURES if n != name] for name in DEPARTURES}
    return {
        MENDED: printed_layout(DEPARTURES),
        **{name: printed_layout(mended) for name, mended in back.items()},
        PRINTED: printed_layout(),
    }


def recorded(evaluation: Evaluation) -> Evaluation:
    """Set a time of 0 s and one position in arenas without hiding, as Table 5 needs them."""
    items = evaluation.items.fillna(_UNHIDDEN)
    return Evaluation(items, evaluation.successes, evaluation.trials)


def compare_variants(
    seed: int, agents: list[str] | None = None, draws: int = 500, progressbar: bool = True
) -> pd.DataFrame:
    """Fit every variant to the same four fifths of a cohort's arenas, and score it.

    Parameters
    ----------
    seed : int
        Seed of cohort, split and fits; as in `run_trial`.
    agents : list of str, optional
        Agents to fit (default: all).
    draws : int
        Number of draws of each of four chains, after as many for tuning.
    progressbar : bool
        Whether to show the number of finished agents and the remaining time.

    Returns
    -------
    DataFrame
        One row per variant. ``RMSE, overall`` and ``RMSE, included``: root mean square errors of
        capabilities as shares of their ranges, averaged over capabilities, for all agents and for
        those whose design the layout can express. ``Brier``: mean score on the held-out arenas;
        ``Brier, change`` and ``standard error``: the difference from the corrected layout, over
        agents. ``unsettled``: number of agents with an R-hat above 1.05.

    References
    ----------
    Burden et al. (2023), Tables 1, 5 and 8.
    """
    evaluation, training, held_out = split(seed, agents)
    rows, briers = {}, {}
    for name, layout in variants().items():
        full = "occluder" not in name and name != PRINTED
        known, seen = (each if full else recorded(each) for each in (evaluation, training))
        found = fit(
            layout,
            seen,
            draws=draws,
            tune=draws,
            chains=4,
            seed=seed,
            reruns=0,
            progressbar=progressbar,
        )
        ranges, truth = truth_of(layout)
        errors = normalised(means_of(found), ranges) - truth.loc[found.subjects]
        scores = score_forecast(found.forecast(known.items.loc[held_out]), known)
        briers[name] = scores["brier"]
        included = [who for who in errors.index if AGENTS[who].missing is None]
        change = briers[name] - briers[MENDED]
        rows[name] = {
            "RMSE, overall": _mean_error(errors),
            "RMSE, included": _mean_error(errors.loc[included]),
            "Brier": float(briers[name].mean()),
            "Brier, change": float(change.mean()),
            "standard error": float(change.std(ddof=1) / np.sqrt(len(change))),
            "unsettled": len(unsettled(found)),
        }
    return pd.DataFrame(rows).T.rename_axis("Table 5")


def variant_figures(variants: pd.DataFrame) -> list[Figure]:
    """Compare the corrected layout with Table 5 as printed.

    Parameters
    ----------
    variants : DataFrame
        Result of `compare_variants`.

    Examples
    --------
    >>> columns = ["RMSE, overall", "RMSE, included", "Brier"]
    >>> made = pd.DataFrame([[0.1, 0.1, 0.1], [0.4, 0.4, 0.2]], [MENDED, PRINTED], columns)
    >>> [figure.holds for figure in variant_figures(made)]
    [True, True, True]
    """
    return [
        Figure(
            f"Table 5 {MENDED}, first cohort: {name}",
            float(variants[name][MENDED]),
            "<",
            float(variants[name][PRINTED]),
            f"below Table 5 {PRINTED}",
        )
        for name in ("RMSE, overall", "RMSE, included", "Brier")
    ]


def _mean_error(errors: pd.DataFrame) -> float:
    """Average the capabilities' root mean square errors, as in the columns of Table 1."""
    return float(np.sqrt((errors[list(RANGES)] ** 2).mean()).mean())
