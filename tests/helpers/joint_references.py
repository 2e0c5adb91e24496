"""Small cohorts of one ability, and their posterior by quadrature, by PyMC and in simulations."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from arviz_stats.base import array_stats
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import norm

import measurement_layouts as ml
from helpers.populations import shared, spread_of
from measurement_layouts.linking import logistic

ITEMS = 5
type Outcomes = tuple[np.ndarray, np.ndarray]
"""Successes and trials, each of shape (subjects, items)."""
type Quantities = dict[str, np.ndarray]
"""Draws of shape (chain, draw) by the name of the quantity."""


def layout(with_items: bool) -> ml.Layout:
    """One ability of each subject, a mean and a spread, and perhaps eases that sum to zero."""
    mean, spread = shared("mean"), spread_of("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    if not with_items:
        return ml.Layout("coins", ml.Success("solved", logistic(ability)))
    prior = ml.Prior("ZeroSumNormal", sigma=spread_of("easeSpread"))
    ease = ml.Effect("ease", per="item", prior=prior)
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability + ease)))


def drawn(subjects: int, trials: int, with_items: bool, seed: int) -> Outcomes:
    """Draw outcomes of subjects with the same number of trials, on one item or spread over five."""
    rng = np.random.default_rng([subjects, trials, seed])
    count = ITEMS if with_items else 1
    ease = rng.normal(0, 0.7, count) if with_items else np.zeros(1)
    first = (np.arange(subjects)[:, None] + np.arange(count)) % count
    number = trials // count + (first < trials % count)
    log_odds = rng.normal(0.3, 1.2, (subjects, 1)) + ease - ease.mean()
    return rng.binomial(number, expit(log_odds)), number


def evaluation(successes: np.ndarray, trials: np.ndarray) -> ml.Evaluation:
    """Name subjects and items of outcomes."""
    names = [f"s{at:02d}" for at in range(len(trials))], [f"i{at}" for at in range(len(trials.T))]
    tables = (pd.DataFrame(counts, *names) for counts in (successes, trials))
    return ml.Evaluation(pd.DataFrame(index=names[1]), *tables)


def _of_abilities(mean: np.ndarray, spread: np.ndarray, ability: np.ndarray) -> Quantities:
    """Compute the quantities from draws; abilities have the subjects first."""
    return {
        "mean": mean,
        "spread": spread,
        "one subject": ability[0],
        "difference of two": ability[0] - ability[1],
        "subjects below the first": (ability < ability[0]).sum(axis=0).astype(float),
    }


def quantities(fit: ml.Fit) -> Quantities:
    """Compute the quantities from the draws of a fit."""
    draws = fit.posterior.transpose("subject", "chain", "draw", ...)
    ability = draws["ability"].sortby("subject").to_numpy()
    return _of_abilities(draws["mean"].to_numpy(), draws["spread"].to_numpy(), ability)


def summary(draws: Quantities, subjects: int) -> dict[str, tuple[float, float]]:
    """Return value and Monte Carlo error of the quantities' means and sds, and of P(best)."""
    values = {}
    for name, sampled in list(draws.items())[:-1]:
        values[f"mean of {name}"] = sampled.mean(), _error(sampled, "mean")
        values[f"sd of {name}"] = sampled.std(), _error(sampled, "sd")
    best = (draws["subjects below the first"] == subjects - 1).astype(float)
    values["P(best)"] = best.mean(), _error(best, "mean")
    return values


def _error(draws: np.ndarray, method: str) -> float:
    """Return the Monte Carlo error; that of one draw in all draws if they do not vary."""
    error = float(array_stats.mcse(draws, method=method))
    return error if error > 0 else 1 / draws.size


class Quadrature:
    """Posterior of subjects with one item, on a grid of mean and spread, and of standard scores.

    Parameters
    ----------
    successes, trials : ndarray of int, shape (subjects, 1)
        Outcomes.
    """

    scores = np.linspace(-6, 6, 601)

    def __init__(self, successes: np.ndarray, trials: np.ndarray) -> None:
        self.successes, self.trials = successes[:, 0], trials[:, 0]
        steps, quantile = np.linspace(-6, 6, 121), (np.arange(120) + 0.5) / 120
        rate = (successes.sum() + 1) / (trials.sum() + 2)
        self.means = np.log(rate / (1 - rate)) + 0.02 * np.sinh(steps)
        self.spreads = 6 * quantile**2
        rows = list(map(self._row, self.spreads))
        logs = np.array([row.pop("logs") for row in rows])
        logs += norm.logpdf(self.means) + np.log(np.cosh(steps))
        logs += (norm.logpdf(self.spreads) + np.log(quantile))[:, None]
        self.weights = np.exp(logs - logsumexp(logs))
        self.given = {name: np.array([row[name] for row in rows]) for name in rows[0]}

    def _row(self, spread: float) -> dict[str, np.ndarray]:
        """Integrate the abilities for each mean, given a spread."""
        ability = self.means[:, None] + spread * self.scores
        density = norm.pdf(self.scores) / norm.pdf(self.scores).sum()
        logs, below, all_below = np.zeros(len(self.means)), [], 1.0
        for hits, count in zip(self.successes, self.trials, strict=True):
            chance = hits * log_expit(ability) + (count - hits) * log_expit(-ability)
            most = chance.max(axis=1, keepdims=True)
            joint = np.exp(chance - most) * density
            total = joint.sum(axis=1, keepdims=True)
            logs += (most + np.log(total))[:, 0]
            if len(below) < 2:
                below.append(joint / total)
            else:
                all_below = all_below * _below(joint / total)
        moments = [[(chance * ability**power).sum(axis=1) for power in (1, 2)] for chance in below]
        best = (below[0] * _below(below[1]) * all_below).sum(axis=1)
        (first, square), (second, other) = moments
        return {
            "logs": logs,
            "one subject": first,
            "one subject squared": square,
            "difference of two": first - second,
            "difference of two squared": square - 2 * first * second + other,
            "P(best)": best,
        }

    def summary(self) -> dict[str, tuple[float, float]]:
        """Return the quantities' means and sds, and P(best), without error."""
        given = self.given | {"mean": self.means[None], "spread": self.spreads[:, None]}
        values = {}
        for name in ("mean", "spread", "one subject", "difference of two"):
            square = given.get(f"{name} squared", given[name] ** 2)
            mean = (self.weights * given[name]).sum()
            values[f"mean of {name}"] = mean, 0.0
            values[f"sd of {name}"] = np.sqrt((self.weights * square).sum() - mean**2), 0.0
        values["P(best)"] = (self.weights * given["P(best)"]).sum(), 0.0
        return values

    def of_a_new_subject(self, chances: tuple[float, float] = (0.05, 0.95)) -> np.ndarray:
        """Return quantiles of the success of a new subject."""
        ability = np.linspace(-12, 12, 4801)
        below = np.zeros(len(ability))
        for spread, weights in zip(self.spreads, self.weights, strict=True):
            below += weights @ norm.cdf(ability, self.means[:, None], spread)
        return expit(np.interp(chances, below, ability))


def _below(chance: np.ndarray) -> np.ndarray:
    """Return the probability of a smaller score, with half of that of the same score."""
    return np.cumsum(chance, axis=1) - chance / 2


def by_quadrature(successes: np.ndarray, trials: np.ndarray) -> dict[str, tuple[float, float]]:
    """Integrate the posterior of subjects with one item."""
    return Quadrature(successes, trials).summary()


@cache
def _by_hand(subjects: int, items: int) -> Callable[[np.ndarray, np.ndarray], Quantities]:
    """Compile the model of subjects and items, written by hand in PyMC, and return a sampler."""
    import nutpie
    import pymc as pm

    with pm.Model() as model:
        hits = pm.Data("hits", np.zeros((subjects, items)))
        count = pm.Data("count", np.ones((subjects, items)))
        mean, spread = pm.Normal("mean", 0, 1), pm.HalfNormal("spread", 1)
        apart = pm.HalfNormal("easeSpread", 1)
        ability = pm.Deterministic("ability", mean + spread * pm.Normal("z", 0, 1, shape=subjects))
        odds = ability[:, None] + apart * pm.ZeroSumNormal("ease", sigma=1, shape=items)
        logs = -hits * pm.math.log1pexp(-odds) - (count - hits) * pm.math.log1pexp(odds)
        pm.Potential("outcomes", logs.sum())
    compiled = nutpie.compile_pymc_model(model)

    def sample(successes: np.ndarray, trials: np.ndarray) -> Quantities:
        data = {"hits": successes.astype(float), "count": trials.astype(float)}
        draws = nutpie.sample(
            compiled.with_data(**data),
            draws=4000,
            tune=2000,
            chains=4,
            seed=1,
            target_accept=0.98,
            progress_bar=False,
        ).posterior
        names = (draws[name].to_numpy() for name in ("mean", "spread", "ability"))
        mean, spread, ability = names
        return _of_abilities(mean, spread, np.moveaxis(ability, -1, 0))

    return sample


def by_hand(successes: np.ndarray, trials: np.ndarray) -> dict[str, tuple[float, float]]:
    """Sample the model of subjects and attempted items, written by hand in PyMC."""
    attempted = trials.sum(axis=0) > 0
    sample = _by_hand(len(trials), int(attempted.sum()))
    return summary(sample(successes[:, attempted], trials[:, attempted]), len(trials))


type Sampler = Callable[[np.ndarray, np.ndarray, np.random.Generator], Quantities]
"""From outcomes to draws."""


def ranks(
    subjects: int, trials: int, simulations: int, seed: int, sample: Sampler
) -> Mapping[str, np.ndarray]:
    """Draw cohorts from the prior; return the part of the draws below each true quantity."""
    rng, parts = np.random.default_rng([seed, subjects, trials]), list[dict[str, float]]()
    for _ in range(simulations):
        mean, spread = rng.normal(), abs(rng.normal())
        ability = rng.normal(mean, spread, (subjects, 1))
        count = np.full((subjects, 1), trials)
        draws = sample(rng.binomial(count, expit(ability)), count, rng)
        truth = _of_abilities(np.array(mean), np.array(spread), ability[:, 0])
        parts.append(
            {
                name: np.mean(draws[name] < value) + rng.random() * np.mean(draws[name] == value)
                for name, value in truth.items()
            }
        )
    return {name: values.to_numpy() for name, values in pd.DataFrame(parts).items()}


def fitted(successes: np.ndarray, trials: np.ndarray, rng: np.random.Generator) -> Quantities:
    """Fit a cohort by this library."""
    seed = int(rng.integers(2**31))
    fit = ml.fit(
        layout(False), evaluation(successes, trials), draws=500, seed=seed, progressbar=False
    )
    return quantities(fit)


def truncated_and_latticed(
    successes: np.ndarray, trials: np.ndarray, rng: np.random.Generator
) -> Quantities:
    """Draw abilities on one lattice for all subjects, which ends near their likelihoods.

    The prior of the abilities adds up to 1 over the lattice, so that it is cut off where the data
    end. Its points are 1.2 standard deviations of the most precise likelihood apart.
    """
    hits, count = successes[:, 0], trials[:, 0]
    rate = (hits + 0.5) / (count + 1)
    error = 1 / np.sqrt(count * rate * (1 - rate))
    odds, apart = np.log(rate / (1 - rate)), 1.2 * error.min()
    points = np.arange((odds - 3 * error).min(), (odds + 3 * error).max(), apart)
    likelihood = np.exp(
        (hits[:, None] * log_expit(points) + (count - hits)[:, None] * log_expit(-points))
        - (hits * log_expit(odds) + (count - hits) * log_expit(-odds))[:, None]
    )
    means, spreads = np.linspace(-3.5, 3.5, 71), np.linspace(0.03, 4, 100)
    score = (points - means[:, None, None]) / spreads[:, None]
    prior = np.exp(-(score**2 - (score**2).min(axis=-1, keepdims=True)) / 2)
    prior /= prior.sum(axis=-1, keepdims=True)
    logs = np.log(prior @ likelihood.T + 1e-300).sum(axis=-1)
    logs += norm.logpdf(means)[:, None] + norm.logpdf(spreads)
    weights = np.exp(logs - logsumexp(logs)).ravel()
    at = np.unravel_index(rng.choice(len(weights), 1000, p=weights / weights.sum()), logs.shape)
    chances = prior[at][:, None] * likelihood
    summed = np.cumsum(chances, axis=-1)
    chosen = (summed < rng.random(summed.shape[:2])[..., None] * summed[..., -1:]).sum(axis=-1)
    shift = rng.uniform(-0.5, 0.5, 1000) * apart
    return _of_abilities(means[at[0]], spreads[at[1]], points[chosen].T + shift)


def of_one_parameter(folder: Path, seed: int) -> tuple[pd.DataFrame, str]:
    """Fit the 1PL whose posterior is known; return distances in Monte Carlo errors, and status."""
    answers = pd.read_csv(folder / "answers.csv", index_col=0)
    truth = pd.read_csv(folder / "truth.csv", index_col=0)
    prior = ml.Prior("Normal", mu=0.75, sigma=1)
    mean = ml.Effect("mean", per="population", prior=prior)
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    difficulty = ml.Effect("difficulty", per="item", prior=ml.Prior("Normal", mu=0, sigma=1))
    model = ml.Layout("1PL", ml.Success("right", logistic(ability - difficulty)))
    data = ml.Evaluation.from_wide(answers, pd.DataFrame(index=answers.columns))
    fit = ml.fit(model, data, seed=seed, progressbar=False)
    draws = fit.posterior.transpose("chain", "draw", ...)
    apart = (draws["ability"] - draws["mean"]).sel(subject=list(answers.index))
    tables = [draws["mean"].to_numpy()[..., None], apart.transpose("chain", "draw", ...).to_numpy()]
    tables.append(draws["difficulty"].sel(item=list(answers.columns)).to_numpy())
    rows = dict(
        _distances(
            np.concatenate(tables, axis=-1), ["mean", *answers.index, *answers.columns], truth
        )
    )
    return pd.DataFrame(rows).T, str(fit.diagnostics()["status"].iloc[0])


def _distances(
    draws: np.ndarray, names: list[str], truth: pd.DataFrame
) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield distances of means and sds from the reference, and effective draws."""
    for at, name in enumerate(names):
        values, right = draws[..., at], truth.loc[name]
        error = right["mean_standard_error"]
        mean_error = np.hypot(_error(values, "mean"), error)
        sd_error = np.hypot(_error(values, "sd"), error / np.sqrt(2))  # as for a normal value
        yield (
            name,
            {
                "mean_distance": abs(values.mean() - right["mean"]) / mean_error,
                "sd_distance": abs(values.std() - right["sd"]) / sd_error,
                "effective": effective(values),
            },
        )


def effective(draws: np.ndarray) -> float:
    """Return the effective draws, least of bulk and tail."""
    tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95))
    return float(min(array_stats.ess(draws, method="bulk"), tail))
