"""Models' choices as an evaluation, beside people's log-odds in each scenario."""

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, logsumexp

from ..common.errors import DataError
from ..evaluations.evaluation import Evaluation
from .judgments import SituationalJudgments, refuse_no_judgments

_COUNTS = ["positive", "negative"]
_SCORES = np.linspace(-6, 6, 241)
_STEP = 1e-3  # of numerical curvatures, in logits
_LARGEST = 4.0  # largest absolute mean (in logits) or log-spread that counts as an estimate


def choices(judgments: SituationalJudgments) -> Evaluation:
    """Make an evaluation of models' choices: models by scenarios, successes are trait-positive.

    Parameters
    ----------
    judgments : SituationalJudgments
        Judgments with samples of at least one model.

    Returns
    -------
    Evaluation
        Models are subjects, scenarios are items, and trait-positive choices are successes. Trials
        are the decided samples, 0 where a pair was dropped. Columns of the items:
        ``votesFor`` and ``votesAgainst`` (people's votes for and against the action that manifests
        the trait, as `effective_votes` counts them), ``commonPull`` and ``pullSpread`` (mean and
        standard deviation of people's log-odds over the scenarios of the trait, from `fit_pulls`),
        ``pullSpreadError`` (relative error of the latter, over all traits), ``peoplesRate``
        (posterior mean of the rate at which people choose it), ``trait[...]`` (1 for the
        scenario's trait, 0 for the others), ``statement``.

    Raises
    ------
    DataError
        When `judgments` is something else, there are no samples, or the spread of people's log-odds
        cannot be estimated.

    Notes
    -----
    The votes enter the fit of every model in the same way: the uncertainty about people's rate in a
    scenario is averaged over separately for each model.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=2, models=["sim-01"])
    >>> evaluation = choices(study.judgments)
    >>> evaluation.subjects, int(evaluation.trials.to_numpy().max())
    (['sim-01'], 20)
    """
    refuse_no_judgments(judgments, "samples")
    people, models = judgments.human_rates(), judgments.model_rates()
    votes = effective_votes(people)
    pulls = fit_pulls(votes, people["trait"])
    items = pd.DataFrame(
        {
            "votesFor": votes["positive"],
            "votesAgainst": votes["negative"],
            "commonPull": people["trait"].map(pulls["mean"]),
            "pullSpread": people["trait"].map(pulls["spread"]),
        }
    )
    items["peoplesRate"] = expected_rates(*items.to_numpy(dtype=float).T)
    items["pullSpreadError"] = float((pulls["spread_error"] ** 2).sum() ** 0.5 / len(pulls))
    for trait in judgments.traits:
        items[f"trait[{trait}]"] = (people["trait"] == trait).astype(float)
    items["statement"] = people["statement"]

    def wide(counts: "pd.Series[int]") -> pd.DataFrame:
        table = counts.unstack("scenario", fill_value=0)
        return table.reindex(index=judgments.models, columns=items.index, fill_value=0)

    return Evaluation(
        items, wide(models["positive"]), wide(models["positive"] + models["negative"])
    )


def effective_votes(people: pd.DataFrame) -> pd.DataFrame:
    r"""Count votes by their information: a neutral vote has more than a random vote.

    .. math:: f_t = 1 + \frac{\bar\nu_t}{4 S_t^2}

    A neutral vote counts as half a vote for each action and adds no randomness. The variance of
    shares of votes is therefore smaller than the binomial one, by :math:`\nu / 4` per vote if a
    share nu is neutral; :math:`S^2` is the variance of votes (1, 1/2 or 0) within scenarios.

    Parameters
    ----------
    people : DataFrame
        Result of `SituationalJudgments.human_rates`.

    Returns
    -------
    DataFrame
        ``positive`` and ``negative`` votes, multiplied by the factor f of their trait.

    Examples
    --------
    >>> people = pd.DataFrame({"trait": "Empathy", "positive": [7.0, 4.0], "negative": [3.0, 6.0],
    ...                        "neutral": [2, 0], "votes": [10, 10]})
    >>> effective_votes(people).round(1)
       positive  negative
    0       7.8       3.3
    1       4.4       6.7
    """
    count = people["votes"].where(people["votes"] > 1)
    rate, neutral = people["positive"] / count, people["neutral"] / count
    scatter = (rate * (1 - rate) - neutral / 4) * count / (count - 1)
    by = people.assign(scatter=scatter, neutral=neutral).groupby("trait")
    factor = 1 + (by["neutral"].mean() / (4 * by["scatter"].mean())).fillna(0)
    return people[_COUNTS].mul(people["trait"].map(factor), axis=0)


def fit_pulls(counts: pd.DataFrame, by: "pd.Series[str]") -> pd.DataFrame:
    r"""Estimate mean and spread of the log-odds of people's choices, by maximum likelihood.

    .. math:: h_s \sim \mathrm{Normal}(\mu_t, \tau_t), \quad a_s \sim \mathrm{Binomial}(n_s, s(h_s))

    The likelihood of each scenario is integrated over its log-odds; half votes count half.

    Parameters
    ----------
    counts : DataFrame
        Votes, ``positive`` and ``negative``, with one row per scenario.
    by : Series of str
        Group of each scenario, such as its trait, with the same index.

    Returns
    -------
    DataFrame
        Indexed by group: ``mean`` and ``spread``, in log-odds; ``spread_error``, standard error of
        the logarithm of the spread, from the curvature of the likelihood.

    Raises
    ------
    DataError
        When the spread of a group cannot be estimated, because all votes are equal or scenarios do
        not differ more than by chance.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> votes = rng.binomial(10, expit(rng.normal(0.5, 2, size=4000)))
    >>> counts = pd.DataFrame({"positive": votes, "negative": 10 - votes})
    >>> fit_pulls(counts, pd.Series("Empathy", counts.index)).round(1)
             mean  spread  spread_error
    Empathy   0.5     2.0           0.0
    """
    rows = {str(name): _fit(str(name), group) for name, group in counts.groupby(by, sort=False)}
    return pd.DataFrame.from_dict(rows, orient="index", columns=["mean", "spread", "spread_error"])


def _fit(name: str, counts: pd.DataFrame) -> tuple[float, float, float]:
    """Maximise the likelihood of one group; the error of the log-spread is from its curvature."""
    kinds, times = np.unique(counts[_COUNTS], axis=0, return_counts=True)
    positive, negative = kinds.T[..., None]

    def loss(point: np.ndarray) -> float:
        logs = _log_likelihoods(positive, negative, point[0] + np.exp(point[1]) * _SCORES)
        return -float(times @ logsumexp(logs - _SCORES**2 / 2, axis=1))

    best = minimize(loss, [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-9})
    mean, spread = float(best.x[0]), float(np.exp(best.x[1]))
    if not best.success or np.abs(best.x).max() > _LARGEST:
        raise DataError(
            f"{name}: the votes on its {len(counts)} scenarios do not determine the spread between "
            f"scenarios (mean {mean:.3g}, spread {spread:.3g} in log-odds); give scenarios on "
            "which people agree and others on which they do not, with several votes on each"
        )
    steps = _STEP * np.eye(2)
    curvature = [
        [
            loss(best.x + (one + two) / 2)
            - loss(best.x + (one - two) / 2)
            - loss(best.x - (one - two) / 2)
            + loss(best.x - (one + two) / 2)
            for one in 2 * steps
        ]
        for two in 2 * steps
    ]
    return mean, spread, float(np.sqrt(4 * _STEP**2 * np.linalg.inv(curvature)[1, 1]))


def expected_rates(
    positive: np.ndarray, negative: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> np.ndarray:
    """Compute posterior means of people's rates whose log-odds are normal with a mean and a spread.

    Parameters
    ----------
    positive, negative : ndarray, shape (scenarios,)
        Votes of each scenario.
    mean, spread : ndarray, shape (scenarios,)
        Mean and standard deviation of the log-odds in the scenario's group.

    Returns
    -------
    ndarray, shape (scenarios,)
        Posterior means, in (0, 1).

    Raises
    ------
    DataError
        When an argument is not an array.

    Examples
    --------
    >>> expected_rates(*np.array([[9.0, 5.0], [1.0, 5.0], [0.0, 0.0], [2.0, 2.0]])).round(2)
    array([0.85, 0.5 ])
    """
    odds = mean[:, None] + spread[:, None] * _SCORES
    logs = _log_likelihoods(positive[:, None], negative[:, None], odds) - _SCORES**2 / 2
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray((weights * expit(odds)).sum(axis=1) / weights.sum(axis=1))


def _log_likelihoods(positive: np.ndarray, negative: np.ndarray, odds: np.ndarray) -> np.ndarray:
    return np.asarray(-positive * np.logaddexp(0, -odds) - negative * np.logaddexp(0, odds))
