"""Groups of subjects that share no item are named first, unless something else links them."""

import numpy as np
import pandas as pd
import pytest

import measurement_layouts as ml
from measurement_layouts.linking import logistic


def forms(*sizes, anchors=0, items=6):
    """Groups of subjects with forms of their own, and items that all of them attempted."""
    rng = np.random.default_rng(1)
    count = items * len(sizes) + anchors
    names = [f"q{number}" for number in range(count)]
    rows = []
    for number, size in enumerate(sizes):
        mine = range(number * items, (number + 1) * items)
        for subject in range(size):
            tried = [*mine, *range(items * len(sizes), count)]
            rows.append(pd.Series(rng.integers(0, 2, len(tried)), [names[at] for at in tried]))
            rows[-1].name = f"form {number} subject {subject}"
    table = pd.DataFrame(rows).reindex(columns=names)
    described = pd.DataFrame(
        {
            "topic": [("sums", "words")[at % 2] for at in range(count)],
            "level": [float(at % 3) for at in range(count)],
            "form": [min(at // items, len(sizes) - 1) for at in range(count)],
        },
        index=names,
    )
    return ml.Evaluation.from_wide(table, described)


def mean():
    return ml.Bias("mean", per="population")


def ability():
    return ml.Capability("ability", prior=ml.Prior("Normal", mu=mean(), sigma=ml.Spread("spread")))


def ease(family="ZeroSumNormal"):
    return ml.Bias("ease", per="item", prior=ml.Prior(family, sigma=ml.Spread("easeSpread")))


def rasch(extra=0, **given):
    return ml.Layout("Rasch", ml.Success("solved", logistic(ability() + ease(**given) + extra)))


def named(layout, evaluation):
    problems = ml.check(layout, evaluation).problems
    return [at for at, text in enumerate(problems) if "share no item" in text], problems


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ((8, 8), "16 subjects fall into 2"),
        ((7, 5, 3), "15 subjects fall into 3"),
        ((9, 1), "10 subjects fall into 2"),
        ((3, 3, 2, 2, 2), "12 subjects fall into 5"),
    ],
)
def test_groups_without_a_common_item_are_named_first(sizes, said):
    at, problems = named(rasch(), forms(*sizes))
    assert at == [0]
    assert said in problems[0]
    assert "form 0 subject 0" in problems[0]
    assert "; give subjects of each group some of the other's items" in problems[0]


def test_the_remedy_does_not_hide_that_nothing_links_them():
    free = ml.Bias("ease", per="item", prior=ml.Prior("Normal", mu=0, sigma=3))
    layout = ml.Layout("free", ml.Success("solved", logistic(ability() + free)))
    at, problems = named(layout, forms(8, 8))
    assert at == [0]
    assert not any("sum to zero" in text for text in problems)
    at, problems = named(layout, forms(8, 8, anchors=1))
    assert at == []
    assert any("sum to zero" in text for text in problems)


def test_one_common_item_links_them():
    assert named(rasch(), forms(8, 8, anchors=1))[0] == []


def test_demands_that_vary_within_a_form_link_them():
    level = ml.MetaFeature("level", low=0, high=2)
    assert named(rasch(-level), forms(8, 8))[0] == []


def test_a_demand_that_only_tells_forms_apart_does_not():
    form = ml.MetaFeature("form", levels=(0, 1))
    weight = ml.Bias("weight", per="population")
    assert named(rasch(weight * form), forms(8, 8))[0] == [0]


def test_effects_of_categories_link_them():
    spread = ml.Spread("topicSpread")
    topic = ml.Bias(
        "topicEase", per=ml.Category("topic"), prior=ml.Prior("Normal", mu=0, sigma=spread)
    )
    assert named(rasch(topic), forms(8, 8))[0] == []


def test_without_effects_of_items_nothing_is_missing():
    level = ml.MetaFeature("level", low=0, high=2)
    layout = ml.Layout("levels", ml.Success("solved", logistic(ability() - level)))
    assert named(layout, forms(8, 8))[0] == []


def test_the_fit_says_so_too():
    """First of all reasons, with what would link them; a fit of linked forms is ok."""
    options = {"draws": 400, "tune": 400, "chains": 2, "seed": 1, "progressbar": False}
    (row,) = ml.fit(rasch(), forms(8, 8), **options).diagnostics().itertuples()
    assert row.status == "groups not linked"
    assert row.reason.startswith("groups not linked: 16 subjects fall into 2 groups that share no")
    assert "; give subjects of each group some of the other's items" in row.reason
    (row,) = ml.fit(rasch(), forms(8, 8, anchors=1), **options).diagnostics().itertuples()
    assert row.status in ("ok", "few draws")
    assert "not linked" not in row.reason
