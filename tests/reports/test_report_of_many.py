"""A report of many subjects: all are in the tables, some have a section of their own."""

import re

import numpy as np
import pytest
from helpers.many_subjects import many

from measurement_layouts import DataError, FitError
from measurement_layouts.reports.report import report

COUNT, FEW = 110, 30


@pytest.fixture(scope="module")
def crowd(layout, evaluation):
    return many(layout, evaluation, COUNT)


@pytest.fixture(scope="module")
def text(crowd, tmp_path_factory):
    return report(crowd, tmp_path_factory.mktemp("crowd") / "crowd.md").read_text()


def sections(text):
    """Texts of subjects' sections, by name."""
    chosen = text.split("\n## Subjects\n")[1].split("\n## ")[0].split("\n### ")[1:]
    return dict(section.split("\n", 1) for section in chosen)


def test_everybody_is_in_the_table_and_some_have_a_section(crowd, text):
    table = text.split("\n## Profiles\n")[1].split("\n## ")[0]
    names = re.findall(r"^\| (model-\d+)", table, re.MULTILINE)
    assert names == crowd.subjects
    assert len(sections(text)) == FEW
    assert f"{FEW} of the {COUNT} subjects have a section here" in text


def test_sections_are_of_the_most_and_the_least_successful_and_between(crowd, text):
    everybody = crowd.diagnostics()["success"]
    rates = np.sort(everybody[list(sections(text))])
    places = np.linspace(0, COUNT - 1, FEW).round().astype(int)
    assert rates == pytest.approx(np.sort(everybody)[places])


def test_a_section_is_the_same_whoever_else_has_one(crowd, tmp_path):
    who = ["model-007", "model-002", "model-109"]
    asked = sections(report(crowd, tmp_path / "asked.md", detailed=who).read_text())
    assert list(asked) == sorted(who)
    names = crowd.subjects[:2] + who[:1]
    more = sections(report(crowd, tmp_path / "more.md", detailed=names).read_text())
    assert asked["model-007"] == more["model-007"]


def test_who_has_a_section_is_checked(crowd, tmp_path):
    with pytest.raises(FitError, match="not in this fit: Eve"):
        report(crowd, tmp_path / "eve.html", detailed=["Eve"])
    with pytest.raises(DataError, match="model-001"):
        report(crowd, tmp_path / "twice.html", detailed=["model-001", "model-001"])


@pytest.mark.slow
def test_one_more_weighs_little(layout, evaluation, tmp_path):
    """At most 2 kB each in the tables, so that 3,000 weigh less than 10 MiB."""
    sizes = [
        report(many(layout, evaluation, count), tmp_path / f"{count}.html").stat().st_size
        for count in (110, 210)
    ]
    assert (sizes[1] - sizes[0]) / 100 < 2e3
