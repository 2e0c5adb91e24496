"""Tables of outcomes become steps, and back; what is wrong with them is named."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of

import measurement_layouts as ml
from measurement_layouts import DataError


@pytest.fixture
def made():
    return of.layout(of.success(), of.graded(grades=("lost", "detour", "direct")), of.score(2, 4))


@pytest.fixture
def tables():
    who, items = ["Ann", "Bob"], of.items(2).index
    return {
        "found": pd.DataFrame([[1, 0], [None, True]], who, items),
        "path": pd.DataFrame([["direct", "lost"], [1, np.nan]], who, items),
        "credit": pd.DataFrame([[1.0, 0.1], [0.125, 0.9]], who, items),
    }


def test_wide_tables(made, tables):
    """Each step is tried where the one before was passed; a rounded score is in its place."""
    evaluation = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    rows = [name.removeprefix("arena 0 · ") for name in evaluation.items.index[:7]]
    assert rows == [
        "found ≥ 1",
        *("path ≥ detour", "path ≥ direct"),
        *(f"credit ≥ {cut}" for cut in (0.125, 0.375, 0.625, 0.875)),
    ]
    passed, tried = (
        counts.to_numpy().tolist() for counts in (evaluation.successes, evaluation.trials)
    )
    assert passed == [
        [1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 1, 1, 1, 1],
    ]
    assert tried == [
        [1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 1, 0, 0, 0],
        [0, 1, 1, 1, 1, 0, 0, 1, 0, 0, 1, 1, 1, 1],
    ]
    # Ann: 1, 2/2, 4/4 and 0, 0, 0 of 6 attempts; Bob: 1/2, 1/4, 1 and 4/4 of 4
    np.testing.assert_allclose(evaluation.success_rates(), [3 / 6, 2.75 / 4])
    pd.testing.assert_frame_equal(evaluation.item_table, of.items(2).rename_axis("item"))
    assert evaluation.attempts.loc["Ann"].tolist() == [1] * 14
    assert repr(evaluation) == (
        "<Evaluation: 2 subjects, 2 items, 10 attempts in 14 rows of steps, properties timeHidden>"
    )


def test_long_tables_and_turned_ones_are_the_same(made, tables):
    long = {
        name: table.stack(future_stack=True)
        .rename_axis(["subject", "item"])
        .rename("outcome")
        .reset_index()
        for name, table in tables.items()
    }
    wide = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    turned = tables | {"credit": tables["credit"].T}
    for other in (long, turned):
        found = ml.Evaluation.of_outcomes(made, other, of.items(2))
        pd.testing.assert_frame_equal(found.successes, wide.successes)
        pd.testing.assert_frame_equal(found.trials, wide.trials)


@pytest.mark.parametrize("alone", [False, True])
def test_columns_of_long_tables_may_have_other_names(made, tables, alone):
    """Also where a single `Success` is all."""
    made = of.layout(of.success()) if alone else made
    tables = {"found": tables["found"]} if alone else tables
    wide = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    names = ["model", "task id", "result"]
    long = {
        name: table.stack(future_stack=True).rename_axis(names[:2]).rename("result").reset_index()
        for name, table in tables.items()
    }
    columns = dict(zip(("subject", "item", "outcome"), names, strict=True))
    found = ml.Evaluation.of_outcomes(made, long, of.items(2), **columns)
    pd.testing.assert_frame_equal(found.successes, wide.successes, check_names=False)
    pd.testing.assert_frame_equal(found.trials, wide.trials, check_names=False)
    with pytest.raises(DataError, match="name three"):
        ml.Evaluation.of_outcomes(made, long, of.items(2), subject="item")


def test_repeated_attempts_are_counts(rng):
    made, table = of.layout(of.labelled()), of.items(4)
    tables, levels = of.random_outcomes(made, table, rng, subjects=("Ann", "Bob"), attempts=6)
    evaluation = ml.Evaluation.of_outcomes(made, tables, table)
    own = levels["path"]
    for row, item in zip(evaluation.items.index, evaluation.rows.item, strict=True):
        place = evaluation.items.loc[row, "· step"]
        for subject in ("Ann", "Bob"):
            reached = own[(own["subject"] == subject) & (own["item"] == item)]["level"]
            assert evaluation.trials.loc[subject, row] == (reached >= place - 1).sum()
            assert evaluation.successes.loc[subject, row] == (reached >= place).sum()


def test_a_choice_of_items_keeps_all_their_steps(made, tables):
    evaluation = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    chosen = evaluation.select(items=["arena 1"], subjects=["Bob"])
    assert len(chosen.items) == 7
    assert list(chosen.item_table.index) == ["arena 1"]
    with pytest.raises(DataError, match="unknown item"):
        evaluation.select(items=["arena 1 · found ≥ 1"])


def with_cell(tables, name, value):
    changed = tables[name].astype(object)
    changed.iloc[0, 1] = value
    return tables | {name: changed}


WRONG = {
    "found: 1 outcome(s) are neither 0 nor 1: Ann on arena 1: 0.5; code failure as 0": (
        lambda tables: with_cell(tables, "found", 0.5)
    ),
    "path: 1 outcome(s) are none of its grades: Ann on arena 1: 'drect'; give 'lost', 'detour', "
    "'direct', or their numbers from 0 to 2": lambda tables: with_cell(tables, "path", "drect"),
    "path: 1 outcome(s) are none of its grades: Ann on arena 1: 3;": (
        lambda tables: with_cell(tables, "path", 3)
    ),
    "credit: 1 outcome(s) are no score in [0, 1]: Ann on arena 1: 1.01;": (
        lambda tables: with_cell(tables, "credit", 1.01)
    ),
    "credit: 1 outcome(s) are no score in [0, 1]: Ann on arena 1: 'half';": (
        lambda tables: with_cell(tables, "credit", "half")
    ),
    "the tables of outcomes for layout 'permanence' are not those of its outcomes: missing path": (
        lambda tables: {name: tables[name] for name in ("found", "credit")}
    ),
    "extra other": lambda tables: tables | {"other": tables["found"]},
    "give a table for each outcome by name, as in {'found': table}": lambda tables: tables["found"],
    "path: the table: this is a list; give a path": lambda tables: tables | {"path": [1]},
    "found: outcomes for 1 item(s) that `items` does not have: arena 7;": (
        lambda tables: (
            tables | {"found": pd.DataFrame({"subject": ["Ann"], "item": "arena 7", "outcome": 1})}
        )
    ),
    "there are no outcomes": (
        lambda tables: {
            name: table.astype(object).map(lambda _: None) for name, table in tables.items()
        }
    ),
}


def test_subjects_without_outcomes_are_left_out(made, tables):
    wanted = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    nobody = pd.DataFrame(np.nan, ["Cyd"], of.items(2).index)
    more = {name: pd.concat([table, nobody]) for name, table in tables.items()}
    with pytest.warns(UserWarning, match=r"without any outcome: 1 subject \(Cyd\)"):
        found = ml.Evaluation.of_outcomes(made, more, of.items(2))
    pd.testing.assert_frame_equal(found.trials, wanted.trials)
    pd.testing.assert_frame_equal(found.successes, wanted.successes)


@pytest.mark.parametrize("message", WRONG)
def test_wrong_tables(message, made, tables):
    with pytest.raises(DataError, match=re.escape(message)):
        ml.Evaluation.of_outcomes(made, WRONG[message](tables), of.items(2))


def test_evaluations_of_other_layouts_are_refused(made, tables):
    stepped = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    plain = ml.Evaluation.from_wide(tables["found"], of.items(2))
    alone, graded = of.layout(of.success()), of.layout(of.graded(), of.success())
    for layout, evaluation, message in (
        (alone, stepped, "has the outcome(s) found (Success); give the items' 0/1 outcomes"),
        (made, plain, "credit (Score); make it with Evaluation.of_outcomes(layout"),
        (graded, stepped, "the rows of the evaluation"),
    ):
        with pytest.raises(DataError, match=re.escape(message)):
            ml.fit(layout, evaluation, progressbar=False)
    part = [counts.iloc[:, 1:] for counts in (stepped.successes, stepped.trials)]
    some = ml.Evaluation(stepped.items.iloc[1:], *part)
    with pytest.raises(DataError, match="keep all rows of an item"):
        ml.to_pymc(made, some, "Ann")


def test_tables_of_0_and_1_alone_take_steps_nowhere(made, tables):
    stepped = ml.Evaluation.of_outcomes(made, tables, of.items(2))
    for ask in (
        lambda: ml.validation.Algebraic(["timeHidden"]).predict(stepped, stepped.cells, seed=1),
        lambda: ml.validation.Estimator("rasch").predict(stepped, stepped.cells, seed=1),
        lambda: ml.batteries.characteristic_curves(stepped, ["timeHidden"]),
        lambda: ml.plots.agent_characteristic_grid(stepped, "Ann", "timeHidden", "timeHidden"),
        lambda: ml.plots.characteristic_surface(stepped, "timeHidden", "timeHidden"),
    ):
        with pytest.raises(DataError, match="rows"):
            ask()
