"""Repeated hold-out: the same splits for everybody, nothing held out is seen, counts count."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, hold_out
from measurement_layouts.inference import validation
from measurement_layouts.inference.baselines import BASELINES, Baseline
from measurement_layouts.inference.validation import HoldOut

LITTLE = {"repeats": 2, "draws": 40, "tune": 60, "chains": 2, "seed": 3, "progressbar": False}
FRACTION = 0.25


@pytest.fixture
def counts(cohort):
    """Three subjects with several trials on some items."""
    rng = np.random.default_rng(2)
    part = cohort.select(subjects=["Ann", "Bob", "Cyd"])
    times = rng.integers(1, 4, part.trials.shape)
    return ml.Evaluation(
        part.items, rng.binomial(times, 0.6) + 0 * part.successes, times * part.trials
    )


class Spy:
    """A baseline that remembers which rows it was given."""

    def __init__(self, answer=lambda train, successes, trials, test: np.full(len(test), 0.5)):
        self.seen, self.answer = [], answer

    def __call__(self, train, successes, trials, test, seed):
        self.seen.append((train, successes, trials, test))
        return self.answer(train, successes, trials, test)


def run(evaluation, layouts=None, **options):
    return hold_out(layouts or {}, evaluation, **{"fraction": FRACTION, **LITTLE, **options})


@pytest.fixture(scope="module")
def result(animal_ai, cohort):
    return hold_out(
        {"published": animal_ai, "again": animal_ai}, cohort, fraction=FRACTION, **LITTLE
    )


# --- splits --------------------------------------------------------------------------------------


def test_all_methods_share_the_splits(result, cohort):
    methods = ["published", "again", "aggregate", "logistic regression", "random forest"]
    assert list(dict.fromkeys(result.scores["method"])) == methods
    same = result.scores.groupby(["repeat", "subject"])[["trials", "success"]].nunique()
    assert (same == 1).all(axis=None)
    counted = result.scores.groupby(["repeat", "subject"])["method"].count()
    assert set(counted) == {5}
    trials = result.scores.query("method == 'again'").pivot_table("trials", "subject", "repeat")
    assert set(trials.loc[["Ann", "ace", "nil"]].to_numpy().ravel()) == {6}  # a quarter of 24
    assert result.success.equals(cohort.success_rates())


def test_one_layout_under_two_names_scores_alike(result):
    """Seeds of the fits do not depend on the name or the place of a layout."""
    table = result.scores.drop(columns="method")
    one, two = (table[result.scores["method"] == name] for name in ("published", "again"))
    pd.testing.assert_frame_equal(one.reset_index(drop=True), two.reset_index(drop=True))


def test_splits_differ_between_repeats_and_hold_out_the_fraction(counts):
    spy = Spy()
    run(counts, repeats=5, baselines=[Baseline("spy", spy)], columns=["rewardSize"])
    splits = [tuple(test.ravel()) for *_, test in spy.seen[::3]]  # three subjects each
    assert len(set(splits)) == 5
    assert {len(split) for split in splits} == {6}
    for train, _, _, test in spy.seen:
        assert set(train.ravel()) | set(test.ravel()) == set(counts.items["rewardSize"])
        assert not set(train.ravel()) & set(test.ravel())


@pytest.mark.slow
def test_the_seed_makes_it_reproducible(counts, animal_ai):
    one, two, other = (
        run(counts, {"published": animal_ai}, seed=seed, repeats=1) for seed in (3, 3, 4)
    )
    pd.testing.assert_frame_equal(one.scores, two.scores)
    assert not one.scores["brier"].equals(other.scores["brier"])


# --- nothing held out is seen --------------------------------------------------------------------


@pytest.mark.trust("promises", "held-out outcomes change no forecast")
def test_held_out_outcomes_change_no_forecast(cohort, animal_ai, monkeypatch):
    """Turning all held-out outcomes of a split around changes scores, but no forecast."""
    forecasts, real = [], validation.score

    def remember(forecast, evaluation):
        forecasts.append((forecast.data.drop_vars("trained"), evaluation))
        return real(forecast, evaluation)

    monkeypatch.setattr(validation, "score", remember)
    part = cohort.select(subjects=["Ann", "Bob"])
    run(part, {"published": animal_ai}, repeats=1)
    held_out = forecasts[0][0]["item"].to_numpy()
    turned = part.successes.copy()
    turned[held_out] = 1 - turned[held_out]
    first = forecasts.copy()
    forecasts.clear()
    other = ml.Evaluation(part.items, turned, part.trials)
    run(other, {"published": animal_ai}, repeats=1)
    assert len(forecasts) == len(first) == 4
    assert all(two[0].identical(one[0]) for one, two in zip(first, forecasts, strict=True))


def test_a_baseline_that_peeks_is_noticed(counts, cohort, monkeypatch):
    """Twin that must fail: one that knows the outcomes by heart does change with them."""

    def forecasts(evaluation):
        known = evaluation.success_rates()

        def peek(train, successes, trials, test, seed):
            return np.full(len(test), known.iloc[0])

        found = []
        monkeypatch.setattr(
            validation, "score", lambda forecast, _: found.append(forecast) or table
        )
        run(evaluation, repeats=1, baselines=[Baseline("peeks", peek)])
        return found[0].data

    table = pd.DataFrame({"brier": [0.0]}, index=pd.Index(["Ann"], name="subject"))
    one = forecasts(counts)
    turned = counts.successes.copy()
    held_out = one["item"].to_numpy()
    turned[held_out] = (counts.trials - counts.successes)[held_out]
    two = forecasts(ml.Evaluation(counts.items, turned, counts.trials))
    assert not one.identical(two)


def test_counts_are_weighted(counts):
    """Every trial of the aggregate costs (rate - y)^2, rates and scores weighted by trials."""
    spy = Spy()
    both = [BASELINES[0], Baseline("spy", spy)]
    scores = run(counts, repeats=2, baselines=both, columns=["rewardSize"]).scores
    aggregate = scores[scores["method"] == "aggregate"].reset_index(drop=True)
    places = counts.items.reset_index().set_index("rewardSize")["item"]
    for row, (_, successes, trials, test) in zip(aggregate.itertuples(), spy.seen, strict=True):
        held_out = places.loc[test.ravel()]
        s = counts.successes.loc[row.subject, held_out].sum()
        n = counts.trials.loc[row.subject, held_out].sum()
        rate = successes.sum() / trials.sum()
        assert (row.trials, row.success) == (n, s / n)
        exact = (s * (1 - rate) ** 2 + (n - s) * rate**2) / n
        assert row.brier == pytest.approx(exact, abs=1e-12)


# --- summaries -----------------------------------------------------------------------------------


def scores(**rows):
    """Brier scores by method, of subjects (columns) in two repeats (rows)."""
    parts = []
    for method, values in rows.items():
        for repeat, row in enumerate(values):
            for subject, value in zip(("Ann", "Bob"), row, strict=True):
                if value is not None:
                    parts.append((method, repeat, subject, value))
    return pd.DataFrame(parts, columns=["method", "repeat", "subject", "brier"])


RATES = pd.Series({"Ann": 0.3, "Bob": 0.9})


def test_summary():
    held = HoldOut(scores(layout=[[0.1, 0.3], [0.2, 0.6]], mean=[[0.2, 0.2], [0.4, 0.4]]), RATES)
    table = held.summary()
    assert table.index.tolist() == ["layout", "mean"]
    assert table["mean"].tolist() == pytest.approx([0.3, 0.3])
    # repeats' means 0.2 and 0.4, and 0.2 and 0.4: standard deviation sqrt(0.02), over sqrt(2)
    assert table["se"].tolist() == pytest.approx([0.1, 0.1])
    assert table["subjects"].tolist() == [2, 2]
    assert held.summary(success=(0.0, 0.3))["mean"].tolist() == pytest.approx([0.15, 0.3])
    assert held.summary(success=(0.0, 0.3))["subjects"].tolist() == [1, 1]
    subjects = held.per_subject()
    assert subjects.loc["Bob", "layout"] == pytest.approx(0.45)
    assert subjects.columns.tolist() == ["layout", "mean"]


def test_methods_are_compared_on_what_all_were_scored_on():
    """A fit that failed on a hard subject must not make its method look better."""
    held = HoldOut(scores(layout=[[0.1, None], [0.1, None]], mean=[[0.2, 0.5], [0.2, 0.5]]), RATES)
    assert held.summary()["mean"].tolist() == pytest.approx([0.1, 0.2])
    assert held.summary()["subjects"].tolist() == [1, 1]
    assert held.per_subject().index.tolist() == ["Ann"]


def test_unknown_score():
    held = HoldOut(scores(layout=[[0.1, 0.3]]), RATES)
    with pytest.raises(DataError, match="there is no score 'loss'; the columns are method, repeat"):
        held.summary("loss")


# --- refused before the first fit ----------------------------------------------------------------


@pytest.fixture
def no_fit(monkeypatch):
    def fitted(*_args, **_kwargs):
        raise AssertionError("a fit was started")

    monkeypatch.setattr(validation, "fit", fitted)


@pytest.mark.usefixtures("no_fit")
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"fraction": 0.01}, DataError, "fraction=0.01 of 24 items holds out 0; hold out and keep"),
        ({"fraction": 0.99}, DataError, "fraction=0.99 of 24 items holds out 24"),
        ({"fraction": 1.5}, FitError, "fraction=1.5; give a number between 0 and 1"),
        ({"fraction": "half"}, FitError, "fraction='half'; give"),
        ({"repeats": 0}, FitError, "repeats=0; give a whole number of at least 1"),
        ({"seed": -1}, FitError, "seed=-1; give"),
    ],
)
def test_options(animal_ai, cohort, options, error, message):
    with pytest.raises(error, match=message):
        run(cohort, {"published": animal_ai}, **options)


@pytest.mark.usefixtures("no_fit")
def test_names_of_methods(animal_ai, cohort):
    with pytest.raises(DataError, match=r"aggregate.* each with a name of its own"):
        run(cohort, {"aggregate": animal_ai})
    with pytest.raises(DataError, match="the methods to compare are none"):
        run(cohort, baselines=())


@pytest.mark.usefixtures("no_fit")
def test_subject_that_would_keep_nothing(animal_ai, cohort):
    outcomes = cohort.successes.where(cohort.trials > 0)
    outcomes.loc["Dot", outcomes.columns[1:]] = np.nan
    sparse = ml.Evaluation.from_wide(outcomes, cohort.items)
    with pytest.raises(DataError, match=r"Dot would keep no training outcome in repeat .*; le"):
        run(sparse, {"published": animal_ai}, repeats=20)


def test_one_repeat_has_no_standard_error(counts):
    table = run(counts, repeats=1, baselines=BASELINES[:1], columns=[]).summary()
    assert np.isnan(table.loc["aggregate", "se"])


# --- inference -----------------------------------------------------------------------------------


def test_profiles_may_be_integrated(counts):
    """A coin: the forecast is the mean of a beta distribution, up to the grid's draws."""
    layout = ml.Layout("coin", ml.Success("right", ml.Capability("skill", low=0, high=1)))
    found = run(counts, {"coin": layout}, method="grid", draws=400, baselines=[], columns=[])
    (split,) = validation._splits(counts, 1, FRACTION, LITTLE["seed"])
    left = counts.select(items=[item for item in counts.items.index if item not in split])
    right, trials = left.successes.loc["Ann"].sum(), left.trials.loc["Ann"].sum()
    forecast = (right + 1) / (trials + 2)
    rate = counts.successes.loc["Ann", split] / counts.trials.loc["Ann", split]
    weights = counts.trials.loc["Ann", split]
    brier = (rate * (1 - forecast) ** 2 + (1 - rate) * forecast**2) @ weights / weights.sum()
    ours = found.scores.query("subject == 'Ann' and repeat == 0")["brier"].item()
    assert ours == pytest.approx(brier, abs=1e-3)
