"""Scores of assessments: their definitions, paired differences, weights, what is missing."""

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.validation.prediction import scoring_rules as scoring
from measurement_layouts.validation.prediction.resampled import SCORES, Predicted
from measurement_layouts.validation.prediction.splits import Fold


class Known:
    """Predict what was made up."""

    def __init__(self, evaluation, chances):
        names = {"subject": evaluation.subjects, "item": list(evaluation.items.index)}
        self.chances = xr.DataArray(chances, names, list(names))

    def predict(self, training, items, *, seed):
        return self.chances.sel(item=items)


class Everything:
    """One fold that holds everything out, for methods that learn nothing."""

    repeats = 1

    def draw(self, evaluation, rng):
        every = np.ones(evaluation.trials.shape, dtype=bool)
        return [Fold(every, every)]


def compared(successes, trials=None, failed=False, resamples=500):
    """Score two made-up methods that share most of their errors."""
    rng = np.random.default_rng(7)
    successes = np.atleast_2d(successes)
    names = [f"q{number}" for number in range(successes.shape[1])]
    made = {"index": [f"s{place}" for place in range(len(successes))], "columns": names}
    trials = pd.DataFrame(np.ones_like(successes) if trials is None else trials, **made)
    evaluation = ml.Evaluation(pd.DataFrame(index=names), pd.DataFrame(successes, **made), trials)
    first = rng.uniform(0.2, 0.8, successes.shape)
    second = np.clip(first + rng.normal(0, 0.05, successes.shape), 0, 1)
    first[0, 0] = np.nan if failed else first[0, 0]
    methods = {"first": Known(evaluation, first), "second": Known(evaluation, second)}
    options = {"resamples": resamples, "prob": 0.9, "seed": 1, "progressbar": False}
    found = ml.validation.cross_validate(methods, evaluation, split=Everything(), **options)
    return first, second, found


def pooled(chances, successes, trials=None):
    """Compute the calibration error of all cells together, from its definition."""
    trials = np.ones_like(successes) if trials is None else trials
    return scoring.expected_calibration_error(*map(np.ravel, (chances, successes, trials)))


def test_the_standard_error_is_the_paired_one():
    """Of the Brier score in closed form: the spread of items' differences, over sqrt(items)."""
    y = np.random.default_rng(8).integers(0, 2, 150)
    first, second, found = compared(y)
    row = found.table.set_index("method").loc["second"]
    losses = (first[0] - y) ** 2, (second[0] - y) ** 2
    difference = losses[1] - losses[0]
    exact = difference.std() / np.sqrt(150)
    assert row["brier_difference"] == pytest.approx(difference.mean(), abs=1e-12)
    tolerance = 4 / np.sqrt(2 * 500)  # of a standard deviation of 500 resamples
    assert row["brier_se"] == pytest.approx(exact, rel=tolerance)
    ends = difference.mean() + np.array([-1.645, 1.645]) * exact
    assert row[["brier_low", "brier_high"]].tolist() == pytest.approx(ends, abs=0.2 * exact)
    apart = np.hypot(*(loss.std() / np.sqrt(150) for loss in losses))
    assert apart > 2 * row["brier_se"]  # twin: methods scored on items of their own
    assert found.table.iloc[0][["auroc_difference", "auroc_se", "brier_se"]].tolist() == [0, 0, 0]


def test_subjects_are_averaged_on_shared_items():
    """Alike subjects say no more than one does: their items are the same."""
    y = np.random.default_rng(8).integers(0, 2, 150)
    first, second, _ = compared(np.stack([y, y]), resamples=2)
    _, _, found = compared(np.stack([y, 1 - y]))
    losses = [(p - np.stack([y, 1 - y])) ** 2 for p in (first, second)]
    difference = (losses[1] - losses[0]).mean(axis=0)
    row = found.differences().loc["second"]
    assert row["brier_difference"] == pytest.approx(difference.mean(), abs=1e-12)
    exact = difference.std() / np.sqrt(150)
    assert row["brier_se"] == pytest.approx(exact, rel=4 / np.sqrt(2 * 500))
    assert row["subjects"] == 2
    assert found.differences(subjects=["s0"])["brier"].tolist() == [
        loss[0].mean() for loss in losses
    ]
    with pytest.raises(DataError, match=r"unknown subject\(s\): s9"):
        found.differences(subjects=["s9"])


def test_scores_that_are_missing():
    y = np.random.default_rng(8).integers(0, 2, (3, 40))
    y[1] = 1
    trials = np.ones_like(y)
    trials[2, 1:], y[2] = 0, 0
    _, _, found = compared(y, trials, failed=True, resamples=20)
    table = found.table.set_index(["subject", "method"])
    assert table["auroc"].notna().tolist() == [False, True, False, False, False, False]
    assert table["brier"].notna().tolist() == [False, True, True, True, True, True]
    assert table.loc[("s0", "first"), "remark"].startswith("some items have no prediction")
    assert table.loc[("s1", "second"), "remark"].endswith("it needs a success and a failure")
    assert table.loc["s2", "brier_se"].notna().all()  # resamples without its only item left out
    assert table.loc[("s0", "second"), "auroc_difference":"auroc_high"].isna().all()
    row = found.differences().loc["first"]
    assert row[["subjects", "auroc_subjects"]].tolist() == [2, 0]  # all but s0; none
    assert row["brier"] == table.xs("first", level="method")["brier"][["s1", "s2"]].mean()
    assert np.isnan(row["auroc"])
    with pytest.raises(DataError, match="none of s0 has predictions of every method"):
        found.differences(subjects=["s0"])


def test_scores_of_many_subjects_with_few_cells():
    """One Brier score and one calibration error of a method, whichever function is called."""
    rng = np.random.default_rng(5)
    y = rng.binomial(1, 0.8, (60, 6))
    alike = (y.min(axis=1) == y.max(axis=1)).sum()
    first, second, found = compared(y, resamples=200)
    told = found.differences()
    by_hand = [pooled(p, y) for p in (first, second)]
    apart = [pooled(*own) for own in zip(second, y, strict=True)]
    assert told["ece"].tolist() == pytest.approx(by_hand)
    assert told["ece"].tolist() == pytest.approx(found.by()["ece"].tolist())
    assert np.mean(apart) > 1.3 * by_hand[1], "twin: a mean of subjects' own"
    assert told["brier"].tolist() == pytest.approx(found.summary()["mean"].tolist())
    assert told["brier"].tolist() == pytest.approx([((p - y) ** 2).mean() for p in (first, second)])
    assert told["subjects"].tolist() == [60, 60]
    assert told["auroc_subjects"].tolist() == [60 - alike] * 2
    assert 0 < alike < 60


@pytest.mark.parametrize("weights", [None, "success"])
def test_an_interval_contains_its_difference(weights):
    """The calibration error of resampled items is larger; that of few cells by much."""
    rng = np.random.default_rng(6)
    _, _, found = compared(rng.binomial(1, 0.5, (5, 6)), resamples=100)
    for row in (found.differences(weights=weights).loc["second"], *found.table.iloc):
        for name in SCORES:
            low, middle, high = row[[f"{name}_low", f"{name}_difference", f"{name}_high"]]
            assert np.isnan(middle) or low <= middle <= high


def test_the_standard_error_of_a_calibration_error_is_that_of_resampled_items():
    y = np.random.default_rng(8).integers(0, 2, (3, 80))
    first, second, found = compared(y, resamples=400)
    rng, gaps = np.random.default_rng(2), []
    for _ in range(400):
        drawn = rng.integers(0, 80, 80)
        gaps.append(pooled(first[:, drawn], y[:, drawn]) - pooled(second[:, drawn], y[:, drawn]))
    told = found.differences().loc["second", "ece_se"]
    assert told == pytest.approx(np.std(gaps), rel=4 / np.sqrt(400))


DEFINITIONS = (scoring.auroc, scoring.expected_calibration_error, scoring.brier)


def test_scores_are_their_definitions():
    """On resamples, too; with ties, several trials, and items not attempted."""
    rng = np.random.default_rng(4)
    trials = rng.integers(0, 4, (2, 60))
    made = {"index": ["Ann", "Bob"], "columns": [f"q{place}" for place in range(60)]}
    successes = pd.DataFrame(rng.binomial(trials, 0.4), **made)
    values = np.stack([rng.random((2, 60)), rng.integers(0, 11, (2, 60)) / 10])
    times = rng.multinomial(60, np.full(60, 1 / 60), size=130)
    won, place = successes.to_numpy().ravel().astype(float), np.arange(120)
    rows = values.reshape(2, 120).T, won, trials.ravel() - won
    found = Predicted(*rows, place * 0, place // 60, place % 60).scored(times)
    found = dict(zip(SCORES, found, strict=True))
    for name, definition in zip(SCORES, DEFINITIONS, strict=True):
        for draw in (0, 63, 64, 129):
            for who in range(2):
                for method in range(2):
                    expected = definition(
                        values[method, who],
                        times[draw] * successes.to_numpy()[who],
                        times[draw] * trials[who],
                    )
                    assert found[name][draw, who, method] == pytest.approx(expected, abs=1e-12)
    assert not np.allclose(found["ece"], found["brier"])


def test_subjects_weigh_as_much_as_they_succeed():
    y = np.zeros((2, 100), dtype=int)
    y[0, ::10], y[1, 10:] = 1, 1  # success rates of 0.1 and 0.9
    _, second, found = compared(y, resamples=50)
    scores = found.table.set_index(["subject", "method"])["auroc"].unstack()
    means = found.differences(weights="success")["auroc"]
    np.testing.assert_allclose(means, 0.1 * scores.loc["s0"] + 0.9 * scores.loc["s1"])
    np.testing.assert_allclose(found.differences()["auroc"], scores.mean())
    assert not np.allclose(means, scores.mean())  # twin
    alone = found.differences(subjects=["s1"], weights="success")
    pd.testing.assert_frame_equal(alone, found.differences(subjects=["s1"]))
    # the bootstrap is weighed, too
    drawn = found.resampled["brier"].to_numpy()
    spread = (0.1 * drawn[:, 0] + 0.9 * drawn[:, 1]) @ [-1, 1]
    summary = found.differences(weights="success")
    assert summary["brier_se"].iloc[1] == pytest.approx(spread.std(ddof=1))
    weighted = np.array([[1], [9]]) * np.ones_like(y)
    by_hand = pooled(second, y * weighted, weighted)
    assert summary["ece"].iloc[1] == pytest.approx(by_hand)
    assert found.table["success"].tolist() == [0.1, 0.1, 0.9, 0.9]
    with pytest.raises(FitError, match="weights='trials'; give 'success'"):
        found.differences(weights="trials")


def test_forecasts_score_the_same():
    y = np.random.default_rng(8).integers(0, 2, (2, 50))
    first, _, found = compared(y, resamples=2)
    forecasts = found.forecasts()
    assert list(forecasts) == found.methods == ["first", "second"]
    np.testing.assert_array_equal(forecasts["first"].data["mean"], first)
    assert forecasts["first"].data["low"].isnull().all()
    made = {"index": ["s0", "s1"], "columns": [f"q{place}" for place in range(50)]}
    evaluation = ml.Evaluation(
        pd.DataFrame(index=made["columns"]), pd.DataFrame(y, **made), pd.DataFrame(1, **made)
    )
    scores = ml.score_forecast(forecasts["second"], evaluation)
    table = found.table.query("method == 'second'").set_index("subject")
    for name in SCORES:
        np.testing.assert_allclose(scores[name], table[name], rtol=0, atol=1e-12)
    assert ml.plots.reliability(forecasts, evaluation).get_title().startswith("Reliability")
