"""Large evaluations of few attempts: memory by attempted cells, and operations in cells."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml

SPARSE = """
import json, resource
import numpy as np, pandas as pd
import measurement_layouts as ml
from measurement_layouts.evaluations import read_table
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.linking import logistic

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

before = peak()
rng = np.random.default_rng(1)
rows = pd.DataFrame({"subject": rng.integers(0, 3000, 50_000), "item": np.arange(50_000) % 30_000})
rows = rows.drop_duplicates().assign(outcome=1)
evaluation = read_table(rows, pd.DataFrame({"size": 1.0}, np.arange(30_000))).evaluation()
layout = ml.Layout("ratings", ml.Success("good", logistic(
    ml.Capability("skill", prior=ml.Prior("Normal", mu=0, sigma=ml.Spread("spread"))))))
evaluation.success_rates(), evaluation.group_rates("size"), repr(evaluation)
half = evaluation.select(subjects=evaluation.subjects[::2])
cells = len((half + evaluation).cells)
cohort = Cohort.of_evaluation(layout, evaluation)
SubjectData.of(evaluation, evaluation.subjects[7])
print(json.dumps([len(rows), cells, len(cohort.trials), peak() - before]))
"""


def test_memory_is_by_attempted_cells():
    """One table of all 90 million pairs would take 720 MB."""
    ran = subprocess.run([sys.executable, "-c", SPARSE], capture_output=True, check=True, text=True)
    rows, united, cohort, grown = json.loads(ran.stdout)
    assert rows == united == cohort
    assert grown < 200  # MiB


@pytest.fixture(scope="module")
def tables():
    """Counts of four subjects on six items, a third of them not attempted, and their items."""
    rng = np.random.default_rng(3)
    names, items = list("dbca"), pd.DataFrame({"kind": list("xyxzzy")}, list("sqrtuv"))
    trials = pd.DataFrame(rng.integers(0, 3, (4, 6)), names, items.index)
    return items, trials.where(trials < 2, 1), trials


def test_cells_are_the_attempted_ones_in_order(tables):
    items, successes, trials = tables
    evaluation = ml.Evaluation(items, successes, trials)
    assert list(map(tuple, evaluation.cells.to_numpy())) == [
        (subject, item, successes.loc[subject, item], trials.loc[subject, item])
        for subject in trials.index
        for item in trials.columns
        if trials.loc[subject, item]
    ]


def test_operations_on_cells_are_those_on_tables(tables):
    items, successes, trials = tables
    evaluation = ml.Evaluation(items, successes, trials)
    rates = successes.sum(axis=1) / trials.sum(axis=1)
    np.testing.assert_array_equal(evaluation.success_rates(), rates)
    some = evaluation.select(items=["v", "q", "t"], subjects=["a", "d"])
    pd.testing.assert_frame_equal(
        some.trials, trials.loc[["a", "d"], ["v", "q", "t"]], check_names=False
    )
    grouped = evaluation.group_rates("kind").set_index(["subject", "group"])
    of_kind = {kind: items.index[items["kind"] == kind] for kind in ("x", "y", "z")}
    for (subject, kind), row in grouped.iterrows():
        own = successes.loc[subject, of_kind[kind]], trials.loc[subject, of_kind[kind]]
        assert (row["items"], row["mean"]) == ((own[1] > 0).sum(), own[0].sum() / own[1].sum())
    first, last = (evaluation.select(subjects=names) for names in (["d", "b"], ["b", "c", "a"]))
    pd.testing.assert_frame_equal((first + last).successes, evaluation.successes)
