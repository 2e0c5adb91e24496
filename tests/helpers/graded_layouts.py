"""Layouts with grades, scores and several outcomes, and their likelihood written by hand."""

import numpy as np
import pandas as pd
from scipy.special import expit, gammaln, logit

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture

GRADES = ("lost", "detour", "near", "direct")
PAIRS = ("first", "second")


def keeps(noise=None):
    """Object permanence: whether the chick keeps in mind what it does not see; and its noise."""
    noise = ml.Noise("noise") if noise is None else noise
    memory = ml.Capability("objectPermanence", low=0, high=10, unit="s")
    hidden = ml.MetaFeature("timeHidden", low=0, high=10, unit="s")
    able = logistic(memory - hidden, slope=0.8)
    return ml.Derived("keeps", mixture(able, by=noise, toward=0.4))


def success():
    return ml.Success("found", keeps())


def graded(gap=1.5, grades=GRADES):
    return ml.Graded("path", keeps(), grades=grades, gap=gap)


def labelled():
    return graded(ml.Slope("gap", labels=PAIRS, dim="pair"))


def score(precision=2.5, places=10):
    return ml.Score("credit", keeps(), precision=precision, places=places)


LEAVES = {
    "graded": lambda: [graded()],
    "graded, one gap": lambda: [graded(ml.Slope("gap"))],
    "graded, gaps": lambda: [labelled()],
    "graded, two": lambda: [graded(grades=("no", "yes"), gap=1)],
    "score": lambda: [score(ml.Slope("precision"))],
    "score, one place": lambda: [score(places=1)],
    "successes": lambda: [success(), ml.Success("chosen", keeps() ** 2)],
    "all": lambda: [success(), labelled(), score(ml.Slope("precision"), places=4)],
}


def layout(*leaves):
    return ml.Layout("permanence", *leaves)


def items(count, seed=1):
    hidden = np.random.default_rng(seed).uniform(0, 10, count)
    return pd.DataFrame({"timeHidden": hidden}, [f"arena {place}" for place in range(count)])


def random_outcomes(made, table, rng, subjects=("Ann",), attempts=3):
    """Tables of attempts for each leaf, some items without any; and levels, as counts."""
    tables, levels = {}, {}
    for leaf in made.outcomes:
        rows = [
            (subject, item)
            for subject in subjects
            for item in table.index
            for _ in range(rng.integers(0, attempts + 1))
        ] + [(subject, table.index[0]) for subject in subjects]
        frame = pd.DataFrame(rows, columns=["subject", "item"])
        reached = rng.integers(0, len(leaf.steps) + 1, len(rows))
        values = reached.astype(object)
        if isinstance(leaf, ml.Score):
            values = reached / leaf.places + rng.uniform(-0.4, 0.4, len(rows)) / leaf.places
            values = np.clip(values, 0, 1)
        elif isinstance(leaf, ml.Graded):
            named = np.array(leaf.grades, dtype=object)[reached]
            values = np.where(rng.random(len(rows)) < 0.5, named, values)
        tables[leaf.name] = frame.assign(outcome=values)
        levels[leaf.name] = frame.assign(level=reached)
    return tables, levels


def by_hand(made, table, profile, levels):
    """Log-likelihood of one subject's outcomes: categorical, outcome by outcome."""
    hidden = table["timeHidden"].to_numpy()
    able = expit(0.8 * (profile["objectPermanence"] - hidden))
    p = (1 - profile["noise"]) * able + profile["noise"] * 0.4
    total = 0.0
    for leaf in made.outcomes:
        reached = reach(leaf, p, profile)
        chances = -np.diff(reached, axis=1)  # (items, levels)
        counts = np.zeros(chances.shape)
        own = levels[leaf.name]
        np.add.at(counts, (table.index.get_indexer(own["item"]), own["level"]), 1)
        ways = gammaln(counts.sum(axis=1) + 1) - gammaln(counts + 1).sum(axis=1)
        total += ways.sum() + (counts * np.log(chances)).sum()
    return total


def reach(leaf, p, profile):
    """Probability of at least each level, (items, levels + 1), from 1 to 0."""
    if isinstance(leaf, ml.Success):
        steps = (p if leaf.name == "found" else p**2)[:, None]
    elif isinstance(leaf, ml.Score):
        cuts = (np.arange(leaf.places) + 0.5) / leaf.places
        steps = expit(profile.get("precision", 2.5) * (logit(p)[:, None] - logit(cuts)))
    else:
        gaps = profile.get("gap", 1.5)
        thresholds = np.append(0, np.cumsum(np.broadcast_to(gaps, len(leaf.steps) - 1)))
        steps = expit(logit(p)[:, None] - (thresholds - thresholds.mean()))
    ends = np.ones((len(p), 1))
    return np.hstack([ends, steps, 0 * ends])


def random_profile(made, rng):
    """Values of the latents: numbers, and an array for labelled gaps."""
    found = {"objectPermanence": rng.uniform(1, 9), "noise": rng.uniform(0.05, 0.9)}
    for latent in made.latents:
        if latent.name in ("gap", "precision"):
            found[latent.name] = rng.uniform(0.3, 3, len(PAIRS) if latent.dims else None)
    return found
