"""Results show themselves: what they are, and what to call next; names cannot break the page."""

import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic

HOSTILE = "<script>alert(1)</script>"


class Balanced(HTMLParser):
    """Counts tags that are open, and collects those that were seen."""

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(page):
    """The tags of a page, all of which are closed."""
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    return parser.seen


@pytest.fixture(scope="module")
def results():
    """One of each kind, with names that are markup."""
    demand = ml.MetaFeature("demand", low=0, high=9)
    ability = ml.Capability("ability", low=0, high=9)
    layout = ml.Layout(HOSTILE, ml.Success("right", logistic(ability - demand)))
    items = pd.DataFrame(
        {"demand": np.arange(30) % 10, HOSTILE: np.arange(30) % 2},
        index=[f"{HOSTILE} {number}" for number in range(30)],
    )
    truth = pd.DataFrame({"ability": [3.0, 6.0]}, index=[HOSTILE, "Bob"])
    evaluation = ml.simulate(layout, items, truth, seed=1)
    fit = ml.fit(layout, evaluation, method="grid", seed=1)
    methods = {HOSTILE: "aggregate", "line": "logistic"}
    return [
        evaluation,
        ml.check(layout, evaluation),
        fit,
        fit.forecast(items.rename(lambda name: f"new {name}")),
        ml.validation.criticise(fit, evaluation),
        ml.validation.cross_validate(
            methods, evaluation, columns=["demand"], repeats=1, progressbar=False
        ),
        ml.batteries.design(layout, items, n=3),
    ]


def test_every_kind_of_result_shows_what_it_is_and_what_comes_next(results):
    for result in results:
        page = result._repr_html_()
        seen = tags(page)
        assert {"details", "summary", "code"} <= seen
        assert "script" not in seen
        assert type(result).__name__ in page
        assert "mathjax_ignore" in page


def test_the_calls_that_are_named_exist(results):
    for result in results:
        for call in result._overview().calls:
            root, *names = re.match(r"[\w.]+", call)[0].split(".")
            place = ml if root == "ml" else result
            for name in names:
                place = getattr(place, name)


def test_a_fit_that_did_not_converge_shows_the_remedy_of_its_diagnostics():
    layout = ml.Layout("coin", ml.Success("heads", ml.Capability("p", low=0, high=1)))
    items = pd.DataFrame(index=[f"i{number}" for number in range(5)])
    outcomes = ml.simulate(layout, items, pd.DataFrame({"p": np.full(5, 0.5)}), seed=1)
    short = {"chains": 2, "draws": 20, "tune": 20, "seed": 1, "progressbar": False}
    fit = ml.fit(layout, outcomes, **short)
    wrong = fit.diagnostics().query("status != 'ok'")
    shown = fit._overview().facts["not ok"]
    assert len(wrong) == 5
    assert wrong["reason"].iloc[0] in shown
    assert shown.endswith("and 2 more, with reasons in fit.diagnostics()")
