"""Negative control: layouts fitted to outcomes shuffled within each subject do not beat the mean.

``python benchmarks/shuffled.py [study ...]`` prints, for Animal-AI, GSM8K and the mathematics exam
(real data, in the folder of ``MEASUREMENT_LAYOUTS_DATA``), the Brier score of a layout and of the
same layout on shuffled outcomes, minus that of each subject's mean, with bootstrap errors. Where
subjects have few outcomes, a population also gains by drawing their means together, which is not
what items tell; so the means are there once more, drawn together by a regression.
"""

import sys

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

import measurement_layouts as ml
from measurement_layouts import scenarios

STUDIES = {
    "animal-ai-olympics": ("recommended layout", 68, 69, ml.validation.Items(folds=5)),
    "gsm8k": ("recommended layout", 44, 200, ml.validation.Items(folds=3)),
    "math-exam": ("Rasch layout", 729, 13, ml.validation.Cells(folds=3)),
}
"""By study: its layout, the most subjects and items, evenly chosen, and what is held out."""

LIGHT = {"draws": 300, "tune": 300, "chains": 2}


def control(name: str) -> pd.DataFrame:
    """Cross-validate a study's layout, the means, and the layout on shuffled outcomes."""
    kind, subjects, items, split = STUDIES[name]
    scenario = scenarios.get(name)
    evaluation = scenario.load()
    chosen = [
        names[np.linspace(0, len(names) - 1, min(most, len(names))).round().astype(int)]
        for names, most in (
            (evaluation.items.index, items),
            (evaluation.subject_table.index, subjects),
        )
    ]
    methods = {
        "aggregate": "aggregate",
        "layout": ml.validation.FittedLayout(scenario.layouts[kind](), **LIGHT),
        "shuffled": "shuffled",
        "shrunk means": ml.validation.Estimator(LogisticRegression(), pooled=True),
    }
    held = ml.validation.cross_validate(methods, evaluation.select(*chosen), split=split)
    return held.differences()[["brier", "brier_difference", "brier_se"]]


if __name__ == "__main__":
    for study in sys.argv[1:] or STUDIES:
        table = control(study).round(4)
        least = table.loc[["aggregate", "shrunk means"], "brier_difference"].min()
        gain = least - table.loc["shuffled", "brier_difference"]
        better = gain > 2 * table.loc["shuffled", "brier_se"]
        verdict = "BETTER THAN MEANS" if better else "not better than means"
        print(
            f"{study}: shuffled outcomes are {verdict} by 2 standard errors\n{table}\n", flush=True
        )
