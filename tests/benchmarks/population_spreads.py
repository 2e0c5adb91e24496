"""Twelve subjects on twelve items: what three reasonable priors of a spread make of them.

`spreads` is a case of the benchmark of populations. Cohorts are simulated, so that the truth is
known: abilities are normal about 0, in half of the cohorts as far apart as items are, and in the
others much closer together. Each cohort is fitted three times; nothing but the priors of the two
spreads differs. How far a choice of prior may move a result is for its reader to say, so what it
moves has no goal.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from lines import Line
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios.figures import Figure

SUBJECTS = ITEMS = 12
EASE = 1.0
TRUE_SPREADS = (1.0, 0.4)
PRIORS = {
    "HalfNormal(1)": ml.Prior("HalfNormal", sigma=1),
    "Exponential(1)": ml.Prior("Exponential", lam=1),
    "HalfNormal(0.5)": ml.Prior("HalfNormal", sigma=0.5),
}
"""Of both spreads, in log-odds; the first is the one that `Spread` has where nothing is said."""
MASS = 0.9
COHORTS = 10
_LENGTH = {"draws": 1000, "tune": 500, "chains": 2}
_QUICK = {"draws": 200, "tune": 200, "chains": 2}


def spreads(quick: bool, seed: int) -> list[Line]:
    """Lay results under three priors side by side, and say how far they are apart."""
    lines = []
    for true in TRUE_SPREADS:
        tables = pd.concat(
            [
                under_every_prior(true, [seed, number], _QUICK if quick else _LENGTH)
                for number in range(1 if quick else COHORTS)
            ],
            keys=range(1 if quick else COHORTS),
            names=["cohort"],
        )
        case = f"12 subjects, 12 items, true spread {true:g}"
        lines += [_held(case, prior, own) for prior, own in tables.groupby("prior", sort=False)]
        moved = [largest_move(own) for _, own in tables.groupby("cohort")]
        usual = [usual_move(own) for _, own in tables.groupby("cohort")]
        lines.append(
            Line(
                f"{case}, one prior against another",
                "the pair of subjects that moves most",
                Figure(
                    f"{case}: how far the choice of prior moves the difference of two subjects",
                    float(np.median(moved)),
                    ">=",
                    0,
                    "as found",
                ),
                "posterior standard deviations",
                f"usual pair {np.median(usual):.2g}, most in any cohort {max(moved):.2g}",
            )
        )
    return lines


def under_every_prior(true: float, seed: list[int], length: dict[str, int]) -> pd.DataFrame:
    """Fit one simulated cohort under each prior.

    Parameters
    ----------
    true : float
        Standard deviation of the abilities.
    seed : list of int
        Of the cohort; the sampler has the first.
    length : dict of str to int
        Of the chains.

    Returns
    -------
    DataFrame
        Indexed by ``prior`` and ``subject``: ``mean``, ``low``, ``high`` of the ability and
        ``truth``; ``spread``, the posterior mean of the spread, ``spread_low``, ``spread_high``;
        and ``sd_<subject>``, posterior standard deviations of differences to the other subjects.
    """
    rng = np.random.default_rng(seed)
    names = [f"s{number:02d}" for number in range(SUBJECTS)]
    truth = pd.Series(rng.normal(0, true, SUBJECTS), names)
    ease = rng.normal(0, EASE, ITEMS)
    chance = expit(truth.to_numpy()[:, None] + ease)
    solved = pd.DataFrame((rng.random(chance.shape) < chance).astype(int), names)
    solved = solved.rename(columns="i{:02d}".format)
    evaluation = ml.Evaluation.from_wide(solved, pd.DataFrame(index=solved.columns))
    truth = truth + ease.mean()  # eases sum to zero in the fit
    tables = {}
    for name, prior in PRIORS.items():
        fit = ml.fit(rasch(prior), evaluation, seed=seed[0], progressbar=False, **length)
        table = fit.profiles(prob=MASS).set_index("subject")[["mean", "low", "high"]]
        shared = fit.population(prob=MASS).set_index("node").loc["spread"]
        draws = fit.posterior["ability"].stack(all=("chain", "draw")).transpose("subject", "all")
        apart = (draws.to_numpy()[:, None] - draws.to_numpy()).std(axis=-1)
        sds = pd.DataFrame(apart, fit.subjects, [f"sd_{other}" for other in fit.subjects])
        ends = {f"spread_{end}": shared[end] for end in ("low", "high")}
        tables[name] = table.assign(truth=truth, spread=shared["mean"], **ends).join(sds)
    return pd.concat(tables, names=["prior", "subject"])


def rasch(prior: ml.Prior) -> ml.Layout:
    """Abilities about a mean, items of their own ease; both spreads have one prior."""
    spread, apart = (ml.Spread(name, prior=prior) for name in ("spread", "easeSpread"))
    about = ml.Prior("Normal", mu=ml.Bias("mean", per="population"), sigma=spread)
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=apart))
    chance = logistic(ml.Capability("ability", prior=about) + ease)
    return ml.Layout("rasch", ml.Success("solved", chance))


def largest_move(tables: pd.DataFrame) -> float:
    """Say how far the choice of a prior moves the difference of the pair that it moves most."""
    return float(_moves(tables).max())


def usual_move(tables: pd.DataFrame) -> float:
    """Say how far the choice of a prior moves the difference of the median pair."""
    return float(np.median(_moves(tables)))


def _moves(tables: pd.DataFrame) -> np.ndarray:
    """Largest change of each pair's difference, in its posterior standard deviations."""
    apart, sds = zip(*_differences(tables), strict=True)
    first, second = np.triu_indices(len(apart[0]), 1)
    range_ = np.ptp(np.stack(apart), axis=0) / np.mean(sds, axis=0).clip(1e-12)
    return np.asarray(range_[first, second])


def _differences(tables: pd.DataFrame) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Differences of means under each prior, and their posterior standard deviations."""
    for _, own in tables.groupby("prior", sort=False):
        mean = own["mean"].to_numpy()
        yield mean[:, None] - mean, own.filter(like="sd_").to_numpy()


def _held(case: str, prior: str, own: pd.DataFrame) -> Line:
    """Say how often intervals hold the truth under one prior, and what the spread is taken for."""
    held = own["truth"].between(own["low"], own["high"]).groupby("cohort").mean()
    error = MASS * (1 - MASS) / len(own)
    slack = 3 * np.sqrt(max(error, held.var(ddof=1) / len(held) if len(held) > 1 else error))
    means = own.groupby("cohort")[["spread", "spread_low", "spread_high"]].first().median()
    off = (own["mean"] - own["truth"]).abs().mean()
    figure = Figure(
        f"{case}, {prior}: {MASS:.0%} intervals of abilities that hold the truth",
        float(held.mean()),
        ">=",
        MASS - slack,
        f"at least {MASS - slack:.2f} ({MASS:g} less three standard errors)",
    )
    width = (own["high"] - own["low"]).mean()
    said = "spread {:.2f} ({:.2f} to {:.2f})".format(*means)
    ours = f"{said}, abilities {width:.2f} wide and {off:.2f} off"
    return Line(f"{case}, {prior}", "intervals of abilities", figure, "of the intervals", ours)
