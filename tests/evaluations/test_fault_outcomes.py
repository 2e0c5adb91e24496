"""Outcomes that cannot be read are refused by name; those that say little are flagged."""

import numpy as np
import pandas as pd
import pytest
from helpers.fault_cases import (
    distance,
    evaluation,
    exactly,
    fault,
    fit,
    items,
    layout,
    reach,
    table,
)

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation
from measurement_layouts.linking import logistic

CODES = (
    "; code failure as 0 and success as 1, or by a known word (in upper or lower case: yes/no, "
    "y/n, true/false, t/f, pass/fail, passed/failed, correct/incorrect, right/wrong, "
    "success/failure), and leave a cell empty (NaN) where the item was not attempted. Several "
    "attempts go in as counts, Evaluation(items, successes, trials)"
)
NO_COUNTS = "; give whole numbers from 0 to 1e+15, with 0 trials where an item was not attempted"
NOTHING = "; a subject needs at least one attempted item to be fitted, so leave it out"
ONCE = (
    " occur more than once; give each {0} one row and one name (from_long(..., repeats='trials') "
    "counts repeated attempts)"
)
ONES = table(np.ones((2, 3), int))
ROWS = pd.DataFrame({"subject": ["Ann"] * 3, "item": ["a", "a", "b"], "outcome": [1, 0, 1]})


def one(value):
    """Outcomes of which one is this."""
    return evaluation(rows=np.array([[1, value, 0], [1, 0, None]], dtype=object))


def counts(successes, trials=ONES):
    return Evaluation(items(), successes, trials)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        fault(
            "an outcome P",
            lambda: one("P"),
            DataError,
            f"1 outcome(s) are neither 0 nor 1: Ann on b: 'P'{CODES}",
        ),
        fault(
            "an outcome 0.5",
            lambda: one(0.5),
            DataError,
            f"1 outcome(s) are neither 0 nor 1: Ann on b: 0.5{CODES}",
        ),
        fault(
            "outcomes True and C in one table",
            lambda: evaluation(rows=[[True, "C", 0], ["I", True, None]]),
            DataError,
            f"2 outcome(s) are neither 0 nor 1: Ann on b: 'C', Bob on a: 'I'{CODES}",
        ),
        fault(
            "an outcome 2",
            lambda: one(2),
            DataError,
            f"1 outcome(s) are neither 0 nor 1: Ann on b: 2{CODES}",
        ),
        fault(
            "an infinite outcome",
            lambda: one(np.inf),
            DataError,
            f"1 outcome(s) are neither 0 nor 1: Ann on b: inf{CODES}",
        ),
        fault(
            "an outcome P in a row",
            lambda: Evaluation.from_long(
                ROWS.assign(outcome=[1, 0, "P"]), items(), repeats="trials"
            ),
            DataError,
            f"1 outcome(s) are neither 0 nor 1: row 2, outcome: 'P'{CODES}",
        ),
        fault(
            "half a success",
            lambda: counts(table([[1, 0.5, 0], [1, 0, 0]])),
            DataError,
            f"successes: 1 value(s) are no counts: Ann on b: 0.5{NO_COUNTS}",
        ),
        fault(
            "a count that is missing",
            lambda: counts(table([[1, np.nan, 0], [1, 0, 0]])),
            DataError,
            f"successes: 1 value(s) are no counts: Ann on b: missing{NO_COUNTS}",
        ),
        fault(
            "more successes than trials",
            lambda: counts(table([[3, 0, 0], [1, 0, 0]])),
            DataError,
            "more successes than trials in 1 cell(s): Ann on a: 3; correct one of the two",
        ),
        fault(
            "a subject without outcomes",
            lambda: counts(table([[1] * 3, [0] * 3]), table([[1] * 3, [0] * 3])),
            DataError,
            f"no outcomes for Bob{NOTHING}",
        ),
        fault(
            "zero trials everywhere",
            lambda: counts(ONES * 0, ONES * 0),
            DataError,
            f"no outcomes for Ann, Bob{NOTHING}",
        ),
        fault(
            "no subjects",
            lambda: evaluation(rows=[], index=[]),
            DataError,
            "there are no subjects; give at least one, as a row of outcomes",
        ),
        fault(
            "no items",
            lambda: Evaluation.from_wide(pd.DataFrame(index=["Ann"]), items().iloc[:0]),
            DataError,
            "there are no items; give at least one, as a row of items",
        ),
        fault(
            "a row of a subject and item twice",
            lambda: Evaluation.from_long(ROWS, items()),
            DataError,
            "1 repeated row(s): Ann on a; keep one row of each, or count them as repeated trials "
            "with repeats='trials'",
        ),
        fault(
            "a subject twice",
            lambda: evaluation(index=["Ann", "Ann"]),
            DataError,
            f"outcomes: the subject name(s) Ann{ONCE.format('subject')}",
        ),
        fault(
            "an item twice among the outcomes",
            lambda: evaluation(columns=["a", "a", "b"]),
            DataError,
            f"outcomes: the item name(s) a{ONCE.format('item')}",
        ),
        fault(
            "an item twice",
            lambda: evaluation(items().set_axis(["a", "a", "b"])),
            DataError,
            f"items: the item name(s) a{ONCE.format('item')}",
        ),
        fault(
            "a row without a subject",
            lambda: Evaluation.from_long(ROWS.assign(subject=["Ann", None, "Bob"]), items()),
            DataError,
            "column 'subject': no name in row(s) 1, counted from 0; name each, or drop them",
        ),
        fault(
            "outcomes of an unknown item",
            lambda: Evaluation.from_long(ROWS.assign(item=["a", "z", "b"]), items()),
            DataError,
            "outcomes for 1 item(s) that `items` does not have: z; add their properties, or drop "
            "those rows",
        ),
        fault(
            "outcomes of other items",
            lambda: evaluation(columns=["a", "b", "z"]),
            DataError,
            "the items of outcomes are not those of items: missing c; extra z; give both the same "
            "names",
        ),
        fault(
            "no column of outcomes",
            lambda: Evaluation.from_long(ROWS.rename(columns={"outcome": "score"}), items()),
            DataError,
            "the table of outcomes has no column outcome; the columns are subject, item, score; "
            "give their names, as in subject='model' (--subject model), or rename the columns",
        ),
    ],
)
def test_refused(call, error, message):
    with exactly(error, message):
        call()


def test_truth_values_are_zeros_and_ones():
    mixed = one(True)
    pd.testing.assert_frame_equal(mixed.successes, one(1).successes)
    pd.testing.assert_frame_equal(mixed.trials, one(1).trials)


def test_epochs_are_trials_when_asked_for():
    found = Evaluation.from_long(ROWS, items(), repeats="trials")
    assert found.successes.loc["Ann"].tolist() == [1, 1, 0]
    assert found.trials.loc["Ann"].tolist() == [2, 1, 0]


@pytest.mark.parametrize(
    ("outcome", "said"),
    [(1, "successes"), (0, "failures")],
)
def test_outcomes_that_are_all_alike_are_fitted_and_flagged(outcome, said):
    alike = evaluation(rows=[[outcome] * 3, [1, 0, 0]])
    found = ml.fit(layout, alike, **{**FEW, "draws": 2000}).diagnostics()
    assert found.loc["Ann", "status"] == "ok"
    assert found.loc["Ann", "prior_dominated"] == "reach"
    assert found.loc["Ann", "reason"] == (
        f"all 3 outcomes are {said}: the data bound the profile on one side only, the prior "
        "decides the rest"
    )
    assert found.loc["Bob", "reason"] == found.loc["Bob", "prior_dominated"] == ""


FEW = {"chains": 4, "seed": 1, "method": "grid", "progressbar": False}


def test_one_item_says_nothing_of_a_demand_and_something_without():
    steep = ml.Layout("steep", ml.Success("found", logistic(reach - distance, ml.Slope("slope"))))
    with exactly(
        DataError,
        "distance is 1 on the only item: the effect of a demand that does not vary cannot be "
        "inferred, and reach, slope cannot without it; add items with other values, or give "
        "the layout numbers instead of some of these",
    ):
        ml.fit(steep, evaluation().select(items=["a"]), **FEW)
    reached = ml.fit(layout, evaluation().select(items=["a"]), **FEW).profiles()
    assert (reached["shrinkage"] > 0).all()
    coin = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    one_item = Evaluation.from_wide(table([[1]], ["Ann"], ["a"]), pd.DataFrame(index=["a"]))
    found = ml.fit(coin, one_item, **FEW)
    assert found.profiles()["mean"].item() == pytest.approx(2 / 3, abs=0.002)  # Beta(2, 1)


def test_one_subject_is_fitted_as_among_others():
    alone, together = fit(subjects=["Bob"]), fit()
    ours, theirs = (one.posterior["reach"].sel(subject="Bob") for one in (alone, together))
    np.testing.assert_array_equal(ours, theirs)
