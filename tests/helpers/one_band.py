"""Layouts of one band or one logistic, random batteries for them, and formulas written by hand."""

import numpy as np
import pandas as pd
from scipy.special import log_expit

import measurement_layouts as ml
from measurement_layouts.linking import band, logistic

EDGE = 1e-12


def band_layout(low=-9, high=9, link=band, reach=5.0):
    """One propensity in the bands of items."""
    risk = ml.Propensity("risk", low=low, high=high)
    ends = [ml.MetaFeature(name, low=-reach, high=reach) for name in ("lower", "upper")]
    return ml.Layout("bands", ml.Success("right", link(risk, *ends)))


def endless_layout(link=band):
    """The same without ends of the range."""
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=2))
    ends = [ml.MetaFeature(name, low=-np.inf, high=np.inf) for name in ("lower", "upper")]
    return ml.Layout("bands", ml.Success("right", link(risk, *ends)))


def skill_layout():
    """One capability opposed to one demand."""
    skill, demand = ml.Capability("skill", low=0, high=5), ml.MetaFeature("demand", low=0, high=5)
    return ml.Layout("skills", ml.Success("right", logistic(skill - demand)))


def evaluation(columns, successes, trials=1, subjects=None):
    """Make an evaluation from counts, (subjects, items)."""
    successes = np.atleast_2d(successes).astype(int)
    items = pd.DataFrame(columns, index=[f"item-{n}" for n in range(successes.shape[1])])
    names = subjects or [f"subject-{n}" for n in range(len(successes))]
    tried = np.broadcast_to(trials, successes.shape)
    tables = (pd.DataFrame(counts, names, items.index) for counts in (successes, tried))
    return ml.Evaluation(items, *tables)


def bands_of(rng, count, least=0.0, reach=5.0):
    """Draw bands with uniform ends, at least so wide."""
    bands = np.empty((0, 2))
    while len(bands) < count:
        more = np.sort(rng.uniform(-reach, reach, (count, 2)), axis=1)
        bands = np.concatenate([bands, more[np.ptp(more, axis=1) >= least]])
    return bands[:count]


def chance(theta, low, high):
    """Compute the paper's Eq. 3 to 5 in logarithms, by hand; places along the first axis."""
    centre, width = (low + high) / 2, np.maximum(high - low, 0.1)
    slope = np.exp(2 / width)  # 1 + exp(1 / r) - 1
    up = log_expit(slope * (theta[:, None] - centre + width / 2))
    down = log_expit(slope * (centre + width / 2 - theta[:, None]))
    return np.exp(up + down - 2 * log_expit(slope * width / 2))


def log_likelihood(theta, ends, successes, trials):
    """Compute it by hand, probabilities 1e-12 from 0 and 1."""
    p = np.clip(chance(np.asarray(theta, dtype=float), *ends.T), EDGE, 1 - EDGE)
    return np.log(p) @ successes + np.log1p(-p) @ (trials - successes)


def fine(ends, low, high, even=30_001, near=400):
    """Places down to 1e-12 from the edges of every band."""
    centre, half = ends.mean(axis=1), np.maximum(np.ptp(ends, axis=1), 0.1) / 2
    beside = np.logspace(-12, 0, near)
    edges = np.concatenate([centre - half, centre + half])[:, None]
    line = np.unique(
        np.concatenate([np.linspace(low, high, even), *(edges - beside), *(edges + beside)])
    )
    return line[(line >= low) & (line <= high)]
