"""The exam's loader and students: by hand, and on the real file."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.scenarios import math_exam
from measurement_layouts.scenarios.math_exam import FILES


def raw(**changes):
    columns = {"tests": [4, 10, 16], "gender": "male", "study": [571, 155, 571]}
    columns |= {"semester": [1, 3, 1], "attempt": [1, 2, 1], "group": [1, 2, 2]}
    return pd.DataFrame({**columns, **changes}, index=["Ann", "Bea", "Cy"])


def test_students_by_hand():
    table = math_exam.students(raw())
    assert table["tests"].to_list() == pytest.approx(np.array([-1, 0, 1]) * np.sqrt(1.5))
    assert table["exercises"].to_list() == [4, 10, 16]
    assert table["study"].to_list() == ["bachelor", "diploma", "bachelor"]
    assert table["batch"].to_list() == ["first", "second", "second"]


@pytest.fixture(scope="module")
def real():
    from helpers.real_folders import study

    return math_exam.load(study("math_exam", *FILES.checksums))


def test_the_real_data(real):
    assert real.successes.shape == (729, 13)
    assert (real.trials == 1).all(axis=None)
    pd.testing.assert_frame_equal(real.items, math_exam.items())
    people = real.subject_table
    assert people["study"].value_counts().to_dict() == {"bachelor": 583, "diploma": 146}
    assert people["batch"].value_counts().sort_index().to_list() == [334, 395]
    assert people["tests"].mean() == pytest.approx(0, abs=1e-12)
    assert people["tests"].std(ddof=0) == pytest.approx(1, abs=1e-12)
    assert people["exercises"].between(0, 26).all()
