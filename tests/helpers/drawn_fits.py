"""Fits whose draws nobody sampled, and what a figure shows of them."""

import numpy as np
import pandas as pd
from matplotlib.collections import LineCollection, PathCollection

import measurement_layouts as ml
from helpers import joint_fits, small_populations
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.posterior.assembly import data_alone
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, Unit
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.linking import logistic, mean_failure, mixture, product

SUBJECTS = ["Ann", "costs $5 or $6", "_under_score_", "all right"]
LONG = "a-model-with-a-name-of-more-than-sixty-letters-as-they-do-occur-in-practice-v2"


def layout():
    distance = ml.MetaFeature("distance", low=0, high=40, unit="m")
    smallness = ml.MetaFeature("smallness", low=0, high=2)
    side = ml.MetaFeature("side", levels=(-1, 0, 1))
    navigation = ml.Capability("navigation", low=0, high=40, unit="m")
    sight = ml.Capability("sight", low=0, high=2)
    go = logistic(navigation - distance + ml.Bias("left_right") * side)
    see = logistic(sight - smallness, slope=4)
    chance = mixture(go * see, by=ml.Noise("noise"), toward=mean_failure)
    return ml.Layout("two", ml.Success("found", chance))


def evaluation(subjects=SUBJECTS):
    """Twelve items; the last subject succeeds on all."""
    rng = np.random.default_rng(3)
    columns = {
        "distance": np.linspace(1, 39, 12),
        "smallness": rng.permutation(np.linspace(0, 2, 12)),
        "side": np.resize([-1, 0, 1], 12),
    }
    items = pd.DataFrame(columns, index=[f"item_{k}" for k in range(12)])
    outcomes = rng.integers(0, 2, (len(subjects), 12))
    outcomes[-1] = 1
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, subjects, items.index), items)


def made_up(layout, evaluation, failures=None):
    """A fit in which each subject's draws lie in a part of the range of its own."""
    rng, failures = np.random.default_rng(11), failures or {}
    options = SamplingOptions(draws=50, tune=1, chains=2)
    data = data_alone(layout, Battery.of(layout, evaluation).features, evaluation)
    with Store.open(None, layout, data, options, seed=1, reruns=0) as store:
        for row, subject in enumerate(evaluation.subjects):
            if subject in failures:
                store.add(Unit(row, 1, 0), None, failures[subject])
                continue
            posterior = {}
            for latent in layout.latents:
                low, high = latent.range.low, latent.range.high
                low, high = (low, high) if np.isfinite(high - low) else (-1.0, 1.0)
                shape = (2, 50, *map(len, latent.dims.values()))
                shares = rng.beta(*rng.uniform(2, 9, 2), shape)
                posterior[latent.name] = low + (high - low) * shares
            flat = {name: np.zeros((2, 50)) for name in ("energy", "depth", "logp")}
            calm = {"diverging": np.zeros((2, 50), dtype=bool)}
            store.add(Unit(row, 1, 0), Draws(posterior, calm | flat))
        return ml.Fit.of(store.posterior())


def labelled():
    """A fit of three skills, of which the last subject's failed."""
    names = ("read", "write", "count")
    skill = ml.Capability("skill", low=0, high=5, unit="level", labels=names)
    demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=names)
    chance = product(logistic(skill - demand), over="dimension")
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.uniform(0, 5, (6, 3)), columns=[f"demand[{n}]" for n in names])
    items.index = [f"i{k}" for k in range(6)]
    who = ["A", "B", LONG, "C"]
    outcomes = pd.DataFrame(rng.integers(0, 2, (4, 6)), index=who, columns=items.index)
    chances = ml.Layout("labelled", ml.Success("done", chance))
    return made_up(chances, ml.Evaluation.from_wide(outcomes, items), {"C": "it stopped"})


def rasch(subjects, items):
    """A joint Rasch fit."""
    rng = np.random.default_rng(5)
    ability = rng.normal(0.3, 1, subjects) + 0.4 * rng.normal(size=(2, 100, subjects))
    ease = rng.normal(0, 1.5, items) + 0.2 * rng.normal(size=(2, 100, items))
    draws = {"ability": ability, "ease": ease, "mean": 0.3 + 0.1 * rng.normal(size=(2, 100))}
    draws["spread"] = 1 + 0.05 * rng.random(size=(2, 100))
    return small_populations.crafted(
        joint_fits.rasch(), small_populations.cohort(subjects, items), draws
    )


def points(ax):
    """Scattered points, (x, y); a legend's empty ones are left out."""
    drawn = [item for item in ax.collections if isinstance(item, PathCollection)]
    return [item for item in drawn if np.isfinite(item.get_offsets().filled(np.nan)).any()]


def bars(ax):
    """Ends of all intervals, in the order drawn, shape (bars, 2, 2)."""
    lines = [item for item in ax.collections if type(item) is LineCollection]
    segments = [segment for one in lines for segment in one.get_segments() if len(segment)]
    return np.array([segment for segment in segments if np.isfinite(segment).all()])


def named(ticks):
    return [tick.get_text() for tick in ticks]
