"""Layouts and data of the matrix: every kind of layout with every kind of data, small.

A row of the matrix takes one level of each factor. `covering` gives few rows in which any two
levels of different factors occur together.
"""

import collections
import itertools
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, product

FACTORS = {
    "subjects": ("apart", "joint"),
    "outcome": ("success", "counts", "graded", "score", "several outcomes"),
    "latent": ("one value", "labels", "category", "two categories", "slope per item"),
    "cells": ("complete", "missing cells", "empty subject and item"),
}
SUBJECTS = ["Ann", "Bob", "Cy", "Dee"]
TRIALS = 3
DRAWS = 50
SAMPLING = {
    "draws": DRAWS,
    "tune": 50,
    "chains": 2,
    "method": "nuts",
    "reruns": 0,
    "seed": 1,
    "progressbar": False,
}
_NORMAL = ml.Prior("Normal", mu=2, sigma=2)


@dataclass(frozen=True)
class Row:
    """One kind of layout and of data."""

    subjects: str
    outcome: str
    latent: str
    cells: str

    def __str__(self):
        return ", ".join(self.levels)

    @property
    def levels(self):
        return (self.subjects, self.outcome, self.latent, self.cells)

    @property
    def layout_is_joint(self):
        """Whether all subjects are one fit: they share values, or have values for levels."""
        return self.subjects == "joint" or "categor" in self.latent

    @property
    def fitted(self):
        """Names of the subjects with outcomes."""
        return SUBJECTS[:3] if self.cells == "empty subject and item" else SUBJECTS

    @property
    def elements(self):
        """Names of the elements of each subject's profile."""
        return {
            "labels": ["skill[read]", "skill[write]"],
            "category": ["skill[birds]", "skill[fish]"],
            "two categories": [
                f"skill[{kind}, {size}]" for kind in ("birds", "fish") for size in ("big", "small")
            ],
        }.get(self.latent, ["skill"])

    @cached_property
    def layout(self):
        return ml.Layout("matrix", *_outcomes(self.outcome, _performance(self)))

    @cached_property
    def items(self):
        """Eight items, two for each pair of levels of the categories."""
        rng = np.random.default_rng(3)
        return pd.DataFrame(
            {
                "demand": np.linspace(0, 4, 8)[rng.permutation(8)],
                "demand[read]": rng.uniform(0, 4, 8),
                "demand[write]": rng.uniform(0, 4, 8),
                "steepness": rng.uniform(0.5, 2, 8),
                "kind": ["birds"] * 4 + ["fish"] * 4,
                "size": ["big", "big", "small", "small"] * 2,
            },
            [f"item {number}" for number in range(8)],
        )

    @cached_property
    def new_items(self):
        """Two items that nobody attempted, one of them of levels that the fit has not seen."""
        table = self.items.iloc[[0, 7]].copy()
        table.index = ["new", "of new levels"]
        table.loc["of new levels", ["kind", "size"]] = "worms", "middle"
        return table

    @cached_property
    def tried(self):
        """Which cells have outcomes; two subjects lack all items of a pair of levels."""
        tried = np.ones((4, 8), dtype=bool)
        if self.cells == "missing cells":
            tried[0, :2] = tried[1, 6:] = tried[2, 3] = tried[3, 5] = False
        elif self.cells == "empty subject and item":
            tried[3] = tried[:, 7] = False
        return tried

    @cached_property
    def evaluation(self):
        with warnings.catch_warnings():  # a subject without outcomes is left out, with a warning
            warnings.filterwarnings("ignore", "left out, without any outcome")
            return self.outcomes_of(SUBJECTS, self.tried)

    @cached_property
    def stranger(self):
        """Outcomes of a subject that is not in the fit."""
        return self.outcomes_of(["Eve"], np.ones((1, 8), dtype=bool))

    def outcomes_of(self, subjects, tried):
        """Made-up outcomes: each subject has both better and worse ones."""
        rng = np.random.default_rng(5)
        better = np.array([rng.permutation([True, False] * 4) for _ in subjects])

        def table(values):
            return pd.DataFrame(values, subjects, self.items.index).where(tried)

        if self.outcome == "success":
            return ml.Evaluation.from_wide(table(better.astype(float)), self.items)
        if self.outcome == "counts":
            attempts = [
                {"subject": who, "item": item, "outcome": int(good or attempt == 0)}
                for (row, who), (column, item) in itertools.product(
                    enumerate(subjects), enumerate(self.items.index)
                )
                if tried[row, column]
                for good in [better[row, column]]
                for attempt in range(TRIALS)
            ]
            return ml.Evaluation.from_long(pd.DataFrame(attempts), self.items, repeats="trials")
        grades = table(np.where(better, rng.choice(["P", "C"], better.shape), "I"))
        scores = table(np.where(better, rng.choice([0.5, 1.0], better.shape), 0.0))
        tables = {
            "graded": {"grade": grades},
            "score": {"credit": scores},
            "several outcomes": {"solved": table(better.astype(float)), "credit": scores},
        }[self.outcome]
        return ml.Evaluation.of_outcomes(self.layout, tables, self.items)


def _performance(row):
    """Chance of success: a skill against a demand, with the latents that the row asks for."""
    kind, size = ml.Category("kind"), ml.Category("size")
    per = {"category": ("subject", kind), "two categories": ("subject", kind, size)}
    labels = ("read", "write") if row.latent == "labels" else None
    prior = _NORMAL
    if row.subjects == "joint":
        mean = ml.Bias("mean", per="population", prior=_NORMAL)
        prior = ml.Prior("Normal", mu=mean, sigma=ml.Spread("spread"))
    skill = ml.Capability("skill", prior=prior, labels=labels, per=per.get(row.latent))
    demand = ml.MetaFeature("demand", low=0, high=4, labels=labels)
    slope = 1.0
    if row.latent == "slope per item":
        positive = ml.Prior("LogNormal", mu=0, sigma=0.3)
        slope = (
            ml.Slope("slope", per="item", prior=positive)
            if row.subjects == "joint"
            else ml.MetaFeature("steepness", low=0, high=3)
        )
    able = logistic(skill - demand, slope=slope)
    return product(able, over="dimension") if labels else able


def _outcomes(kind, performance):
    success = ml.Success("solved", performance)
    if kind in ("success", "counts"):
        return [success]
    if kind == "graded":
        return [ml.Graded("grade", performance, grades=("I", "P", "C"))]
    score = ml.Score("credit", performance, precision=3, places=2)
    return [score] if kind == "score" else [success, score]


def every_row():
    """All rows of the matrix."""
    return [Row(*levels) for levels in itertools.product(*FACTORS.values())]


def covering():
    """Rows in which any two levels of different factors occur together, chosen greedily."""
    rows = every_row()
    open_pairs = set().union(*map(_pairs, rows))
    chosen, uses = [], collections.Counter()
    while open_pairs:
        best = max(
            rows,
            key=lambda row: (len(_pairs(row) & open_pairs), -sum(uses[one] for one in row.levels)),
        )
        open_pairs -= _pairs(best)
        uses.update(best.levels)
        chosen.append(best)
    return chosen


def _pairs(row):
    return set(itertools.combinations(row.levels, 2))
