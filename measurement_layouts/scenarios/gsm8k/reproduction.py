"""Published accuracies of GSM8K, and scores of forecasts of held-out problems."""

from pathlib import Path

import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...inference.fitting import fit
from ...inference.posterior.diagnostics import verdicts
from ...inference.sampling.convergence import RHAT_LIMIT
from ..figures import Figure, Reproduction
from ..scenario import Scenario
from ..study import judge, score_methods
from .data import SPELLING, accuracies
from .horizons import horizons

RECOMMENDED = "recommended layout"
_CLOSE = 0.3  # points within which accuracies agree
_AGREEING = 34  # least number of models that agree, of 44
_FARTHEST = 5.0  # largest difference in points, due to answers in an unusual format
_NOT_CONVERGED = 0.05
_REPEATS = 3
_DEMANDS = {
    "planningAbility": "steps",
    "calculationAbility": "digits",
    "readingAbility": "doublings",
}


def reproduce(scenario: Scenario, data: Path | None, published: Path | None) -> Reproduction:
    """Compare success rates with the published accuracies, and forecasts with baselines.

    Parameters
    ----------
    scenario : Scenario
        This one.
    data : Path, optional
        Folder of the real data (default: the folder in the environment variable).
    published : Path or None
        Not used: the published accuracies are part of the data.

    Raises
    ------
    DataError
        When the data cannot be read; this is checked before anything is fitted.
    """
    evaluation = scenario.load(data)
    rates = beside_published(evaluation, accuracies(data))
    found = fit(
        scenario.layouts[RECOMMENDED](), evaluation, target_accept=0.9, seed=1, progressbar=False
    )
    scores = score_methods(scenario, evaluation, repeats=_REPEATS, progressbar=False)
    return Reproduction(
        [*accuracy_figures(rates), *_sampling_figures(found), *judge(scenario, scores)],
        {
            "success rates and published accuracies": rates,
            "Brier scores on held-out problems": scores.summary(),
            "horizons in steps": horizons(found),
            "profile flags": flags(found),
        },
    )


def beside_published(evaluation: Evaluation, published: pd.Series) -> pd.DataFrame:
    """Compare success rates with published accuracies.

    Parameters
    ----------
    evaluation : Evaluation
        Evaluation of models, with their names in the outcomes.
    published : Series
        Accuracies in percent, by published name of the model.

    Returns
    -------
    DataFrame
        Indexed by model: ``obtained`` (rounded as published) and ``published``, in percent, and
        their ``difference`` in points.

    Raises
    ------
    DataError
        When a model has no published accuracy.
    """
    rates = evaluation.success_rates()
    names = [SPELLING.get(model, model) for model in rates.index]
    lacking = [name for name in names if name not in published.index]
    if lacking:
        raise DataError(
            f"there is no published accuracy of {some(lacking)}; leave those models out, or name "
            "them as the table does"
        )
    table = pd.DataFrame({"obtained": (100 * rates).round(2)})
    table["published"] = published.loc[names].to_numpy()
    table["difference"] = (table["obtained"] - table["published"]).round(2)
    return table


def accuracy_figures(rates: pd.DataFrame) -> list[Figure]:
    """Judge the agreement of success rates with published accuracies.

    Parameters
    ----------
    rates : DataFrame
        Result of `beside_published`.
    """
    apart = rates["difference"].abs()
    return [
        Figure(
            f"models within {_CLOSE} points of the published accuracy, of {len(rates)}",
            int((apart <= _CLOSE + 1e-9).sum()),
            ">=",
            _AGREEING,
        ),
        Figure(
            f"largest difference in points ({apart.idxmax()})",
            float(apart.max()),
            "<=",
            _FARTHEST,
            f"at most {_FARTHEST:g}: answers in an unusual format are read in different ways",
        ),
    ]


def flags(fit: Fit) -> pd.DataFrame:
    """Summarise prior-dominated elements, and abilities beyond the problems' demands.

    Parameters
    ----------
    fit : Fit
        Fit of the recommended layout.

    Returns
    -------
    DataFrame
        Indexed by node: medians of ``mean``, ``sd`` and ``shrinkage`` over models;
        ``prior_dominated``, the share of models for which it is so; ``hard``, the demand that one
        problem in a hundred exceeds; and ``beyond``, the share of models whose mean is above it.
        For these, outcomes only limit the ability from below, whatever the shrinkage.
    """
    profiles = fit.profiles()
    grouped = profiles.groupby("node", sort=False)
    table = grouped[["mean", "sd", "shrinkage"]].median()
    table["prior_dominated"] = grouped["prior_dominated"].mean()
    means = profiles.pivot(index="subject", columns="node", values="mean")
    for node, feature in _DEMANDS.items():
        hard = float(fit.constants[feature].quantile(0.99))
        table.loc[node, ["hard", "beyond"]] = hard, float((means[node] > hard).mean())
    return table


def _sampling_figures(fit: Fit) -> list[Figure]:
    verdict = verdicts(fit)
    bad = list(verdict.index[verdict["status"] != "ok"])
    named = f" ({', '.join(bad)})" if bad else ""
    return [
        Figure(
            f"share of models whose status is not ok{named}",
            len(bad) / len(verdict),
            "<=",
            _NOT_CONVERGED,
            f"at most {_NOT_CONVERGED}: R-hat up to {RHAT_LIMIT} for all others",
        )
    ]
