"""Tables of demands: all rubrics, unguessability, cost foreseen and counted, runs that go on."""

import re
from collections import Counter

import pandas as pd
import pytest
from helpers.mock_annotators import output
from inspect_ai.model import get_model

from measurement_layouts.annotation import (
    DEMAND_RUBRICS,
    AnnotationError,
    DemandLevel,
    DemandRubric,
    agreement,
    annotate_demands,
    foreseen_usage,
    load_demand_rubric,
)

ITEMS = {f"q{number}": f"Question {number}: what follows?" for number in range(40)}
OPTIONS = {f"q{number}": 2 + number % 3 for number in range(20)}
TWO = ["logical_reasoning", "volume"]


class Sloppy:
    """A model that answers wrongly, in prose, or not at all, each to a fifth of the questions.

    Its first answer is out of range for a fifth of the items, is prose without a level for another,
    both are mended when asked again; a fifth of the items is never answered.
    """

    def __init__(self):
        self.calls = Counter()
        self.model = get_model("mockllm/model", custom_outputs=self._answer)

    async def _answer(self, messages, _tools, _choice, _config):
        page = messages[1].text
        number = int(re.search(r"Question (\d+):", page)[1])
        what = re.search(r"# (.*)\n", page)[1]
        self.calls[what, number] += 1
        asked, kind = self.calls[what, number], number % 5
        label = "Unguessability" if what == "Unguessability" else "Level"
        if kind == 0:
            return output("I would rather not say.")
        if kind == 1 and asked == 1:
            return output(f"{label}: 400")
        if kind == 2 and asked == 1:
            return output("This is a question of some weight, and I find it rather hard.")
        return output(f"So be it.\n{label}: {number % 6}")


@pytest.fixture(scope="module")
def said():
    return annotate_demands(ITEMS, Sloppy().model, TWO, options=OPTIONS, attempts=3, prices=(2, 8))


def test_what_is_kept_asked_again_and_dropped_is_counted(said):
    answered = [name for name in ITEMS if int(name[1:]) % 5]
    assert list(said.table.index) == answered
    assert list(said.table.columns) == ["demand[QLl]", "demand[VO]", "unguessability"]
    assert (said.table["demand[QLl]"] == [int(name[1:]) % 6 for name in answered]).all()
    counts = said.annotations["demand[VO]"].usage["attempts"].value_counts().to_dict()
    assert counts == {1: 16, 2: 16, 3: 8}  # at once; asked again; given up
    missing = said.failures.groupby("column").size().to_dict()
    assert missing == {"demand[QLl]": 8, "demand[VO]": 8, "unguessability": 4}
    assert said.failures["reason"].str.contains("no line starts with").all()


def test_unguessability_is_computed_from_options_and_asked_for_elsewhere(said):
    table = said.table["unguessability"]
    with_options = [name for name in table.index if name in OPTIONS]
    assert table[with_options].to_list() == [100 * (1 - 1 / OPTIONS[name]) for name in with_options]
    assert table["q21"] == 21 % 6
    assert set(said.annotations["unguessability"].usage.index) == set(ITEMS) - set(OPTIONS)


def test_cost_and_time_are_foreseen_and_counted(said):
    foreseen = foreseen_usage(ITEMS, TWO, options=OPTIONS, answer_tokens=10, prices=(2, 8))
    assert foreseen.loc["all", "questions"] == 2 * 40 + 20
    length = len(load_demand_rubric("volume").definition)
    assert foreseen.loc["demand[VO]", "input_tokens"] > 40 * length / 4
    assert foreseen.loc["all", "minutes"] == pytest.approx(100 * 10 / 50 / 10 / 60)
    faster = foreseen_usage(ITEMS, TWO, options=OPTIONS, answer_tokens=10, connections=4, speed=25)
    assert faster.loc["all", "minutes"] == pytest.approx(100 * 10 / 25 / 4 / 60)
    spent = [found.usage["seconds"].sum() for found in said.annotations.values()]
    assert 0 < said.usage.loc["all", "seconds"] == pytest.approx(sum(spent))
    table = foreseen[["input_tokens", "output_tokens"]]
    assert table.sum().sum() == pytest.approx(2 * table.loc["all"].sum())
    asked = sum(found.usage["attempts"].sum() for found in said.annotations.values())
    assert said.usage.loc["all", "attempts"] == asked
    assert said.usage.loc["all", "cost"] == pytest.approx(asked * (100 * 2 + 10 * 8) / 1e6)


def test_a_run_that_was_interrupted_asks_only_for_what_is_missing(tmp_path):
    few = {name: ITEMS[name] for name in ("q3", "q4")}  # answered at once
    annotate_demands(few, Sloppy().model, TWO, options={"q3": 4, "q4": 4}, store=tmp_path)
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == ["QLl.jsonl", "VO.jsonl"]
    model = Sloppy()
    more = {**few, "q8": ITEMS["q8"]}
    again = annotate_demands(more, model.model, TWO, options=dict.fromkeys(more, 4), store=tmp_path)
    assert {number for _, number in model.calls} == {8}
    assert list(again.table.index) == ["q3", "q4", "q8"]


def test_two_models_agree_column_by_column(said):
    again = annotate_demands(ITEMS, Sloppy().model, TWO[1:], options=dict.fromkeys(ITEMS, 2))
    column = "demand[VO]"
    both = {"one": said.annotations[column], "two": again.annotations[column]}
    assert agreement(both, resamples=10)["estimate"].to_list() == [1, 1]


def test_all_eighteen_are_the_default():
    assert len(foreseen_usage({"a": "b"}, options={"a": 2})) == len(DEMAND_RUBRICS) + 1 == 19


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"options": {"q0": 1}}, "item 'q0' has 1; give a whole number of at least 2"),
        ({"options": {"x": 2}}, "options: there is no item 'x'"),
        ({"options": [2, 3]}, "options: this is a list"),
        ({"speed": 0}, "speed=0; give tokens a second, above 0"),
        ({"connections": 1.5}, "connections=1.5; give a whole number of at least 1"),
        ({"rubrics": []}, "no rubrics; give at least one"),
        (
            {"rubrics": ["volume", "volume"]},
            "'volume' and 'volume' both have the code 'VO', and the second",
        ),
        (
            {
                "rubrics": [
                    DemandRubric(
                        "own", "d", (DemandLevel(0, "a", ("b",)), DemandLevel(1, "c", ("d",)))
                    )
                ]
            },
            "rubric 'own' has no code",
        ),
    ],
)
def test_bad_input_is_refused(changes, complaint):
    given = {"items": ITEMS, "rubrics": TWO} | changes
    with pytest.raises(AnnotationError, match=re.escape(complaint)):
        foreseen_usage(**given)


def test_a_second_rubric_extends_the_levels_of_the_first():
    """It is asked about items at the end of the first one alone, and counts for them."""
    names = ["Level 5 of old.", *(f"Level {level} of new." for level in range(6, 11))]
    levels = tuple(DemandLevel(at, text, ("x",)) for at, text in enumerate(names, 5))
    further = DemandRubric("length, from 5", "How much there is to read.", levels, code="VO")

    def reply(messages, _tools, _choice, _config):
        page = messages[1].text
        number = int(re.search(r"Question (\d+):", page)[1])
        if "length, from 5" in page:
            asked.append(number)
            return output("No." if number == 17 else f"Level: {7 if number == 5 else 5}")
        return output(f"Level: {number % 6}")

    asked = []
    model = get_model("mockllm/model", custom_outputs=reply)
    said = annotate_demands(
        ITEMS, model, [further, "volume"], options=dict.fromkeys(ITEMS, 2), attempts=1
    )
    assert sorted(asked) == [number for number in range(40) if number % 6 == 5]
    assert list(said.failures["item"]) == ["q17"]
    expected = {name: int(name[1:]) % 6 for name in ITEMS if name != "q17"} | {"q5": 7}
    assert said.table["demand[VO]"].to_dict() == expected
    assert said.usage.loc["demand[VO]", "attempts"] == 40 + len(asked)


def test_missing_options_are_asked_for():
    options = pd.Series({"q3": 4, "q4": None})
    model = Sloppy()
    table = annotate_demands(
        {name: ITEMS[name] for name in options.index}, model.model, TWO[:1], options=options
    ).table
    assert table["unguessability"].to_list() == [75, 4]
