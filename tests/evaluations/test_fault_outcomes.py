"""Outcomes that cannot be read are refused by name; those that say little are flagged."""

import numpy as np
import pandas as pd
import pytest
from helpers.fault_cases import (
    distance,
    evaluation,
    exactly,
    fit,
    items,
    layout,
    reach,
    table,
)

import measurement_layouts as ml
from measurement_layouts import DataError, Evaluation
from measurement_layouts.linking import logistic

ONES = table(np.ones((2, 3), int))
ROWS = pd.DataFrame({"subject": ["Ann"] * 3, "item": ["a", "a", "b"], "outcome": [1, 0, 1]})


def one(value):
    """Outcomes of which one is this."""
    return evaluation(rows=np.array([[1, value, 0], [1, 0, None]], dtype=object))


def counts(successes, trials=ONES):
    return Evaluation(items(), successes, trials)


def without(**columns):
    return lambda: Evaluation.from_long(ROWS.assign(**columns), items(), repeats="trials")


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: one("P"), "Ann on b: 'P'"),
        (lambda: one(0.5), r"Ann on b: 0\.5"),
        (lambda: one(2), "Ann on b: 2"),
        (lambda: one(np.inf), "Ann on b: inf"),
        (lambda: one(1j), r"Ann on b: 1j"),
        (lambda: one([1]), r"Ann on b: \[1\]"),
        (lambda: one("1_0"), "Ann on b: '1_0'"),
        (lambda: one(pd.Timestamp(0)), "Ann on b: Timestamp"),
        (lambda: one(10**400), "Ann on b: 1000"),
        (lambda: evaluation(rows=[[True, "C", 0], ["I", True, None]]), "Ann on b: 'C', Bob on a:"),
        (lambda: evaluation(rows=[["C"] * 3] * 3, index=list("ABC")), "9 outcome.* and 4 more;"),
        (without(outcome=[1, 0, "P"]), "Ann on b: 'P'"),
        (without(subject=["Ann", None, "Bob"]), r"'subject': no name in row\(s\) 1"),
        (without(item=["a", "z", "b"]), "does not have: z"),
        (lambda: counts(table([[1, 0.5, 0], [1, 0, 0]])), r"successes: .*Ann on b: 0\.5"),
        (lambda: counts(table([[1, np.nan, 0], [1, 0, 0]])), "Ann on b: missing"),
        (lambda: counts(table([[-1, 1, 0], [1, 0, 0]])), "Ann on a: -1"),
        (lambda: counts(ONES, ONES * 1e308), r"trials: .*Ann on a: 1e\+308"),
        (
            lambda: counts(table([[3, 0, 0], [1, 0, 0]])),
            "more successes.* Ann on a: 3",
        ),
        (lambda: counts(ONES * 0, ONES * 0), "no outcomes for Ann, Bob"),
        (lambda: evaluation(rows=[], index=[]), "no outcomes"),
        (lambda: evaluation(items().iloc[:0]), "does not have: a, b, c"),
        (lambda: Evaluation.from_long(ROWS, items()), "1 repeated.* Ann on a;.*repeats='trials'"),
        (lambda: Evaluation.from_long(ROWS, repeats="sum"), "repeats='sum'"),
        (lambda: evaluation(index=["Ann", "Ann"]), "Ann occur more than once"),
        (lambda: evaluation(index=[1, "1"]), "1 occur more than once"),
        (lambda: evaluation(index=["Ann", None]), r"no name in row\(s\) 1"),
        (lambda: evaluation(columns=["a", "a", "b"]), "a occur more than once"),
        (lambda: evaluation(items().set_axis(["a", "a", "b"])), "items: .*a occur more than once"),
        (lambda: evaluation(columns=["a", "b", "z"]), "does not have: z"),
        (lambda: Evaluation.from_long(ROWS[["subject", "item"]]), "no column outcome"),
        (lambda: Evaluation.from_wide([[1, 0]], items()), "this is a list"),
        (lambda: Evaluation.from_long(None), "this is None"),
        (lambda: evaluation(np.ones((2, 3))), "items: this is a ndarray"),
        (lambda: Evaluation.from_table(ROWS, trials=0), "trials=0"),
        (lambda: Evaluation.from_table(ROWS, trials="n"), "no column n"),
        (lambda: Evaluation.from_table(ROWS, subjects=["item"]), "subjects= names item"),
        (lambda: Evaluation.from_table(ROWS, item="subject"), "name three"),
    ],
)
def test_refused(call, word):
    with pytest.raises(DataError, match=word):
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
