"""What studies refuse: the call, the class of the error, and the word that names the culprit."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, LayoutError
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import (
    adele,
    dispositions,
    gsm8k,
    object_permanence,
    weirdml,
)
from measurement_layouts.scenarios.adele.battery import battery
from measurement_layouts.scenarios.adele.light import light
from measurement_layouts.scenarios.animal_ai_olympics import reproduction as animals
from measurement_layouts.scenarios.object_permanence import reproduction as permanence
from measurement_layouts.scenarios.propensities import reproduction as leanings

LABELLED = {"instance_id": ["a", "b"], "benchmark": "SAT", "task": "En", "UG": 75.0, "Ann": 1}
LABELLED |= dict.fromkeys(adele.DEMANDS, 2)
DEMANDS = battery(items=40)
ARENAS = object_permanence.battery()[:3].rename_axis("arena").reset_index()
OUTCOMES = pd.DataFrame({"subject": "bee", "arena": ARENAS["arena"], "success": 1})


def labelled(**changes):
    return lambda: adele.read_battery(pd.DataFrame(LABELLED | changes), ["Ann"])


def counted(reached, runs=(5, 5, 5), thresholds=(0.25, 0.5, 0.9)):
    items = pd.DataFrame({"task": "xor", "threshold": thresholds}, list("abc"))
    counts = (pd.DataFrame([row], ["Ann"], list("abc")) for row in (reached, runs))
    return lambda: weirdml.conditional_counts(ml.Evaluation(items, *counts))


def other_fit():
    skill, size = ml.Capability("skill", low=0, high=5), ml.MetaFeature("size", low=0, high=5)
    layout = ml.Layout("other", ml.Success("done", logistic(skill - size)))
    items = pd.DataFrame({"size": [1.0, 2, 3]}, index=list("abc"))
    outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    return ml.fit(layout, evaluation, method="grid", progressbar=False), evaluation


CALLS = [
    (labelled(AS=2.5), DataError, "on AS: 2.5"),
    (labelled(VO=6), DataError, "on VO: 6"),
    (labelled(UG=101.0), DataError, "on UG: 101"),
    (labelled(Ann=0.5), DataError, "Ann"),
    (labelled(instance_id=["a", "a"]), DataError, "a"),
    (lambda: adele.read_battery(pd.DataFrame(LABELLED), ["Bob"]), DataError, "Bob"),
    (
        lambda: adele.read_battery(pd.DataFrame(LABELLED).drop(columns="KNn"), ["Ann"]),
        DataError,
        "KNn",
    ),
    (lambda: battery(items=0), DataError, "items=0"),
    (lambda: battery(items=16_109), DataError, "16109"),
    (lambda: battery(seed="x", items=10), FitError, "seed='x'"),
    (lambda: light(DEMANDS[["task"]]), DataError, "0 demands"),
    (lambda: light(DEMANDS.head(10)), DataError, "10 rows"),
    (lambda: light(DEMANDS.assign(**{"demand[AS]": np.nan})), DataError, DEMANDS.index[0]),
    (lambda: adele.capability_layout("steep"), LayoutError, "slopes='steep'"),
    (lambda: dispositions.simulated_study(models=["gpt"]), DataError, "gpt"),
    (lambda: dispositions.simulated_study(models=[]), DataError, "at least one"),
    (lambda: dispositions.simulated_study(annotators=551), DataError, "annotators=551"),
    (lambda: dispositions.simulated_study(samples=0), FitError, "samples=0"),
    (lambda: dispositions.simulated_study(per_statement=1.5), FitError, "per_statement=1.5"),
    (lambda: dispositions.implied_misalignment(*other_fit()), DataError, "'other'"),
    (
        lambda: dispositions.distances(np.ones(1), np.ones(1), {"Humour": np.ones(1)}, DEMANDS),
        DataError,
        "Humour",
    ),
    (lambda: gsm8k.horizons(other_fit()[0]), DataError, "other"),
    (counted([1, 3, 4]), DataError, "xor"),
    (counted([4, 3, 1], runs=[5, 6, 5]), DataError, "xor"),
    (counted([4, 3, 1], thresholds=(0.25, 0.5, 0.5)), DataError, "xor"),
]


@pytest.mark.parametrize(("call", "error", "culprit"), CALLS)
def test_what_cannot_be_used_is_named(call, error, culprit):
    with pytest.raises(error) as caught:
        call()
    assert culprit in str(caught.value)


@pytest.mark.parametrize(
    ("arenas", "outcomes", "culprit"),
    [
        (ARENAS.drop(columns="goalSize"), OUTCOMES, "goalSize"),
        (pd.concat([ARENAS, ARENAS.head(1)]), OUTCOMES, "cup test 1"),
        (ARENAS[1:], OUTCOMES, "cup test 1"),
        (ARENAS, OUTCOMES.drop(columns="success"), "success"),
        (ARENAS, OUTCOMES.assign(success=2), "2"),
        (ARENAS, None, "outcomes.csv"),
    ],
)
def test_mistakes_in_real_results_on_arenas_are_named(arenas, outcomes, culprit, tmp_path):
    arenas.to_csv(tmp_path / "arenas.csv", index=False)
    if outcomes is not None:
        outcomes.to_csv(tmp_path / "outcomes.csv", index=False)
    with pytest.raises(DataError) as caught:
        object_permanence.load(tmp_path)
    assert culprit in str(caught.value)


def figure_9(folder):
    return animals.figure_9(folder, ["Trrrrr"])


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (animals.TABLE, figure_9),
        (permanence.TABLES["rmse"], permanence.read_tables),
        (leanings.TABLE, leanings.check_obtained),
    ],
)
def test_a_published_table_that_cannot_be_used_is_named(name, read, published_tables, tmp_path):
    for table in published_tables.glob("*.csv"):
        (tmp_path / table.name).write_text(table.read_text())
    read(tmp_path)
    lines = (tmp_path / name).read_text().splitlines()
    (tmp_path / name).write_text("\n".join(lines[:1] + lines[5:]).replace("Trrrr,", "Nobody,"))
    with pytest.raises(DataError, match=name):
        read(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(DataError, match=f"there is no .*{name}.*--published"):
        read(tmp_path)
