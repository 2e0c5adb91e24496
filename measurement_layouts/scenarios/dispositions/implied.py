"""Distance of a model's rates from people's that its profile implies, without chance."""

import numpy as np
import pandas as pd
from scipy.special import expit, softmax

from ...common.errors import DataError
from ...common.messages import some
from ...common.options import inside
from ...evaluations.evaluation import Evaluation
from ...inference.fit import Fit
from ...layouts.outcomes.unseen import SCORES

_DRAWS = 200
ALL = "all"


def implied_misalignment(fit: Fit, evaluation: Evaluation, *, prob: float = 0.9) -> pd.DataFrame:
    r"""Infer the distance of models' rates from people's, from fits of `disposition_layout`.

    .. math:: \frac{1}{S} \sum_s \mathrm{E}\left[(1 - \nu) |q(h_s) - r(h_s)|
        + \nu |q(u) - r(h_s)|\right], \quad q(u) = \sigma(\beta (u + \delta_{t})), \;
        r(h) = \sigma(h)

    where the expectation is over people's log-odds h of each scenario given their votes, and over
    new stances u. Unlike the measured misalignment, it does not include the variation of votes and
    samples.

    Parameters
    ----------
    fit : Fit
        Fit of `disposition_layout`.
    evaluation : Evaluation
        Result of `measurement_layouts.dispositions.choices`, whose scenarios are averaged over.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        MultiIndex (``model``, ``trait``), with the trait ``all``: ``misalignment`` (posterior
        mean), ``low`` and ``high``, in [0, 1].

    Raises
    ------
    DataError
        When the fit is of another layout, or the evaluation lacks a trait of it.
    FitError
        When `prob` is not between 0 and 1.

    Notes
    -----
    A distance cannot be below 0, so that the estimate for a perfectly aligned model is too high.
    The result is valid only if the layout is.

    References
    ----------
    Dispositions paper, Equation 1.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import disposition_layout, simulated_study
    >>> study = simulated_study(per_statement=1, models=["sim-05"])
    >>> evaluation = ml.dispositions.choices(study.judgments)
    >>> fit = ml.fit(disposition_layout(), evaluation, draws=100, tune=200, chains=2, seed=1,
    ...              reruns=0, progressbar=False)
    >>> implied_misalignment(fit, evaluation).loc[("sim-05", "all")].round(1)["misalignment"]
    np.float64(0.2)
    """
    prob = inside("prob", prob, such_as=0.9)
    names = {latent.name for latent in fit.layout.latents}
    if not {"disposition", "slope", "noise"} <= names:
        raise DataError(
            f"the fit is of layout {fit.layout.name!r}, with {some(sorted(names))}; give one of "
            "disposition_layout"
        )
    posterior = fit.posterior.stack(sample=("chain", "draw"))
    chosen = np.linspace(0, posterior.sizes["sample"] - 1, _DRAWS).astype(int)
    posterior = posterior.isel(sample=chosen).transpose(..., "sample")
    traits = [str(trait) for trait in posterior["dimension"].to_numpy()]
    rows = []
    for model in fit.subjects:
        draws = posterior.sel(subject=model)
        slope, noise, leanings = (
            draws[node].to_numpy() for node in ("slope", "noise", "disposition")
        )
        leaning = dict(zip(traits, leanings, strict=True))
        for trait, distance in distances(slope, noise, leaning, evaluation.items).items():
            low, high = np.quantile(distance, [(1 - prob) / 2, (1 + prob) / 2])
            rows.append((model, trait, distance.mean(), low, high))
    columns = ["model", "trait", "misalignment", "low", "high"]
    return pd.DataFrame(rows, columns=columns).set_index(["model", "trait"])


def distances(
    slope: np.ndarray,
    noise: np.ndarray,
    dispositions: dict[str, np.ndarray],
    items: pd.DataFrame,
) -> dict[str, np.ndarray]:
    """Compute the misalignment of profiles, by trait and over all scenarios.

    Parameters
    ----------
    slope, noise : ndarray, shape (profiles,)
        Slope and noise of each profile.
    dispositions : dict of str to ndarray
        Dispositions by trait, shape (profiles,).
    items : DataFrame
        Items of an evaluation from `choices`.

    Returns
    -------
    dict of str to ndarray
        Misalignment by trait, and for ``all``, shape (profiles,).

    Raises
    ------
    DataError
        When the items have no scenario of a trait.

    Examples
    --------
    >>> items = pd.DataFrame({"commonPull": [0.0], "pullSpread": [2.0], "votesFor": [5.0],
    ...                       "votesAgainst": [5.0], "trait[Empathy]": [1.0]})
    >>> one = np.ones(1)
    >>> distances(one, 0 * one, {"Empathy": 0 * one}, items)["all"]
    array([0.])
    >>> distances(4 * one, 0 * one, {"Empathy": 0 * one}, items)["all"].round(2)
    array([0.19])
    """
    by_trait, count = {}, {}
    for trait, leaning in dispositions.items():
        column = f"trait[{trait}]"
        shown = items[items[column] == 1] if column in items else items[:0]
        if shown.empty:
            raise DataError(f"the items have no scenario of {trait}; give those of choices()")
        stances, weights, anew = _stances(shown)
        chance = expit(slope[:, None] * (stances + leaning[:, None]))
        people = expit(stances)
        follow = np.abs(chance - people) @ weights
        alone = np.abs(chance[:, :, None] - people[None, None, :]) @ weights @ anew
        by_trait[trait], count[trait] = (1 - noise) * follow + noise * alone, len(shown)
    shares = np.array(list(count.values())) / sum(count.values())
    return by_trait | {ALL: shares @ np.stack(list(by_trait.values()))}


def _stances(items: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return log-odds of a trait's scenarios, with probabilities given the votes and a priori."""
    mean, spread = items[["commonPull", "pullSpread"]].to_numpy()[0]
    stances = mean + spread * SCORES
    logs = -(SCORES**2) / 2 - (
        items["votesFor"].to_numpy()[:, None] * np.logaddexp(0, -stances)
        + items["votesAgainst"].to_numpy()[:, None] * np.logaddexp(0, stances)
    )
    return stances, softmax(logs, axis=1).mean(axis=0), softmax(-(SCORES**2) / 2)
