"""Layouts with batteries of the sizes that published studies have: simulated and real ones.

The simulated ones come with the profiles behind their outcomes. The real ones are read from the
folder that the environment variable MEASUREMENT_LAYOUTS_DATA names.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import (
    generalised_mean,
    guessing,
    logistic,
    mean_failure,
    mixture,
    presence,
    product,
)
from measurement_layouts.scenarios import animal_ai_olympics as aaio

DATA = "MEASUREMENT_LAYOUTS_DATA"
OPTIONS = {"chains": 2, "tune": 1000, "draws": 1000}  # as Burden et al. (2023), appendix A.1
SEED = 1
LABELS = (
    *("AS", "AT", "CEc", "CEe", "CL", "KNa", "KNc", "KNf", "KNn", "KNs"),
    *("MCr", "MCt", "MCu", "MS", "QLl", "QLq", "SNs", "VO"),
)
SKILLS = tuple(f"QT{number}" for number in range(1, 9))


class Study(NamedTuple):
    """A layout, an evaluation, and the simulated subjects' profiles."""

    layout: ml.Layout
    evaluation: ml.Evaluation
    profiles: pd.DataFrame | None = None


def animal_ai(seed: int = SEED) -> Study:
    """Sixty-eight agents on 69 items, none of which repeats; the published layout."""
    cohort = aaio.simulated_cohort(seed)
    return Study(aaio.published_layout(), cohort.evaluation, cohort.profiles)


def copies(study: Study, count: int) -> ml.Evaluation:
    """Outcomes of so many subjects, copies of ten evenly spread ones under names of their own."""
    subjects = study.evaluation.subjects
    ten = [subjects[place] for place in np.linspace(0, len(subjects) - 1, 10, dtype=int)]
    names = [f"copy-{number:04d}" for number in range(1, count + 1)]
    successes, trials = (
        table.loc[np.resize(ten, count)].set_axis(names, axis=0)
        for table in (study.evaluation.successes, study.evaluation.trials)
    )
    return ml.Evaluation(study.evaluation.items, successes, trials)


def object_permanence_layout() -> ml.Layout:
    """Nine latents, after Burden et al. (2023), Table 5.

    As there, occlusion demands the longest time (4 s) at every position, so that `OPAbility` is
    in positions times 4 s; the priors are uniform on the ranges, but for the bias.
    """
    ramps, lava, platforms, occluder = (
        ml.MetaFeature(f"{obstacle}Presence", levels=(0, 1))
        for obstacle in ("ramp", "lava", "platform", "occluder")
    )
    distance = ml.MetaFeature("goalDistance", low=0, high=56, unit="arena_unit")
    size = ml.MetaFeature("goalSize", low=0.4, high=5, unit="goal_unit")
    side = ml.MetaFeature("rightLeftPosition", levels=(-1, 0, 1))
    time = ml.MetaFeature("timeUnderOcc", low=0, high=4, unit="s")
    positions = ml.MetaFeature("numberOfPositions", low=1, high=11, unit="position")
    permanence = ml.Capability("OPAbility", low=0, high=48.4, unit="position")
    memory = ml.Capability("memoryAbility", low=0, high=4.4, unit="s")
    visual = ml.Capability("visualAbility", low=0, high=6, unit="goal_unit")
    climb, avoid, cross = (
        ml.Capability(f"{obstacle}Ability", low=0, high=1)
        for obstacle in ("ramp", "lava", "platform")
    )
    flat = ml.Capability("flatNavAbility", low=0, high=56, unit="arena_unit")
    bias, noise = ml.Bias("rightLeftBias"), ml.Noise("noiseLevel")

    effect = ml.Derived("rightLeftEffect", bias * side)
    navigate = ml.Derived(
        "navigationPerformance",
        product(
            ml.Derived("rampPerformance", presence(climb, ramps)),
            ml.Derived("platformPerformance", presence(cross, platforms)),
            ml.Derived("lavaPerformance", presence(avoid, lava)),
            ml.Derived("flatNavPerformance", logistic(flat - distance + effect)),
        ),
    )
    remember = ml.Derived("memoryPerformance", logistic(memory - time))
    margin = 48.4 - (48.4 - (permanence - 4 * positions)) * occluder
    know = ml.Derived("OPPerformance", remember * logistic(margin))
    see = ml.Derived("visualAcuityPerformance", logistic(visual - (5 - size)))
    outcome = ml.Success(
        "taskPerformance", mixture(know * navigate * see, by=noise, toward=mean_failure)
    )
    return ml.Layout("object-permanence", outcome)


# paradigm: items, occluded, positions, shortest and longest way, and how often there are a ramp,
# lava and a platform. The counts are Burden et al. (2023), appendix D.2, where they add up to 2,780
# and the battery is said to have 2,188: we take 603 controls of the chick tasks instead of 1,195.
_PARADIGMS = {
    "cup": (359, 1, (3,), (12, 40), (1, 0.4, 0)),
    "cup control": (239, 0, (3,), (12, 40), (1, 0.4, 0)),
    "grid": (191, 1, (3, 7, 11), (8, 36), (1, 0, 0.5)),
    "grid control": (239, 0, (3, 7, 11), (8, 36), (1, 0, 0.5)),
    "chick": (36, 1, (2,), (10, 30), (0.3, 0.5, 0.5)),
    "chick control": (603, 0, (2,), (10, 30), (0.3, 0.5, 0.5)),
    "basic": (521, 0, (1,), (1, 56), (0.3, 0.3, 0.3)),
}


def object_permanence_items(*, repeating: bool, seed: int = SEED) -> pd.DataFrame:
    """Two thousand one hundred and eighty-eight items of the seven paradigms.

    Ways are measured to a tenth of a unit, times to a hundredth of a second, and goals have eight
    sizes, as the paper's arenas do: 2,175 of the items differ, in 1,015 ways and sides. Or, where
    items repeat, arenas are built on a grid: ways in multiples of eight units, times in whole
    seconds, goals of four sizes; 1,242 of the items differ, in 24 ways and sides.
    """
    rng = np.random.default_rng(6 + seed)
    parts = []
    for name, (count, occluded, places, (near, far), obstacles) in _PARADIGMS.items():
        way, time = rng.uniform(near, far, count), occluded * rng.uniform(0.5, 4, count)
        sizes = np.arange(1, 5) if repeating else np.arange(0.5, 4.5, 0.5)
        flags = (rng.random((count, 3)) < obstacles).astype(int)
        parts.append(
            pd.DataFrame(
                {
                    "rampPresence": flags[:, 0],
                    "lavaPresence": flags[:, 1],
                    "platformPresence": flags[:, 2],
                    "occluderPresence": occluded,
                    "goalDistance": 8 * np.rint(way / 8) if repeating else way.round(1),
                    "goalSize": rng.choice(sizes, count),
                    "rightLeftPosition": rng.integers(-1, 2, count),
                    "timeUnderOcc": np.rint(time) if repeating else time.round(2),
                    "numberOfPositions": rng.choice(places, count),
                },
                index=[f"{name} {number}" for number in range(1, count + 1)],
            )
        )
    return pd.concat(parts)


def object_permanence(*, repeating: bool = False, seed: int = SEED) -> Study:
    """Eight subjects in the manner of the paper's Figure 13, most with one weakness."""
    profiles = pd.DataFrame(
        {
            "OPAbility": [40, 38, 36, 40, 28, 14, 38, 20],
            "memoryAbility": [4.0, 3.8, 3.9, 4.0, 1.5, 3.5, 4.0, 2.2],
            "visualAbility": [5.5, 5.5, 5.2, 3.2, 5.0, 5.0, 5.5, 3.0],
            "rampAbility": [0.97, 0.95, 0.14, 0.95, 0.95, 0.90, 0.92, 0.50],
            "lavaAbility": [0.97, 0.08, 0.95, 0.95, 0.90, 0.90, 0.97, 0.50],
            "platformAbility": [0.97, 0.97, 0.95, 0.95, 0.95, 0.90, 0.95, 0.50],
            "flatNavAbility": [50, 48, 50, 45, 48, 44, 30, 28],
            "rightLeftBias": [0.1, -0.1, 0.3, 0.0, 0.0, -0.5, 3.0, 0.0],
            "noiseLevel": [0.02, 0.03, 0.02, 0.05, 0.03, 0.10, 0.15, 0.60],
        },
        index=[
            "human-like",
            "lava",
            "ramps",
            "near-sighted",
            "forgetful",
            "few positions",
            "one-sided",
            "random",
        ],
    )
    layout = object_permanence_layout()
    items = object_permanence_items(repeating=repeating, seed=seed)
    return Study(layout, ml.simulate(layout, items, profiles, seed=2 + seed), profiles)


def demands_layout() -> ml.Layout:
    """Eighteen labelled demands against as many capabilities, geometric mean."""
    demand = ml.MetaFeature("demand", levels=tuple(range(6)), unit="level", labels=LABELS)
    ability = ml.Capability("ability", low=0, high=6, unit="level", labels=LABELS)
    met = ml.Derived("met", logistic(ability - demand))
    outcome = ml.Success("success", generalised_mean(met, power=0, over="dimension"))
    return ml.Layout("demands", outcome)


def demands(items: int = 16_108, subjects: int = 15, seed: int = SEED) -> Study:
    """As many items as the ADeLe battery has; levels drawn apart, a fifth to two thirds are 0.

    Levels of real items go together, so that more of those repeat; here fewer than 1 in 100 do.
    """
    rng = np.random.default_rng(17 + seed)
    levels = np.empty((items, len(LABELS)), dtype=int)
    for column, zero in enumerate(np.linspace(0.2, 0.66, len(LABELS))):
        above = 0.6 ** np.arange(5)
        chance = [zero, *(1 - zero) * above / above.sum()]
        levels[:, column] = rng.choice(6, items, p=chance)
    table = pd.DataFrame(
        levels,
        index=[f"item-{number:05d}" for number in range(1, items + 1)],
        columns=[f"demand[{label}]" for label in LABELS],
    )
    centres = np.linspace(1, 5, subjects)
    profiles = pd.DataFrame(
        np.clip(centres[:, None] + rng.normal(0, 0.7, (subjects, len(LABELS))), 0.1, 5.9),
        index=[f"model-{number:02d}" for number in range(1, subjects + 1)],
        columns=[f"ability[{label}]" for label in LABELS],
    )
    layout = demands_layout()
    return Study(layout, ml.simulate(layout, table, profiles, seed=3 + seed), profiles)


def gsm8k() -> Study:
    """Forty-four language models on 1,319 word problems: steps to take, and size of the numbers.

    Slips turn a solved problem into a wrong answer.
    """
    folder = data_folder("gsm8k")
    raw = pd.read_csv(folder / "item_features.csv", index_col="item")
    items = pd.DataFrame({"steps": raw["n_steps"], "digits": np.log10(1 + raw["max_abs_number"])})
    outcomes = pd.read_parquet(folder / "outcomes.parquet")
    steps = ml.MetaFeature("steps", low=0, high=8, unit="step")
    digits = ml.MetaFeature("digits", low=0, high=8, unit="digit")
    plan = ml.Capability("planning", low=0, high=16, unit="step")
    calculate = ml.Capability("calculation", low=0, high=16, unit="digit")
    solved = ml.Derived("solved", logistic(plan - steps) * logistic(calculate - digits))
    outcome = ml.Success("answer", mixture(solved, by=ml.Noise("slips"), toward=0.0))
    evaluation = ml.Evaluation.from_long(
        outcomes[["model", "item", "success"]], items, subject="model", outcome="success"
    )
    return Study(ml.Layout("gsm8k", outcome), evaluation)


def fraction_subtraction() -> Study:
    """Five hundred and thirty-six pupils on 20 items of eight skills, all that apply needed."""
    folder = data_folder("fraction_subtraction")
    items = pd.read_csv(folder / "qmatrix.csv", index_col="item").add_prefix("skill[")
    outcomes = pd.read_csv(folder / "responses_wide.csv", index_col="person")
    skill = ml.MetaFeature("skill", levels=(0, 1), labels=SKILLS)
    mastery = ml.Capability("mastery", low=0, high=1, labels=SKILLS)
    few = ml.Prior("Beta", alpha=1, beta=4)
    slips, guesses = ml.Noise("slips", prior=few), ml.Noise("guesses", prior=few)
    knows = ml.Derived("knows", product(presence(mastery, skill), over="dimension"))
    outcome = ml.Success("answer", guessing(mixture(knows, by=slips, toward=0.0), chance=guesses))
    evaluation = ml.Evaluation.from_wide(outcomes, items.add_suffix("]"))
    return Study(ml.Layout("fraction-subtraction", outcome), evaluation)


def data_folder(name: str) -> Path:
    """Find the folder of one study's real data."""
    folder = Path(os.environ.get(DATA) or ".") / name
    if not os.environ.get(DATA) or not folder.is_dir():
        raise FileNotFoundError(
            f"there is no folder {name!r} of data; let {DATA} name the folder that holds it"
        )
    return folder
