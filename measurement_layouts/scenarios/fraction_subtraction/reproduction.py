"""Results of the layouts for 536 pupils, compared with an independent estimate and baselines."""

import time
from pathlib import Path

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.posterior.diagnostics import verdicts
from ...validation.prediction.result import CrossValidation
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from ..study import judge, score_methods
from .dina import Dina, dina
from .mastery import masteries

RECOMMENDED = "recommended layout"
_CORRELATED = 0.8
_NOT_CONVERGED = 0.05
_SECONDS = 2.0
_REPEATS = 3


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare profiles with the DINA model's estimates, and forecasts with baselines.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data : Path, optional
        Folder of the real data (default: the folder in the environment variable).
    published : Path or None
        Not used: the DINA model is fitted here.

    Raises
    ------
    DataError
        When the data cannot be read; this is checked before anything is fitted.
    """
    evaluation = scenario.load(data)
    pooled = dina(evaluation.successes, evaluation.items[list(scenario.columns)])
    start = time.perf_counter()
    found = fit(scenario.layouts[RECOMMENDED](), evaluation, seed=1, progressbar=False)
    seconds = time.perf_counter() - start
    scores = score_methods(scenario, evaluation, repeats=_REPEATS, progressbar=False)
    skills = beside_dina(found, pooled)
    return Reproduction(
        [
            *_skill_figures(found, pooled, skills),
            *_sampling_figures(found, seconds),
            *judge(scenario, scores),
            _item_figure(evaluation, scores),
        ],
        {
            "skills, by profiles and by the DINA model": skills,
            "Brier scores on held-out items": scores.summary(),
            "profile flags": flags(found),
        },
    )


def item_mean_brier(evaluation: Evaluation) -> float:
    """Score the forecast that a pupil's success is the mean success of the other pupils on an item.

    Unlike the other methods it uses the outcomes of the item, and not those of the pupil.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation with one trial of each pupil on each item, and at least two pupils.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0], [1, 1]], ["Ann", "Bob"], items.index)
    >>> from measurement_layouts.evaluations.evaluation import Evaluation
    >>> item_mean_brier(Evaluation.from_wide(outcomes, items))
    0.5
    """
    right = evaluation.successes.to_numpy(float)
    others = (right.sum(axis=0) - right) / (len(right) - 1)
    return float(((others - right) ** 2).mean())


def beside_dina(fit: Fit, pooled: Dina) -> pd.DataFrame:
    """Compare skills by profiles with those by the DINA model.

    Parameters
    ----------
    fit : Fit
        Fit of one of this scenario's layouts.
    pooled : Dina
        Estimates for the same pupils.

    Returns
    -------
    DataFrame
        Indexed by skill: mean over pupils by ``profiles`` and by ``dina``, and the ``correlation``
        of the two over pupils.
    """
    ours = masteries(fit)
    theirs = pooled.masteries.loc[ours.index].set_axis(ours.columns, axis=1)
    return pd.DataFrame(
        {"profiles": ours.mean(), "dina": theirs.mean(), "correlation": ours.corrwith(theirs)}
    ).rename_axis("skill")


def flags(fit: Fit) -> pd.DataFrame:
    """Summarise the information of the answers about every profile element.

    Parameters
    ----------
    fit : Fit
        Fit of any layout.

    Returns
    -------
    DataFrame
        Indexed by node and label: medians of ``shrinkage`` and ``sd`` over pupils, and
        ``prior_dominated``, the share of pupils for whom the element is prior-dominated.
    """
    table = fit.profiles().fillna({"label": ""})
    profiles = table.groupby(["node", "label"], sort=False)
    medians = profiles[["shrinkage", "sd"]].median()
    return medians.assign(prior_dominated=profiles["prior_dominated"].mean())


def _skill_figures(fit: Fit, pooled: Dina, skills: pd.DataFrame) -> list[Figure]:
    ours = masteries(fit)
    theirs = pooled.masteries.loc[ours.index]
    together = np.corrcoef(ours.to_numpy().ravel(), theirs.to_numpy().ravel())[0, 1]
    means = np.corrcoef(skills["profiles"], skills["dina"])[0, 1]
    return [
        Figure(name, float(value), ">=", _CORRELATED, f"r >= {_CORRELATED}")
        for name, value in (
            ("correlation with the DINA model, pupils and skills together", together),
            ("correlation with the DINA model, means of the eight skills", means),
        )
    ]


def _sampling_figures(fit: Fit, seconds: float) -> list[Figure]:
    verdict = verdicts(fit)
    return [
        Figure(
            f"share of {len(verdict)} pupils whose status is not ok",
            float((verdict["status"] != "ok").mean()),
            "<=",
            _NOT_CONVERGED,
        ),
        Figure("seconds per pupil, with compilation", seconds / len(verdict), "<=", _SECONDS),
    ]


def _item_figure(evaluation: Evaluation, scores: CrossValidation) -> Figure:
    ours = float(scores.summary()["mean"][RECOMMENDED])
    return Figure(
        "item mean of the other pupils: mean Brier on all items",
        item_mean_brier(evaluation),
        ">",
        ours,
        f"above {ours:.4f}, that of the {RECOMMENDED}",
    )
