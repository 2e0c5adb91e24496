"""Graded outcomes and scores by hand: every step a trial given that the one before was passed."""

import numpy as np

from helpers import graded_layouts
from helpers.hand_densities import EDGE, FAR_EDGE, Between, Hand, Long, Positive, log_sigma, sigma


def log_odds(v, items):
    """Of the performance, kept 1e-12 from 0 and 1."""
    able = sigma(0.8 * (v["objectPermanence"] - items["timeHidden"]))
    p = np.clip((1 - v["noise"]) * able + v["noise"] * Long(0.4), EDGE, FAR_EDGE)
    return np.log(p) - np.log1p(-p)


def steps(margin, thresholds, scale, items):
    """Chance of each row's step, given the one before; thresholds (points, steps)."""
    own = items["step"].astype(int) - 1
    here = scale * (margin - thresholds[:, own])
    before = scale * (margin - thresholds[:, np.maximum(own - 1, 0)])
    return np.exp(log_sigma(here) - np.where(own > 0, log_sigma(before), 0))


def grades(v, items, failure):
    """Thresholds lie a gap apart, one for each pair, with mean 0."""
    gaps = np.cumsum(v["gap"][:, 0], axis=1)
    thresholds = np.concatenate([0 * gaps[:, :1], gaps], axis=1)
    thresholds = thresholds - thresholds.mean(axis=1, keepdims=True)
    return steps(log_odds(v, items), thresholds, 1, items)


def places(v, items, failure):
    """Ten places; a score passes a cut as its log-odds pass the cut's."""
    cuts = (np.arange(10, dtype=Long) + 0.5) / 10
    thresholds = (np.log(cuts) - np.log1p(-cuts))[None]
    return steps(log_odds(v, items), thresholds, v["precision"], items)


MEMORY = {"objectPermanence": Between(0, 10), "noise": Between(0, 1)}
HANDS = {
    "graded outcomes": Hand({**MEMORY, "gap": Positive(2)}, grades, {"gap": 2}),
    "scores": Hand({**MEMORY, "precision": Positive(2)}, places),
}
LEAVES = {"graded outcomes": "graded, gaps", "scores": "score"}


def layout(name):
    return graded_layouts.layout(*graded_layouts.LEAVES[LEAVES[name]]())
