"""Printed numbers are those of any other run: to a few units of the last digit that is shown."""

import dataclasses
import importlib
import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from helpers import unsure
from rich.console import Console

import measurement_layouts as ml
from measurement_layouts import plots, printing
from measurement_layouts.common import digits
from measurement_layouts.reports import bars, markdown, new_items
from measurement_layouts.reports.description import sentences
from measurement_layouts.validation.criticism.criticise import criticise

mpl.use("Agg")


def printed(monkeypatch, show, *arguments):
    """What a table says."""
    out = io.StringIO()
    monkeypatch.setattr(printing, "_console", lambda: Console(file=out, width=400, markup=False))
    show(*arguments)
    return out.getvalue()


def profiles(fit, _tmp_path, monkeypatch):
    return printed(monkeypatch, printing.print_profiles, fit, unsure.evaluation())


def comparison(fit, _tmp_path, monkeypatch):
    return printed(monkeypatch, printing.print_comparison, ml.validation.compare_profiles(fit))


def scores(fit, _tmp_path, monkeypatch):
    known = unsure.evaluation()
    forecast = fit.forecast(known.item_table)
    found = ml.score_forecast(forecast, known, training_items=True)
    return printed(monkeypatch, printing.print_forecast_scores, fit, forecast, found)


def layouts(fit, _tmp_path, monkeypatch):
    other = unsure.fitted(int(fit.data.attrs["seed"]), leaning=False)
    compared = ml.validation.compare_layouts(
        {"with": fit, "without": other}, subjects=[unsure.KNOWN]
    )
    return f"{compared!r}\n{printed(monkeypatch, printing.print_layouts, compared)}"


def criticism(fit, _tmp_path, monkeypatch):
    found = criticise(fit, unsure.evaluation(), subjects=[unsure.KNOWN], candidates=["told"])
    rows = found.table.assign(flagged=found.table["p"].notna())  # so that all numbers are printed
    shown = printed(monkeypatch, printing.print_criticism, dataclasses.replace(found, table=rows))
    said = "\n".join([shown, *found.suggestions()])
    letters = str.maketrans("0123456789.", "abcdefghijk")  # another level is another statement
    return re.sub(r"[\d.]+ to [\d.]+", lambda level: level[0].translate(letters), said)


def description(fit, _tmp_path, _monkeypatch):
    return str(ml.describe(fit))


def report(fit, tmp_path, _monkeypatch):
    forecast = fit.forecast(unsure.new_items())
    text = ml.report(fit, tmp_path / f"{id(fit)}.md", forecast=forecast, overwrite=True)
    parts = text.read_text(encoding="utf-8").split("\n## ")
    told = [part for part in parts if part.startswith(("Profiles", "Forecasts"))]
    assert len(told) == 2
    return "\n".join(told).replace("\\-", "-")


def figures(draw):
    """Texts in a figure's axes, but for the ticks'."""

    def shown(fit, _tmp_path, _monkeypatch):
        axes = np.ravel(draw(fit))
        texts = [text.get_text() for ax in axes for text in ax.texts]
        plt.close("all")
        return " | ".join(texts)

    return shown


def superiority(fit):
    compared = ml.validation.compare_profiles(fit, reference=unsure.KNOWN)
    return plots.superiority_heatmap(compared, "reach")


def differences(fit):
    names = [unsure.ALL_RIGHT, unsure.KNOWN]  # one pair, so that rows cannot change places
    return plots.comparison_plot(ml.validation.compare_profiles(fit, names))


PLACES = {
    "the table of fit and run": profiles,
    "the table of compare": comparison,
    "the table of score": scores,
    "layouts compared": layouts,
    "criticise": criticism,
    "describe": description,
    "the report": report,
    "profile_heatmap": figures(plots.profile_heatmap),
    "profile_heatmap of sds": figures(lambda fit: plots.profile_heatmap(fit, statistic="sd")),
    "comparison_plot": figures(differences),
    "superiority_heatmap": figures(superiority),
}


def finer(monkeypatch):
    """Write two digits more, everywhere."""
    honest = digits.fixed

    def more(value, shown):
        return honest(value, shown + 2)

    for module in (digits, printing, sentences, bars, new_items, markdown):
        monkeypatch.setattr(module, "fixed", more)
    differing, tabled = (
        importlib.import_module(draw.__module__)
        for draw in (plots.comparison_plot, plots.profile_heatmap)
    )
    for module in (printing, differing):
        monkeypatch.setattr(module, "chance", lambda value, _error, _most=2: more(value, 2))

    def row(values, _width, supported):
        return [more(x, min(at, 2)) for x, at in zip(values, supported, strict=True)]

    monkeypatch.setattr(tabled, "_written", row)


def told(place, tmp_path, monkeypatch):
    """What one place prints of eight runs."""
    return [PLACES[place](unsure.fitted(seed), tmp_path, monkeypatch) for seed in range(1, 9)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "place", [pytest.param(name, marks=pytest.mark.trust("digits", name)) for name in PLACES]
)
def test_another_run_prints_the_same_to_a_few_units(place, tmp_path, monkeypatch):
    texts = told(place, tmp_path, monkeypatch)
    compared, apart = unsure.far_apart(texts)
    assert compared >= len(unsure.NUMBER.findall(texts[0])) > 0
    assert apart <= unsure.allowed(compared)


WHOLE = ("superiority_heatmap", "criticise")  # whole percents, by their form; success rates


@pytest.mark.slow
@pytest.mark.parametrize("place", [one for one in PLACES if one not in WHOLE])
def test_two_digits_more_are_noticed(place, tmp_path, monkeypatch):
    """Twin that must fail."""
    finer(monkeypatch)
    compared, apart = unsure.far_apart(told(place, tmp_path, monkeypatch))
    assert apart > unsure.allowed(compared)
