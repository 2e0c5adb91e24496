"""Scores read as places: by hand, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import logit

from measurement_layouts import DataError
from measurement_layouts.evaluations import read_scores, score_places


def table(**changes):
    columns = {
        "subject": ["Ann", "Ann", "Bob", "Cy"],
        "benchmark": ["sums", "words", "sums", "words"],
        "score": [0.0, 0.314, 1.0, None],
        "hard": [1, 2, 1, 2],
        "year": [2024, 2024, 2025, 2025],
    }
    return pd.DataFrame({**columns, **changes})


def test_places_by_hand():
    found = read_scores(table(), places=10)
    assert found.subjects == ["Ann", "Bob"]
    assert found.items.index.tolist() == ["sums = 0", "sums = 1", "words = 0.3"]
    assert found.items["hard"].tolist() == [1, 1, 2]
    low, high = (found.items[name].to_numpy() for name in ("low", "width"))
    assert low == pytest.approx([-30, logit(0.95), logit(0.25)])
    assert low + high == pytest.approx([logit(0.05), 30, logit(0.35)])
    assert found.successes.to_numpy().tolist() == [[1, 0, 1], [0, 1, 0]]
    pd.testing.assert_frame_equal(found.successes, found.trials)
    assert found.subject_table["year"].tolist() == [2024, 2025]


def test_a_score_falls_in_the_place_next_to_it():
    scores = np.random.default_rng(1).random(200)
    rows = pd.DataFrame({"subject": map(str, range(200)), "benchmark": "sums", "score": scores})
    found = read_scores(rows, places=50)
    own = found.items.iloc[found.successes.to_numpy().argmax(axis=1)]
    inside = (own["low"] <= logit(scores)) & (logit(scores) <= own["low"] + own["width"])
    assert inside.all()
    assert not ((own["low"] <= logit(scores) - 0.5).all())  # the twin: other scores fall elsewhere


def test_places_meet_and_leave_no_room_between_them():
    places = score_places(["sums", "words"], places=7)
    assert len(places) == 16
    own = places[places["benchmark"] == "words"]
    assert (own["low"] + own["width"]).to_numpy()[:-1] == pytest.approx(own["low"].to_numpy()[1:])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"score": [0, 31.4, 1, None]}, "Ann on words: 31.4; divide percentages by 100"),
        ({"score": [0, "high", 1, None]}, "1 score.s. are no shares"),
        ({"subject": ["Ann", "Ann", "Ann", "Cy"], "year": 2024}, "1 repeated row.s.: Ann on sums"),
        ({"year": [1, 2, 3, 4]}, "year"),
    ],
)
def test_what_is_refused(changes, message):
    with pytest.raises(DataError, match=message):
        read_scores(table(**changes))


@pytest.mark.parametrize("places", [1, 10_001, 2.5, True])
def test_places_must_be_a_whole_number(places):
    with pytest.raises(DataError, match=r"places=.*give a whole number from 2 to 10,000"):
        score_places(["sums"], places=places)


def test_a_property_may_not_take_the_name_of_an_added_column():
    with pytest.raises(DataError, match=r"column.s. low, which are names of columns of places"):
        score_places(pd.DataFrame({"low": [1]}, ["sums"]))
    with pytest.raises(DataError, match="score"):
        read_scores(table().drop(columns="score"))
