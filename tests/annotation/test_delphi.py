"""Delphi: what is discussed, and what the majority decides."""

import itertools
import statistics

import numpy as np
import pandas as pd
import pytest
from helpers.mock_annotators import ITEMS, Mock

from measurement_layouts.annotation import (
    AnnotationError,
    annotate,
    delphi,
    load_demand_rubric,
    load_rubric,
)

NAN = np.nan


def votes(*items):
    """Frames by annotator from the votes on each item, which are named a, b, ..."""
    names = list("abcdefgh")[: len(items)]
    return {
        f"annotator{number}": pd.DataFrame({"level": said}, index=names)
        for number, said in enumerate(zip(*items, strict=True))
    }


@pytest.mark.parametrize(
    ("said", "level", "agreed"),
    [
        ((3, 3, 3), 3, True),
        ((2, 3, 3), 3, False),
        ((0, 0, 2), None, False),  # a majority, but two apart
        ((NAN, 4, 4), 4, True),
        ((NAN, 3, 4), None, False),  # no majority
        ((NAN, 4, NAN), None, False),  # nobody to agree with
    ],
)
def test_one_item(said, level, agreed):
    table = delphi(votes((1, 1, 1), said)).loc["b"]
    assert table["discuss"] == (level is None)
    assert table["level"] is pd.NA if level is None else table["level"] == level
    assert table["agreed"] == agreed
    assert table["votes"] == tuple(sorted(vote for vote in said if vote == vote))


def test_all_votes_of_three_by_the_published_rule():
    """Every one of the 216: two or more apart is discussed, else the median is the majority."""
    everything = list(itertools.product(range(6), repeat=3))
    said = pd.DataFrame(everything, columns=["x", "y", "z"])
    table = delphi({name: said[[name]].set_axis(["level"], axis=1) for name in said})
    apart = [max(item) - min(item) >= 2 for item in everything]
    assert table["discuss"].tolist() == apart
    medians = [statistics.median(item) for item in everything]
    settled = ~table["discuss"]
    assert table.loc[settled, "level"].tolist() == [
        median for median, far in zip(medians, apart, strict=True) if not far
    ]
    # the twin: were three apart needed, other items would be discussed
    assert table["discuss"].tolist() != [max(item) - min(item) >= 3 for item in everything]


def test_four_annotators_may_tie():
    table = delphi(votes((2, 2, 3, 3), (2, 3, 3, 3)))
    assert table["discuss"].tolist() == [True, False]
    assert table["level"].tolist() == [pd.NA, 3]


def test_models_can_be_annotators():
    rubric = load_demand_rubric("quantitative_reasoning")
    said = {
        str(level): annotate(ITEMS, rubric, Mock(lambda *_, at=level: f"Level: {at}").model)
        for level in (3, 3.0, 4)
    }
    table = delphi(said)
    assert list(table.index) == list(ITEMS)
    assert (table["level"] == 3).all()


def test_what_are_no_votes_is_refused():
    with pytest.raises(AnnotationError, match=r"a level is 2\.5; give whole levels"):
        delphi(votes((2, 2.5, 3)))
    with pytest.raises(AnnotationError, match="annotations of 1; give a mapping"):
        delphi(dict(itertools.islice(votes((2, 2)).items(), 1)))
    bands = {name: annotate(ITEMS, load_rubric("risk_aversion"), Mock().model) for name in "xy"}
    with pytest.raises(AnnotationError, match=r"annotator 'x': .* with the column level$"):
        delphi(bands)
