"""A profile whose data say nothing looks like it, wherever it is shown."""

import io

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import unsure
from matplotlib.collections import PathCollection, PolyCollection
from rich.console import Console

import measurement_layouts as ml
from measurement_layouts import plots
from measurement_layouts.commands import printing
from measurement_layouts.layouts.elements import elements

mpl.use("Agg")


@pytest.fixture(scope="module")
def fit():
    return unsure.fitted(1)


@pytest.fixture(scope="module")
def vague(fit):
    """By element and subject, whether the data say next to nothing; the tests' own arithmetic."""
    found = {}
    for element in elements(fit.layout):
        before = fit.prior[element.name]
        for place, who in enumerate(fit.subjects):
            after = fit.posterior[element.name].to_numpy()[..., place]
            shrunk = 1 - after.var() / before.var()
            moved = abs(after.mean() - before.mean()) / before.std()
            found[element.name, who] = (shrunk < 0.1 and moved < 0.5) or who != unsure.KNOWN
    assert set(found.values()) == {True, False}  # some are known
    assert not found["reach", unsure.KNOWN]
    assert found["unseen", unsure.KNOWN]
    return found


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def table(monkeypatch, show, *arguments):
    """Cells of a printed table's rows."""
    out = io.StringIO()
    monkeypatch.setattr(printing, "_console", lambda: Console(file=out, width=300, markup=False))
    show(*arguments)
    lines = [line for line in out.getvalue().splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


def test_profiles_flag_it(fit, vague):
    found = fit.profiles().set_index(["node", "subject"])["prior_dominated"].to_dict()
    assert found == vague


def test_tables_star_it(fit, vague, monkeypatch):
    rows = table(monkeypatch, printing.print_profiles, fit, unsure.evaluation())
    names = [element.name for element in elements(fit.layout)]
    for who, _rate, *cells, _status in rows:
        for name, cell in zip(names, cells, strict=True):
            assert cell.endswith("*") == vague[name, who]


def test_comparisons_warn(fit, vague):
    for element in elements(fit.layout):
        for row in ml.compare(fit, by=element.name).table.itertuples():
            for who in (row.subject, row.reference):
                assert (f"{who}: prior-dominated" in row.warning) == vague[element.name, who]


def test_descriptions_call_it_not_known(fit, vague):
    findings = ml.describe(fit).findings
    for (name, who), nothing in vague.items():
        own = findings[(findings["subject"] == who) & (findings["where"] == name)]
        bounded = who == unsure.ALL_RIGHT and (own["what"] == "bounded").all()
        assert (own["what"] == "unknown").all() or bounded or not nothing
        assert own["text"].tolist() == [name] or bounded or not nothing  # its name, and no number


def test_markdown_stars_it(fit, vague, tmp_path):
    text = ml.report(fit, tmp_path / "report.md").read_text(encoding="utf-8")
    part = text.split("## Profiles")[1].split("\n## ")[0]
    lines = [
        line
        for line in part.splitlines()
        if line.startswith(tuple(f"| {who}" for who in fit.subjects))
    ]
    names = [element.name for element in elements(fit.layout)]
    for line in lines:
        who, _status, _rate, *cells = [cell.strip() for cell in line.strip("|").split("|")]
        for name, cell in zip(names, cells, strict=True):
            assert ("*" in cell) == vague[name, who.split(" ")[0]]
    assert len(lines) == 3


def test_pages_star_it(fit, vague, tmp_path):
    page = ml.report(fit, tmp_path / "report.html").read_text(encoding="utf-8")
    many = sum(vague.values())
    assert page.count("* <small>") == 2 * many  # in the table of all, and in each one's own


def drawn(ax):
    """Points that are drawn, in order."""
    return [
        one for one in ax.collections if isinstance(one, PathCollection) and len(one.get_offsets())
    ]


def test_forests_are_hollow(fit, vague):
    axes = plots.profile_forest(fit)
    names = [label.get_text().split(" ")[0] for label in axes[0].get_yticklabels()]
    for element, ax in zip(elements(fit.layout), axes, strict=True):
        (points,) = drawn(ax)
        white = (points.get_facecolors()[:, :3] == 1).all(axis=1)
        assert white.tolist() == [vague[element.name, who] for who in names]


def test_forests_show_the_range_of_the_prior(fit):
    for element, ax in zip(elements(fit.layout), plots.profile_forest(fit), strict=True):
        before = fit.prior[element.name]
        low, high = ax.get_xlim()
        tails = np.mean((before < low) | (before > high))
        assert tails <= 0.011
        assert high - low < 1.4 * np.ptp(before)


@pytest.mark.parametrize("statistic", ["mean", "sd"])
def test_cells_are_hatched(fit, vague, statistic):
    ax = plots.profile_heatmap(fit, statistic=statistic)
    names = [element.name for element in elements(fit.layout)]
    (hatched,) = (cells for cells in ax.collections if cells.get_hatch())
    covered = {tuple(map(int, path.vertices[0][::-1])) for path in hatched.get_paths()}
    there = {
        (names.index(n), fit.subjects.index(w)) for (n, w), nothing in vague.items() if nothing
    }
    assert covered == there
    assert "hatched: prior-dominated" in ax.get_xlabel()


@pytest.mark.parametrize("pair", [("reach", "lean"), ("reach", "unseen")])
def test_points_are_hollow(fit, vague, pair):
    ax = plots.capability_scatter(fit, *pair, colour="reach")
    _, hollow = drawn(ax)
    means = fit.profiles().pivot_table("mean", "subject", "node")[list(pair)]
    nothing = [who for who in fit.subjects if any(vague[name, who] for name in pair)]
    assert np.allclose(hollow.get_offsets(), means.loc[nothing])
    entries = [text.get_text() for text in ax.get_legend().get_texts()]
    assert "prior-dominated" in entries


def test_densities_are_empty(fit, vague):
    for who in fit.subjects:
        for element, ax in zip(elements(fit.layout), plots.prior_posterior(fit, who), strict=True):
            filled = any(isinstance(one, PolyCollection) for one in ax.collections)
            assert filled != vague[element.name, who]
            assert (ax.get_title() == "prior-dominated") == vague[element.name, who]


def test_one_chain_is_not_called_fine(monkeypatch):
    options = {"draws": 100, "tune": 200, "chains": 1, "reruns": 0, "progressbar": False}
    known = unsure.evaluation().select(subjects=[unsure.KNOWN])
    alone = ml.fit(unsure.layout(), known, seed=1, **options)
    assert alone.profiles()["rhat"].isna().all()
    (row,) = table(monkeypatch, printing.print_profiles, alone, known)
    assert row[-1] == "not converged"
    assert "R-hat unknown" in alone.diagnostics()["reason"].iloc[0]
    assert "not reliable yet" in ml.describe(alone).texts[unsure.KNOWN]
    assert " †" in plots.prior_posterior(alone, unsure.KNOWN)[0].get_figure().get_suptitle()
    assert plots.capability_scatter(alone).texts[0].get_text() == f"{unsure.KNOWN} †"
