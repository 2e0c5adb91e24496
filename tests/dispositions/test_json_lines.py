"""Studies as folders of JSON lines: what is read is what was written, and damage is named."""

import json

import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.dispositions import SituationalJudgments

TABLES = ("scenarios", "votes", "raters", "samples", "ratings")


@pytest.fixture
def folder(judgments, tmp_path):
    judgments.to_json_lines(tmp_path / "study")
    return tmp_path / "study"


def test_what_is_read_is_what_was_written(judgments, folder):
    found = SituationalJudgments.from_json_lines(str(folder))
    for name in TABLES:
        pd.testing.assert_frame_equal(getattr(found, name), getattr(judgments, name))
    assert found.dropped.empty


def test_a_line_is_an_object_with_the_columns(folder):
    lines = (folder / "ratings.jsonl").read_text("utf-8").splitlines()
    assert json.loads(lines[1]) == {"model": "calm", "statement": "hide", "rating": 2.5, "times": 2}
    first = json.loads((folder / "raters.jsonl").read_text("utf-8").splitlines()[0])
    assert first == {"rater": "r0", "nationality": "US", "age": None}


def test_digits_and_foreign_letters_survive(judgments, tmp_path):
    third = judgments.ratings.assign(rating=judgments.ratings["rating"] / 3 + 1)
    message = judgments.scenarios.assign(user_message='Zoë says: "no"\n\u2028🙂')
    tables = {**vars(judgments), "ratings": third, "scenarios": message}
    SituationalJudgments(**tables).to_json_lines(tmp_path)
    found = SituationalJudgments.from_json_lines(tmp_path)
    assert found.ratings["rating"].tolist() == third["rating"].tolist()
    pd.testing.assert_frame_equal(found.scenarios, message)


def test_people_alone_need_two_files(judgments, folder):
    for name in ("raters", "samples", "ratings"):
        (folder / f"{name}.jsonl").unlink()
    found = SituationalJudgments.from_json_lines(folder)
    assert found.human_rates().equals(judgments.human_rates())
    again = folder / "again"
    found.to_json_lines(again)
    assert sorted(path.name for path in again.iterdir()) == ["scenarios.jsonl", "votes.jsonl"]


def test_a_study_is_not_overwritten(judgments, folder):
    with pytest.raises(
        DataError, match=r"has scenarios\.jsonl, votes\.jsonl, .* already; give ano"
    ):
        judgments.to_json_lines(folder)


def test_a_cell_without_a_word_in_json_is_named(judgments, tmp_path):
    scenarios = judgments.scenarios.assign(made=pd.Timestamp("2026-01-01"))
    dated = SituationalJudgments(**{**vars(judgments), "scenarios": scenarios})
    with pytest.raises(DataError, match=r"row 0 cannot be written into scenarios\.jsonl: .*Timest"):
        dated.to_json_lines(tmp_path)


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("votes", b'{"scenario": "exam", ', r"votes\.jsonl, line 1: this is no JSON"),
        ("votes", b'\n["exam", "r2"]', r"votes\.jsonl, line 2: this is a list; give one"),
        (
            "votes",
            b'{"scenario": "picnic", "rater": "r2", "vote": "agree"}',
            "votes, column scenario: line 1 has 'picnic'",
        ),
        ("samples", b"\n", r"samples\.jsonl: the file is empty; give one with"),
        ("samples", b'{"model": "\xff"}', r"samples\.jsonl, line \d+: byte .* is not UTF-8"),
        ("votes", None, r"votes\.jsonl: cannot be read \(No such file"),
    ],
)
def test_a_damaged_file_is_named(folder, name, content, problem):
    path = folder / f"{name}.jsonl"
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=problem):
        SituationalJudgments.from_json_lines(folder)
