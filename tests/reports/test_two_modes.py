"""A posterior of two modes is marked wherever its mean is shown."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import PathCollection
from rich.console import Console

import measurement_layouts as ml
from measurement_layouts import plots
from measurement_layouts.commands import printing
from measurement_layouts.layouts.elements import elements
from measurement_layouts.linking import band, product

mpl.use("Agg")
SPLIT = ("mood", "Ann")
NAMES = ("mood", "risk")


def evaluation():
    """Half of Ann's trials in a band about 0 succeed: her mood is at one of its ends or the other.

    Items of a band on one side tell Bob's; nobody's risk is in doubt.
    """
    ends = [(-2.0, 2.0), (0.0, 5.0)]
    rows = [dict(zip(("mood_low", "mood_high"), own, strict=True)) for own in ends]
    wide = {"mood_low": -5.9, "mood_high": 5.9, "risk_low": -5.9, "risk_high": 5.9}
    rows += [dict(zip(("risk_low", "risk_high"), own, strict=True)) for own in ends]
    items = pd.DataFrame([wide | row for row in rows], ["m0", "m1", "r0", "r1"])
    successes = pd.DataFrame([[10, 0, 15, 19], [10, 19, 15, 18]], ["Ann", "Bob"], items.index)
    trials = pd.DataFrame([[20, 0, 20, 20], [20, 20, 20, 20]], successes.index, items.index)
    return ml.Evaluation(items, successes, trials)


@pytest.fixture(scope="module")
def layout():
    factors = []
    for name in NAMES:
        ends = [ml.MetaFeature(f"{name}_{end}", low=-6, high=6) for end in ("low", "high")]
        factors.append(band(ml.Propensity(name, low=-6, high=6), *ends))
    return ml.Layout("moods", ml.Success("calm", product(*factors)))


@pytest.fixture(scope="module")
def fit(layout):
    return ml.fit(layout, evaluation(), method="grid", seed=1, progressbar=False)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def cells(monkeypatch, show, *arguments):
    """Cells of a printed table's rows, and all that is printed."""
    out = io.StringIO()
    monkeypatch.setattr(printing, "_console", lambda: Console(file=out, width=300, markup=False))
    show(*arguments)
    lines = [line for line in out.getvalue().splitlines() if line.startswith("│")]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]
    return rows, out.getvalue()


def test_there_are_two_modes(fit):
    """The tests' own arithmetic: hardly a draw of Ann's lies about the mean, many on both sides."""
    for name in NAMES:
        for place, who in enumerate(fit.subjects):
            draws = fit.posterior[name].to_numpy()[..., place]
            near = np.mean(abs(draws - draws.mean()) < 0.25 * draws.std())
            assert (near < 0.02) == ((name, who) == SPLIT)


def test_profiles_mark_it(fit):
    found = fit.profiles().set_index(["node", "subject"])["modes"]
    assert found[found].index.tolist() == [SPLIT]


def test_chains_that_stay_apart_are_named(layout):
    options = {"draws": 500, "tune": 500, "reruns": 0, "seed": 1, "progressbar": False}
    few = evaluation().select(subjects=["Ann"])
    sampled = ml.fit(layout, few, method="nuts", **options)
    assert sampled.profiles().set_index("node")["modes"].to_dict() == {"mood": True, "risk": False}
    assert "the chains stay in separate modes of mood" in sampled.diagnostics().loc["Ann", "reason"]
    assert "separate modes" in ml.describe(sampled).texts["Ann"]


def test_diagnostics_say_where(fit):
    table = fit.diagnostics()
    assert table["status"].tolist() == ["ok", "ok"]
    assert table.loc["Ann", "reason"] == "separate modes, between which means may lie: mood"
    assert table.loc["Bob", "reason"] == ""


def test_tables_mark_it(fit, monkeypatch):
    rows, printed = cells(monkeypatch, printing.print_profiles, fit, evaluation())
    for who, _rate, *own, _status in rows:
        for name, cell in zip(NAMES, own, strict=True):
            assert cell.endswith("‡") == ((name, who) == SPLIT)
    assert "‡ separate modes" in " ".join(printed.split())


def test_comparisons_warn(fit):
    for name in NAMES:
        (warning,) = ml.compare(fit, by=name).table["warning"]
        assert ("Ann: separate modes" in warning) == (name == "mood")


def test_descriptions_say_where(fit):
    findings = ml.describe(fit).findings
    said = findings["text"].str.contains("separate modes")
    assert findings[said][["where", "subject"]].to_numpy().tolist() == [list(SPLIT)]


def test_markdown_marks_it(fit, tmp_path):
    text = ml.report(fit, tmp_path / "report.md").read_text(encoding="utf-8")
    part = text.split("## Profiles")[1].split("\n## ")[0]
    for line in part.splitlines():
        who, *own = [cell.strip() for cell in line.strip("|").split("|")]
        if who in fit.subjects:
            marked = ["‡" in cell for cell in own[2:]]
            assert marked == [(name, who) == SPLIT for name in NAMES]
    assert "‡: the posterior has separate modes" in part


def test_pages_mark_it(fit, tmp_path):
    page = ml.report(fit, tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("‡ <small>") == 2  # in the table of all, and in Ann's own


def test_exports_say_where(fit, tmp_path):
    path = ml.reports.export_tables(fit, tmp_path)[0]
    found = pd.read_csv(path).set_index(["node", "subject"])["modes"]
    assert found[found].index.tolist() == [SPLIT]


def crosses(ax):
    """Where crosses are drawn."""
    found = [one for one in ax.collections if isinstance(one, PathCollection)]
    return [one.get_offsets() for one in found if one.get_zorder() == 5 and len(one.get_offsets())]


def entries(legend):
    return [text.get_text() for text in legend.get_texts()]


def test_forests_are_crossed(fit):
    axes = plots.profile_forest(fit)
    names = [label.get_text().split(" ")[0] for label in axes[0].get_yticklabels()]
    table = fit.profiles().set_index(["node", "subject"])["mean"]
    for element, ax in zip(elements(fit.layout), axes, strict=True):
        there = [[table[element.name, "Ann"], names.index("Ann")]] * (element.name == "mood")
        found = [place for each in crosses(ax) for place in each.tolist()]
        assert found == there
    (legend,) = axes[0].get_figure().legends
    assert "crossed: separate modes" in entries(legend)


@pytest.mark.parametrize("statistic", ["mean", "sd"])
def test_cells_are_marked(fit, statistic):
    ax = plots.profile_heatmap(fit, statistic=statistic)
    marked = [text.get_position() for text in ax.texts if text.get_text().endswith("‡")]
    assert marked == [(fit.subjects.index("Ann") + 0.5, NAMES.index("mood") + 0.5)]
    assert "‡ separate modes" in ax.get_xlabel()


def test_points_are_crossed(fit):
    ax = plots.capability_scatter(fit, *NAMES)
    ((place,),) = crosses(ax)
    means = fit.profiles().pivot_table("mean", "subject", "node").loc["Ann", list(NAMES)]
    assert np.allclose(place, means)
    assert "crossed: separate modes" in entries(ax.get_legend())


def test_densities_are_named(fit):
    for who in fit.subjects:
        for element, ax in zip(elements(fit.layout), plots.prior_posterior(fit, who), strict=True):
            assert ("separate modes" in ax.get_title()) == ((element.name, who) == SPLIT)
