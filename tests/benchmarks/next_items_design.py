"""Batteries designed before anybody answers: beside one chosen by hand, and expected beside found.

What is found are posterior sds of fresh fits of simulated subjects, not those that the design
computes.
"""

import sys
import time
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from banks import BANKS, Bank, annotated, drawn
from lines import Line, at_least, at_most
from next_items_tests import table

import measurement_layouts as ml

SAVED, SECONDS, EXPLAINED = 0.3, 60, 0.9
LEAST, LOW, HIGH = 3, (0, 1), (4, 5)
"""Items of every demand that there must be at low levels and at high ones."""
SIZES = (25, 50, 100)
LENGTH = {"draws": 500, "tune": 500, "chains": 2}
QUICK = {"draws": 100, "tune": 150, "chains": 2}


def by_hand(subjects: int, quick: bool, seed: int) -> list[Line]:
    """Design as many items as the authors' battery has; hold expected sds to their battery's."""
    items, chosen = annotated.read()
    layout = annotated.layout(items)
    bank = items.sample(2_000, random_state=seed) if quick else items
    demands = [name for name in items.columns if name.startswith("demand[")]
    start = time.perf_counter()
    found = ml.batteries.design(layout, bank, len(chosen), quotas=_quotas(bank, demands), seed=seed)
    seconds = time.perf_counter() - start
    sds = {}
    for name, names in (("by hand", chosen), ("designed", found.battery.index)):
        sds[name] = fitted_sds(layout, items.loc[names], subjects, quick, seed)
        print(f"design: {name} {sds[name].mean().mean():.3f}", file=sys.stderr, flush=True)
    abilities = [name for name in sds["designed"] if name.startswith("ability")]
    ours, theirs = (sds[name][abilities].mean(axis=1) for name in ("designed", "by hand"))
    apart = 1 - ours / theirs
    error = apart.std(ddof=1) / np.sqrt(subjects)
    foreseen = found.latents.loc[abilities, "after"].mean()
    told = (
        f"+- {error:.3f}, {subjects} subjects; mean sd {ours.mean():.3f} (expected "
        f"{foreseen:.3f}), by hand {theirs.mean():.3f}, prior {annotated.WIDTH}"
    )
    case = f"{len(chosen)} designed items of {len(bank):,} beside those chosen by hand"
    saved = 1 - ours.mean() / theirs.mean()
    return [
        at_least(case, "part of the sd that is saved", saved, SAVED, "", ours=told),
        at_most(case, "seconds, quotas on", seconds, SECONDS, "s"),
    ]


def _quotas(bank: pd.DataFrame, demands: list[str]) -> list[ml.batteries.Quota]:
    """Ask for some items of every demand at low and at high levels, as far as the bank has them."""
    quotas = []
    for name in demands:
        for low, high in (LOW, HIGH):
            there = int(bank[name].between(low, high).sum())
            if there:
                least = min(LEAST, there)
                quotas.append(ml.batteries.Quota(name, low=low, high=high, least=least))
    return quotas


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
    """Draw subjects, let them answer, and fit them: posterior sds, subjects x elements."""
    bank = Bank("battery", layout, battery, (), (), seed)
    answers = pd.DataFrame(bank.answers(subjects), bank.profiles(subjects).index, battery.index)
    known = ml.Evaluation.from_wide(answers, battery)
    length = QUICK if quick else LENGTH
    found = ml.fit(layout, known, seed=seed, progressbar=False, **length).profiles()
    own = {name: table(part)["sd"] for name, part in found.groupby("subject")}
    return pd.DataFrame(own).T


CASES: Mapping[str, Callable[[int, bool, int], list[Line]]] = {
    "design": by_hand,
    "design-expected": expected,
}
