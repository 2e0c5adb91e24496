"""Labelled items: a battery's table, and the real outcomes of twelve models."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios.adele.battery import battery, tasks
from measurement_layouts.scenarios.adele.data import (
    load,
    read_battery,
)
from measurement_layouts.scenarios.adele.scales import BENCHMARKS, DEMANDS, MODELS, SUBJECTS

SUBJECT_NAMES = ["Ann", "Bob"]


@pytest.fixture(scope="module")
def items():
    return battery(items=40)


@pytest.fixture
def table(items, tmp_path):
    """The published format, written and read as a file: other columns, and a gap of outcomes."""
    plain = items.rename(columns={f"demand[{code}]": code for code in DEMANDS})
    plain = plain.rename(columns={"unguessability": "UG"}).rename_axis("instance_id")
    right = np.random.default_rng(1).integers(0, 2, (len(plain), 2)).astype(float)
    right[3, 1] = np.nan
    plain[SUBJECT_NAMES] = right
    plain.assign(question="?", source="?").to_csv(tmp_path / "battery.csv")
    return pd.read_csv(tmp_path / "battery.csv")


def test_a_table_in_the_published_format(table, items):
    evaluation = read_battery(table, SUBJECT_NAMES)
    pd.testing.assert_frame_equal(evaluation.items[items.columns], items, check_dtype=False)
    assert list(evaluation.items) == list(items)
    assert evaluation.subjects == SUBJECT_NAMES
    assert evaluation.trials.sum(axis=1).tolist() == [40, 39]
    assert evaluation.successes.loc["Ann"].tolist() == table["Ann"].tolist()


def test_the_real_outcomes(adele_data):
    evaluation = load(adele_data)
    assert (len(evaluation.subjects), len(evaluation.items)) == (12, 3328)
    assert set(evaluation.subjects) == set(MODELS.values()) <= set(SUBJECTS)
    assert evaluation.trials.to_numpy().min() == 1
    for short, model in (("CSE", "gpt4o"), ("TruthQuest", "davinci-002"), ("SAT", "llama3d2-1b")):
        told = pd.read_csv(adele_data / f"{short}_outcomes.csv", index_col="question_id")
        found = evaluation.successes.loc[MODELS[model], told.index]
        assert found.tolist() == told[f"{model}_{short}_outcome"].tolist()
        labels = pd.read_csv(adele_data / f"{short}_capabilities.csv", index_col="question_id")
        kept = evaluation.items.loc[labels.index]
        assert (kept["demand[QLl]"] == labels["QLl"]).all()
        assert (kept["unguessability"] == labels["UG"]).all()


def test_real_tasks_have_the_published_sizes(adele_data):
    found = load(adele_data).items.groupby(["benchmark", "task"]).size().to_dict()
    table = tasks().set_index(["benchmark", "task"])["items"]
    assert found == table.loc[list(BENCHMARKS.values())].to_dict()
