"""Eight ways to leave home: which items are learnt from, which are tried, and what is compared.

- **ADeLe**: 12 language models on 3,328 items of six benchmarks. Whole benchmarks are held out;
  whole tasks, in ten folds; and, for what must not get worse, items at random in ten folds.
- **Animal-AI, families**: 68 agents. Each of the 23 families of three near-copies of levels 1 and 7
  is forecast from the others. **Level 6**: nine tasks of three families from all 69.
- **GSM8K**: 44 language models, fitted on problems of at most four steps, tried on those of six or
  more.
- **WeirdML**: 87 language models; each of the 17 tasks with its thresholds from the others.
- **Fractions**: 536 pupils, fitted on the first items of a random order that together show every
  skill, tried on the others; five orders.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from battery_cases import data_folder
from elsewhere_methods import Kept, Remembered, RememberedChoice
from population_data import SAMPLE_SEED, animal_ai, fractions, time_horizons
from rivals import evenly

import measurement_layouts as ml
from measurement_layouts.scenarios import adele, fraction_subtraction, gsm8k, weirdml
from measurement_layouts.scenarios import animal_ai_olympics as aaio
from measurement_layouts.scenarios.adele.reproduction import assessed
from measurement_layouts.validation import (
    Aggregate,
    Assessor,
    ChosenLayout,
    Elsewhere,
    FittedLayout,
    Forest,
    Given,
    Groups,
    Items,
    Regression,
)
from measurement_layouts.validation.prediction.splits import Fold, Split

LENGTH = {"draws": 150, "tune": 300, "chains": 2}
SHORT = {"draws": 100, "tune": 150, "chains": 1}
QUICK = {"draws": 60, "tune": 100, "chains": 1}
TODAY, OURS = "today", "elsewhere"
DEFAULT, PUBLISHED, ADDITIVE = "nothing stated", "published layout", "additive layout"
AGGREGATE, REGRESSION, FOREST = "aggregate", "regression", "forest"
ORDERS = 5
FOLDS = 10
LEFT_OUT = 5  # parts in which training groups are left out


@dataclass(frozen=True, eq=False)
class Case:
    """What is held out of which outcomes, and what forecasts it.

    Attributes
    ----------
    title : str
        In tables.
    evaluation : Evaluation
        All outcomes; the column ``home`` of the items names the groups that are left out of the
        training items where something is chosen or estimated.
    split : Split
        What is held out.
    clusters : Series
        By item, the held-out group: errors are clustered by it, and the oracle shifts it.
    layouts : mapping of str to Assessor
        Today's layouts; the first is the one that is to be improved.
    rivals : mapping of str to Assessor
        Baselines.
    """

    title: str
    evaluation: ml.Evaluation
    split: Split
    clusters: pd.Series
    layouts: Mapping[str, Assessor]
    rivals: Mapping[str, Assessor]

    def methods(self, key: str, folder: Path | None) -> dict[str, Assessor]:
        """All that is compared, by name; forecasts are kept in the folder."""
        return {
            name: Kept(f"{key} {name}", own, folder)
            for name, own in {**self.layouts, **self.rivals}.items()
        }

    def smaller(self, subjects: int | None, items: int | None) -> "Case":
        """Take so many subjects, evenly, and items at random where there are more."""
        known = self.evaluation
        who, what = known.subjects, known.items.index
        if subjects is not None:
            who = evenly(who, subjects)
        if items is not None and items < len(what):
            rng = np.random.default_rng(SAMPLE_SEED)
            what = what[np.sort(rng.choice(len(what), items, replace=False))]
        return replace(
            self,
            evaluation=known.select(subjects=who, items=what),
            clusters=self.clusters[what],
        )


def marked(evaluation: ml.Evaluation, home: pd.Series) -> ml.Evaluation:
    """Name each item's group in the column ``home``."""
    items = evaluation.items.assign(home=home.astype(str))
    return ml.Evaluation(items, evaluation.successes, evaluation.trials)


def at_home_and_elsewhere(
    layout: ml.Layout | ChosenLayout, length: Mapping[str, int]
) -> dict[str, Assessor]:
    """A layout as before, with nothing stated, and with what training groups left out tell.

    A layout that is chosen among several is the same in all three, and has its own length.
    """
    shared: dict[str, dict] = {"fits": {}}
    if isinstance(layout, ChosenLayout):
        own = {one.name: getattr(layout, one.name) for one in fields(layout)}
        make = partial(RememberedChoice, **own, best_of={}, **shared)
    else:
        make = partial(Remembered, layout, **shared, **length)
    return {
        TODAY: make(trust="home"),
        OURS: Elsewhere(make(), "home", LEFT_OUT),
        DEFAULT: make(),
    }


def simple_rivals(columns: list[str]) -> dict[str, Assessor]:
    """The subject's mean, and a regression and a forest of each subject on the columns."""
    return {
        AGGREGATE: Aggregate(),
        REGRESSION: Regression(columns),
        FOREST: Forest(columns, min_samples_split=2),
    }


def general_scales(split: str, quick: bool) -> Case:
    """ADeLe, with the scenario's own methods and splits."""
    whole, places = assessed.prepared(adele.load(data_folder("adele_labelled")))
    column = assessed.SPLITS[split]
    groups = whole.items[column or assessed.WHERE]
    methods = assessed.methods(split, places)
    additive, chosen = adele.additive_layout(places["benchmark"]), methods[assessed.LAYOUT]
    layouts = at_home_and_elsewhere(additive if quick else chosen, SHORT)
    layouts[ADDITIVE] = FittedLayout(additive, trust="home", **SHORT)
    rivals = {
        AGGREGATE: Aggregate(),
        REGRESSION: methods[assessed.REGRESSION],
        FOREST: methods[assessed.FOREST],
    }
    held = Items(folds=FOLDS) if column is None else Groups(column, FOLDS)
    titles = dict(zip(assessed.SPLITS, ("in distribution", "tasks", "benchmarks"), strict=True))
    title = f"ADeLe, {titles[split]}" + " held out" * (column is not None)
    return Case(title, marked(whole, groups), held, groups, layouts, rivals)


AGENTS = ["distance", "size", "rewardBehind", "XPos"]


def families(quick: bool) -> Case:
    """Animal-AI, each family of levels 1 and 7 in turn."""
    cohort = animal_ai()
    whole = marked(cohort.evaluation, cohort.groups)
    split = Groups("home", 3 if quick else cohort.groups.nunique())
    return _agents("Animal-AI, families left out", whole, split, quick)


def level_six(quick: bool) -> Case:
    """Animal-AI, nine tasks of level 6 from levels 1 and 7."""
    known = aaio.load(data_folder("aaio"), tasks=(*aaio.TASKS, *aaio.HARDER))
    family = pd.Series([name.rpartition("-")[0] for name in known.items.index], known.items.index)
    split = Given(test=list(aaio.HARDER))
    return _agents("Animal-AI, level 6", marked(known, family), split, quick)


def _agents(title: str, whole: ml.Evaluation, split: Split, quick: bool) -> Case:
    length = QUICK if quick else LENGTH
    layouts = at_home_and_elsewhere(aaio.recommended_layout(), length)
    layouts[PUBLISHED] = FittedLayout(aaio.published_layout(), trust="home", **length)
    return Case(title, whole, split, whole.items["home"], layouts, simple_rivals(AGENTS))


def word_problems(quick: bool) -> Case:
    """GSM8K, from at most four steps to six and more."""
    whole = gsm8k.load(data_folder("gsm8k"))
    whole = marked(whole, whole.items["steps"])
    clusters = pd.Series(whole.items.index, whole.items.index)
    return Case(
        "GSM8K, <= 4 steps -> >= 6",
        whole,
        Given(train="steps <= 4", test="steps >= 6"),
        clusters,
        at_home_and_elsewhere(gsm8k.recommended_layout(), QUICK if quick else LENGTH),
        simple_rivals(["steps", "digits", "doublings"]),
    )


def tasks(quick: bool) -> Case:
    """WeirdML, each task in turn."""
    cohort = time_horizons()
    whole = marked(cohort.evaluation, cohort.groups)
    length = QUICK if quick else LENGTH
    layouts = at_home_and_elsewhere(weirdml.recommended_layout(), length)
    layouts[PUBLISHED] = FittedLayout(weirdml.published_layout(), trust="home", **length)
    split = Groups("home", 3 if quick else cohort.groups.nunique())
    rivals = simple_rivals(["logHours", "threshold"])
    return Case("WeirdML, tasks held out", whole, split, cohort.groups, layouts, rivals)


@dataclass(frozen=True)
class EverySkill:
    """Train on the first items of a random order that together show every skill."""

    columns: tuple[str, ...]
    repeats: int = ORDERS

    def draw(self, evaluation: ml.Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw one order."""
        needed = evaluation.items[list(self.columns)].to_numpy(dtype=bool)
        shown, kept = np.zeros(needed.shape[1], dtype=bool), []
        for place in rng.permutation(len(needed)):
            if (needed[place] & ~shown).any():
                shown |= needed[place]
                kept.append(place)
        train = np.zeros((len(evaluation.subjects), len(needed)), dtype=bool)
        train[:, kept] = True
        return [Fold(train, ~train)]


def skills(quick: bool) -> Case:
    """Fractions, from items that together show every skill."""
    cohort = fractions()
    patterns = cohort.evaluation.items[list(cohort.demands)].astype(int).astype(str).agg("".join, 1)
    whole = marked(cohort.evaluation, patterns)
    clusters = pd.Series(whole.items.index, whole.items.index)
    split = EverySkill(cohort.demands, 2 if quick else ORDERS)
    layouts = at_home_and_elsewhere(
        fraction_subtraction.recommended_layout(), QUICK if quick else LENGTH
    )
    rivals = simple_rivals(list(cohort.demands))
    return Case(
        "fractions, from items that show every skill", whole, split, clusters, layouts, rivals
    )


CASES: dict[str, Callable[[bool], Case]] = {
    "animal-ai-level-6": level_six,
    "animal-ai-families": families,
    "gsm8k": word_problems,
    "weirdml": tasks,
    "fractions": skills,
    "adele-benchmarks": lambda quick: general_scales("benchmark OOD", quick),
    "adele-tasks": lambda quick: general_scales("task OOD", quick),
    "adele-home": lambda quick: general_scales("in distribution", quick),
}
"""By name, quick or not."""
