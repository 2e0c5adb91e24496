"""Reading outcomes: every orientation and kind of column; see `test_fault_outcomes.py`."""

import copy

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import Capability, DataError, Evaluation, Graded, Layout, Success

ITEMS = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=["a", "b", "c"])
WIDE = pd.DataFrame({"a": [1, 0], "b": [0, None], "c": [1, 1]}, index=["Ann", "Bob"], dtype=object)
SUCCESSES = [[1, 0, 1], [0, 0, 1]]
TRIALS = [[1, 1, 1], [1, 0, 1]]


def values(evaluation):
    return evaluation.successes.to_numpy().tolist(), evaluation.trials.to_numpy().tolist()


def wide(**cells):
    """The table above with other values for Ann."""
    return WIDE.assign(**{item: [value, 1] for item, value in cells.items()})


def counts(successes=SUCCESSES, trials=TRIALS):
    made = {"index": ["Ann", "Bob"], "columns": ["a", "b", "c"]}
    return pd.DataFrame(successes, **made), pd.DataFrame(trials, **made)


def raises(pattern):
    return pytest.raises(DataError, match=pattern)


# --- wide ----------------------------------------------------------------------------------------


def test_wide():
    evaluation = Evaluation.from_wide(WIDE, ITEMS)
    assert values(evaluation) == (SUCCESSES, TRIALS)
    assert evaluation.subjects == ["Ann", "Bob"]
    assert set(evaluation.successes.dtypes) == {np.dtype("int64")}
    assert evaluation.success_rates().to_dict() == {"Ann": 2 / 3, "Bob": 0.5}


def test_success_rates_by_group_have_wilson_s_ends():
    """As statsmodels' formula says, by hand; a group that a subject never tried is left out."""
    items = pd.DataFrame({"kind": ["sum", "sum", "word"]}, ["a", "b", "c"])
    successes = pd.DataFrame([[3, 1, 0], [2, 0, 4]], ["Ann", "Bob"], items.index)
    trials = pd.DataFrame([[4, 4, 0], [2, 2, 4]], ["Ann", "Bob"], items.index)
    found = Evaluation(items, successes, trials).group_rates("kind", prob=0.95)
    assert found[["subject", "group", "items", "mean"]].to_numpy().tolist() == [
        ["Ann", "sum", 2, 0.5],
        ["Bob", "sum", 2, 0.5],
        ["Bob", "word", 1, 1.0],
    ]
    z, n = 1.959964, 8
    half = z / (1 + z**2 / n) * np.sqrt(0.25 / n + z**2 / (4 * n**2))
    assert found.loc[0, ["low", "high"]].tolist() == pytest.approx([0.5 - half, 0.5 + half])
    everything = Evaluation(items, successes, trials).group_rates()
    assert everything["mean"].tolist() == [0.5, 0.75]
    with raises("the items have"):
        Evaluation(items, successes, trials).group_rates("colour")


def test_items_as_rows_are_turned():
    assert values(Evaluation.from_wide(WIDE.T, ITEMS)) == (SUCCESSES, TRIALS)


def test_numbered_subjects_and_items_are_not_turned():
    """Names that fit both ways: rows are subjects."""
    table = pd.DataFrame([[1, 0], [1, 1]])
    evaluation = Evaluation.from_wide(table, pd.DataFrame(index=[0, 1]))
    assert values(evaluation) == ([[1, 0], [1, 1]], [[1, 1], [1, 1]])
    assert evaluation.subjects == ["0", "1"]
    assert list(evaluation.items.index) == list(evaluation.trials.columns) == ["0", "1"]


def test_items_as_rows_may_be_fewer_than_all_items():
    evaluation = Evaluation.from_wide(WIDE.T.drop(index="c"), ITEMS)
    assert values(evaluation) == ([[1, 0, 0], [0, 0, 0]], [[1, 1, 0], [1, 0, 0]])


def test_columns_are_brought_into_the_items_order():
    turned = WIDE[["c", "b", "a"]]
    assert values(Evaluation.from_wide(turned, ITEMS)) == (SUCCESSES, TRIALS)


@pytest.mark.parametrize(
    "kind", ["float64", "float32", "Int64", "Float64", "object", "category", "boolean"]
)
def test_kinds_of_columns(kind):
    table = WIDE.astype("float64")
    if kind == "boolean":
        table = table.astype("Int64")
    assert values(Evaluation.from_wide(table.astype(kind), ITEMS)) == (SUCCESSES, TRIALS)


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA, pd.NaT, float("nan"), np.float32("nan")])
def test_kinds_of_missing(missing):
    assert Evaluation.from_wide(wide(b=missing), ITEMS).trials.loc["Ann"].tolist() == [1, 0, 1]


def test_whole_columns_that_are_no_outcomes():
    table = pd.DataFrame(
        {"a": pd.to_datetime(["2026-01-01", None]), "b": [1j, 1], "c": [1, 1]}, index=["Ann", "Bob"]
    )
    with raises("3 outcome.*Ann on a: Timestamp.*Ann on b: 1j"):
        Evaluation.from_wide(table, ITEMS)


def test_subjects_without_outcomes_are_left_out_and_named():
    """By every reader; items without outcomes stay, for they may be predicted."""
    wide = WIDE.assign(a=[1, None], b=None, c=[1, None]).astype(float)
    wanted = Evaluation.from_wide(wide.loc[["Ann"]], ITEMS)
    long = wide.rename_axis(index="subject", columns="item").stack(future_stack=True)
    layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    for read in (
        lambda: Evaluation.from_wide(wide, ITEMS),
        lambda: Evaluation.from_wide(wide.T, ITEMS),
        lambda: Evaluation.from_long(long.rename("outcome").reset_index(), ITEMS),
        lambda: Evaluation.of_outcomes(layout, {"heads": wide}, ITEMS),
    ):
        with pytest.warns(UserWarning, match=r"left out, without any outcome.*Bob"):
            found = read()
        pd.testing.assert_frame_equal(found.trials, wanted.trials)
        pd.testing.assert_frame_equal(found.successes, wanted.successes)
        assert found.trials.loc["Ann"].tolist() == [1, 0, 1]
    with raises("there are no outcomes, since every cell is missing; give at least one"):
        Evaluation.from_wide(WIDE * np.nan, ITEMS)


# --- counts --------------------------------------------------------------------------------------


def test_counts():
    successes, trials = counts([[3, 0, 0], [0, 1, 1]], [[3, 0, 5], [2, 1, 1]])
    evaluation = Evaluation(ITEMS, successes, trials.loc[["Bob", "Ann"], ["c", "a", "b"]])
    assert values(evaluation) == ([[3, 0, 0], [0, 1, 1]], [[3, 0, 5], [2, 1, 1]])
    assert evaluation.success_rates().tolist() == [3 / 8, 0.5]


@pytest.mark.parametrize("kind", ["float64", "Int64", "object", "category", "int8"])
def test_kinds_of_counts(kind):
    successes, trials = counts()
    assert values(Evaluation(ITEMS, successes.astype(kind), trials)) == (SUCCESSES, TRIALS)


def test_tables_that_do_not_match():
    successes, trials = counts()
    with raises("the subjects of trials are not those of successes: missing Bob; extra Eve"):
        Evaluation(ITEMS, successes, trials.rename(index={"Bob": "Eve"}))
    with raises("the columns of trials are not those of items: missing a; extra d"):
        Evaluation(ITEMS, successes, trials.rename(columns={"a": "d"}))
    with raises(r"trials: the item name\(s\) a occur more than once"):
        Evaluation(ITEMS, successes, trials.rename(columns={"b": "a"}))


# --- what holds for all --------------------------------------------------------------------------


def test_inputs_stay_as_they_are():
    successes, trials = counts()
    given = [WIDE, WIDE.T, ITEMS, successes, trials]
    before = copy.deepcopy(given)
    Evaluation.from_wide(given[0], given[2])
    Evaluation.from_wide(given[1], given[2])
    evaluation = Evaluation(given[2], given[3], given[4])
    evaluation.select(["a"], ["Ann"])
    for table, same in zip(given, before, strict=True):
        pd.testing.assert_frame_equal(table, same)
        assert table.index.name == same.index.name


def test_later_changes_of_the_inputs_do_not_reach_the_evaluation():
    successes, trials = counts()
    items = ITEMS.copy()
    evaluation = Evaluation(items, successes, trials)
    items.loc["a", "size"] = 99
    successes.loc["Ann", "a"] = 0
    assert evaluation.items.at["a", "size"] == 1
    assert values(evaluation) == (SUCCESSES, TRIALS)


def test_select():
    evaluation = Evaluation.from_wide(WIDE, ITEMS)
    part = evaluation.select(items=["c", "a"], subjects=["Bob"])
    assert values(part) == ([[1, 0]], [[1, 1]])
    assert list(part.items.index) == ["c", "a"]
    assert values(evaluation.select()) == values(evaluation)
    assert evaluation.select(subjects="Ann").subjects == ["Ann"]
    assert evaluation.select(subjects=iter(["Bob", "Ann"])).subjects == ["Bob", "Ann"]


def test_select_numbered_names():
    evaluation = Evaluation.from_wide(pd.DataFrame([[1, 0]]), pd.DataFrame(index=[0, 1]))
    assert evaluation.select(items=[1], subjects=[0]).trials.columns.tolist() == ["1"]


def test_select_refuses():
    evaluation = Evaluation.from_wide(WIDE, ITEMS)
    with raises(r"unknown item\(s\): z; known: a, b, c"):
        evaluation.select(items=["a", "z"])
    with raises(r"unknown subject\(s\): Eve; known: Ann, Bob"):
        evaluation.select(subjects=["Eve"])
    with raises(r"the item name\(s\) a occur more than once"):
        evaluation.select(items=["a", "a"])
    with raises("no outcomes for Bob"):
        evaluation.select(items=["b"])
    with raises("there are no subjects"):
        evaluation.select(subjects=[])


def test_repr():
    evaluation = Evaluation.from_wide(WIDE, ITEMS.assign(colour="red"))
    assert repr(evaluation) == (
        "<Evaluation: 2 subjects, 3 items, 5 trials, properties size, colour>"
    )


def test_ten_thousand_subjects(rng):
    """Reading is by column and array, not by cell: seconds, and no copy per subject."""
    table = pd.DataFrame(rng.integers(0, 2, (10_000, 100))).add_prefix("q")
    items = pd.DataFrame({"size": np.arange(100.0)}, index=table.columns)
    evaluation = Evaluation.from_wide(
        table.astype(float).where(rng.random(table.shape) < 0.9), items
    )
    assert len(evaluation.subjects) == 10_000
    assert evaluation.select(subjects=evaluation.subjects[::-1]).subjects[0] == "9999"


# --- joining -------------------------------------------------------------------------------------


def parts(rng, subjects=5, items=8):
    """A whole evaluation, and two parts that overlap and together hold all outcomes."""
    names = [f"i{place}" for place in range(items)]
    table = pd.DataFrame({"size": rng.uniform(size=items), "kind": list("ab" * 4)}, names)
    who = [f"s{place}" for place in range(subjects)]
    trials = pd.DataFrame(rng.integers(1, 4, (subjects, items)), who, names)
    successes = pd.DataFrame(rng.integers(0, trials + 1), who, names)
    part = rng.integers(0, 3, trials.shape)  # the first's, the other's, or both's
    part[:, 0], part[0] = 2, 2
    return Evaluation(table, successes, trials), [
        Evaluation(table, successes.where(own, 0), trials.where(own, 0))
        for own in (part != 0, part != 1)
    ]


def equal(one, other):
    pd.testing.assert_frame_equal(one.items, other.items)
    pd.testing.assert_frame_equal(one.successes, other.successes)
    pd.testing.assert_frame_equal(one.trials, other.trials)


@pytest.mark.parametrize("seed", range(5))
def test_parts_add_up_to_the_whole(seed):
    """Whatever is split by cells, or by subjects and items, and in either order."""
    whole, (one, other) = parts(np.random.default_rng(seed))
    equal(one + other, whole)
    equal(other + one, whole)
    equal(whole + whole, whole)  # what both have is counted once
    left, right = whole.items.index[:3], whole.items.index[2:]
    equal(whole.select(items=left) + whole.select(items=right), whole)
    grown = whole.select(subjects=["s0", "s1"], items=left) + whole.select(subjects=["s2", "s1"])
    assert grown.subjects == ["s0", "s1", "s2"]
    assert grown.trials.loc["s0"].tolist() == [*whole.trials.loc["s0"][:3], 0, 0, 0, 0, 0]
    assert grown.trials.loc["s1"].tolist() == whole.trials.loc["s1"].tolist()


def test_properties_of_one_are_missing_for_the_others_items():
    one = Evaluation.from_wide(WIDE[["a"]], ITEMS.loc[["a"]].assign(colour="red"))
    other = Evaluation.from_wide(WIDE[["a", "c"]], ITEMS.loc[["a", "c"]].assign(weight=[4, 5]))
    found = (one + other).items
    assert found["size"].tolist() == [1.0, 3.0]
    assert found["weight"].tolist() == [4, 5]
    assert found["colour"].isna().tolist() == [False, True]
    missing = Evaluation.from_wide(WIDE[["a"]], ITEMS.loc[["a"]] * np.nan)
    assert (missing + other).items["size"].tolist() == [1.0, 3.0]


def test_what_cannot_be_joined_is_refused_by_name():
    evaluation = Evaluation.from_wide(WIDE, ITEMS)
    other = Evaluation.from_wide(WIDE, ITEMS.assign(size=[1.0, 2.5, 3.0]))
    with raises("item b has size = 2.0 in one evaluation and 2.5 in the other: it is another item"):
        evaluation + other
    turned = Evaluation.from_wide(WIDE.assign(a=[1, 1]), ITEMS)
    with raises(
        r"1 cell\(s\) have other outcomes in one .* than in the other: Bob on a; keep those"
    ):
        evaluation + turned
    layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
    graded = Evaluation.of_outcomes(layout, {"grade": WIDE.fillna(1)}, ITEMS)
    with raises("different outcomes: 0/1 outcomes of items and grade ≥ partly, grade ≥ right"):
        evaluation + graded
    with pytest.raises(TypeError, match="unsupported operand"):
        evaluation + 1


def test_steps_are_joined_by_item():
    """A grade is one outcome: its steps come from one of the two, or are the same in both."""
    layout = Layout("essays", Graded("grade", Capability("skill", low=0, high=1)))
    grades = pd.DataFrame([[2, 0, 1], [1, 1, 2]], ["Ann", "Bob"], list("abc"))
    whole = Evaluation.of_outcomes(layout, {"grade": grades}, ITEMS)
    one, other = whole.select(items=["a", "b"]), whole.select(items=["b", "c"])
    equal(one + other, whole)
    better = grades.copy()
    better.loc["Ann", "b"] = 1
    with raises(r"1 cell\(s\) .*: Ann on b; keep those of one"):
        one + Evaluation.of_outcomes(layout, {"grade": better}, ITEMS)
