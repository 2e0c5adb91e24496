"""Printed numbers are those of the tables, to three significant digits."""

import html
import io
import re

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import measurement_layouts as ml
from measurement_layouts.commands import printing
from measurement_layouts.linking import guessing, logistic
from measurement_layouts.validation.criticism.criticise import criticise

ROWS = ["mean", "low", "high"]


@pytest.fixture(scope="module")
def hiding():
    """A memory of up to 120 s, which five delays of up to 60 s do not determine well."""
    delay = ml.MetaFeature("delay", low=0, high=60, unit="s")
    memory = ml.Capability("memory", low=0, high=120, unit="s")
    margin = logistic(np.log2((memory + 1) / (delay + 1)), 1.7)
    layout = ml.Layout("hiding", ml.Success("found", guessing(margin, 1 / 3)))
    items = pd.DataFrame({"delay": [0, 5, 15, 30, 60.0]}).rename("item {}".format)
    truth = pd.DataFrame({"memory": [30.0, 40, 50, 60]}, ["A", "B", "C", "D"])
    data = ml.simulate(layout, items, truth, seed=1, trials=15)
    return ml.fit(layout, data, method="grid", seed=1, draws=300, progressbar=False), data


def three(value):
    """Three significant digits, as Python writes them."""
    return f"{value:#.3g}".rstrip(".").replace("-", "−")


def bracketed(row):
    """A mean and its interval."""
    mean, low, high = (three(row[name]) for name in ROWS)
    return f"{mean} [{low}, {high}]"


def printed(monkeypatch, show, *arguments):
    """What a command prints, without the lines of its table."""
    out = io.StringIO()
    monkeypatch.setattr(printing, "_console", lambda: Console(file=out, width=400, markup=False))
    show(*arguments)
    return " ".join(re.sub(r"[\u2500-\u257f]", " ", out.getvalue()).split())


def test_reports_and_descriptions(hiding, tmp_path):
    fit, _ = hiding
    page = ml.report(fit, tmp_path / "page.html").read_text("utf-8")
    page = " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())
    text = ml.report(fit, tmp_path / "page.md").read_text("utf-8").replace("\\", "")
    for row in fit.profiles().to_dict("records"):
        assert bracketed(row) in page
        assert bracketed(row) in text
        told = ml.describe(fit).texts[row["subject"]]
        assert f"solved at {bracketed(row)} s" in told or "memory is above 60.0 s" in told


def test_commands(hiding, monkeypatch):
    fit, data = hiding
    shown = printed(monkeypatch, printing.print_profiles, fit, data)
    for row in fit.profiles().to_dict("records"):
        assert f"{three(row['mean'])} ± {three(row['sd'])}" in shown
    forecast = fit.forecast(pd.DataFrame({"delay": [20.0, 40.0]}, ["new a", "new b"]))
    table = forecast.data[ROWS].to_dataframe().reset_index().assign(remark="")
    shown = printed(monkeypatch, printing.print_forecast, forecast, table)
    for row in table.to_dict("records"):
        assert f"{three(row['mean'])} {three(row['low'])} {three(row['high'])}" in shown


def test_p_values_that_underflow_are_the_smallest(tmp_path):
    """A slope of .5 where the layout says .1: p is as small as the replicates allow."""
    rng = np.random.default_rng(0)
    items = pd.DataFrame({"x": rng.uniform(0, 100, 20_000)}).rename("i{}".format)
    passed = rng.random(len(items)) < 1 / (1 + np.exp((items["x"] - 50) / 2))
    evaluation = ml.Evaluation.from_wide(passed.astype(int).to_frame("A").T, items)
    x, skill = ml.MetaFeature("x", low=0, high=100), ml.Capability("skill", low=0, high=120)
    layout = ml.Layout("flat", ml.Success("right", logistic(skill - x, slope=0.1)))
    fit = ml.fit(layout, evaluation, method="grid", draws=100, chains=2, progressbar=False)
    found = criticise(fit, evaluation)
    assert found.table["p_adjusted"].between(0, 0.001).all()
    assert (found.table["p_adjusted"] > 0).all()
    page = ml.report(fit, tmp_path / "page.html", criticism=found).read_text("utf-8")
    assert "<0.001" in html.unescape(page)
    assert "<0.1" not in html.unescape(page)
