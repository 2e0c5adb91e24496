"""Attempts without a grade: counts beside the trials, bounds of rates, and comparisons."""

import itertools

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import Capability, Evaluation, Graded, Layout
from measurement_layouts.common.errors import DataError, FitError

ROWS = pd.DataFrame(
    {
        "subject": ["Ann", "Ann", "Ann", "Ann", "Bob", "Bob"],
        "item": ["a", "a", "b", "c", "a", "b"],
        "outcome": [1, None, 0, None, 1, None],
        "ungraded": [None, "error", None, "time-out", None, ""],
    }
)


def read(ungraded="bounds"):
    return Evaluation.from_long(ROWS, repeats="trials", ungraded=ungraded)


@pytest.mark.parametrize(
    ("ungraded", "trials", "rates", "kept"),
    [
        ("bounds", 3, {"Ann": 1 / 2, "Bob": 1.0}, 2),
        ("drop", 3, {"Ann": 1 / 2, "Bob": 1.0}, 0),
        ("fail", 5, {"Ann": 1 / 4, "Bob": 1.0}, 0),
    ],
)
def test_readers_keep_drop_or_fail_them(tmp_path, ungraded, trials, rates, kept):
    """In a file too; an empty reason is none."""
    ROWS.to_csv(tmp_path / "rows.csv", index=False)
    from_file = ml.evaluations.read_table(tmp_path / "rows.csv").evaluation(ungraded=ungraded)
    for evaluation in (read(ungraded), from_file):
        assert evaluation.trials.to_numpy().sum() == trials
        assert evaluation.success_rates().to_dict() == rates
        assert evaluation.ungraded["ungraded"].sum() == kept


def test_bounds_are_the_extremes_of_what_the_attempts_could_have_been():
    """Against every completion of the two attempts."""
    rates = []
    for outcomes in itertools.product((0, 1), repeat=2):
        rows = ROWS.drop(columns="ungraded")
        rows.loc[[1, 3], "outcome"] = outcomes
        rates.append(Evaluation.from_long(rows, repeats="trials").success_rates()["Ann"])
    bounds = read().success_bounds()
    assert bounds.loc["Ann"].tolist() == [0.5, min(rates), max(rates), 2, 2]
    assert bounds.loc["Bob"].tolist() == [1, 1, 1, 1, 0]
    for success, rate in ((False, min(rates)), (True, max(rates))):
        assert read().ungraded_as(success).success_rates()["Ann"] == rate
    assert "2 ungraded" in repr(read())
    assert "0.25 if all had failed" not in str(read("drop"))
    assert "0.62 if all had failed, 0.88 if all had succeeded" in str(read())


def test_selection_union_and_writing_keep_them(tmp_path):
    evaluation = read()
    assert evaluation.select(items=["c", "a"]).ungraded.values.tolist() == [
        ["Ann", "c", 1],
        ["Ann", "a", 1],
    ]
    assert evaluation.select(subjects=["Bob"]).ungraded.empty
    more = Evaluation.from_wide(pd.DataFrame({"d": [1]}, ["Cyd"]), pd.DataFrame(index=["d"]))
    pd.testing.assert_frame_equal((more + evaluation).ungraded, evaluation.ungraded)
    pd.testing.assert_frame_equal((evaluation + evaluation).ungraded, evaluation.ungraded)
    imported = ml.evaluations.read_table(ROWS)
    imported.write(tmp_path)
    again = ml.evaluations.read_table(tmp_path / "outcomes.csv", tmp_path / "items.csv")
    pd.testing.assert_frame_equal(again.evaluation().ungraded, evaluation.ungraded)


def test_grades_without_a_grade():
    """An attempt is at the first step; as a success it passes all of them."""
    layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
    rows = ROWS.assign(outcome=["right", None, "partly", None, "right", None])
    tables, items = {"grade": rows}, pd.DataFrame(index=["a", "b", "c"])
    evaluation = Evaluation.of_outcomes(layout, tables, items)
    assert evaluation.success_bounds().loc["Ann"].tolist() == [0.75, 1.5 / 4, 3.5 / 4, 2, 2]
    failed = Evaluation.of_outcomes(layout, tables, items, ungraded="fail")
    pd.testing.assert_frame_equal(failed.cells, evaluation.ungraded_as(False).cells)


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda: read("keep"), "ungraded='keep'; give"),
        (
            lambda: Evaluation.from_long(ROWS.assign(ungraded="error"), repeats="trials"),
            r"3 row\(s\) have an outcome",
        ),
        (
            lambda: read().with_ungraded(pd.DataFrame({"subject": ["Ann"], "item": ["z"]})),
            "ungraded attempts:",
        ),
        (lambda: read().with_ungraded(pd.DataFrame({"subject": ["Ann"]})), "no column item"),
        (
            lambda: read().with_ungraded(read().ungraded.assign(ungraded=0.5)),
            "no counts; give whole",
        ),
    ],
)
def test_what_is_no_count_of_attempts_is_refused(call, told):
    with pytest.raises(DataError, match=told):
        call()


def compared(rng):
    """Three subjects on 60 items, of which a tenth of the attempts have no grade."""
    names = [f"i{number}" for number in range(60)]
    chances = np.array([[0.9], [0.5], [0.45]])
    won = pd.DataFrame((rng.random((3, 60)) < chances).astype(float), ["A", "B", "C"], names)
    missing = rng.random(won.shape) < 0.1
    rows = won.mask(missing).rename_axis("subject").reset_index()
    rows = rows.melt("subject", var_name="item", value_name="outcome")
    rows["ungraded"] = np.where(rows["outcome"].isna(), "error", None)
    return won, Evaluation.from_long(rows)


def test_comparing_bounds_every_completion(rng):
    won, evaluation = compared(rng)
    table = ml.compare(evaluation).table.set_index(["subject", "reference"])
    answers = won.where(evaluation.trials[won.columns].to_numpy() > 0)
    for _ in range(50):
        guessed = answers.where(answers.notna(), rng.integers(0, 2, won.shape))
        complete = Evaluation.from_wide(guessed, evaluation.items)
        for pair, row in ml.compare(complete).table.set_index(["subject", "reference"]).iterrows():
            sign, key = (1, pair) if pair in table.index else (-1, pair[::-1])
            low, high = table.loc[key, ["low", "high"]]
            assert low <= sign * row["difference"] <= high
    assert (table["high"] - table["low"] > row["high"] - row["low"]).all()
    assert table["warning"].str.contains("attempts without a grade").all()


def test_comparing_drops_or_fails_them(rng):
    _, evaluation = compared(rng)
    failed, dropped = evaluation.ungraded_as(False), read_without(evaluation)
    for ungraded, same in (("fail", failed), ("drop", dropped)):
        table = ml.compare(evaluation, ungraded=ungraded).table
        pd.testing.assert_frame_equal(table, ml.compare(same).table)
    with pytest.raises(DataError, match="ungraded='keep'"):
        ml.compare(evaluation, ungraded="keep")


def read_without(evaluation):
    return Evaluation(evaluation.items, evaluation.successes, evaluation.trials)


def test_a_fit_has_none():
    fit = ml.fit(
        Layout("sums", ml.Success("right", ml.linking.logistic(Capability("s", low=0, high=1)))),
        read("drop"),
        draws=10,
        tune=20,
        chains=1,
        seed=1,
        progressbar=False,
    )
    with pytest.raises(FitError, match="ungraded='fail' is for an evaluation"):
        ml.compare(fit, ungraded="fail")
