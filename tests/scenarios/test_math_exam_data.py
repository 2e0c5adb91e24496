"""The exam's loader, students and reproduction: by hand, and on the real file."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.scenarios import math_exam
from measurement_layouts.scenarios.math_exam import reproduction
from measurement_layouts.scenarios.math_exam.data import FILES


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


@pytest.mark.parametrize("changes", [{"study": [571, 155, 572]}, {"group": [1, 2, 3]}])
def test_an_unknown_programme_or_batch_is_named(changes):
    with pytest.raises(DataError, match="Cy: a student needs group 1 or 2, and study 571 or 155"):
        math_exam.students(raw(**changes))


def test_exercises_that_do_not_vary_cannot_be_standardised():
    with pytest.raises(DataError, match="all students solved the same number of exercises"):
        math_exam.students(raw(tests=12))


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


def test_rates_of_two_items_counted_from_the_file(real):
    from helpers.real_folders import study

    table = pd.read_csv(study("math_exam", *FILES.checksums) / "math_exam.csv")
    rates = real.successes.mean()
    assert rates["item-01"] == pytest.approx(table["solved1"].mean(), abs=1e-12)
    assert rates["item-13"] == pytest.approx((table["credits13"] == 2).mean(), abs=1e-12)


def shared(**means):
    table = pd.DataFrame({"mean": means, "sd": 0.05}).rename_axis("node").reset_index()
    return {figure.name.split(":")[0]: figure for figure in reproduction.shared_figures(table)}


def test_shared_values_are_held_to_two_standard_deviations():
    figures = shared(spread=0.99, weight=0.83, mean=0.3)
    assert figures["spread"].obtained == pytest.approx(1.4)
    assert [figures[name].holds for name in ("spread", "weight")] == [True, False]


def scores(rasch, recommended, batches):
    names = [reproduction.RASCH, reproduction.RECOMMENDED, reproduction.BATCHES]
    values = {f"split {split}": [rasch, recommended, batches] for split in range(3)}
    return [figure.holds for figure in reproduction.score_figures(pd.DataFrame(values, names))]


def test_scores_are_held_to_those_by_hand():
    assert scores(0.1920, 0.1895, 0.1850) == [True, True, True]
    assert scores(0.1930, 0.1920, 0.1925) == [False, False, False]


def test_batches_are_counted_apart():
    table = math_exam.items().assign(mean=0.1, differs=False)
    table.loc["item-01", ["mean", "differs"]] = -1.5, True
    table.loc["item-02", "differs"] = True
    size, rewritten, others = reproduction.batch_figures(table)
    assert size.obtained == pytest.approx((1.5 + 7 * 0.1) / 8)
    assert size.holds
    assert (rewritten.obtained, others.obtained) == (1, 1)
    assert not reproduction.batch_figures(table.assign(mean=0.0))[0].holds
