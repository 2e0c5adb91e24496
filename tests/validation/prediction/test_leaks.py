"""What was trained on is found, whatever was done to names and numbers; other items are not."""

import warnings

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError
from measurement_layouts.evaluations import alike
from measurement_layouts.evaluations.alike import Content
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


LEAKS = {
    "to the bit": lambda items: items,
    "rounding errors": lambda items: items * (1 + 1e-7),
    "float32": lambda items: items.astype("float32").astype(float),
    "two digits": lambda items: items.round(2),
    "halved": lambda items: items / 2,
    "standardised": lambda items: (items - items.mean()) / items.std(),
    "centred and turned": lambda items: items.mean() - items,
}


# --- leaks are found -----------------------------------------------------------------------------


@pytest.mark.trust("promises", "a changed number hides no training item")
@pytest.mark.parametrize("leak", LEAKS)
def test_training_items_with_changed_numbers_are_refused(named, numbered, leak):
    for evaluation, fit in (named, numbered):
        again = moved(evaluation, LEAKS[leak](evaluation.items))
        with pytest.raises(DataError, match=r"^120 outcome\(s\) to be scored"):
            score(fit, again)
        assert score(fit, again, training_items=True)["trials"].tolist() == [40, 40, 40]


@pytest.mark.trust("promises", "a changed number hides no training item")
def test_the_message_says_that_items_were_recoded(named):
    evaluation, fit = named
    again = moved(evaluation, LEAKS["standardised"](evaluation.items))
    with pytest.raises(DataError) as caught:
        score(fit, again)
    assert str(caught.value) == (
        "120 outcome(s) to be scored have names of training items, but other meta-features: i0 "
        "(s0), i1 (s0), i2 (s0), i3 (s0), i4 (s0) and 115 more; most likely the items were "
        "recoded, because each column follows that of the training items: if the items "
        "were recoded, forecast "
        "items held out from the fit, or pass training_items=True to score the fit on its own "
        "data; if these are other items, give them other names, or pass reused_names=True"
    )
    with pytest.raises(DataError, match=r"were trained on: i0 \(s0\)"):
        score(fit, again, reused_names=True)  # the columns still say so


@pytest.mark.trust("promises", "a changed number hides no training item")
def test_the_message_says_that_names_are_used_again(named):
    _, fit = named
    other = study("continuous", np.random.default_rng(2), names=NAMES)
    with pytest.raises(
        DataError,
        match=r"most likely the names are reused for other items, because a of i0 was 0\.34\d* "
        r"and is 0\.18\d*, and the columns do not follow those of the training items: if "
        r"these are other "
        r"items, give them other names, or pass reused_names=True; if the items were rec",
    ):
        score(fit, other)
    assert score(fit, other, reused_names=True)["trials"].tolist() == [40, 40, 40]


def test_one_corrected_value_is_no_other_item(named):
    evaluation, fit = named
    items = evaluation.items.copy()
    items.loc["i7", "a"] += 2
    part = moved(evaluation, items).select(items=NAMES[5:10])
    with pytest.raises(
        DataError, match=r"^3 .* i7 \(s0\), i7 \(s1\), i7 \(s2\); most likely the items"
    ):
        score(fit, part)


def escaped(rng, kinds):
    """Leak a table in every way, and list the ways that nothing was said of.

    Forty items of six levels, shuffled, differ from other ones only in outcomes: two subjects' are
    not enough.
    """
    tried, wrong = 0, []
    for kind in kinds:
        subjects = int(rng.choice([4, 6, 12])) if kind == "levels" else int(rng.choice([1, 3, 8]))
        for names in (NAMES, None):
            evaluation = study(kind, rng, subjects=subjects, names=names)
            fit = fitted(evaluation, kind if kind == "levels" else "continuous")
            order = rng.permutation(40)
            shuffled = moved(evaluation, evaluation.items, order, NAMES[::-1])
            again = {"renamed": moved(shuffled, shuffled.items, names=map("x{}".format, NAMES))}
            if kind != "levels":
                again |= {leak: moved(evaluation, LEAKS[leak](evaluation.items)) for leak in LEAKS}
            for leak, new in again.items():
                tried += 1
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    try:
                        score(fit, new)
                    except (DataError, UserWarning):
                        continue
                wrong.append((kind, subjects, names is None, leak))
    return tried, wrong


LEAKED = ["continuous", "one column", "sorted", "levels"]


@pytest.mark.slow
@pytest.mark.trust("promises", "a changed number hides no training item")
def test_no_leak_escapes(request):
    tried, wrong = escaped(np.random.default_rng(13), LEAKED * 2)
    request.node.user_properties.append(("inputs", tried))
    assert wrong == []


@pytest.mark.trust("promises", "a changed name hides no training item")
@pytest.mark.parametrize("kind", ["continuous", "one column", "levels"])
def test_renamed_and_shuffled_training_items_are_found(kind):
    """Given names under other names are reported, where there were none they are refused."""
    rng = np.random.default_rng(3)
    for names in (NAMES, None):
        evaluation = study(kind, rng, names=names, subjects=6)
        fit = fitted(evaluation, "levels" if kind == "levels" else "continuous")
        order = rng.permutation(40)
        again = moved(evaluation, evaluation.items, order, [f"x{place}" for place in range(40)])
        if names is None:
            with pytest.raises(DataError, match=r"^240 .*recognised by their meta-feat"):
                score(fit, again)
        else:
            with pytest.warns(
                UserWarning,
                match=r"^40 items have the meta-features and outcomes of training items under "
                r"other names: x0 \(as i\d+\), .*Chance alone would give .*leave them out",
            ):
                assert len(score(fit, again)) == 6


def test_a_few_duplicates_among_new_items_are_reported(named):
    evaluation, fit = named
    new = study("continuous", np.random.default_rng(4), names=[f"n{place}" for place in range(40)])
    both = read(
        np.concatenate(
            [new.successes.to_numpy(), evaluation.successes.to_numpy()[:, [3, 9]]], axis=1
        ),
        pd.concat([new.items, evaluation.items.iloc[[3, 9]].set_axis(["n-a", "n-b"])]),
    )
    with pytest.warns(
        UserWarning, match=r"^2 items have .*: n-a \(as i3\), n-b \(as i9\)\. Chance"
    ):
        score(fit, both)


@pytest.mark.trust("promises", "a changed name hides no training item")
def test_numbers_of_a_table_without_features_are_told_by_outcomes():
    rng = np.random.default_rng(5)
    evaluation = study("none", rng, spread=0.3)
    fit = fitted(evaluation, "none")
    with pytest.raises(
        DataError, match=r"^120 outcome\(s\) to be scored were trained on: 0 \(s0\)"
    ):
        score(fit, evaluation)
    assert len(score(fit, study("none", rng, spread=0.3))) == 3


@pytest.mark.parametrize(("count", "told"), [(6, "reported"), (40, "refused")])
def test_a_whole_table_again_is_never_taken_in_silence(count, told):
    """Also of levels alone, and where chance might have made it: one subject, few items."""
    evaluation = study("levels", np.random.default_rng(14), subjects=1, count=count)
    fit = fitted(evaluation, "levels")
    if told == "refused":
        with pytest.raises(DataError, match="were trained on: 0"):
            score(fit, evaluation)
    else:
        with pytest.warns(
            UserWarning, match="^6 items have .* in the same rows, which have no names"
        ):
            score(fit, evaluation)


def test_cross_validation_reports_duplicates():
    rng = np.random.default_rng(6)
    evaluation = study("continuous", rng, names=NAMES, subjects=4)
    twice = read(
        np.concatenate(
            [evaluation.successes.to_numpy(), evaluation.successes.to_numpy()[:, :3]], axis=1
        ),
        pd.concat([evaluation.items, evaluation.items.iloc[:3].set_axis(["x", "y", "z"])]),
    )
    told = (
        r"^3 items have the properties and outcomes of others under another name: i0 \(as x\), i1 "
    )
    fitted = ml.validation.FittedLayout(layout("continuous"), draws=50, method="grid")
    for data, found in ((twice, True), (evaluation, False)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            methods = {"layout": fitted, "aggregate": "aggregate"}
            ml.validation.cross_validate(
                methods, data, split=ml.validation.Items(folds=2), repeats=2, progressbar=False
            )
            lines = {name: ml.validation.Regression([name]) for name in "ab"}
            thirds = ml.validation.Items(folds=3)
            ml.validation.cross_validate(lines, data, split=thirds, repeats=1, progressbar=False)
        assert len(caught) == (2 if found else 0)
        for one in caught:
            assert str(one.message).startswith(told[1:].replace("\\", ""))
            assert one.filename == __file__


# --- other items are no leak ---------------------------------------------------------------------


def false_alarms(rng, kinds, count):
    """Count pairs of different tables, and those that are refused or reported."""
    tried, wrong = 0, []
    for kind in kinds:
        for _ in range(count):
            made = {
                "count": int(rng.choice([8, 25, 40, 75])),
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
                tried += 1
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    try:
                        score(fit, new)
                    except (DataError, UserWarning) as error:
                        wrong.append((kind, made, str(error)))
    return tried, wrong


@pytest.mark.slow
@pytest.mark.trust("promises", "no false alarm of a leak")
def test_two_different_tables_are_no_leak(request):
    """Rows of a table for training, and the same rows of another one for testing.

    A refusal or report by chance has a probability of less than 1e-4 a table.
    """
    tried, wrong = false_alarms(np.random.default_rng(8), KINDS, 5)
    request.node.user_properties.append(("inputs", tried))
    assert wrong == []


@pytest.mark.trust("promises", "no false alarm of a leak")
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


# --- what is alike -------------------------------------------------------------------------------


def content(values, levels=False):
    values = np.asarray(values, dtype=float).reshape(len(values), -1)
    nothing = np.zeros((len(values), 0))
    return Content(values, np.full(values.shape[1], levels), nothing, nothing)


def test_grids_levels_and_repeated_values_tell_no_items_apart(rng):
    irregular = rng.normal(size=30)
    assert len(alike.by_features(content(irregular[::-1]), content(irregular)).rows) == 30
    for values in (
        np.arange(30.0),
        np.linspace(0, 1, 30),
        irregular.round(2),
        np.repeat(irregular[:15], 2),
    ):
        assert not len(alike.by_features(content(values), content(values)).rows)
    assert not len(alike.by_features(content(irregular, True), content(irregular, True)).rows)


def test_the_tolerance_is_a_millionth_of_the_largest_magnitude(rng):
    known = np.append(rng.uniform(-1, 1, 30), 10.0)
    near, far = known + 0.9e-5, known + 1.1e-5
    assert len(alike.by_features(content(near), content(known)).rows) == 31
    assert not len(alike.by_features(content(far), content(known)).rows)


def test_chance_coincidences_of_many_values_are_no_evidence(rng):
    """A thousand values meet a thousand others within a tolerance about once."""
    one, other = (np.append(rng.uniform(0, 1, 2000), 1.0 + rng.random()) for _ in range(2))
    pairs = (np.abs(one[:, None] - other) <= 1e-6 * other.max()).sum()
    assert pairs > 3
    assert not len(alike.by_features(content(one), content(other)).rows)


def test_undefined_and_infinite_features_are_compared(rng):
    values = np.column_stack([rng.normal(size=20), np.tile([np.nan, np.inf], 10)])
    assert len(alike.by_features(content(values), content(values)).rows) == 20
    other = values.copy()
    other[:, 1] = np.tile([np.inf, -np.inf], 10)
    assert not len(alike.by_features(content(other), content(values)).rows)


def test_the_expected_coincidences_are_those_of_simulated_tables(rng):
    """Items of equal features, subjects independent: as many chance matches as expected."""
    chances = np.tile([0.5, 0.8, 0.3], (60, 1))
    found, expected = [], []
    none = np.zeros((60, 0))
    ones = np.ones((60, 3))
    for _ in range(200):
        known, new = (
            Content(none, np.zeros(0, bool), (rng.random((60, 3)) < chances) * 1.0, ones)
            for _ in range(2)
        )
        alone = new.take(np.arange(60)), known.take(np.array([0]))
        same = (alone[0].successes == alone[1].successes).all(axis=1).sum()
        log = np.log(np.where(alone[1].successes, chances[:1], 1 - chances[:1])).sum()
        found.append(same)
        expected.append(60 * np.exp(log))
    error = np.std(np.subtract(found, expected)) / np.sqrt(200)
    assert abs(np.mean(found) - np.mean(expected)) < 4 * error
