"""What was trained on is refused by name, and by equal rows where items have no names."""

import warnings

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.linking import logistic
from measurement_layouts.validation.prediction.splits import masked

GRID = {"draws": 100, "tune": 1, "chains": 2, "seed": 1, "method": "grid", "progressbar": False}
NAMES = [f"i{number}" for number in range(40)]


def layout(kind):
    """Declare one ability against two properties, with levels or without, or against none."""
    ability = ml.Capability("ability", low=-4, high=4)
    if kind == "none":
        return ml.Layout(kind, ml.Success("ok", logistic(ability)))
    if kind == "levels":
        a, b = ml.MetaFeature("a", levels=(0, 1, 2)), ml.MetaFeature("b", levels=(0, 1))
    else:
        a, b = (ml.MetaFeature(name, low=-9, high=9) for name in "ab")
    return ml.Layout(kind, ml.Success("ok", logistic(1.5 * (ability - a - 0.5 * b))))


def crossing(levels):
    def draw(count, rng):
        cells = np.array([(x, y) for x in levels for y in levels])
        return pd.DataFrame(np.resize(cells, (count, 2)), columns=["a", "b"])

    return draw


def columns(**draws):
    def draw(count, rng):
        return pd.DataFrame({name: draw(count, rng) for name, draw in draws.items()})

    return draw


def normal(count, rng):
    return rng.normal(size=count)


KINDS = {
    "none": lambda count, rng: pd.DataFrame(index=range(count)),
    "levels": columns(
        a=lambda n, rng: rng.integers(0, 3, n), b=lambda n, rng: rng.integers(0, 2, n)
    ),
    "whole numbers": columns(
        a=lambda n, rng: rng.integers(-2, 3, n), b=lambda n, rng: rng.integers(-1, 2, n)
    ),
    "the same crossing": crossing(range(-2, 3)),
    "the same irregular crossing": crossing([-1.93, -0.71, 0.13, 0.87, 2.2]),
    "the same grid": columns(
        a=lambda n, rng: np.linspace(-2, 2, n), b=lambda n, rng: np.arange(n) % 2
    ),
    "sorted": columns(
        a=lambda n, rng: np.sort(rng.normal(size=n)), b=lambda n, rng: np.sort(rng.normal(size=n))
    ),
    "two digits": columns(
        a=lambda n, rng: normal(n, rng).round(2), b=lambda n, rng: normal(n, rng).round(1)
    ),
    "one column": columns(a=normal, b=lambda n, rng: rng.integers(0, 2, n)),
    "continuous": columns(a=normal, b=normal),
}


def outcomes(items, subjects, rng, *, effect=0.0, spread=1.0):
    """Simulate subjects on items, which may have a difficulty of their own that no column tells."""
    hard = items["a"] + 0.5 * items["b"] if len(items.columns) else pd.Series(0.0, items.index)
    hard = hard.to_numpy() + effect * rng.normal(size=len(items))
    skills = spread * np.random.default_rng(subjects).normal(size=(subjects, 1))
    passed = rng.random((subjects, len(items))) < 1 / (1 + np.exp(-1.5 * (skills - hard)))
    return read(passed.astype(int), items)


def read(passed, items):
    who = [f"s{number}" for number in range(len(passed))]
    return ml.Evaluation.from_wide(pd.DataFrame(passed, who, items.index), items)


def study(kind, rng, count=40, subjects=3, names=None, **options):
    """Make a table of items with outcomes."""
    items = KINDS[kind](count, rng)
    items = items if names is None else items.set_axis(list(names)[:count], axis=0)
    return outcomes(items, subjects, rng, **options)


def fitted(evaluation, kind):
    return ml.fit(layout(kind), evaluation, **GRID)


def moved(evaluation, items, order=None, names=None):
    """Give items other columns, order and names; outcomes go with them."""
    order = np.arange(len(items)) if order is None else order
    names = evaluation.items.index if names is None else list(names)
    table = items.iloc[order].set_axis(pd.Index(names), axis=0)
    return read(evaluation.successes.to_numpy()[:, order], table)


def score(fit, evaluation, **options):
    return ml.score_forecast(fit.forecast(evaluation.items), evaluation, **options)


@pytest.fixture(scope="module")
def named():
    evaluation = study("continuous", np.random.default_rng(1), names=NAMES)
    return evaluation, fitted(evaluation, "continuous")


@pytest.fixture(scope="module")
def numbered():
    evaluation = study("continuous", np.random.default_rng(1))
    return evaluation, fitted(evaluation, "continuous")


# --- leaks are found -----------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [1, 1 + 1e-7, 0.5])
def test_training_names_are_refused_whatever_their_numbers(named, factor):
    evaluation, fit = named
    again = moved(evaluation, evaluation.items * factor)
    with pytest.raises(DataError, match=r"^120 outcome\(s\) to be scored"):
        score(fit, again)
    assert score(fit, again, training_items=True)["trials"].tolist() == [40, 40, 40]


def test_other_items_with_names_that_are_used_again(named):
    _, fit = named
    other = study("continuous", np.random.default_rng(2), names=NAMES)
    with pytest.raises(DataError, match="have names of training items, but other meta-features"):
        score(fit, other)
    assert score(fit, other, reused_names=True)["trials"].tolist() == [40, 40, 40]


def test_one_corrected_value_is_no_other_item(named):
    evaluation, fit = named
    items = evaluation.items.copy()
    items.loc["i7", "a"] += 2
    part = moved(evaluation, items).select(items=NAMES[5:10])
    with pytest.raises(DataError, match=r"^3 .* i7 \(s0\), i7 \(s1\), i7 \(s2\); if the items"):
        score(fit, part)


@pytest.mark.parametrize("kind", ["continuous", "one column", "the same irregular crossing"])
def test_renamed_and_shuffled_training_items_are_found(kind):
    """Given names under other names are reported, where there were none they are refused."""
    rng = np.random.default_rng(3)
    count = 25 if "crossing" in kind else 40
    for names in (NAMES, None):
        evaluation = study(kind, rng, names=names, subjects=6, count=count)
        fit = fitted(evaluation, "continuous")
        order = rng.permutation(count)
        other = names and [f"x{place}" for place in range(count)]
        again = moved(evaluation, evaluation.items, order, other)
        if names is None:
            with pytest.raises(DataError, match=rf"^{6 * count} .* were trained on"):
                score(fit, again)
        else:
            told = rf"^{count} items have the meta-features and outcomes .*: x0 \(as i{order[0]}\)"
            with pytest.warns(UserWarning, match=told):
                assert len(score(fit, again)) == 6


def test_numbers_of_a_table_without_features_are_told_by_outcomes():
    rng = np.random.default_rng(5)
    evaluation = study("none", rng, spread=0.3)
    fit = fitted(evaluation, "none")
    with pytest.raises(
        DataError, match=r"^120 outcome\(s\) to be scored were trained on: 0 \(s0\)"
    ):
        score(fit, evaluation)
    assert len(score(fit, study("none", rng, spread=0.3))) == 3


@pytest.mark.parametrize("count", [6, 40])
def test_a_whole_table_without_names_is_refused_again(count):
    """Also of levels alone, of one subject."""
    evaluation = study("levels", np.random.default_rng(14), subjects=1, count=count)
    with pytest.raises(DataError, match="were trained on: 0"):
        score(fitted(evaluation, "levels"), evaluation)


# --- other items are no leak ---------------------------------------------------------------------


def false_alarms(rng, kinds, count):
    """List pairs of different tables that are refused or reported."""
    wrong = []
    for kind in kinds:
        for _ in range(count):
            made = {
                "count": int(rng.choice([25, 40, 75])),
                "subjects": int(rng.choice([1, 2, 5, 12])),
                "effect": float(rng.choice([0, 1, 4])),
                "spread": float(rng.choice([0, 1, 3])),
            }
            names = [f"x{place}" for place in range(made["count"])]
            one, other = (study(kind, rng, **made) for _ in range(2))
            if one.successes.equals(other.successes) and one.items.equals(other.items):
                continue  # no two tables
            fit = fitted(one, kind if kind in ("none", "levels") else "continuous")
            for new in (other, moved(other, other.items, names=names)):
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    try:
                        score(fit, new)
                    except (DataError, UserWarning) as error:
                        wrong.append((kind, made, str(error)))
    return wrong


@pytest.mark.slow
def test_two_different_tables_are_no_leak():
    """Rows of a table for training, and the same rows of another one for testing.

    Tables of equal items are distinguished by their outcomes: ten items at least.
    """
    wrong = false_alarms(np.random.default_rng(8), KINDS, 5)
    assert wrong == []


def test_rows_held_out_of_a_numbered_table_are_no_leak():
    """Also where they have the level and the outcomes of training rows."""
    evaluation = study("levels", np.random.default_rng(9), spread=3, subjects=1)
    held_out = evaluation.items.index[::3]
    fit = fitted(masked(evaluation, held_out), "levels")
    new = evaluation.select(items=held_out)
    assert score(fit, new)["trials"].tolist() == [14]
    with pytest.raises(DataError, match="were trained on"):
        score(fit, evaluation)


def test_numbers_that_go_on_are_further_rows():
    whole = study("continuous", np.random.default_rng(10))
    first, last = (whole.select(items=map(str, part)) for part in (range(25), range(25, 40)))
    assert score(fitted(first, "continuous"), last)["trials"].tolist() == [15, 15, 15]
