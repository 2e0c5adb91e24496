"""Reports of layouts whose outcomes are several, graded or scores."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture
from measurement_layouts.reports.curves import Curves
from measurement_layouts.reports.exports import export_tables
from measurement_layouts.reports.outcomes import fitted_outcomes
from measurement_layouts.reports.report import report

GRADES = ("lost", "detour", "direct")


@pytest.fixture(scope="module")
def known():
    """Three subjects on 24 items, with a property that only one outcome meets."""
    noise = ml.Noise("noise")
    memory = ml.Capability("memory", low=0, high=10)
    hidden = ml.MetaFeature("timeHidden", low=0, high=10)
    barrier = ml.MetaFeature("barrier", levels=(0, 1))
    knows = ml.Derived("knows", mixture(logistic(memory - hidden), by=noise, toward=0.4))
    found = ml.Success("found", knows * (1 - 0.3 * barrier))
    path = ml.Graded("path", knows, grades=GRADES, about="<b>how</b> it went")
    layout = ml.Layout("permanence", found, path, ml.Score("credit", knows, precision=2, places=4))
    rng = np.random.default_rng(1)
    names = [f"arena {place}" for place in range(24)]
    items = pd.DataFrame({"timeHidden": rng.uniform(0, 10, 24), "barrier": [0, 1] * 12}, names)
    items["colour"] = ["red", "blue", "blue"] * 8
    profiles = pd.DataFrame({"memory": [3.0, 6.0, 8.0], "noise": [0.1, 0.2, 0.0]}, list("ABC"))
    return layout, ml.simulate(layout, items, profiles, seed=2, trials=2)


@pytest.fixture(scope="module")
def fitted(known):
    layout, evaluation = known
    training = evaluation.select(items=evaluation.item_table.index[:18])
    return ml.fit(layout, training, method="grid", draws=60, chains=2, seed=1, progressbar=False)


@pytest.fixture(scope="module")
def forecast(fitted, known):
    return fitted.forecast(known[1].item_table[18:])


@pytest.fixture(scope="module")
def page(fitted, known, forecast, tmp_path_factory):
    path = tmp_path_factory.mktemp("several") / "report.html"
    return report(fitted, path, evaluation=known[1], forecast=forecast).read_text()


def test_outcomes_are_told_by_name_and_nothing_hidden(page):
    for text in (
        "<dt>Items</dt><dd>18</dd>",
        "<dt>Attempts</dt><dd>324</dd>",
        "<strong>path</strong> (lost &lt; detour &lt; direct; 108 attempts)",
        "&lt;b&gt;how&lt;/b&gt; it went",
        ">Mean outcome<",
        "<h5>path <small>mean grade, from lost (0) to direct (1)</small></h5>",
        "<h5>credit <small>mean score</small></h5>",
        "Forecasts of 6 items",
        "Student’s interval",
        "A: path, timeHidden from 0 to 10: forecast mean goes from",
    ):
        assert text in page
    assert "path, barrier" not in page  # which it does not meet
    for hidden in ("· ", "Success rate", "nan"):
        assert hidden not in page
    assert len(re.findall("<th scope=.row.>arena 20</th>", page)) == 9
    assert page.count("The same in numbers") == 6


def test_markdown_has_a_mean_for_each_outcome(fitted, known, forecast, tmp_path):
    text = report(fitted, tmp_path / "r.md", evaluation=known[1], forecast=forecast).read_text()
    assert "324 attempts (108 of found, 108 of path, 108 of credit)" in text
    assert "| Subject | found | path | credit |" in text
    assert "| Subject | Mean outcome | memory | noise |" in text
    assert "| Subject | Mean found | Mean path | Mean credit |" in text
    assert "Forecasts of 6 items, 0 of them" in text
    assert "· " not in text


def test_curves_are_forecasts_of_each_outcome(fitted):
    """With draws so few that all are used, and 18 items, the mean is that of the forecasts."""
    curves = {(c.outcome.name, c.column.name): c for c in Curves(fitted, 0.9).of(1)}
    assert list(curves) == [
        ("found", "timeHidden"), ("found", "barrier"), ("path", "timeHidden"),
        ("credit", "timeHidden"),
    ]  # fmt: skip
    items = pd.DataFrame({"timeHidden": np.full(18, 5.0), "barrier": [0, 1] * 9})
    expected = fitted.forecast(items, subjects=["B"]).expected.groupby("outcome")["mean"].mean()
    for outcome, highest in (("found", 1), ("path", 2), ("credit", 1)):
        drawn = curves[outcome, "timeHidden"].forecast.set_index("value")["mean"]
        np.testing.assert_allclose(drawn[5.0], expected[outcome] / highest, rtol=1e-12)


def test_observed_means_have_the_interval_of_their_kind(fitted, known):
    """By hand, from the outcomes one by one."""
    curves = {(c.outcome.name, c.column.name): c for c in Curves(fitted, 0.9).of(1)}
    path = fitted_outcomes(fitted)[1]
    grades = np.repeat(np.tile([0, 0.5, 1], 18), path.counts[1].ravel())
    np.testing.assert_allclose(path.gained[1].sum(), grades.sum())
    seen = curves["path", "timeHidden"].observed
    np.testing.assert_allclose(seen["rate"] @ seen["trials"], grades.sum(), rtol=1e-12)
    mean, square, count = (np.array([x]) for x in (grades.mean(), (grades**2).mean(), 36))
    wanted = stats.t.interval(0.9, 35, grades.mean(), stats.sem(grades))
    np.testing.assert_allclose(np.ravel(path.interval(mean, square, count, 0.9)), wanted)
    alone = path.interval(np.array([0.5, 0.0]), np.array([0.25, 0.0]), np.array([1, 9]), 0.9)
    assert np.isnan(alone).all()
    success = curves["found", "timeHidden"].observed
    assert success[["low", "high"]].notna().all(axis=None)


def test_tables_count_values_and_forecast_expected_outcomes(fitted, known, forecast, tmp_path):
    written = export_tables(fitted, tmp_path / "csv", evaluation=known[1], forecast=forecast)
    tables = {path.stem: pd.read_csv(path, dtype={"value": str}) for path in written}
    outcomes = tables["outcomes"]
    assert list(outcomes.columns) == ["subject", "item", "outcome", "value", "count"]
    assert set(outcomes["value"]) <= {*GRADES, "0", "1", "0.25", "0.5", "0.75"}
    assert outcomes.groupby("outcome")["count"].sum().to_dict() == dict.fromkeys(
        ("found", "path", "credit"), 108
    )
    own = outcomes[(outcomes["subject"] == "B") & (outcomes["outcome"] == "credit")]
    credit = fitted_outcomes(fitted)[2].gained[1].sum()
    np.testing.assert_allclose(own["value"].astype(float) @ own["count"], credit)
    assert list(tables["items"].columns) == ["item", "timeHidden", "barrier", "colour"]
    assert len(tables["items"]) == 24
    assert len(tables["forecasts"]) == 3 * 6 * 3
    np.testing.assert_allclose(tables["forecasts"]["mean"], forecast.expected["mean"], rtol=1e-14)
    assert not tables["forecasts"]["trained"].any()
    flags = forecast.to_frame().drop_duplicates(["subject", "item", "outcome"])
    assert tables["forecasts"]["outside_training"].tolist() == flags["outside_training"].tolist()


def test_what_is_of_other_outcomes_is_refused(fitted, known, forecast, tmp_path):
    layout, evaluation = known
    others = dataclasses.replace(
        forecast,
        data=forecast.data.isel(item=forecast.rows.outcome != "credit"),
        expected=forecast.expected[forecast.expected["outcome"] != "credit"],
    )
    with pytest.raises(ml.DataError, match=r"the forecast is of found ≥ 1, path ≥ detour, .* fit"):
        report(fitted, tmp_path / "r.md", forecast=others)
    table, profiles = evaluation.item_table, pd.DataFrame({"memory": [3.0], "noise": 0.1}, ["A"])
    for leaves, message in (
        (layout.outcomes[:2], "the evaluation's rows are the steps"),
        (layout.outcomes[:1], "the evaluation has 0/1 outcomes of items"),
    ):
        strange = ml.simulate(ml.Layout("permanence", *leaves), table, profiles, seed=1)
        with pytest.raises(ml.DataError, match=message):
            report(fitted, tmp_path / "r.md", evaluation=strange)
    moved = evaluation.items["timeHidden"].where(evaluation.rows.item != "arena 3", 0.123)
    items = evaluation.items.assign(timeHidden=moved)
    harder = ml.Evaluation(items, evaluation.successes, evaluation.trials)
    with pytest.raises(ml.DataError, match="timeHidden differs on arena 3; give"):
        report(fitted, tmp_path / "r.md", evaluation=harder)
