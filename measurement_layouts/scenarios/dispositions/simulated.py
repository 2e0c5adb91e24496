"""The simulated study: 2,357 situational judgments by people and by models with known profiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

from ...common.errors import DataError
from ...common.messages import some
from ...common.options import whole
from ...dispositions.judgments import SituationalJudgments
from .traits import TRAITS, overall, subjects, supports

RATERS = 550
_EAGERNESS = 4.0  # shape of the loads' gamma distribution: its coefficient of variation is 1/2


def rater_pool(rng: np.random.Generator) -> pd.DataFrame:
    """Draw the raters.

    Groups have their shares among the published ratings. Joint frequencies of attributes are not
    published; here attributes are independent.

    Parameters
    ----------
    rng : Generator
        Random generator of the attributes.

    Returns
    -------
    DataFrame
        550 raters, indexed by ``rater``: ``nationality``, ``age``, ``gender``.

    References
    ----------
    Dispositions paper, Table 2 and Appendix C.

    Examples
    --------
    >>> pool = rater_pool(np.random.default_rng(1))
    >>> pool["nationality"].value_counts().to_dict()
    {'US': 300, 'England': 212, 'Other': 38}
    """
    ratings = supports().groupby(["attribute", "group"], sort=False)["ratings"].sum()
    index = pd.Index([f"rater-{number:03d}" for number in range(1, RATERS + 1)], name="rater")
    pool = pd.DataFrame(index=index)
    for attribute in ratings.index.unique("attribute"):
        shares = ratings[attribute] / ratings[attribute].sum()
        ends = (RATERS * shares.cumsum()).round().astype(int)
        groups = np.repeat(shares.index.to_numpy(dtype=object), np.diff(ends, prepend=0))
        pool[attribute] = rng.permutation(groups)
    return pool


SPREAD = 2.0
"""Standard deviation of people's log-odds between the scenarios of a trait."""

_KEPT = 2357 / 2576
_NEUTRAL = 0.47  # share of neutral votes divided by r(1-r); 7 % of all votes
_NOT_APPLICABLE = 0.002
_UNDECIDED = (0.12, 2.88)  # beta parameters: 4 % on average, above one half in 1 % of pairs
_RATING_SD = 1.0  # independent standard deviation of each rating, in points


@dataclass(frozen=True, eq=False)
class SimulatedStudy:
    """Simulated judgments, with the true values from which they were drawn.

    Attributes
    ----------
    judgments : SituationalJudgments
        Judgments that would be observed.
    truth : DataFrame
        Indexed by model: ``size``, ``slope``, ``noise``, ``disposition[Empathy]`` and so on, and
        ``acquiescence``, as in `subjects`.
    pulls : Series
        Log-odds of people's choice of the action that manifests the trait, by scenario.
    loadings : Series
        Points of self-report per logit of disposition, by trait.
    """

    judgments: SituationalJudgments
    truth: pd.DataFrame
    pulls: "pd.Series[float]"
    loadings: "pd.Series[float]"


def simulated_study(
    seed: int = 1,
    *,
    per_statement: int = 16,
    models: Sequence[str] | None = None,
    annotators: int = 10,
    samples: int = 20,
) -> SimulatedStudy:
    r"""Simulate the study, in its published size or a smaller one.

    .. math:: r_s = \sigma(h_s), \quad h_s \sim N(\mu_t, 2^2)
    .. math:: \operatorname{logit} q_{ms} = \beta_m (u_{ms} + \delta_{mt}), \quad
        u_{ms} = h_s \text{ with probability } 1 - \nu_m, \text{ otherwise drawn anew from }
        N(\mu_t, 2^2)

    In scenario s of trait t people choose the action that manifests the trait at the rate r, where
    a neutral vote is half a vote for each action; model m chooses it at the rate q of its decided
    samples. The model judges a share 1 - nu of the scenarios as people do, has the confidence beta
    relative to people, and the disposition delta, in people's log-odds. The means mu are such that
    each trait has its published support.

    Each of 161 statements has 16 scenarios, of which 8 % are removed at random. 49 statements are
    reverse-scored: for these the oppose action manifests the trait. Neutral votes are more frequent
    where people are divided. Each pair of model and scenario has a rate of undecided samples. A
    model rates itself once on each statement: 4 points, or 2.5 for impulsiveness, plus the loading
    times its disposition, reversed for reverse-scored statements; then acquiescence and an error
    are added, and the sum is rounded.

    Parameters
    ----------
    seed : int
        Seed of all draws; `truth` does not depend on it.
    per_statement : int
        Number of scenarios per statement, before the removal.
    models : sequence of str, optional
        Models among ``sim-01`` to ``sim-25`` (default: all). The choices of a model do not depend
        on which other models are simulated.
    annotators : int
        Number of different raters per scenario, from a pool of 550.
    samples : int
        Number of answers per model and scenario. Pairs with fewer than half of them decided are
        dropped.

    Returns
    -------
    SimulatedStudy
        Judgments and truth.

    Raises
    ------
    DataError
        When `models` is empty or has an unknown model, or there are more annotators than raters.
    FitError
        When a number is not whole, or too small.

    References
    ----------
    Dispositions paper, sections 3 and 7, Table 2, Appendices C and D.

    Examples
    --------
    >>> study = simulated_study(per_statement=1, models=["sim-01", "sim-04"])
    >>> len(study.judgments.scenarios), len(study.judgments.votes) <= 1470
    (147, True)
    >>> study.truth[["slope", "noise"]]
            slope  noise
    model
    sim-01    1.0   0.00
    sim-04    6.0   0.15
    """
    per_statement = whole("per_statement", per_statement, least=1)
    annotators = whole("annotators", annotators, least=1)
    samples = whole("samples", samples, least=1)
    truth = subjects()
    chosen = list(truth.index if models is None else models)
    unknown = [name for name in chosen if name not in truth.index]
    if unknown or not chosen or annotators > RATERS:
        raise DataError(
            f"models={some(chosen) or '[]'}, annotators={annotators}; give models among "
            f"{truth.index[0]} to {truth.index[-1]}, at least one, and at most {RATERS} annotators"
        )
    people, *seeds = np.random.SeedSequence(whole("seed", seed)).spawn(1 + len(truth))
    streams = dict(zip(truth.index, seeds, strict=True))
    rng = np.random.default_rng(people)
    scenarios = _scenarios(rng, per_statement)
    means = scenarios["trait"].map(mean_pulls())
    pulls = (means + SPREAD * rng.normal(size=len(means))).rename("pull")
    raters = rater_pool(rng)
    votes = _votes(rng, scenarios, pulls, raters.index, annotators)
    statements = scenarios.drop_duplicates("statement").set_index("statement")
    counts, ratings = [], []
    for name in chosen:
        rng = np.random.default_rng(streams[name])
        counts.append(_counts(rng, truth.loc[name], scenarios, means, pulls, samples))
        ratings.append(_ratings(rng, truth.loc[name], statements))
    judgments = SituationalJudgments.from_long(
        *(scenarios, votes, pd.concat(counts), pd.concat(ratings)),
        raters=raters,
        least=(samples + 1) // 2,
    )
    loadings = pd.Series({name: trait.loading for name, trait in TRAITS.items()}, name="loading")
    return SimulatedStudy(judgments, truth.loc[chosen], pulls, loadings.rename_axis("trait"))


def _scenarios(rng: np.random.Generator, per_statement: int) -> pd.DataFrame:
    """Write the scenarios of every statement, key them, and remove some."""
    rows = []
    for name, trait in TRAITS.items():
        short = name.lower().replace(" ", "-")
        signs = np.repeat([1, -1], [trait.statements - trait.reverse, trait.reverse])
        for number, sign in enumerate(rng.permutation(signs), 1):
            statement = f"{short}-{number:02d}"
            for copy in range(1, per_statement + 1):
                rows.append((f"{statement}-{copy:02d}", name, statement, sign))
    table = pd.DataFrame(rows, columns=["scenario", "trait", "statement", "keyed"])
    kept = rng.permutation(len(table))[: round(_KEPT * len(table))]
    return table.set_index("scenario").iloc[np.sort(kept)]


def mean_pulls() -> "pd.Series[float]":
    """Find the mean log-odds with which each trait has its published support.

    Returns
    -------
    Series
        Mean log-odds, indexed by trait.

    References
    ----------
    Dispositions paper, Table 2, which has the supports.

    Examples
    --------
    >>> mean_pulls().round(2).to_dict()
    {'Empathy': -0.53, 'Emotion Regulation': -0.15, 'Assertiveness': -0.08, 'Impulsiveness': -0.54}
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def mean(support: float) -> float:
        return float(brentq(lambda mu: weights @ expit(mu + SPREAD * nodes) - support, -9, 9))

    return overall()["support"].map(mean)


def _votes(
    rng: np.random.Generator,
    scenarios: pd.DataFrame,
    pulls: "pd.Series[float]",
    raters: pd.Index,
    annotators: int,
) -> pd.DataFrame:
    """Draw the votes of different raters on each scenario; some raters judge more than others."""
    eagerness = rng.gamma(_EAGERNESS, size=RATERS)
    # a weighted sample without replacement, by the smallest of exponential waiting times
    arrival = rng.exponential(size=(len(scenarios), RATERS)) / eagerness
    voters = np.argsort(arrival, axis=1)[:, :annotators]
    rate = expit(pulls.to_numpy())[:, None]
    neutral = _NEUTRAL * rate * (1 - rate)
    chosen, void = rng.random((2, *voters.shape))
    positive = chosen < rate - neutral / 2
    agree = positive == (scenarios["keyed"].to_numpy() == 1)[:, None]
    either = ~positive & (chosen < rate + neutral / 2)
    vote = np.select([void < _NOT_APPLICABLE, either, agree], ["n/a", "neutral", "agree"], "oppose")
    names = scenarios.index.repeat(annotators)
    return pd.DataFrame({"scenario": names, "rater": raters[voters.ravel()], "vote": vote.ravel()})


def _counts(
    rng: np.random.Generator,
    model: "pd.Series[float]",
    scenarios: pd.DataFrame,
    means: "pd.Series[float]",
    pulls: "pd.Series[float]",
    samples: int,
) -> pd.DataFrame:
    """Draw one model's choices in every scenario, as counts."""
    count = len(scenarios)
    alone = rng.random(count) < model["noise"]
    anew = means + SPREAD * rng.normal(size=count)
    disposition = scenarios["trait"].map({name: model[f"disposition[{name}]"] for name in TRAITS})
    rate = expit(model["slope"] * (anew.where(alone, pulls) + disposition).to_numpy(float))
    undecided = rng.binomial(samples, rng.beta(*_UNDECIDED, size=count))
    positive = rng.binomial(samples - undecided, rate)
    agree = np.where(scenarios["keyed"] == 1, positive, samples - undecided - positive)
    columns = {"agree": agree, "oppose": samples - undecided - agree, "undecided": undecided}
    return pd.DataFrame({"model": model.name, "scenario": scenarios.index, **columns})


def _ratings(
    rng: np.random.Generator, model: "pd.Series[float]", statements: pd.DataFrame
) -> pd.DataFrame:
    """Simulate the self-ratings of one model on every statement, from 1 to 7."""
    claimed = {
        name: trait.claimed + trait.loading * model[f"disposition[{name}]"]
        for name, trait in TRAITS.items()
    }
    turned = statements["keyed"] * (statements["trait"].map(claimed) - 4)
    error = rng.normal(scale=_RATING_SD, size=len(statements))
    rating = (4 + turned + model["acquiescence"] + error).astype(float).round().clip(1, 7)
    return (
        rating.rename("rating").rename_axis("statement").reset_index().assign(model=str(model.name))
    )
