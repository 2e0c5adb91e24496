"""What a report refuses, and what its other forms hold."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from helpers.awkward_names import FAILED, FORMULA, NAMES

import measurement_layouts as ml
from measurement_layouts.batteries import next_items
from measurement_layouts.reports.exports import export_tables
from measurement_layouts.reports.report import report


def test_a_file_that_exists_is_kept_unless_told(fitted, tmp_path):
    path = tmp_path / "report.md"
    path.write_text("mine")
    with pytest.raises(ml.FitError, match=r"exists already.*overwrite=True"):
        report(fitted, path)
    assert path.read_text() == "mine"
    assert report(fitted, path, overwrite=True).read_text().startswith("# Cognitive")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("report.pdf", r"\.html or"),
        ("report", r"\.html or"),
        ("nowhere/report.md", r"no folder .*nowhere"),
    ],
)
def test_paths_that_cannot_be_written_are_refused(fitted, tmp_path, name, message):
    with pytest.raises(ml.FitError, match=message):
        report(fitted, tmp_path / name)


def _other(evaluation, change):
    tables = {name: getattr(evaluation, name).copy() for name in ("items", "successes", "trials")}
    change(tables)
    return ml.Evaluation(**tables)


def _without_an_item(tables):
    for name in ("successes", "trials"):
        tables[name] = tables[name].drop(columns="item-07")
    tables["items"] = tables["items"].drop(index="item-07")


def _without_ann(tables):
    for name in ("successes", "trials"):
        tables[name] = tables[name].drop(index="Ann")


def _harder(tables):
    tables["items"].loc["item-07", "difficulty"] = 0.123


def _luckier(tables):
    tables["successes"].loc["Ann"] = 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_without_an_item, "no item item-07"),
        (_without_ann, "no subject Ann"),
        (_harder, "difficulty differs on"),
        (_luckier, r"successes differ in \d"),
    ],
)
def test_an_evaluation_that_is_not_the_fit_s_is_refused(
    fitted, evaluation, tmp_path, change, message
):
    with pytest.raises(ml.DataError, match=message):
        report(fitted, tmp_path / "report.md", evaluation=_other(evaluation, change))


def test_an_evaluation_with_more_items_scores_the_forecast_of_these(fitted, evaluation, tmp_path):
    items = pd.concat(
        [evaluation.items, evaluation.items.rename(index=lambda name: f"more-{name}")]
    )
    outcomes = [
        pd.concat([table, table.rename(columns=lambda name: f"more-{name}")], axis=1)
        for table in (evaluation.successes, evaluation.trials)
    ]
    known, forecast = ml.Evaluation(items, *outcomes), fitted.forecast(items[40:])
    text = report(fitted, tmp_path / "r.md", evaluation=known, forecast=forecast).read_text()
    brier = ml.score_forecast(forecast, known)["brier"].mean()
    assert f"**Brier score**: {brier:.3f}" in text
    rows = [
        line.strip(" |").split(" | ")
        for line in text.splitlines()
        if line.startswith("| more-item")
    ]
    assert len(rows) == 160
    assert {row[4] for row in rows} == {"0 of 1", "1 of 1"}
    successes = sum(row[4] == "1 of 1" for row in rows)
    assert successes == evaluation.successes.to_numpy().sum()


@pytest.fixture(scope="module")
def half(layout, evaluation):
    """Two subjects, of whom the first attempted the easier half, and no item shifted by -1."""
    trials = evaluation.trials.iloc[:2].copy()
    easy = (evaluation.items["difficulty"] < 3) & (evaluation.items["shift"] != -1)
    trials.iloc[0] = easy.astype(int)
    trials.iloc[0, 0] = 1  # but the easiest of all
    successes = evaluation.successes.iloc[:2] * trials
    known = ml.Evaluation(evaluation.items, successes, trials)
    return ml.fit(layout, known, method="grid", draws=60, chains=2, seed=1, progressbar=False)


def test_what_lies_outside_training_items_is_told(half, evaluation, tmp_path):
    """By subject: what the first never attempted the second did, and both lack difficulty 6.5."""
    values = {"difficulty": [1.0, 5.0, 6.5], "shift": [0, 0, -1]}
    forecast = half.forecast(pd.DataFrame(values, index=["easy", "hard", "beyond"]))
    text = report(half, tmp_path / "r.md", forecast=forecast).read_text().replace("\\", "")
    first = half.subjects[0]
    attempted = half.observed["item"][half.observed["subject"] == first].to_numpy()
    most = evaluation.items.loc[attempted, "difficulty"].max()
    for remark in (
        f"| difficulty 5 is {5 - most:.4g} above the training items (0 to {most:.4g} level) |",
        f"declared range; difficulty 6.5 is {6.5 - most:.4g} above the training items (0 to",
        "declared range; difficulty 6.5 is 0.5 above the training items (0 to 6 level)",
    ):
        assert text.count(remark) == 1
    assert "Outside the training items of at least one subject: 2 items." in text
    rows = text.split("| Subject | Mean forecast | Items outside training |")[1].splitlines()[2:4]
    assert [line.strip(" |").split(" | ")[-1] for line in rows] == ["2", "1"]


def test_a_forecast_of_strangers_is_refused(fitted, new_items, tmp_path):
    forecast = fitted.forecast(new_items)
    strangers = dataclasses.replace(
        forecast, data=forecast.data.assign_coords(subject=list("abcd"))
    )
    with pytest.raises(ml.DataError, match=r"forecast is of a, b, c, d"):
        report(fitted, tmp_path / "report.md", forecast=strangers)


def test_markdown_holds_the_same_in_short(fitted, evaluation, new_items, tmp_path):
    forecast = fitted.forecast(new_items)
    text = report(
        fitted, tmp_path / "r.md", evaluation=evaluation, forecast=forecast, title="A <b>title</b>"
    ).read_text()
    assert text.startswith("# A \\<b\\>title\\</b\\>\n")
    assert "var(--" not in text
    assert "```mermaid\n" in text
    for line in text.split("\n"):
        if line.startswith("| "):
            assert line.endswith(" |")
    assert "\\-gone" in text or "-gone\\|\\*away\\*" in text
    assert "1 of them outside a declared range" in text
    assert "What the layout may miss" in text


def test_tables_are_exported_in_full(fitted, evaluation, new_items, tmp_path):
    forecast = fitted.forecast(new_items)
    written = export_tables(fitted, tmp_path / "csv", evaluation=evaluation, forecast=forecast)
    tables = {path.stem: pd.read_csv(path) for path in written}
    assert {"profiles", "diagnostics", "items", "outcomes", "forecasts", "criticism"} <= set(tables)
    np.testing.assert_allclose(tables["profiles"]["mean"], fitted.profiles()["mean"], rtol=1e-14)
    assert tables["outcomes"][["successes", "trials"]].sum().tolist() == [
        int(evaluation.successes.to_numpy().sum()),
        160,
    ]
    assert list(tables["items"].columns) == ["item", *evaluation.items.columns]
    with pytest.raises(ml.FitError, match=r"already has profiles.csv"):
        export_tables(fitted, tmp_path / "csv")


def test_properties_of_subjects_are_exported(fitted, evaluation, tmp_path):
    parts = evaluation.items, evaluation.successes, evaluation.trials
    people = pd.DataFrame({"age": [40, 30, 20, 10]}, NAMES[::-1])
    known = ml.Evaluation(*parts, subjects=people)
    export_tables(fitted, tmp_path, evaluation=known)
    table = pd.read_csv(tmp_path / "subjects.csv")
    assert list(table) == ["subject", "age"]
    assert table["subject"].tolist() == [*NAMES[:3], f"'{FORMULA}"]
    assert table["age"].tolist() == [10, 20, 30, 40]
    export_tables(fitted, tmp_path / "bare", evaluation=evaluation)
    assert not (tmp_path / "bare" / "subjects.csv").exists()


def test_no_exported_text_is_a_formula(fitted, tmp_path):
    written = export_tables(fitted, tmp_path)
    diagnostics = pd.read_csv(tmp_path / "diagnostics.csv")
    assert diagnostics["subject"].tolist() == [*NAMES[:3], f"'{FORMULA}", f"'{FAILED}"]
    for path in written:
        table = pd.read_csv(path)
        for column in table.select_dtypes("str"):
            assert not table[column].str.startswith(("=", "+", "-", "@")).any()


def test_what_to_ask_next_is_listed_for_each_subject(fitted, tmp_path):
    bank = pd.DataFrame(
        {"difficulty": np.linspace(0, 6, 20), "shift": 0}, [f"new|{n}" for n in range(20)]
    )
    text = report(fitted, tmp_path / "next.md", bank=bank).read_text()
    rows = [line for line in text.splitlines() if "of its standard deviation" in line]
    found = next_items(fitted, bank)
    assert len(rows) == len(found) == 10 * len(fitted.subjects)
    assert f"{found['narrower'][0]:.1%} of its standard deviation" in rows[0]


def test_explanations_are_in_the_sections_of_their_subjects(fitted, tmp_path):
    first = fitted.subjects[0]
    item = str(fitted.constants["item"].to_numpy()[0])
    found = fitted.explain(item, first)
    text = report(fitted, tmp_path / "why.md", explain=[found]).read_text()
    own = text.split(f"### {first}\n")[1].split("\n### ")[0]
    assert own.split("#### Why: ")[1].count("\n- ") == len(found.sentences)
    with pytest.raises(ml.DataError, match="explain= contains a str"):
        report(fitted, tmp_path / "text.html", explain=["why"])
    stranger = dataclasses.replace(found, subject="nobody")
    with pytest.raises(ml.DataError, match="explains forecasts of nobody"):
        report(fitted, tmp_path / "nobody.html", explain=[stranger])
