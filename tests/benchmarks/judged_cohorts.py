"""Cohorts of a Rasch layout, with and without a misfit of known size, fitted and criticised."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation import PopulationCriticism

LENGTH = {"draws": 300, "tune": 300, "chains": 2}
TESTLET = 6
EVERY_OTHER = 0.25  # variance of an indicator of every other subject
MEMORISED, DIFFERENT = 0.2, 3
COHORTS = 20_000  # of the ceiling
SUSPICION = "suspicion"

type Spoil = Callable[[np.ndarray, np.random.Generator], np.ndarray]


@dataclass(frozen=True)
class Kind:
    """A kind of cohort.

    Parameters
    ----------
    subjects, items : int
        How many.
    size : str
        Of what is wrong, in words.
    table, column : str
        Where it should be flagged.
    wrong : tuple of str
        Names there.
    spoil : callable, optional
        From log-odds, subjects x items, to those with the misfit.
    spread : float
        Standard deviation of the items' log-odds; that of abilities is 1.
    testlets : bool
        Whether testlets are asked for, instead of all pairs.
    """

    subjects: int
    items: int
    size: str = ""
    table: str = ""
    column: str = ""
    wrong: tuple[str, ...] = ()
    spoil: Spoil | None = None
    spread: float = 1.0
    testlets: bool = False


def layout() -> ml.Layout:
    """Return a Rasch layout with a population."""
    spread, of_items = ml.Spread("spread"), ml.Spread("easeSpread")
    mean = ml.Bias("mean", per="population")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    ease = ml.Bias("ease", per="item", prior=ml.Prior("ZeroSumNormal", sigma=of_items))
    return ml.Layout("rasch", ml.Success("solved", logistic(ability + ease)))


def drawn(kind: Kind, seed: int) -> ml.Evaluation:
    """Draw a cohort; the first subjects and items are those with the misfit."""
    rng = np.random.default_rng(seed)
    log_odds = rng.normal(size=(kind.subjects, 1)) + kind.spread * rng.normal(size=kind.items)
    if kind.spoil is not None:
        log_odds = kind.spoil(log_odds, rng)
    passed = (rng.logistic(size=log_odds.shape) < log_odds).astype(float)
    people = [f"s{place}" for place in range(kind.subjects)]
    names = [f"i{place}" for place in range(kind.items)]
    belong = pd.DataFrame({"testlet": [f"t{at // TESTLET}" for at in range(kind.items)]}, names)
    batch = pd.DataFrame({"batch": ["ab"[at % 2] for at in range(kind.subjects)]}, people)
    return ml.Evaluation.from_wide(pd.DataFrame(passed, people, names), belong, subjects=batch)


def fitted(kind: Kind, cohorts: int, seed: int) -> Iterator[tuple[ml.Fit, ml.Evaluation]]:
    """Draw and fit."""
    for number in range(cohorts):
        known = drawn(kind, 10_000 * seed + number)
        yield ml.fit(layout(), known, seed=number, progressbar=False, **LENGTH), known


def judged(kind: Kind, cohorts: int, seed: int) -> Iterator[PopulationCriticism]:
    """Draw, fit and criticise."""
    asked = {"testlets": "testlet"} if kind.testlets else {}
    for fit, known in fitted(kind, cohorts, seed):
        found = ml.validation.criticise(fit, known, by="batch", **asked)
        assert isinstance(found, PopulationCriticism)
        yield found


def suspects(fit: ml.Fit, alpha: float) -> pd.DataFrame:
    """Ask of each subject whether it has memorised items.

    ``accused`` is a verdict of any kind, at the rate `alpha` for each subject by itself, and
    ``named`` the right one; ``flagged`` is the right one at the rate `alpha` for all together, and
    ``any`` either.
    """
    table = ml.validation.suspicion(fit, alpha=alpha).table.reset_index()
    found = table["p_adjusted"] <= alpha
    likelier = table["memorised_p"] <= table["sandbagged_p"]
    accused = table["verdict"] != ""
    return table.assign(
        flagged=found & likelier,
        any=found,
        accused=accused,
        named=table["verdict"] == "memorised",
    )


def favoured(size: float) -> Spoil:
    """Make the first items easier for one batch."""

    def spoil(log_odds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = log_odds.copy()
        found[1::2, :DIFFERENT] += size
        return found

    return spoil


def memorised(share: float) -> Spoil:
    """Let the first subject know by heart some items of which it has less than an even chance."""

    def spoil(log_odds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        found = log_odds.copy()
        hard = np.flatnonzero(log_odds[0] < 0)
        found[0, rng.choice(hard, round(share * len(hard)), replace=False)] = np.inf
        return found

    return spoil


def common(sd: float) -> Spoil:
    """Give each subject a part of its own on each testlet."""

    def spoil(log_odds: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        parts = sd * rng.normal(size=(len(log_odds), -(-log_odds.shape[1] // TESTLET)))
        return log_odds + np.repeat(parts, TESTLET, axis=1)[:, : log_odds.shape[1]]

    return spoil


def dif_ceilings(size: float, subjects: int, items: int, alpha: float) -> tuple[float, float]:
    """Say how often tests that know all but which items differ find single items, and any at all.

    A single item by its own score, with what the first step of Holm's adjustment asks for. All
    items by the likelihood ratio of the mixture in which a part of them, known as is the size,
    differs to one side or the other; beside the other items the effects sum to 0.
    """
    rng = np.random.default_rng(0)
    chances = expit(rng.normal(size=(subjects, 1)) + rng.normal(size=10_000 // subjects * 100))
    information = EVERY_OTHER * (chances * (1 - chances)).sum(axis=0)
    most = norm.isf(alpha / items / 2)
    singly = norm.sf(most - size * np.sqrt(information)).mean()
    own = rng.choice(information, size=(COHORTS, items))
    effects = np.where(np.arange(items) < DIFFERENT, size, 0.0)
    effects = effects - (own @ effects / own.sum(axis=1))[:, None]
    noise = rng.normal(size=(2, *own.shape))
    both = noise + np.stack([np.zeros(own.shape), effects * np.sqrt(own)])
    part, shift = DIFFERENT / items, size * np.sqrt(own)
    ratio = np.log(1 - part + part * np.exp(-(shift**2) / 2) * np.cosh(shift * both)).sum(axis=2)
    together = (ratio[1] > np.quantile(ratio[0], 1 - alpha)).mean()
    return float(singly), float(together)


def _dif(size: float, subjects: int = 200) -> Kind:
    wrong = tuple(f"i{at}" for at in range(DIFFERENT))
    half = subjects // 2
    told = f"{size:g} log-odds in 3 of 20 items, {half} against {half} subjects"
    return Kind(subjects, 20, told, "groups", "item", wrong, favoured(size))


def _memory(share: float) -> Kind:
    told = f"{share:.0%} of the hard ones among 200 items, one of 40 subjects"
    return Kind(40, 200, told, SUSPICION, "subject", ("s0",), memorised(share), spread=2.5)


def _testlets(sd: float) -> Kind:
    told = f"a common part of sd {sd:g}, five of 6 items, 200 subjects"
    wrong = tuple(f"t{at}" for at in range(5))
    return Kind(200, 30, told, "pairs", "testlet", wrong, common(sd), testlets=True)


NULL = Kind(60, 16)
MISFITS = {
    "dif": (_dif(0.8), _dif(0.4)),
    "dif-800": (_dif(0.8, 800), _dif(0.4, 800)),
    "memorised": (_memory(MEMORISED), _memory(MEMORISED / 2)),
    "testlets": (_testlets(0.7), _testlets(0.35)),
}
"""By name, with the goal's size and half of it."""
