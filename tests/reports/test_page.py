"""The HTML page, read without a browser."""

import base64
import csv
import hashlib
import io
import itertools
import re
from html.parser import HTMLParser

import matplotlib as mpl
import pytest
from helpers.awkward_names import FAILED, IMAGE, NAMES, SCRIPT

from measurement_layouts.reports.html import THEME
from measurement_layouts.reports.pictures import dark
from measurement_layouts.reports.report import report

VOID = {"meta", "input", "br", "img", "link", "hr"}


class Outline(HTMLParser):
    """Every element of a page with its attributes, and what is left open."""

    def __init__(self, text):
        super().__init__()
        self.found, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("script", "style"):
            self.words.append(data)

    def all(self, *tags):
        return [attrs for tag, attrs in self.found if tag in tags]


@pytest.fixture(scope="module")
def outline(page):
    return Outline(page)


def test_the_page_is_well_formed_and_each_id_occurs_once(outline):
    assert outline.open == []
    ids = [attrs["id"] for _, attrs in outline.found if "id" in attrs]
    assert len(ids) == len(set(ids))
    links = [attrs["href"][1:] for attrs in outline.all("a") if attrs.get("href", "")[:1] == "#"]
    assert set(links) <= set(ids)


def test_it_loads_nothing(outline, page):
    for tag, attrs in outline.found:
        assert tag not in ("link", "img", "iframe", "object", "embed", "image")
        for name, value in attrs.items():
            if name in ("src", "href", "xlink:href", "action", "data", "srcset"):
                assert value.startswith(("#", "data:"))
    style = page.split("<style>")[1].split("</style>")[0]
    assert "url(" not in style
    assert "@import" not in style


def test_only_the_page_s_own_script_may_run(outline, page):
    (policy,) = [a["content"] for a in outline.all("meta") if "http-equiv" in a]
    assert "default-src 'none'" in policy
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in policy
    assert not any(name.startswith("on") for _, attrs in outline.found for name in attrs)


def test_names_stand_as_they_are_and_are_no_markup(outline, page):
    words = "".join(outline.words)
    for name in [*NAMES, FAILED, "no <start>", "<i>new-b</i>", "<b>bold</b> & so on"]:
        assert name in words
    assert SCRIPT not in page
    assert IMAGE not in page


def test_headings_descend_step_by_step(outline):
    levels = [int(tag[1]) for tag, _ in outline.found if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_drawings_and_tables_are_told_in_words(outline):
    shown = outline.all("svg")
    assert {attrs["role"] for attrs in shown} == {"img"}
    assert [attrs for attrs in shown if len(attrs["aria-label"].split()) < 4] == []
    assert len(outline.all("table")) == len(outline.all("caption"))
    assert all("scope" in attrs for attrs in outline.all("th"))
    assert all(
        attrs["tabindex"] == "0" and attrs["aria-label"]
        for attrs in outline.all("div")
        if attrs.get("role") == "region"
    )
    for landmark in ("header", "nav", "main", "footer"):
        assert len(outline.all(landmark)) == 1


def test_every_subject_has_a_section_with_at_most_three_figures(page):
    sections = re.split(r'<details class="part" id="subject-\d+">', page)[1:]
    assert len(sections) == 5
    for section in sections:
        figures = section.split("<h2")[0].count('<figure class="plot">')
        assert figures == 3 or (figures == 0 and FAILED in section)


def test_figures_keep_text_as_text_and_follow_the_theme(page):
    drawn = "".join(re.findall(r'<figure class="plot">.*?</figure>', page, re.DOTALL))
    assert any(text.startswith("Ann") for text in re.findall(r"<text[^>]*>([^<]*)", drawn))
    assert re.findall(r"(?:fill|stroke): #", drawn) == []
    for colour in set(re.findall(r"var\(--(c[0-9a-f]{6})\)", drawn)):
        assert page.count(f"--{colour}: ") == 3  # light, and dark by choice and by the system's


def test_the_table_can_be_taken_away(outline):
    (link,) = [attrs for attrs in outline.all("a") if "download" in attrs]
    text = base64.b64decode(link["href"].split("base64,")[1]).decode()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert [row["subject"] for row in rows] == [*NAMES[:3], f"'{NAMES[3]}"]


def test_the_same_fit_gives_the_same_bytes(fitted, evaluation, new_items, page_file, tmp_path):
    """Also under other settings of matplotlib, which are not touched."""
    forecast = fitted.forecast(new_items)
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red"}):
        again = report(fitted, tmp_path / "again.html", evaluation=evaluation, forecast=forecast)
        assert mpl.rcParams["font.size"] == 30
    assert again.read_bytes() == page_file.read_bytes()


def contrast(one, other):
    """Contrast of two colours, from 1 to 21: Web Content Accessibility Guidelines 2.2."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    shares = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [s / 12.92 if s <= 0.04045 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return sum(weight * s for weight, s in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.mark.parametrize("which", [0, 1], ids=["light", "dark"])
def test_text_and_lines_stand_out(which):
    colours = {name: pair[which] for name, pair in THEME.items()}
    for ground in ("paper", "raised"):
        for text in ("ink", "quiet", "accent", "alarm"):
            assert contrast(colours[text], colours[ground]) >= 4.5
    assert contrast(colours["rule"], colours["paper"]) < 4.5  # must fail: no colour for text


@pytest.mark.parametrize("colour", ["#1a1a1a", "#0072b2", "#b36b00", "#5a5a5a", "#009e73"])
def test_colours_of_figures_stand_out_in_the_dark(colour):
    assert contrast(dark(colour), THEME["paper"][1]) >= 4.5
    assert dark("#ffffff") == "#141414"
