"""Scores in groups: against sums by hand, and against the errors that simulations show."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.linking import logistic
from measurement_layouts.validation import FittedLayout, Given, Groups, Items, cross_validate
from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.assessor import point_forecast
from measurement_layouts.validation.prediction.grouped import scores_by


class Told:
    """Forecasts with intervals, which the test chooses."""

    def __init__(self, chance, half=0.1):
        self.chance, self.half = chance, half

    def forecast(self, training, items, *, seed):
        means = np.tile(self.chance[items].to_numpy(), (len(training.subjects), 1))
        ends = np.clip(means - self.half, 0, 1), np.clip(means + self.half, 0, 1)
        return point_forecast(means, training.subjects, list(items), ends)

    def predict(self, training, items, *, seed):
        return self.forecast(training, items, seed=seed).data["mean"]


@pytest.fixture(scope="module")
def evaluation():
    rng = np.random.default_rng(7)
    items = pd.DataFrame({"far": np.repeat([0.0, 1.0, 2.0], 40)}).rename("q{}".format)
    items["kind"] = np.where(np.arange(120) % 3 == 0, "short", "long")
    trials = pd.DataFrame(rng.integers(0, 4, (5, 120)), list("abcde"), items.index)
    return ml.Evaluation(items, (trials * rng.random(trials.shape)).round().astype(int), trials)


@pytest.fixture(scope="module")
def found(evaluation):
    chance = pd.Series(np.random.default_rng(8).uniform(0.1, 0.9, 120), evaluation.items.index)
    methods = {"mean": "aggregate", "told": Told(chance), "silent": Told(1 - chance)}
    return cross_validate(methods, evaluation, split=Items(folds=2), progressbar=False)


def test_scores_are_those_of_the_groups_cells(evaluation, found):
    table = found.by(evaluation.items["kind"])
    assert set(table.index.get_level_values("group")) == {"short", "long"}
    for (group, method), row in table.iterrows():
        cells = found.predictions.query("method == @method and trials > 0")
        cells = cells[evaluation.items["kind"].loc[cells["item"]].to_numpy() == group]
        p, won, tried = cells["probability"], cells["successes"], cells["trials"]
        assert row["trials"] == tried.sum()
        assert row["success"] == pytest.approx(won.sum() / tried.sum())
        assert row["gap"] == pytest.approx((p * tried).sum() / tried.sum() - row["success"])
        assert row["brier"] == pytest.approx(scoring.brier(p, won, tried))
        assert row["ece"] == pytest.approx(scoring.expected_calibration_error(p, won, tried))
        if method != "mean":
            areas = [
                scoring.auroc(part["probability"], part["successes"], part["trials"])
                for _, part in cells.groupby("subject")
            ]
            assert row["auroc"] == pytest.approx(np.mean(areas))


def test_all_together_is_one_group_and_its_score_that_of_all_cells(found):
    table = found.by()
    assert list(table.index) == [("", name) for name in found.methods]
    cells = found.predictions.query("method == 'told'")
    whole = scoring.brier(cells["probability"], cells["successes"], cells["trials"])
    assert table.loc[("", "told"), "brier"] == pytest.approx(whole)


def test_tables_of_cells_and_columns_of_predictions_tell_groups_too(evaluation, found):
    cells = pd.DataFrame("b", evaluation.subjects, evaluation.items.index)
    cells.loc["a", "q0":"q9"] = "a"
    table = found.by(cells)
    own = evaluation.trials.loc["a", "q0":"q9"].sum()
    assert table.xs("told", level="method")["trials"].to_dict() == {
        "a": own,
        "b": evaluation.trials.to_numpy().sum() - own,
    }
    assert list(found.by("subject").xs("told", level="method").index) == evaluation.subjects


def test_numbers_with_many_values_are_cut_into_equal_parts(evaluation, found):
    values = pd.Series(np.arange(120.0), evaluation.items.index)
    table = found.by(values, bins=4).xs("told", level="method")
    assert len(table) == 4
    attempted = (evaluation.trials.to_numpy() > 0).sum()
    counts = [(evaluation.trials.iloc[:, k : k + 30] > 0).sum(axis=None) for k in range(0, 120, 30)]
    assert np.abs(np.array(counts) - attempted / 4).max() < 12
    assert table.index.is_monotonic_increasing


def test_what_is_wrong_with_groups_is_said(evaluation, found):
    with pytest.raises(ml.DataError, match=r"q5.* no group"):
        found.by(evaluation.items["kind"].drop("q5"))
    with pytest.raises(ml.DataError, match="predictions have no column"):
        found.by("size")
    with pytest.raises(ml.FitError, match="bins"):
        found.by("subject", bins=0)


def test_the_error_of_a_gap_is_the_spread_over_sets_of_items():
    """Cells of an item go up and down together; an error that takes them apart is too small."""
    subjects, items, studies = 20, 40, 80
    gaps, errors = [], []
    for seed in range(studies):
        rng = np.random.default_rng(seed)
        chance = expit(rng.normal(size=items))  # of an item, for everybody
        cells = pd.DataFrame(
            {
                "subject": np.repeat(np.arange(subjects), items),
                "item": np.tile(np.arange(items), subjects),
                "method": "half",
                "probability": 0.5,
                "successes": (rng.random((subjects, items)) < chance).astype(int).ravel(),
                "trials": 1,
            }
        )
        row = scores_by(cells, ["half"], None, 5).iloc[0]
        gaps.append(row["gap"])
        errors.append(row["gap_se"])
    spread = np.std(gaps)
    assert np.mean(errors) == pytest.approx(spread, rel=3 / np.sqrt(2 * studies))
    apart = 0.5 / np.sqrt(subjects * items)  # the twin: cells taken as independent
    assert apart < 0.5 * spread


def test_intervals_of_forecasts_held_out_are_those_of_the_fold():
    rng = np.random.default_rng(2)
    items = pd.DataFrame({"size": np.linspace(0, 4, 24), "kind": ["a", "b"] * 12})
    items.index = pd.Index([f"q{place}" for place in range(24)])
    outcomes = pd.DataFrame(rng.random((2, 24)) < 0.6, ["Ann", "Bob"], items.index)
    known = ml.Evaluation.from_wide(outcomes, items)
    size, skill = ml.MetaFeature("size", low=0, high=4), ml.Capability("skill", low=0, high=4)
    layout = ml.Layout("one", ml.Success("done", logistic(skill - size)))
    methods = {"mean": "aggregate", "layout": FittedLayout(layout, method="grid")}
    split = Given(train="kind == 'a'", test="kind == 'b'")
    found = cross_validate(methods, known, split=split, progressbar=False, resamples=2)
    length = {"draws": 500, "tune": 500, "chains": 2, "seed": 1, "method": "grid"}
    fit = ml.fit(layout, known.select(items=items.index[::2]), progressbar=False, **length)
    alone = fit.forecast(items.iloc[1::2]).data
    made = found.forecasts()
    for end in ("mean", "low", "high"):
        ours = made["layout"].data[end].sel(subject=alone["subject"], item=alone["item"])
        assert np.allclose(ours, alone[end], atol=2e-3)  # draws of two seeds
    assert made["mean"].data["low"].isnull().all()
    assert found.predictions.query("method == 'mean'")["low"].isna().all()


def test_pooled_calibration_counts_all_subjects(found):
    each, pooled = found.calibration("told"), found.calibration("told", pooled=True)
    sums = each["trials"].groupby("bin").sum()
    assert pooled["trials"].to_dict() == sums.to_dict()
    rate = (each["success"] * each["trials"]).groupby("bin").sum() / sums
    assert np.allclose(pooled["success"], rate)
    gap = (pooled["trials"] * (pooled["forecast"] - pooled["success"]).abs()).sum()
    assert gap / pooled["trials"].sum() == pytest.approx(found.by().loc[("", "told"), "ece"])


def test_steps_of_outcomes_are_scored_and_attempts_count_alike(graded):
    table = graded.by(pd.Series("all", [f"q{place}" for place in range(30)]))
    mean = graded.summary().loc["aggregate", "mean"]
    assert table["brier"].iloc[0] == pytest.approx(mean)
    assert table["trials"].sum() == 60


@pytest.fixture(scope="module")
def graded():
    """Two subjects with grades of three steps on thirty items."""
    rng = np.random.default_rng(5)
    layout = ml.Layout("essays", ml.Graded("grade", ml.Capability("skill", low=0, high=1)))
    items = pd.DataFrame({"size": rng.normal(size=30)}, [f"q{place}" for place in range(30)])
    grades = pd.DataFrame(rng.integers(0, 3, (2, 30)), ["Ann", "Bob"], items.index)
    known = ml.Evaluation.of_outcomes(layout, {"grade": grades}, items)
    return cross_validate(["aggregate"], known, split=Items(folds=3), progressbar=False)


def test_groups_of_items_never_met_can_be_left_out(evaluation):
    found = cross_validate(["aggregate"], evaluation, split=Groups("kind"), progressbar=False)
    fold = found.by("fold")
    assert len(fold) == 2
