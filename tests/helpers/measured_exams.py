"""Joint layouts with measured demands, and random items and outcomes for them."""

import numpy as np
import pandas as pd

import measurement_layouts as ml
from helpers.populations import normal
from measurement_layouts.linking import logistic, product

KINDS, LEVELS = ("reading", "reasoning"), (0.0, 1.0, 2.5)
SUBJECTS, ITEMS = ["Ann", "Bob", "Cyd"], ["q0", "q1", "q2", "q3"]


def exam():
    """Abilities around a mean, an ease of each item, and two demands whose levels were judged."""
    mean = ml.Bias("mean", per="population", labels=KINDS)
    ability = ml.Capability("ability", labels=KINDS, prior=normal(mean, ml.Spread("spread")))
    ease = ml.Bias("ease", per="item", prior=normal(0, 1))
    demand = ml.Measured("demand", levels=LEVELS, labels=KINDS)
    each = ml.Derived("each", logistic(ability + ease - demand))
    return ml.Layout("exam", ml.Success("right", product(each, over="dimension")))


def one(**options):
    """One ability, and one demand of three levels."""
    ability = ml.Capability("ability", prior=normal(ml.Bias("mean", per="population"), 1))
    hard = ml.Measured("hard", levels=LEVELS)
    return ml.Layout("one", ml.Success("right", logistic(ability - hard, **options)))


def judged(rng, names=ITEMS, node="demand", kinds=("[reading]", "[reasoning]")):
    """Probabilities of levels, (items, kinds, levels), and the columns; the first are certain."""
    chances = rng.dirichlet([0.7] * len(LEVELS), (len(names), len(kinds)))
    chances[0] = np.eye(len(LEVELS))[1]
    columns = {
        f"{node} {level:g}{kind}": chances[:, at, place]
        for at, kind in enumerate(kinds)
        for place, level in enumerate(LEVELS)
    }
    return chances, pd.DataFrame(columns, index=names)


def data(rng, columns, subjects=SUBJECTS):
    """Counts of up to three trials; each subject left some items out."""
    trials = rng.integers(0, 4, (len(subjects), len(columns)))
    trials[:, 1] = 3
    solved = rng.binomial(trials, 0.5)
    return ml.Evaluation(
        columns,
        *(pd.DataFrame(part, subjects, columns.index) for part in (solved, trials)),
    )
