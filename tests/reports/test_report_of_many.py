"""A report of many subjects: all are in the table and the overview, some have their own section."""

import base64
import gzip
import re

import numpy as np
import pytest
from helpers.many_subjects import many
from helpers.system_chromium import chromium

from measurement_layouts import DataError, FitError
from measurement_layouts.reports import contents, page
from measurement_layouts.reports.bars import axes, bars
from measurement_layouts.reports.contents import Contents
from measurement_layouts.reports.exports import csv
from measurement_layouts.reports.report import report

COUNT, FEW = 310, 5


@pytest.fixture(scope="module")
def crowd(layout, evaluation):
    return many(layout, evaluation, COUNT)


@pytest.fixture
def few(monkeypatch):
    """Fewer sections than there would be, to save time."""
    monkeypatch.setattr(contents, "DETAILED", FEW)


@pytest.fixture
def text(crowd, few, tmp_path):
    return report(crowd, tmp_path / "crowd.html").read_text(encoding="utf-8")


def sections(text):
    """Texts of subjects' sections, by name."""
    articles = re.findall(r'<article class="subject".*?</article>', text, re.DOTALL)
    return {re.search(r"<h3[^>]*>(.*?)<", each)[1].strip(): each for each in articles}


def test_everybody_is_in_the_table_and_some_have_a_section(crowd, text):
    body = re.search(r'<table class="sortable" id="profile-table">(.*?)</table>', text, re.DOTALL)
    named = re.findall(r'<th scope="row">(?:<a href="#(.*?)">)?([\w-]+)', body[1])
    assert [name for _, name in named] == crowd.subjects
    linked = [(place, name) for place, name in named if place]
    assert [name for _, name in linked] == list(sections(text))
    assert len(linked) == FEW
    for place, _ in linked:
        assert f'<article class="subject" id="{place}"' in text
    assert f"{FEW} of the {COUNT} subjects have a section here" in text


def test_sections_are_of_the_most_and_the_least_successful_and_between(crowd, few):
    told = Contents.of(crowd, None, None, None, None)
    rates = told.rates[told.detailed].sort_values()
    everybody = np.sort(told.rates.to_numpy())
    places = np.linspace(0, COUNT - 1, FEW).round().astype(int)
    assert rates.to_numpy() == pytest.approx(everybody[places])


def test_a_section_is_the_same_whoever_else_has_one(crowd, few, tmp_path):
    who = ["model-007", "model-002", "model-309"]
    path = report(crowd, tmp_path / "asked.html", detailed=who)
    asked = sections(path.read_text(encoding="utf-8"))
    assert list(asked) == sorted(who)
    names = crowd.subjects[:2] + who[:1]
    more = sections(
        report(crowd, tmp_path / "more.html", detailed=names).read_text(encoding="utf-8")
    )
    without_number = [re.sub("subject-[0-9]+", "", own["model-007"]) for own in (asked, more)]
    assert without_number[0] == without_number[1]


def test_who_has_a_section_is_checked(crowd, tmp_path):
    with pytest.raises(FitError, match="not in this fit: Eve"):
        report(crowd, tmp_path / "eve.html", detailed=["Eve"])
    with pytest.raises(DataError, match="model-001"):
        report(crowd, tmp_path / "twice.html", detailed=["model-001", "model-001"])


def test_the_table_is_taken_away_packed_and_whole(crowd, text):
    (packed,) = re.findall(
        r'download="profiles.csv.gz" href="data:application/gzip;base64,(.*?)"', text
    )
    found = gzip.decompress(base64.b64decode(packed)).decode()
    assert found == csv(crowd.profiles())


def test_panels_hold_every_subject(crowd, few):
    """Against the places that rows have one by one."""
    told = Contents.of(crowd, None, None, None, None)
    ranges = axes(told)
    found = bars(told.profiles, ranges)
    (panel,) = page.panels(ranges, found, crowd.subjects)
    across = ranges[0].scale(10, panel.width - 10)
    drawn = re.findall(r"M([\d.]+) [\d.]+H([\d.]+)", panel.together.ranges)
    rows = [found[name][0].row for name in crowd.subjects]
    assert drawn == [(across(row["low"]), across(row["high"])) for row in rows]
    points = re.findall(r"M([\d.]+) [\d.]+h0", "".join(panel.together.points.values()))
    assert sorted(points) == sorted(across(row["mean"]) for row in rows)
    assert float(panel.height) < 1300


def test_one_more_weighs_little(layout, evaluation, few, tmp_path):
    """At most 1.5 kB each, so that 3,000 with 300 sections of 12 kB weigh less than 8 MiB."""
    sizes = [
        report(many(layout, evaluation, count), tmp_path / f"{count}.html").stat().st_size
        for count in (200, 320)
    ]
    assert (sizes[1] - sizes[0]) / 120 < 1.5e3


def test_markdown_describes_as_many(crowd, few, tmp_path):
    text = report(crowd, tmp_path / "crowd.md").read_text(encoding="utf-8")
    assert f"{FEW} of the {COUNT} subjects are described here." in text
    assert text.count("\n| model-") == 2 * COUNT


@pytest.mark.slow
def test_rows_are_turned_page_by_page(crowd, few, tmp_path):
    path = report(crowd, tmp_path / "crowd.html")
    with chromium() as browser:
        opened = browser.new_page()
        opened.goto(path.as_uri())
        shown = opened.locator("#profile-table tbody tr:not([hidden])")
        assert shown.count() == 100
        assert opened.locator("#rows-before").is_disabled()
        for count in (100, 100, 10):
            opened.locator("#rows-after").click()
            assert shown.count() == count
        assert opened.locator("#rows-after").is_disabled()
        assert opened.locator("#shown").text_content() == "301 to 310 of 310 shown, 310 in all"
        opened.locator("#filter").fill("model-30")
        assert shown.count() == 10
        assert opened.locator("#pager").is_hidden()
        opened.locator("#filter").fill("")
        opened.locator("#profile-table thead th").first.get_by_role("button").click()
        opened.locator("#profile-table thead th").first.get_by_role("button").click()
        assert shown.first.locator("th").text_content().startswith("model-309")
        assert shown.count() == 100
        opened.goto(f"{path.as_uri()}#subject-3")
        assert opened.locator("article.subject:visible").count() == 1
