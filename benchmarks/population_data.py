"""Five cohorts with their items, and the cells that are held out of them.

The data are read from the folder that the environment variable MEASUREMENT_LAYOUTS_DATA names.

- **Animal-AI**: 68 agents on 69 tasks. The competition's task ``1-4-2`` is variant 2 of task 4 of
  level 1. Three variants are near-copies: over the 68 agents, what two outcomes share beyond agent
  and item (the correlation of doubly centred outcomes) is .37 on average within a task, and -.03
  between tasks. So there are 23 groups of three.
- **Fractions**: 536 pupils on 20 problems, each a group of its own.
- **Exam**: 729 students on 13 items, each a group of its own; with covariates of the students.
- **GSM8K**: 44 language models on 400 of the 1,319 problems, each a group of its own. The 400 are
  a simple random sample, the same for every seed of a split.
- **ADeLe-labelled**: 12 language models on 800 of the 3,328 items, a simple random sample, too.
  The 11 tasks of the six benchmarks are the groups.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from battery_cases import data_folder

import measurement_layouts as ml
from measurement_layouts.scenarios import (
    adele,
    fraction_subtraction,
    gsm8k,
    math_exam,
)
from measurement_layouts.scenarios import animal_ai_olympics as aaio

SPLITS = tuple(range(10))
HELD_OUT = 0.2
SAMPLE_SEED = 0


@dataclass(frozen=True, eq=False)
class Cohort:
    """Outcomes of many subjects, and what their items share.

    Attributes
    ----------
    name : str
        In tables.
    evaluation : Evaluation
        Items with their properties, and outcomes.
    groups : Series
        By item, what it is a near-copy of, or the task it is of: items of a group go together.
    demands : tuple of str
        Columns of the items that an explanatory model weighs.
    weighed : tuple of str
        Covariates that it weighs.
    covariates : DataFrame
        By subject; no columns where nothing is known of the subjects.
    """

    name: str
    evaluation: ml.Evaluation
    groups: pd.Series
    demands: tuple[str, ...] = ()
    weighed: tuple[str, ...] = ()
    covariates: pd.DataFrame = field(default_factory=pd.DataFrame)

    @property
    def successes(self) -> np.ndarray:
        """Subjects x items."""
        return self.evaluation.successes.to_numpy(dtype=float)

    @property
    def trials(self) -> np.ndarray:
        """Subjects x items; 0 where there is no outcome."""
        return self.evaluation.trials.to_numpy(dtype=float)

    def without(self, held: np.ndarray, subjects: list[str] | None = None) -> ml.Evaluation:
        """Leave out cells; subjects x items, or items for a whole column. Keep some subjects."""
        there = pd.DataFrame(
            np.broadcast_to(~held, self.trials.shape),
            self.evaluation.successes.index,
            self.evaluation.successes.columns,
        )
        known = self.evaluation
        kept = known.subjects if subjects is None else subjects
        of_subjects = known.subject_table
        return ml.Evaluation(
            known.items,
            (known.successes * there).loc[kept],
            (known.trials * there).loc[kept],
            subjects=None if of_subjects is None else of_subjects.loc[kept],
        )


def animal_ai() -> Cohort:
    """Sixty-eight agents on 69 tasks in 23 triplets of near-copies."""
    known = aaio.load(data_folder("aaio"))
    numbers = {"smallness": np.log2(known.items["distance"] / known.items["size"])}
    for column in ("colour", "lights"):
        others = known.items[column].value_counts().index[1:]  # all but the most frequent
        numbers |= {f"{column} {value}": known.items[column] == value for value in others}
    items = known.items.assign(**{name: column.astype(float) for name, column in numbers.items()})
    evaluation = ml.Evaluation(items, known.successes, known.trials)
    task = [name.rpartition("-")[0] for name in items.index]
    demands = ("distance", "rewardBehind", "XPos", *numbers)
    return Cohort("Animal-AI", evaluation, pd.Series(task, items.index), demands)


def fractions() -> Cohort:
    """Five hundred and thirty-six pupils on 20 problems of eight skills."""
    known = fraction_subtraction.load(data_folder("fraction_subtraction"))
    return Cohort("fractions", known, _apart(known), tuple(known.items.columns))


def exam() -> Cohort:
    """Seven hundred and twenty-nine students on 13 items, with covariates of the students."""
    known = math_exam.load(data_folder("math_exam"))
    return Cohort("exam", known, _apart(known), weighed=("tests",), covariates=known.subject_table)


def word_problems(items: int = 400) -> Cohort:
    """Forty-four language models on a sample of the school word problems."""
    known = _sample(gsm8k.load(data_folder("gsm8k")), items)
    return Cohort("GSM8K", known, _apart(known), ("steps", "digits", "doublings"))


def labelled(items: int = 800) -> Cohort:
    """Twelve language models on a sample of the items with 18 labelled demands."""
    known = _sample(adele.load(data_folder("adele_labelled")), items)
    demands = tuple(name for name in known.items if name.startswith("demand["))
    tasks = known.items["benchmark"] + " " + known.items["task"]
    known = ml.Evaluation(known.items.assign(task=tasks), known.successes, known.trials)
    return Cohort("ADeLe-labelled", known, tasks, (*demands, "unguessability"))


COHORTS: dict[str, Callable[[], Cohort]] = {
    "animal-ai": animal_ai,
    "fractions": fractions,
    "exam": exam,
    "gsm8k": word_problems,
    "adele": labelled,
}


def held_cells(cohort: Cohort, seed: int) -> np.ndarray:
    """Hold out a fifth of the cells, in row order; subjects x items."""
    return np.random.default_rng(seed).random(cohort.trials.shape) < HELD_OUT


def standardised(values: pd.Series) -> pd.Series:
    """Centre, and divide by the standard deviation (of the population: divisor n).

    Without any variation, zeros.
    """
    spread = values.std(ddof=0)
    return (values - values.mean()) / (spread or 1.0)


def _sample(known: ml.Evaluation, count: int) -> ml.Evaluation:
    """Sample items without replacement and keep their order."""
    rng = np.random.default_rng(SAMPLE_SEED)
    places = np.sort(rng.choice(len(known.items), count, replace=False))
    return known.select(items=known.items.index[places])


def _apart(known: ml.Evaluation) -> pd.Series:
    return pd.Series(known.items.index, known.items.index)
