"""The sheet for people's votes as a file, and the files that it saves, read back."""

import json
import re
from html import unescape

import pandas as pd
import pytest

from measurement_layouts.common.errors import AnnotationError, DataError
from measurement_layouts.dispositions import (
    SituationalJudgments,
    attention_checks,
    collected_votes,
    vote_sheet,
)

MESSAGE = 'I </script><script>alert("x")</script> & wait. Do I sign?'
SCENARIOS = pd.DataFrame(
    {
        "trait": "calm",
        "statement": "a secret statement",
        "keyed": 1,
        "user_message": [MESSAGE, *(f"It is matter {number}. Now?" for number in range(19))],
        "agree_action": [f"Wait with {number}" for number in range(20)],
        "oppose_action": [f"Act on {number}" for number in range(20)],
    },
    index=pd.Index([f"s-{number:02d}" for number in range(20)], name="scenario"),
)


def shown(path):
    """Names in order, and the action that comes first."""
    text = path.read_text(encoding="utf-8")
    return re.findall(r'data-scenario="(.*?)" data-place="\d+" data-first="(.*?)"', text)


def line(scenario, rater, vote, **more):
    return json.dumps({"scenario": scenario, "rater": rater, "vote": vote, **more})


@pytest.fixture
def sheet(tmp_path):
    return vote_sheet(SCENARIOS, tmp_path / "sheet.html", seed=5)


@pytest.fixture
def save(tmp_path):
    """Write a file of votes."""

    def saved(name, *lines):
        path = tmp_path / name
        path.write_text("\n".join(lines) + "\n")
        return path

    return saved


class TestSheet:
    def test_everything_is_there_once(self, sheet):
        names = [name for name, _ in shown(sheet)]
        assert sorted(names) == sorted([*SCENARIOS.index, *attention_checks().index])

    def test_the_order_is_the_seed_s(self, sheet, tmp_path):
        again = vote_sheet(SCENARIOS, tmp_path / "again.html", seed=5)
        other = vote_sheet(SCENARIOS, tmp_path / "other.html", seed=6)
        assert again.read_text() == sheet.read_text()
        assert shown(other) != shown(sheet)
        assert 'data-seed="5"' in sheet.read_text()

    def test_every_scenario_comes_everywhere_and_each_action_first(self, tmp_path):
        """Over 100 seeds, to 4.5 standard errors of mean place and share."""
        places, firsts = {}, []
        few = SCENARIOS[:4]
        none = attention_checks()[:0]
        for seed in range(100):
            found = shown(vote_sheet(few, tmp_path / "sheet.html", seed=seed, checks=none))
            for place, (name, first) in enumerate(found):
                places.setdefault(name, []).append(place)
                firsts.append((name, first))
        for name, own in places.items():
            assert sum(own) / 100 == pytest.approx(1.5, abs=4.5 * 1.118 / 10)
            share = sum(first == "agree" for other, first in firsts if other == name) / 100
            assert share == pytest.approx(0.5, abs=4.5 * 0.5 / 10)

    def test_checks_are_spread_and_never_first(self, tmp_path):
        for seed in range(20):
            names = [n for n, _ in shown(vote_sheet(SCENARIOS, tmp_path / "s.html", seed=seed))]
            places = [place for place, name in enumerate(names) if name.startswith("check-")]
            assert places == [7, 15]

    def test_nobody_sees_what_is_tested_nor_what_a_check_expects(self, sheet):
        text = sheet.read_text(encoding="utf-8")
        assert "secret" not in text
        assert "calm" not in text
        assert "expected" not in text

    @pytest.mark.trust("security", "a message on a vote sheet that is a script")
    def test_a_message_is_text(self, sheet):
        text = sheet.read_text(encoding="utf-8")
        assert MESSAGE not in text
        assert MESSAGE in unescape(text)
        assert text.count("<script>") == 1

    def test_other_tables_are_refused(self, tmp_path):
        path = tmp_path / "sheet.html"
        with pytest.raises(AnnotationError, match="oppose_action"):
            vote_sheet(SCENARIOS.drop(columns="oppose_action"), path, seed=1)
        checks = attention_checks()
        with pytest.raises(DataError, match=r"s-01: both a check and a scenario"):
            vote_sheet(SCENARIOS, path, seed=1, checks=checks.set_axis(["s-01", "c"]))
        with pytest.raises(DataError, match=r"'check-colour' expects 'A'; give one of 'agree'"):
            vote_sheet(SCENARIOS, path, seed=1, checks=checks.assign(expected="A"))
        with pytest.raises(DataError, match=r"about= has \[\] for 'age'"):
            vote_sheet(SCENARIOS, path, seed=1, about={"age": []})
        with pytest.raises(DataError, match=r"cannot write into"):
            vote_sheet(SCENARIOS, tmp_path / "nowhere" / "sheet.html", seed=1)


class TestCollected:
    def test_who_fails_a_check_does_not_count(self, save):
        ann = save("ann.jsonl", line("s-00", "Ann", "agree"), line("check-colour", "Ann", "agree"))
        bob = save("bob.jsonl", line("s-00", "Bob", "oppose"), line("check-colour", "Bob", "n/a"))
        found = collected_votes([ann, bob])
        assert found.votes["rater"].tolist() == ["Ann"]
        assert found.excluded == ("Bob",)
        assert found.failed.to_numpy().tolist() == [["Bob", "check-colour", "agree", "n/a"]]
        assert collected_votes([ann, bob], tolerated=1).excluded == ()

    def test_other_checks_expect_other_answers(self, save):
        """Twin: with the check told that it expects something else, the other one fails."""
        lines = [line("s-00", rater, "agree") for rater in ("Ann", "Bob")]
        lines += [line("check-colour", "Ann", "agree"), line("check-colour", "Bob", "oppose")]
        path = save("both.jsonl", *lines)
        checks = attention_checks()
        checks.loc["check-colour", "expected"] = "oppose"
        assert collected_votes(path).excluded == ("Bob",)
        assert collected_votes(path, checks=checks).excluded == ("Ann",)

    def test_judgments_take_votes_and_raters(self, save, tmp_path):
        save("ann.jsonl", line("s-00", "Ann", "agree", about={"age": "35+"}))
        save("bob.jsonl", line("s-00", "Bob", "n/a", about={}), line("s-01", "Bob", "neutral"))
        found = collected_votes(tmp_path)
        judgments = SituationalJudgments.from_long(SCENARIOS, found.votes, raters=found.raters)
        assert judgments.human_rates()["rate"].to_dict() == {"s-00": 1.0, "s-01": 0.5}
        assert judgments.raters["age"].fillna("none").to_dict() == {"Ann": "35+", "Bob": "none"}
        assert judgments.dropped["count"].tolist()[0] == 1

    def test_saved_twice_counts_once_and_two_answers_are_refused(self, save, tmp_path):
        save("one.jsonl", line("s-00", "Ann", "agree"))
        save("two.jsonl", line("s-00", "Ann", "agree"), line("s-01", "Ann", "agree"))
        assert len(collected_votes(tmp_path).votes) == 2
        save("three.jsonl", line("s-01", "Ann", "oppose"))
        with pytest.raises(
            DataError, match=r"Ann has two different answers to s-01, in three.jsonl, two"
        ):
            collected_votes(tmp_path)

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("no json", "line 1: this is no JSON"),
            ('{"scenario": "s"}', "rater"),
            ('{"scenario": "s", "rater": 3, "vote": "agree"}', "line 1: rater is 3"),
            ('{"scenario": "s", "rater": "Ann", "vote": null}', "line 1: vote is None"),
            (line("check-colour", "Ann", "oppose"), r"no vote is left: 1 rater\(s\) failed"),
        ],
    )
    def test_what_is_no_file_of_votes_is_refused(self, save, text, said):
        with pytest.raises(DataError, match=said):
            collected_votes(save("votes.jsonl", text))

    def test_a_folder_without_files_is_named(self, tmp_path):
        with pytest.raises(DataError, match=r"no file \*.jsonl"):
            collected_votes(tmp_path)
