"""A population as the starting point: what a newcomer's test saves when others were fitted.

Abilities of the subjects differ by 1.2 about means that the fit of the others finds; the prior of a
subject alone has an sd of 2.9. Both tests choose from the bank of 2,000 items.
"""

import sys

import numpy as np
import pandas as pd
from banks import BANKS, population
from lines import Line, at_most, reported
from next_items_banks import or_never
from next_items_reference import needs_of

import measurement_layouts as ml

LENGTH = {"draws": 400, "tune": 400, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}
CASE = "population as the start"
ASKED, AT = 40, (10, 20, 40)


def started(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Test newcomers with and without the fit of others; both by sds of their own posteriors."""
    items = BANKS["three"]().items
    alone, together = population.layout_alone(), population.layout_together()
    crowd = 10 if quick else population.CROWD
    truth = population.profiles(crowd + subjects)
    known = ml.simulate(alone, items, truth, seed=population.SEED)
    others = truth.index[:crowd]
    fit = ml.fit(
        together,
        _tried(known.select(subjects=others)),
        seed=seed,
        progressbar=False,
        **(QUICK if quick else LENGTH),
    )
    curves: dict[str, list[np.ndarray]] = {"alone": [], "given": []}
    apart: dict[str, list[np.ndarray]] = {"alone": [], "given": []}
    for place, one in enumerate(truth.index[crowd:]):
        for way, layout, given in (("alone", alone, None), ("given", together, fit)):
            test = ml.AdaptiveTest(layout, items, subject=one, given=given, seed=seed + place)
            before = test.profile()
            for _ in range(ASKED // 4 if quick else ASKED):
                (item,) = test.next()
                test.record(item, int(known.successes.at[one, item]))
            history = test.history
            sds = history[[name for name in history if name.startswith("sd ability")]]
            start = before.loc[before["node"] == "ability", "sd"].mean()
            curves[way].append(np.r_[start, sds.mean(axis=1)])
            found = test.profile()
            means = found.loc[found["node"] == "ability", "mean"].to_numpy()
            apart[way].append(means - truth.loc[one, list(truth.columns[:3])].to_numpy(float))
        print(f"population: newcomer {place + 1} of {subjects}", file=sys.stderr, flush=True)
    ours, theirs = (np.array(curves[way]) for way in ("given", "alone"))
    lines = []
    for count in (at for at in AT if at < theirs.shape[1]):
        (needs,), again = needs_of(theirs[:, count], [ours], seed)
        told = f"+- {np.nanstd(again):.1f}, {subjects} newcomers, {crowd} others fitted"
        case = f"{CASE}, as much as {count} items alone"
        lines.append(at_most(case, "items", or_never(needs), count, "", ours=told))
    starts = f"sd before any answer {ours[:, 0].mean():.2f} against {theirs[:, 0].mean():.2f} alone"
    told = f"alone {_rms(apart['alone']):.3f}; {starts}"
    found = _rms(apart["given"])
    return [*lines, reported(CASE, "distance from the truth at the end", found, told)]


def _tried(known: ml.Evaluation) -> ml.Evaluation:
    """Leave each subject of the crowd the random items that it has tried."""
    rng = np.random.default_rng(population.SEED)
    ranks = rng.random(known.trials.shape).argsort(axis=1).argsort(axis=1)
    there = pd.DataFrame(ranks < population.TRIED, known.trials.index, known.trials.columns)
    return ml.Evaluation(known.items, known.successes * there, known.trials * there)


def _rms(apart: list[np.ndarray]) -> float:
    return float(np.sqrt((np.array(apart) ** 2).mean()))
