"""Diagrams with a subject's values: the numbers of the fit's own tables, in every form."""

import re
import xml.etree.ElementTree as ET

import graphviz
import pytest
from helpers import joint_fits

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.layouts.drawing import matplotlib as fallback

NUMBER = re.compile(r"−?\d+(?:\.\d+)?")


def numbers(line):
    """Numbers of a line of text, with the width of their last digit."""
    texts = [text.replace("−", "-") for text in NUMBER.findall(line)]
    return [(float(text), 10.0 ** -len(text.partition(".")[2])) for text in texts]


def close(line, *values):
    """Whether a line has these numbers, each to one of its last digit."""
    found = numbers(line)
    return len(found) == len(values) and all(
        abs(number - value) <= step for (number, step), value in zip(found, values, strict=True)
    )


def test_the_profile_is_that_of_the_table(fitted):
    who = fitted.subjects[1]
    shown = ml.reports.inferred_diagram(fitted, who, prob=0.5)
    row = fitted.profiles(prob=0.5).query("subject == @who").iloc[0]
    assert close(shown.values["skill"][0], row["mean"], row["low"], row["high"])
    other = fitted.profiles(prob=0.5).query("subject != @who").iloc[0]
    assert not close(shown.values["skill"][0], other["mean"], other["low"], other["high"])


def test_without_an_item_it_is_the_average_over_the_items(fitted, evaluation):
    who = fitted.subjects[1]
    expected, observed = ml.reports.inferred_diagram(fitted, who).values["right"]
    means = fitted.forecast(evaluation.items, subjects=[who]).to_frame()["mean"]
    assert close(expected, means.mean(), means.min(), means.max())
    assert observed == f"observed {int(evaluation.successes.loc[who].sum())} of 40"


def test_an_item_that_was_run_and_one_that_was_not(fitted, evaluation, new_items):
    who = fitted.subjects[1]
    run = ml.reports.inferred_diagram(fitted, who, evaluation.items.loc[["item-39"]])
    got = int(evaluation.successes.loc[who, "item-39"])
    assert run.values["difficulty"] == ("6 level",)
    assert run.values["right"][1] == f"observed {got} of 1"
    new = ml.reports.inferred_diagram(fitted, who, new_items.loc[["new-a"]])
    forecast = fitted.forecast(new_items, subjects=[who]).to_frame().iloc[0]
    (line,) = new.values["right"]
    assert close(line, forecast["mean"], forecast["low"], forecast["high"])


def test_several_items_and_strangers_are_refused(fitted, evaluation):
    with pytest.raises(DataError, match="item has 2 rows, and a diagram shows one item"):
        ml.reports.inferred_diagram(fitted, fitted.subjects[0], evaluation.items.head(2))
    with pytest.raises(FitError, match="nobody"):
        ml.reports.inferred_diagram(fitted, "nobody")


def test_every_form_shows_the_values(fitted, tmp_path):
    shown = ml.reports.inferred_diagram(fitted, fitted.subjects[1])
    lines = [line for node in shown.values.values() for line in node]
    drawn = graphviz.Source(shown.to_graphviz()).pipe(format="json", encoding="utf-8")
    plain = "".join(ET.fromstring(shown.to_svg()).itertext())
    letters = fallback.picture(fitted.layout, "svg", shown.values).decode()
    mermaid = shown.to_mermaid().replace("#91;", "[").replace("#93;", "]")
    for line in lines:
        assert line.split(" ")[0] in drawn
        assert line in plain.replace("\xa0", " ")
        assert f"<!-- {line} -->" in letters
        assert line in mermaid
        assert line not in fitted.layout.to_mermaid()
    assert shown.draw(tmp_path / "shown.png").stat().st_size > 1000
    assert shown.subject in repr(shown)


def test_a_joint_fit_shows_what_subjects_share():
    layout, evaluation = joint_fits.rasch(), joint_fits.evaluation_of(5, 6)
    fit = joint_fits.crafted(
        layout, evaluation, joint_fits.random_draws(layout, evaluation, 100, seed=1)
    )
    shown = ml.reports.inferred_diagram(fit, fit.subjects[0])
    row = fit.population().set_index("node").loc["mean"]
    assert close(shown.values["mean"][0], row["mean"], row["low"], row["high"])
    eases = fit.items()["mean"]
    assert close(shown.values["ease"][0], eases.min(), eases.max(), len(eases))
    one = ml.reports.inferred_diagram(fit, fit.subjects[0], evaluation.items.iloc[[2]])
    row = fit.items().iloc[2]
    assert close(one.values["ease"][0], row["mean"], row["low"], row["high"])
