"""Reports of layouts whose outcomes are several, graded or scores."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mixture
from measurement_layouts.reports.exports import export_tables
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
def text(fitted, known, forecast, tmp_path_factory):
    path = tmp_path_factory.mktemp("several") / "report.md"
    return (
        report(fitted, path, evaluation=known[1], forecast=forecast).read_text().replace("\\", "")
    )


def test_outcomes_are_told_by_name_and_nothing_hidden(text):
    for words in (
        "**Attempts**: 324",
        "path: mean grade, from lost (0) to direct (1); credit: mean score",
        "| Subject | Status | Mean outcome | memory | noise |",
        "Forecasts of 6 items, 0 of them",
        "A reached 0.",
    ):
        assert words in text
    assert text.count("| arena 20 |") == 9
    for hidden in ("· ", "nan"):
        assert hidden not in text


def test_means_are_of_each_outcome(text, known):
    evaluation = known[1].select(items=known[1].item_table.index[:18])
    head = "| Subject | Items | Attempts | Without outcome | found | path | credit |"
    rows = text.split(head)[1].splitlines()[2:5]
    for row, name in zip(rows, "ABC", strict=True):
        shown = [float(cell) for cell in row.strip("| ").split(" | ")[4:]]
        reached = evaluation.successes.loc[name].groupby(evaluation.rows.outcome, sort=False).sum()
        steps = pd.Series({"found": 1, "path": 2, "credit": 4})
        np.testing.assert_allclose(shown, reached / steps / 36, atol=0.005)


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
    steps = known[1].rows.outcome[: 18 * 7] == "credit"
    reached = known[1].successes.loc["B"].to_numpy()[: 18 * 7][steps].sum()
    np.testing.assert_allclose(own["value"].astype(float) @ own["count"], reached / 4)
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
        (layout.outcomes[:2], "the rows of the evaluation"),
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
