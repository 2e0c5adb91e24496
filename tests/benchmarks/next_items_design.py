"""Batteries designed before anybody answers: beside one chosen by hand, and expected beside found.

What is found are posterior sds of fresh fits of simulated subjects, not those that the design
computes.
"""

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from banks import BANKS, MOST, annotated, drawn
from lines import Line, at_least, at_most, reported
from next_items_bound import least
from next_items_tests import table

import measurement_layouts as ml
from measurement_layouts.batteries.information.sensitivity import evenly
from measurement_layouts.layouts.elements import elements

SAVED, SECONDS, EXPLAINED = 0.3, 60, 0.9
DESIGNED = 130
LEAST, LOW, HIGH = 3, (0, 1), (4, 5)
"""Items of every demand that there must be at low levels and at high ones."""
OF_SOURCE = 20
"""Items of one source that there may be."""
SIZES = (25, 50, 100)
LENGTH = {"draws": 500, "tune": 500, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}


def by_hand(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Design 130 items; hold the sds of fits to them against those of the authors' 150."""
    items, theirs = annotated.read()
    bank = items.iloc[::10] if quick else items
    lines = []
    for kind in annotated.KINDS:
        layout = annotated.layout(items, kind)
        start, used = time.perf_counter(), time.process_time()
        found = ml.batteries.design(
            layout, bank, DESIGNED, target="ability", quotas=_quotas(bank), seed=seed
        )
        seconds, own = time.perf_counter() - start, time.process_time() - used
        ours, hand = (
            fitted_sds(layout, battery, subjects, quick, seed).filter(like="ability").mean(axis=1)
            for battery in (items.loc[found.battery.index], theirs)
        )
        error = float((1 - ours / hand).std(ddof=1) / np.sqrt(subjects))
        foreseen = found.latents["after"].filter(like="ability").mean()
        case = f"{DESIGNED} designed items beside 150 chosen by hand, abilities {kind}"
        told = (
            f"+- {error:.3f}, {subjects} subjects; mean sd {ours.mean():.3f} (the design said "
            f"{foreseen:.3f}), by hand {hand.mean():.3f} levels"
        )
        saved = float(1 - ours.mean() / hand.mean())
        print(f"{case}: {saved:.3f} {told}", file=sys.stderr, flush=True)
        most, own_saved = _most_saved(layout, items, found.battery.index, theirs, quick)
        ceiling = f"by the formula of the design, which expects {own_saved:.3f} of this one"
        lines += [
            reported(case, "part of the sd that any such number of items saves", most, ceiling),
            at_least(case, "part of the sd that is saved", saved, SAVED, "", ours=told),
            at_most(
                case,
                "seconds, quotas on",
                seconds,
                SECONDS,
                "s",
                ours=f"{own:.0f} s of the process's own time",
            ),
        ]
    return lines


def _quotas(bank: pd.DataFrame) -> list[ml.batteries.Quota]:
    """Ask for items of every demand at low and high levels, as far as there are; limit sources."""
    quotas = [ml.batteries.Quota("source", most=OF_SOURCE)]
    for name in bank.filter(like="demand["):
        for low, high in (LOW, HIGH):
            there = min(LEAST, int(bank[name].between(low, high).sum()))
            if there:
                quotas.append(ml.batteries.Quota(name, low=low, high=high, least=there))
    return quotas


def _most_saved(
    layout: ml.Layout, items: pd.DataFrame, ours: pd.Index, theirs: pd.DataFrame, quick: bool
) -> tuple[float, float]:
    """Bound what as many items as ours may save of the sd by hand, and say what ours save."""
    able = np.array([element.name.startswith("ability") for element in elements(layout)])
    both = pd.concat([items[theirs.columns], theirs.set_axis(theirs.index + " by hand")])
    weights, draws = able / able.sum(), 40 if quick else 200
    hand = least(
        layout, both.loc[both.index[len(items) :]], both.index[len(items) :], weights, draws
    )[1]
    bound, own = least(layout, items[theirs.columns], ours, weights, draws)
    return 1 - bound / hand, 1 - own / hand


def expected(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Design batteries of several sizes; how well do expected sds foresee those of fits?"""
    rows = []
    for name in ("three",) if quick else ("three", "nine", "bands"):
        bank = BANKS[name]()
        scale = drawn(bank.layout, 2_000, seed).std()
        for size in SIZES[:1] if quick else SIZES:
            found = ml.batteries.design(bank.layout, bank.items, size, seed=seed)
            battery = bank.items.loc[found.battery.index]
            sds = fitted_sds(bank.layout, battery, subjects, quick, seed)
            after = found.latents["after"]
            rows.append(pd.DataFrame({"expected": after / scale, "found": sds.mean() / scale}))
            print(f"{bank.name}, {size} designed:\n{rows[-1]}", file=sys.stderr, flush=True)
    both = pd.concat(rows)
    left = ((both["found"] - both["expected"]) ** 2).sum()
    explained = 1 - left / ((both["found"] - both["found"].mean()) ** 2).sum()
    told = (
        f"{len(both)} elements of batteries, {subjects} subjects each; largest distance "
        f"{(both['found'] - both['expected']).abs().max():.3f} prior sds"
    )
    return [at_least("expected beside found sds", "R2", explained, EXPLAINED, "", ours=told)]


def fitted_sds(
    layout: ml.Layout, battery: pd.DataFrame, subjects: int, quick: bool, seed: int
) -> pd.DataFrame:
    """Let subjects answer and fit them: posterior sds, subjects x elements.

    They are chosen evenly from the prior: under bands a few subjects have sds that are ten times
    the others', and how many of these are drawn would otherwise decide the mean.
    """
    everybody = drawn(layout, MOST, seed)
    who = evenly(everybody.to_numpy(), subjects, np.random.default_rng(seed))
    known = ml.simulate(layout, battery, everybody.iloc[who], seed=seed)
    length = QUICK if quick else LENGTH
    found = ml.fit(layout, known, seed=seed, progressbar=False, **length).profiles()
    own = {name: table(part)["sd"] for name, part in found.groupby("subject")}
    return pd.DataFrame(own).T


CASES: Mapping[str, Callable[[int, bool, int], list[Line]]] = {
    "design": by_hand,
    "design-expected": expected,
}
