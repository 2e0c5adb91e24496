"""Quality of items, rated by the mock model."""

import pandas as pd
import pytest
from helpers.mock_annotators import ITEMS, Mock

from measurement_layouts.annotation import AnnotationError, quality

TABLE = pd.DataFrame({"text": ITEMS, "answer": {name: f"It is {name}{name}." for name in ITEMS}})
ASKED = {"accuracy": "<answer>", "objectivity": "who answers it", "ambiguity": "one way only"}


def rater(said):
    """Answer with what `said` makes of item and indicator."""

    def reply(item, _):
        page = mock.conversations[-1][1].text
        (indicator,) = [name for name, words in ASKED.items() if words in page]
        return said(item, indicator)

    mock = Mock(reply)
    return mock


def test_each_indicator_is_asked_for_on_its_own():
    numbers = {"accuracy": 1, "objectivity": 3, "ambiguity": 5}
    mock = rater(lambda _, indicator: f"Because.\nRating: {numbers[indicator]}")
    said = quality(TABLE, mock.model)
    assert list(said.ratings.columns) == list(numbers)
    assert (said.ratings == list(numbers.values())).all(axis=None)
    assert list(said.ratings.index) == list(ITEMS)
    spent = said.usage.loc["a"].drop("seconds")
    assert spent.tolist() == [3, 300, 30]
    assert "# ambiguity\n\nBecause.\nRating: 5" in said.answers["a"]


def test_only_the_rater_of_accuracy_sees_the_answer():
    mock = rater(lambda *_: "Rating: 4")
    quality(TABLE.loc[["a"]], mock.model)
    pages = [conversation[1].text for conversation in mock.conversations]
    assert sum("It is aa." in page for page in pages) == 1
    assert all(ITEMS["a"] in page for page in pages)


def test_an_item_without_one_of_the_ratings_fails():
    mock = rater(lambda item, name: "?" if (item, name) == ("b", "objectivity") else "Rating: 5")
    said = quality(TABLE, mock.model, attempts=2)
    (failure,) = said.failures.to_dict("records")
    assert failure["item"] == "b"
    assert failure["reason"] == "objectivity: no line starts with 'Rating:'"
    assert failure["attempts"] == 4
    assert list(said.ratings.index) == list("acdef")


@pytest.mark.parametrize(
    ("items", "complaint"),
    [
        (ITEMS, "items:"),
        (TABLE[["text"]], "items:"),
        (TABLE.assign(answer=""), "the item 'a' has no answer;"),
        (TABLE.assign(text=None), "the item 'a' has no text;"),
    ],
)
def test_items_need_a_text_and_an_answer(items, complaint):
    mock = rater(lambda *_: "Rating: 5")
    with pytest.raises(AnnotationError, match=complaint):
        quality(items, mock.model)
    assert mock.calls.total() == 0
