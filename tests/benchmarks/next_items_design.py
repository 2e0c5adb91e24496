"""Designed batteries: against 150 items chosen by hand, and expected against realised deviations.

Called by ``next_items.py``; the bank is that of `measurement_layouts` data ``demand_annotations``:
19,576 items with 18 demands, of which the 15 of the authors' battery are used.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
from battery_cases import DATA
from lines import Line, at_least, at_most, reported

import measurement_layouts as ml
from measurement_layouts.batteries import Design, Quota, design
from measurement_layouts.batteries.information.sensitivity import prior_profiles
from measurement_layouts.layouts.elements import elements
from measurement_layouts.linking import band, logistic, mixture, product, total

ITEMS = 130
SUBJECTS = 40
SAMPLING = {"draws": 400, "tune": 400, "chains": 2, "reruns": 0, "progressbar": False}
SOURCE = "source"
KINDS = ("needed", "asked", "asked, independent")
_BELOW = 0.30
_SECONDS = 60.0
_EXPLAINED = 0.9


def demands_layout(names: list[str], kind: str) -> ml.Layout:
    """Declare abilities about a general level, or each by itself.

    All are needed, or they are asked for by the squares of the demands and make up for each other.
    """
    demand = ml.MetaFeature("demand", low=0, high=5, unit="level", labels=names)
    general = ml.Capability("generalLevel", unit="level", prior=ml.Prior("Normal", mu=3, sigma=1.5))
    near = ml.Prior("Normal", mu=general, sigma=1.0)
    if kind == "asked, independent":
        near = ml.Prior("Normal", mu=3, sigma=2)
    ability = ml.Capability("ability", unit="level", prior=near, labels=names)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    if kind == "needed":
        able = product(logistic(ability - demand, 2.5), over="dimension")
    else:
        asked = demand * demand + 0.01
        ahead = total(asked * (ability - demand), over="dimension")
        able = logistic(ahead / total(asked, over="dimension"), 2.5)
    return ml.Layout(f"demands, {kind}", ml.Success("ok", mixture(able, noise, toward=0)))


def annotated() -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    """Read the bank, the authors' 150 items, and the names of their demands."""
    folder = Path(os.environ[DATA]) / "demand_annotations"
    chosen = pd.read_csv(folder / "selected_battery_items.csv")
    names = list(chosen.columns[4:])
    columns = [f"demand[{name}]" for name in names]
    table = pd.read_csv(folder / "annotations_gpt4o.csv", dtype=str)
    bank = table[names].apply(pd.to_numeric, errors="coerce").set_axis(columns, axis=1)
    bank[SOURCE] = table["dataset name"]
    bank.index = pd.Index(table["dataset name"] + "/" + table["sample id"])
    whole = bank[columns].isin(range(6)).all(axis=1)
    theirs = chosen[names].set_axis(columns, axis=1)
    theirs.index = pd.Index([f"chosen-{number}" for number in range(len(theirs))])
    return bank[whole], theirs, names


def quotas(names: list[str]) -> list[Quota]:
    """Ask for 3 items of every demand at levels 0-1 and 4-5, and at most 20 of a source."""
    ends = ((0, 1), (4, 5))
    of_demands = [
        Quota(f"demand[{name}]", low=low, high=high, least=3)
        for name in names
        for low, high in ends
    ]
    return [*of_demands, Quota(SOURCE, most=20)]


def realised_sds(
    layout: ml.Layout, items: pd.DataFrame, subjects: int, seed: int
) -> "pd.Series[float]":
    """Fit subjects drawn from the prior: the mean posterior sd of each profile element."""
    rng = np.random.default_rng(seed)
    drawn = prior_profiles(layout)
    names = [element.name for element in elements(layout)]
    chosen = rng.choice(len(drawn), subjects, replace=False)
    profiles = pd.DataFrame(drawn[chosen], [f"s{number}" for number in range(subjects)], names)
    numbered = items.set_axis([f"i{number}" for number in range(len(items))])
    evaluation = ml.simulate(layout, numbered, profiles, seed=seed)
    table = ml.fit(layout, evaluation, seed=seed, **SAMPLING).profiles()
    label = table["label"].astype(str)
    name = table["node"].where(label == "", table["node"] + "[" + label + "]")
    return table["sd"].groupby(name).mean()[names]


def authors(quick: bool, seed: int) -> list[Line]:
    """Design 130 items, quotas on, and hold fits to them against fits to the authors' 150."""
    bank, theirs, names = annotated()
    bank = bank.iloc[::10] if quick else bank
    subjects = 8 if quick else SUBJECTS
    lines = []
    for kind in KINDS:
        layout = demands_layout(names, kind)
        start, before = time.perf_counter(), time.process_time()
        rules = [] if quick else quotas(names)
        found = design(layout, bank, ITEMS, target="ability", quotas=rules, seed=seed)
        seconds, own = time.perf_counter() - start, time.process_time() - before
        _refuse_missed(found, rules)
        features = [column for column in bank.columns if column != SOURCE]
        ours, hand = (
            realised_sds(layout, items, subjects, seed).filter(like="ability").mean()
            for items in (found.battery[features], theirs)
        )
        told = found.latents["after"].filter(like="ability").mean()
        case = f"design against the authors' 150, abilities {kind}"
        lines += [
            at_least(
                case,
                "part by which the mean realised sd of the abilities is below theirs",
                1 - ours / hand,
                _BELOW,
                "",
                ours=f"{ours:.3f} against {hand:.3f} levels; the design said {told:.3f}",
            ),
            at_most(case, "seconds", seconds, _SECONDS, "s", ours=f"{own:.0f} s of processors"),
        ]
    return lines


def _refuse_missed(found: Design, rules: list[Quota]) -> None:
    """Count quotas again, apart from the code that holds them."""
    for quota in rules:
        column = found.battery[quota.column]
        if quota.most is not None:
            assert column.value_counts().max() <= quota.most, quota
        else:
            assert column.between(quota.low, quota.high).sum() >= quota.least, quota


def realised(quick: bool, seed: int) -> list[Line]:
    """Hold expected against realised deviations of designed batteries, parts of those before."""
    told, found = [], []
    for name, (layout, bank) in _cases(seed).items():
        for n in (10, 40) if quick else (10, 20, 40, 80):
            ours = design(layout, bank, n, seed=seed)
            features = ours.battery[ours.bank.columns]
            sds = realised_sds(layout, features, 8 if quick else SUBJECTS, seed)
            before = ours.latents["before"]
            told.append((ours.latents["after"] / before).to_numpy())
            found.append((sds / before).to_numpy())
            print(name, n, told[-1].round(3), found[-1].round(3))
    expected, measured = np.concatenate(told), np.concatenate(found)
    off = ((measured - expected) ** 2).sum() / ((measured - measured.mean()) ** 2).sum()
    case = f"expected against realised sd, {len(told)} designed batteries"
    rms = float(np.sqrt(((expected / measured - 1) ** 2).mean()))
    return [
        at_least(
            case,
            "R2 about the diagonal, over latents and batteries",
            1 - off,
            _EXPLAINED,
            "",
            ours=f"{1 - off:.3f} over {len(measured)} standard deviations",
        ),
        reported(case, "root mean square of the relative difference", rms, f"{rms:.3f}"),
    ]


def _cases(seed: int) -> dict[str, tuple[ml.Layout, pd.DataFrame]]:
    """Layouts with banks of 400 items: three needed capabilities, and bands with several modes."""
    rng = np.random.default_rng(seed)
    labels = ["one", "two", "three"]
    demand = ml.MetaFeature("demand", low=0, high=10, labels=labels)
    ability = ml.Capability("ability", low=0, high=10, labels=labels)
    noise = ml.Noise("noise", prior=ml.Prior("Beta", alpha=1, beta=9))
    able = product(logistic(ability - demand, 2), over="dimension")
    needed = ml.Layout("needed", ml.Success("ok", mixture(able, noise, toward=0)))
    levels = rng.uniform(0, 10, (400, 3)) * (rng.random((400, 3)) < 0.6)
    low, high = (ml.MetaFeature(name, low=-8, high=8) for name in ("lower", "upper"))
    risk = ml.Propensity("risk", prior=ml.Prior("Normal", mu=0, sigma=2))
    inside = mixture(band(risk, low, high, slope=4), 0.1, toward=1 / 3)
    banded = ml.Layout("banded", ml.Success("ok", inside))
    centre, width = rng.uniform(-3, 3, 400), rng.uniform(0.5, 3, 400)
    names = [f"item-{number}" for number in range(400)]
    return {
        "three": (needed, pd.DataFrame(levels, names, [f"demand[{name}]" for name in labels])),
        "bands": (
            banded,
            pd.DataFrame({"lower": centre - width, "upper": centre + width}, names),
        ),
    }
