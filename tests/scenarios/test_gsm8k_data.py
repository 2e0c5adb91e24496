"""GSM8K's loader and properties: by hand, and on the real files where they are."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import gsm8k
from measurement_layouts.scenarios.gsm8k import FILES


def raw(**changes):
    columns = {"n_lines": [2, 4], "n_steps": [2, 0], "max_abs_number": [999.0, 0.0]}
    return pd.DataFrame({**columns, "q_words": [64, 16], **changes}, index=["apples", "pears"])


def test_properties_by_hand():
    found = gsm8k.properties(raw())
    assert found.loc["apples"].tolist() == [2, 2, 3, 6, 64]
    assert found.loc["pears"].tolist() == [4, 0, 0, 4, 16]


@pytest.fixture(scope="module")
def folder():
    from helpers.real_folders import study

    return study("gsm8k", *FILES.checksums)


@pytest.fixture(scope="module")
def real(folder):
    return gsm8k.load(folder)


def test_shape_of_the_real_data(real):
    assert real.successes.shape == (44, 1319)
    attempted = real.trials.sum(axis=1)
    assert int(attempted.sum()) == 57398
    assert attempted[attempted < 1319].to_dict() == {"gemini-1.5-flash-exp-0827": 681}


def test_solutions_without_marks_have_steps(real):
    unmarked = real.items[real.items["markedSteps"] == 0]
    assert len(unmarked) == 18
    assert unmarked["steps"].min() == 2


def test_an_answer_without_a_number_is_a_failure(folder):
    outcomes = pd.read_parquet(folder / "outcomes.parquet")
    unanswered = outcomes[outcomes["no_answer"].astype(bool)]
    assert len(unanswered) > 0
    assert unanswered["success"].sum() == 0


def evaluation(rates, models):
    outcomes = pd.DataFrame([np.arange(100) < 100 * rate for rate in rates], models)
    items = gsm8k.battery(items=100)
    return gsm8k.Evaluation.from_wide(outcomes.set_axis(items.index, axis=1), items)
