"""Explanations on simulated agents whose failing parts are known.

Agents need to see, to reach and to remember; noise makes a coin of some outcomes. They are fitted
to training items, and fail other items for reasons that were tossed with the outcome. Some have
one weak ability; others are drawn from the layout's prior, so that what is stated of them has to
be calibrated. Of each failure, the part that `explain` names first is held against the
parts that failed, beside what naming by the true profile achieves; the stated shares are held
against what happened, and their intervals against the true shares.

Run by hand: ``python tests/benchmarks/elsewhere_explanations.py``; it may be followed by how many
agents, items of each, the seed, and training items.
"""

import itertools
import sys
import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from lines import Line, at_least, at_most, reported
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

SKILLS, LATENTS = ("sight", "reach", "memory"), ("sight", "reach", "memory", "noise")
ASKS = ("small", "far", "late")
HIGHEST, LUCK, MASS, BINS = 9.0, 0.5, 0.9, 10
TRAINING, AGENTS, ITEMS = 200, 100, 20
WITHIN, ERRORS = 0.02, 3.0
NAME = "explanations"


def layout():
    """Declare the layout: three parts that are all needed, and noise."""
    both = None
    for skill, ask in zip(SKILLS, ASKS, strict=True):
        able = ml.Capability(skill, low=0, high=HIGHEST)
        part = logistic(able - ml.MetaFeature(ask, low=0, high=HIGHEST))
        both = part if both is None else both * part
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    return ml.Layout("three needs", ml.Success("fetched", mixture(both, by=noise, toward=LUCK)))


def profiles_from(rng, agents):
    """Draw profiles from the prior, (agents, latents)."""
    able = rng.uniform(0, HIGHEST, (agents, len(SKILLS)))
    return np.column_stack([able, rng.beta(1, 9, agents)])


def weak_from(rng, agents):
    """Draw profiles with one ability that is weak and two that are strong, (agents, latents)."""
    able = rng.uniform(6, HIGHEST, (agents, len(SKILLS)))
    able[np.arange(agents), rng.integers(0, len(SKILLS), agents)] = rng.uniform(1, 4, agents)
    return np.column_stack([able, rng.beta(1, 9, agents)])


def tossed(rng, profiles, items):
    """Toss every part of every cell; which parts failed: (agents, items, parts and the noise)."""
    chance = expit(profiles[:, None, :-1] - items)
    failed = rng.random(chance.shape) > chance
    noisy = rng.random(chance.shape[:2]) < profiles[:, None, -1]
    lucky = rng.random(chance.shape[:2]) < LUCK
    found = np.concatenate([failed, (noisy & ~lucky)[..., None]], axis=-1)
    return found & ~(noisy & lucky)[..., None]


def true_shares(profiles, items):
    """Share of each part in a failure, by all worlds: (cells, parts and the noise)."""
    chance, noise = expit(profiles[:, :-1] - items), profiles[:, -1]
    shares, failure = np.zeros((len(items), chance.shape[1] + 1)), np.zeros(len(items))
    for world in itertools.product((False, True), repeat=chance.shape[1] + 1):
        failed = np.array(world)
        weight = np.where(failed[:-1], 1 - chance, chance).prod(axis=1)
        weight = weight * (noise * (1 - LUCK) if failed[-1] else 1 - noise)
        if failed.any():
            failure += weight
            shares += weight[:, None] * failed / failed.sum()
    return shares / failure[:, None]


@dataclass(frozen=True)
class Failures:
    """Items that agents failed.

    Attributes
    ----------
    agent : ndarray of int, shape (failures,)
        Whose.
    failed : ndarray of bool, shape (failures, parts)
        Why.
    stated, low, high, true : ndarray of float, shape (failures, parts)
        Shares with their intervals, and the true ones.
    named : ndarray of int, shape (failures,)
        The part that is named first.
    """

    agent: np.ndarray
    failed: np.ndarray
    stated: np.ndarray
    low: np.ndarray
    high: np.ndarray
    true: np.ndarray
    named: np.ndarray

    def right(self, named: np.ndarray) -> np.ndarray:
        """Say in which failures a named part is one that failed."""
        return np.take_along_axis(self.failed, named[:, None], axis=1)[:, 0]

    def error(self, values: np.ndarray) -> float:
        """Standard error of a mean over failures, clustered by agent."""
        sums = pd.Series(values - values.mean()).groupby(self.agent).sum()
        return float(np.sqrt((sums**2).sum()) / len(values))


def sampled(evaluation, profiles, seed):
    """Fit agents, whose true profiles nobody knows, by NUTS."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampling = {"draws": 500, "tune": 500, "chains": 2, "progressbar": False}
        return ml.fit(layout(), evaluation, seed=seed, **sampling)


def explained(agents, items, seed, training=TRAINING, fit=sampled, drawn=profiles_from):
    """Simulate agents, fit them, and explain every failure on other items."""
    rng = np.random.default_rng(seed)
    profiles = drawn(rng, agents)
    asked = rng.uniform(0, HIGHEST, (training + items, len(ASKS)))
    failed = tossed(rng, profiles, asked)
    table = pd.DataFrame(asked, [f"item-{at}" for at in range(len(asked))], list(ASKS))
    names = [f"agent-{at}" for at in range(agents)]
    passed = pd.DataFrame(~failed[:, :training].any(axis=2), names, table.index[:training])
    evaluation = ml.Evaluation.from_wide(passed.astype(int), table.iloc[:training])
    found_fit = fit(evaluation, profiles, seed)
    rows = []
    for agent, name in enumerate(names):
        if name not in found_fit.subjects:
            continue
        for place in range(training, len(table)):
            if failed[agent, place].any():
                found = found_fit.explain(table.iloc[[place]], name, neighbours=0, prob=MASS)
                parts = list(found.parts.index)
                shares = found.parts[["share", "share_low", "share_high"]].to_numpy().T
                rows.append((agent, place, *shares, parts.index(found.limits_most)))
    agent, place, stated, low, high, named = (np.array(own) for own in zip(*rows, strict=True))
    true = true_shares(profiles[agent], asked[place])
    return Failures(agent, failed[agent, place], stated, low, high, true, named)


def calibration(found):
    """Compare stated shares with what happened, in bins: mean error, the worst in its errors."""
    blame = found.failed / found.failed.sum(axis=1, keepdims=True)
    stated, happened = found.stated.ravel(), blame.ravel()
    agent = np.repeat(found.agent, found.failed.shape[1])
    which = np.minimum((stated * BINS).astype(int), BINS - 1)
    apart, error = 0.0, [0.0]
    for number in range(BINS):
        inside = which == number
        if inside.sum() < 20:
            continue
        away = pd.Series(happened[inside] - stated[inside])
        apart += abs(float(away.mean())) * inside.mean()
        sums = away.groupby(agent[inside]).sum()
        error.append(abs(float(away.sum())) / float(np.sqrt((sums**2).sum())))
    return apart, max(error)


def rows(agents=AGENTS, items=ITEMS, seed=1, training=TRAINING) -> list[Line]:
    """Measure: what is named first, and whether shares are as often to blame as they say."""
    weak = explained(agents, items, seed, training, drawn=weak_from)
    return rows_of(weak, explained(agents, items, seed, training))


def rows_of(weak: Failures, found: Failures) -> list[Line]:
    """Hold explained failures to the goals: of agents with a weak part, and of the prior's."""
    covers, worst_bin = "90 % intervals hold the true share", "shares: worst bin, standard errors"
    apart, worst = calibration(found)
    inside = (found.low <= found.true) & (found.true <= found.high)
    held = inside.mean(axis=1)
    slack = ERRORS * found.error(held)
    held_text = f"{held.mean():.3f} ± {found.error(held):.3f}"
    (of_weak, weak_text), (of_prior, prior_text) = map(behind, (weak, found))
    first = "named first is true: how far behind"
    return [
        at_most(NAME, f"{first}, one weak part", of_weak, WITHIN, "", ours=weak_text),
        reported(NAME, f"{first}, agents of the prior", max(of_prior, 0.0), prior_text),
        reported(NAME, "shares: mean distance from what happened, by bin", apart, f"{apart:.4f}"),
        at_most(NAME, worst_bin, worst, 1 + ERRORS, ""),
        at_least(NAME, covers, held.mean(), MASS - slack, "", ours=held_text),
    ]


def behind(found: Failures) -> tuple[float, str]:
    """Compare naming by the explanation with naming by the true profile."""
    right, best = found.right(found.named), found.right(found.true.argmax(axis=1))
    far = best.astype(float) - right
    told = f"{right.mean():.3f} of {len(right)} failures; by the true profile {best.mean():.3f}"
    return float(far.mean()), f"{far.mean():.4f} ± {found.error(far):.4f} ({told})"


if __name__ == "__main__":
    given = [int(number) for number in sys.argv[1:]]
    lines = rows(**dict(zip(("agents", "items", "seed", "training"), given, strict=False)))
    for line in lines:
        verdict = "holds" if line.holds else "MISSED"
        print(f"{line.case} | {line.against} | {line.ours} | {line.figure.goal} | {verdict}")
    sys.exit(0 if all(line.holds for line in lines) else 1)
