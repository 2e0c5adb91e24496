"""The findings of a report are counts of the tables behind it."""

import pytest
from helpers.awkward_names import FAILED

import measurement_layouts as ml
from measurement_layouts.reports.bars import axes, bars
from measurement_layouts.reports.contents import Contents
from measurement_layouts.reports.findings import findings
from measurement_layouts.reports.report import report


@pytest.fixture(scope="module")
def groups(fitted, evaluation):
    contents = Contents.of(fitted, evaluation, None, None, None)
    found = findings(contents, bars(contents.profiles, axes(contents)))
    return {group.title: group.sentences for group in found}


def test_success_lies_where_the_outcomes_say(groups, evaluation):
    rates = evaluation.successes.mean(axis=1)
    told = groups["Who can do what"][0]
    assert f"between {rates.min():.2f} ({rates.idxmin()})" in told
    assert f"and {rates.max():.2f} ({rates.idxmax()})" in told
    assert f"the median is {rates.median():.2f}" in told


def test_strengths_and_open_elements_are_counted(groups, fitted):
    judged = ml.describe(fitted).findings
    skill = judged[judged["where"] == "skill"]["what"].value_counts()
    (told,) = [text for text in groups["Who can do what"] if text.startswith("skill:")]
    for kind in ("strength", "weakness"):
        assert (f"a {kind} of {skill.get(kind)}" in told) == (kind in skill)
    left = sum(skill.get(kind, 0) for kind in ("uncertain", "unknown"))
    said = [text for text in groups.get("What to run next", []) if text.startswith("skill ")]
    assert bool(said) == bool(left)
    assert all(f"in {left} of 5" in text for text in said)


def test_who_failed_is_not_to_be_trusted(groups):
    assert any(
        "could not be fitted" in text and FAILED in text for text in groups["What not to trust"]
    )


def test_both_formats_begin_with_them(page, fitted, evaluation, tmp_path):
    assert page.index('id="findings"') < page.index('id="profiles"') < page.index('id="layout"')
    text = report(fitted, tmp_path / "short.md", evaluation=evaluation).read_text()
    assert text.index("## Findings") < text.index("## Profiles") < text.index("## The layout")


def test_a_fit_of_nobody_has_none(fitted):
    nobody = ml.Fit(fitted.layout, fitted.data.isel(subject=slice(0)), dict(fitted.failures))
    assert findings(Contents.of(nobody, None, None, None, None), {}) == []


def test_the_highest_is_not_that_of_all_where_some_are_prior_dominated(groups, fitted):
    """The one who passes everything has the largest mean, but it is bounded on one side only."""
    table = fitted.profiles().query("node == 'skill'").set_index("subject")
    told = table[~table["prior_dominated"]]
    assert table["mean"].idxmax() not in told.index
    (said,) = [text for text in groups["Who can do what"] if text.startswith("skill:")]
    assert f"of the {len(told)} that are not prior-dominated; highest in" in said
    assert f"lowest in {told['mean'].idxmin()}" in said


def test_rates_that_are_all_the_same_have_no_highest(fitted):
    names = fitted.subjects[:2]
    contents = Contents.of(fitted, None, None, None, None)
    object.__setattr__(contents, "rates", contents.rates[names] * 0 + 0.5)
    first = findings(contents, bars(contents.profiles, axes(contents)))[0].sentences[0]
    assert first == "Success rates of 2 subjects are all 0.50."
