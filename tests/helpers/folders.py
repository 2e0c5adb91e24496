"""Stores that tests share, of draws that nobody sampled."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers import small_layouts
from measurement_layouts.inference.files.store import Store
from measurement_layouts.inference.posterior.assembly import data_alone
from measurement_layouts.inference.sampling.draws import Draws, SamplingOptions, Unit
from measurement_layouts.inference.sampling.engine import Battery
from measurement_layouts.linking import logistic, product

OPTIONS = {"draws": 20, "tune": 7, "chains": 2}


def evaluation(count=5, seed=4):
    """Outcomes of some subjects on the small battery; a subject's do not depend on the others."""
    items = small_layouts.battery()
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2, (count, len(items)))
    names = [f"s{place}" for place in range(count)]
    return ml.Evaluation.from_wide(pd.DataFrame(outcomes, names, items.index), items)


def labelled():
    """A layout with a labelled latent, and an evaluation for it."""
    names = ("read", "write", "count")
    skill = ml.Capability("skill", low=0, high=5, labels=names)
    demand = ml.MetaFeature("demand", low=0, high=5, labels=names)
    luck = ml.Noise("luck")
    success = product(logistic(skill - demand), over="dimension") * (1 - luck)
    rng = np.random.default_rng(5)
    items = pd.DataFrame(rng.uniform(0, 5, (6, 3)), columns=[f"demand[{name}]" for name in names])
    outcomes = pd.DataFrame(rng.integers(0, 2, (3, 6)), index=["Zoë", "a/b", "x" * 200])
    return ml.Layout("labelled", ml.Success("done", success)), ml.Evaluation.from_wide(
        outcomes, items
    )


def sampled(layout, subject, options=OPTIONS):
    """What sampling would give, as one subject's own: its arrays are of the sampler's types."""
    rng = np.random.default_rng(list(subject.encode()))
    shape = (options["chains"], options["draws"])
    posterior = {
        latent.name: rng.uniform(0, 1, (*shape, *map(len, latent.dims.values())))
        for latent in layout.latents
    }
    statistics = {
        "diverging": rng.uniform(size=shape) < 0.1,
        "energy": rng.normal(size=shape),
        "tree_depth": rng.integers(1, 5, shape).astype("uint64"),
    }
    return Draws(posterior, statistics)


def opened(path, layout, outcomes, options=OPTIONS, seed=3, reruns=1, **how):
    """Open a store, in memory without a path; also its `method`."""
    data = data_alone(layout, Battery.of(layout, outcomes).features, outcomes)
    return Store.open(path, layout, data, SamplingOptions(**options), seed, reruns, **how)


def add(store, layout, row, attempt=1, reason="", options=OPTIONS):
    """Add draws of a subject, named s0, s1, ..., as those of an attempt."""
    store.add(Unit(row, attempt, 0), sampled(layout, f"s{row}", options), reason)


def filled(path, layout):
    """Fill a store of five subjects: three finished, one of them sampled twice, one failed."""
    with opened(path, layout, evaluation()) as store:
        add(store, layout, 3)
        add(store, layout, 0, 1, "R-hat 1.2")
        add(store, layout, 0, 2, "R-hat 1.2")
        for attempt in (1, 2):
            store.add(Unit(1, attempt, 0), None, "RuntimeError: no start")
        add(store, layout, 2)
    return path
