"""The study of an incited propensity, against mock models whose every answer is laid down."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.mock_subjects import LETTERS, Judge, Subject, choice_items
from helpers.rubrics import ladder

from measurement_layouts.annotation import AnnotationError, inciting_prompt
from measurement_layouts.dispositions import incite

HASTE = ladder()
LEVELS = [-2, 0, 2, None]
SHARES = {
    "form": 0.45,
    "prose": 0.15,
    "vague": 0.05,
    "twice": 0.05,
    "twice, then one": 0.1,
    "unknown, then prose": 0.05,
    "silent": 0.05,
    "silent, then one": 0.1,
}
KEPT_BY = {
    "form": "rules",
    "prose": "judge",
    "twice, then one": "rules",
    "unknown, then prose": "judge",
    "silent, then one": "rules",
}
ATTEMPTS = {"twice": 3, "silent": 3, **dict.fromkeys(["twice, then one", "silent, then one"], 2)}
ATTEMPTS["unknown, then prose"] = 2
ITEMS = choice_items(30)


def level_of(system):
    """The level that a prompt of HASTE incites to; None without one."""
    return next((at for at in (-2, 0, 2) if system and f"are at {at}" in system), None)


@pytest.fixture(scope="module")
def study():
    """Two models under four prompts: plans drawn at random, and what came of them."""
    random = np.random.default_rng(26)
    names = [*SHARES]
    ways = random.choice(len(names), size=(2, len(LEVELS), len(ITEMS)), p=[*SHARES.values()])
    letters = random.choice(3, size=ways.shape)

    def plan_of(model):
        def plan(system, number):
            place = model, LEVELS.index(level_of(system)), number
            return names[ways[place]], LETTERS[letters[place]]

        return plan

    subjects = {name: Subject(plan_of(n)) for n, name in enumerate(["one", "two"])}
    judge = Judge(errs=lambda question: int(question.split(":")[0].split()[1]) % 5 == 0)
    said = incite(
        ITEMS,
        HASTE,
        {name: subject.model for name, subject in subjects.items()},
        levels=LEVELS,
        judge=judge.model,
        checked=0.3,
    )
    return said, np.array(names)[ways], np.array([*LETTERS])[letters], subjects, judge


def rows(study):
    """Every planned answer: subject, item, way and letter, in the order of the answers."""
    _, ways, letters, *_ = study
    for model, name in enumerate(["one", "two"]):
        for at, level in enumerate(["-2", "0", "+2", "unprompted"]):
            for number in range(len(ITEMS)):
                place = model, at, number
                yield f"{name} {level}", f"i{number}", ways[place], letters[place]


def test_what_is_kept_asked_again_and_dropped_is_counted_as_planned(study):
    said = study[0]
    assert len(said.answers) == 2 * 4 * 30
    expected = pd.DataFrame(0, said.conditions.index, said.counts.columns)
    for (subject, _, way, _), answer in zip(
        rows(study), said.answers.to_dict("records"), strict=True
    ):
        by = KEPT_BY.get(way, "")
        expected.loc[subject, "items"] += 1
        expected.loc[subject, "kept"] += bool(by)
        expected.loc[subject, "by_rules"] += by == "rules"
        expected.loc[subject, "by_judge"] += by == "judge"
        expected.loc[subject, "dropped"] += not by
        expected.loc[subject, "asked_again"] += ATTEMPTS.get(way, 1) > 1
        assert (answer["by"], answer["attempts"]) == (by, ATTEMPTS.get(way, 1))
    pd.testing.assert_frame_equal(said.counts.drop(index="all"), expected)
    pd.testing.assert_series_equal(said.counts.loc["all"], expected.sum(), check_names=False)
    for way, share in SHARES.items():  # the plan itself has the stated shares
        found = np.mean(study[1] == way)
        assert abs(found - share) < 3 * math.sqrt(share * (1 - share) / 240)


def test_outcomes_are_those_of_the_options_that_were_meant(study):
    said, *_, judge = study
    evaluation = said.evaluation
    assert list(evaluation.subjects) == list(said.conditions.index)
    for subject, item, way, letter in rows(study):
        wrong = way in ("prose", "unknown, then prose") and int(item[1:]) % 5 == 0
        read = LETTERS[LETTERS.index(letter) - 1] if wrong else letter  # where the judge errs
        assert evaluation.trials.loc[subject, item] == (way in KEPT_BY)
        right = way in KEPT_BY and read == ITEMS.loc[item, "right"]
        assert evaluation.successes.loc[subject, item] == right
    assert evaluation.ungraded["ungraded"].sum() == len(said.dropped) > 0
    assert evaluation.items[["low", "high"]].equals(said.items[["low", "high"]])
    assert evaluation.subject_table["incited"].tolist()[:3] == [-2, 0, 2]
    assert math.isnan(evaluation.subject_table["incited"].iloc[3])
    assert all(seen["answer"].strip() for seen in judge.asked)


def test_dropped_answers_say_why(study):
    said = study[0]
    why = {
        "twice": "it names more than one option: ",
        "silent": "there is no text",
        "vague": "the judge finds no single option in it",
    }
    lost = [(subject, item, why[way]) for subject, item, way, _ in rows(study) if way in why]
    assert len(said.dropped) == len(lost)
    for (subject, item, reason), found in zip(lost, said.dropped.to_dict("records"), strict=True):
        assert (found["subject"], found["item"]) == (subject, item)
        assert found["reason"].startswith(reason)


def test_agreement_is_that_of_the_share_which_both_read(study):
    said, *_, judge = study
    table = said.agreement()
    by_rules = int(said.counts.loc["all", "by_rules"])
    assert table.loc["all", "compared"] == math.ceil(0.3 * by_rules)
    both = said.answers[(said.answers["by"] == "rules") & (said.answers["judge"] != "")]
    errs = both["item"].str[1:].astype(int) % 5 == 0
    assert 0 < errs.sum() < len(both)
    assert table.loc["all", "agreed"] == (~errs).sum()
    assert table.loc["all", "low"] < table.loc["all", "estimate"] < table.loc["all", "high"]
    assert (both["chosen"] == both["rules"]).all()
    prose = ("prose", "vague", "unknown, then prose")
    unread = sum(way in prose for _, _, way, _ in rows(study))
    assert len(judge.asked) == unread + math.ceil(0.3 * by_rules)


def test_usage_is_what_was_asked(study):
    said, _, _, subjects, judge = study
    asked = {name: subject.asked.total() for name, subject in subjects.items()}
    asked["judge"] = len(judge.asked)
    asked["all"] = sum(asked.values())
    assert said.usage["attempts"].to_dict() == asked
    assert said.usage["input_tokens"].to_dict() == {who: 100 * n for who, n in asked.items()}
    assert said.usage.loc["all", "output_tokens"] == 10 * asked["all"]


def test_without_a_judge_prose_is_dropped():
    subject = Subject(lambda _, number: ("prose" if number < 5 else "form", "B"))
    said = incite(ITEMS, "risk_aversion", {"one": subject.model}, levels=[None])
    assert said.counts.loc["all", ["kept", "by_judge", "dropped"]].tolist() == [25, 0, 5]
    assert set(said.dropped["reason"]) == {"no rule reads an option from it, and there is no judge"}
    assert said.agreement().loc["all", "compared"] == 0
    assert "judge" not in said.usage.index


def test_each_condition_has_its_prompt():
    seen = []
    subject = Subject(lambda system, _: (seen.append(system), ("form", "A"))[1])
    said = incite(ITEMS[:1], "risk_aversion", {"m": subject.model}, levels=[-3, None])
    shipped = inciting_prompt("risk_aversion", -3).rsplit("\n\n", 1)[0]
    assert sorted(seen) == ["", shipped]
    assert said.conditions["prompt"].to_dict() == {"m -3": shipped, "m unprompted": ""}
    seen.clear()
    own = {-7: "Be slow.", None: "", 7: "Be quick."}
    said = incite(ITEMS[:1], HASTE, {"m": subject.model}, levels=own)
    assert sorted(seen) == ["", "Be quick.", "Be slow."]
    assert list(said.conditions.index) == ["m -7", "m unprompted", "m +7"]
    seen.clear()
    incite(ITEMS[:1], HASTE, subject.model)
    assert len(set(seen)) == 6


# --- stores --------------------------------------------------------------------------------------


def test_a_second_run_asks_only_for_what_is_missing(tmp_path):
    silent = Subject(lambda _, number: ("silent" if number < 2 else "prose", "A"))
    judge = Judge()
    how = {"levels": [-2, 2], "log_dir": tmp_path, "checked": 0}
    names = {"some/model": silent.model}
    first = incite(ITEMS[:6], HASTE, names, judge=judge.model, **how)
    assert first.counts.loc["all", ["kept", "dropped"]].tolist() == [8, 4]
    assert (silent.asked.total(), len(judge.asked)) == (2 * (2 * 3 + 4), 8)

    better, again = Subject(lambda *_: ("prose", "B")), Judge()
    how |= {"judge": again.model}
    second = incite(ITEMS[:7], HASTE, {"some/model": better.model}, **how)
    assert better.asked.total() == 2 * (2 + 1)  # the two that failed, and the new item
    assert len(again.asked) == 6
    assert second.counts.loc["all", ["kept", "dropped"]].tolist() == [14, 0]
    assert second.usage.loc["some/model", "attempts"] == 20 + 6
    assert second.usage.loc["judge", "attempts"] == 14
    third = incite(ITEMS[:7], HASTE, {"some/model": better.model}, **how)
    assert (better.asked.total(), len(again.asked)) == (6, 6)
    pd.testing.assert_frame_equal(third.answers, second.answers)


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"items": ITEMS.drop(columns="question")}, "there is no column"),
        ({"items": ITEMS.assign(B=None)}, "has the options {'A': 'the"),
        ({"items": ITEMS.assign(B=None, C=None)}, "'A': 'the AA of 0'}; give"),
        ({"items": ITEMS.assign(B=ITEMS["A"])}, "with different texts"),
        ({"items": ITEMS.assign(right="D")}, "the right option is 'D';"),
        ({"items": ITEMS.drop(columns="low")}, "there is no column 'low'"),
        ({"items": ITEMS.assign(low=4)}, "'i0' has the band 4 to 0;"),
        ({"items": ITEMS.assign(high="many")}, "give two numbers, the low"),
        ({"levels": [3]}, "level=3; give a whole"),
        ({"levels": [1.5]}, "level=1.5"),
        ({"levels": [1, 1]}, "give each level once"),
        ({"levels": []}, "at least one"),
        ({"levels": {1: " "}}, "the prompt of 1 is ' '"),
        ({"levels": {None: "Hi."}}, "an empty one for None"),
        ({"levels": {"much": "Hi."}}, "the prompt of 'much' is"),
        ({"propensity": "bravery"}, "no rubric 'bravery'"),
        ({"models": []}, "models are called nothing;"),
        ({"models": ["mockllm/a", "mockllm/a"]}, "with different names"),
        ({"models": {"judge": "mockllm/a"}}, "other than 'all' and 'judge'"),
        ({"checked": 1.2}, "checked=1.2; give a share"),
        ({"attempts": 0}, "attempts=0"),
        ({"speed": 1}, "unknown option speed"),
    ],
)
def test_what_cannot_be_asked_is_refused(change, complaint):
    asked = {"items": ITEMS, "propensity": HASTE, "models": "mockllm/a", **change}
    with pytest.raises(AnnotationError, match=complaint):
        incite(**asked)


def test_a_judge_that_there_is_not_stops_it_before_anything_is_asked():
    subject = Subject(lambda *_: ("form", "A"))
    with pytest.raises(ValueError, match="nobody"):
        incite(ITEMS, HASTE, {"m": subject.model}, levels=[0], judge="nobody/at-all")
    assert not subject.asked
