"""Validation of situational judgment tests: the sheet, unanimity, rates and shuffled advice."""

import math

import numpy as np
import pandas as pd
import pytest
from helpers.mock_situations import SCENARIOS, Mock, material_of
from scipy import stats

from measurement_layouts.annotation import AnnotationError
from measurement_layouts.common.proportions import newcombe, wilson
from measurement_layouts.dispositions import (
    rejection_rate,
    shuffled_statements,
    validate_situations,
    validation_answers,
    validation_sensitivity,
    validation_sheet,
)
from measurement_layouts.dispositions.situations.sensitivity import derangement

MEANT = pd.DataFrame({"supports": ["A", "B"]}, index=["one", "two"])


def named(scenario, *answers):
    people = ["Ada", "Ben", "Cy", "Di"][: len(answers)]
    return pd.DataFrame({"scenario": scenario, "annotator": people, "answer": answers})


def test_the_order_of_a_scenario_depends_on_seed_and_name_only():
    many = pd.concat([SCENARIOS[:1]] * 200).set_axis([f"s{number}" for number in range(200)])
    sheet = validation_sheet(many)
    pd.testing.assert_frame_equal(validation_sheet(many[50:80]), sheet[50:80])
    other = validation_sheet(many, seed=2)
    agree = sheet["supports"] == "A"
    assert 70 < agree.sum() < 130  # 100, four standard errors of 7
    assert 70 < (sheet["supports"] == other["supports"]).sum() < 130
    assert (sheet["A"] == np.where(agree, "Wait with 0", "Act on 0")).all()
    assert (sheet["B"] == np.where(agree, "Act on 0", "Wait with 0")).all()


@pytest.mark.parametrize(
    ("answers", "verdict"),
    [
        ("AAA", "kept"),
        ("AAAA", "kept"),
        ("AAB", "rejected"),
        ("AAAB", "rejected"),
        ("BBB", "rejected"),
        ("AAN", "rejected"),
        ("NNN", "rejected"),
        ("AA", "open"),
        ("AN", "rejected"),
        ("", "open"),
    ],
)
def test_only_unanimous_scenarios_are_kept(answers, verdict):
    said = named("one", *["N/A" if answer == "N" else answer for answer in answers])
    found = validate_situations(MEANT, [said, named("two", "B", "b", " (B) ")])
    assert found.loc["one", "verdict"] == verdict
    assert found.loc["two"].tolist() == [3, 0, 0, "kept"]
    counts = [answers.count(letter) for letter in "ABN"]
    assert found.loc["one", ["agree", "oppose", "not_applicable"]].tolist() == counts


def test_what_supports_the_advice_is_not_shown():
    mock = Mock(lambda *_: "Answer: A")
    validation_answers(validation_sheet(SCENARIOS), mock.model)
    for question in mock.questions:
        assert list(material_of(question)) == ["advice", "user_message", "A", "B"]
        assert "supports" not in question


@pytest.mark.parametrize("bad", ["A.", "Answer: C", "Answer: A or B", "Answer: A, B or N/A"])
def test_a_bad_answer_is_asked_again_then_named(bad):
    mock = Mock(lambda _, attempt: bad if attempt == 1 else "Answer: not applicable")
    sheet = validation_sheet(SCENARIOS[:1])
    assert validation_answers(sheet, mock.model).table["answer"].tolist() == ["N/A"]
    assert "This answer cannot be used" in mock.conversations[1][-1].text
    never = validation_answers(sheet, Mock(lambda *_: bad).model, attempts=2)
    assert never.failures["scenario"].tolist() == ["sleep-01"]
    assert validate_situations(sheet, never.table)["verdict"].tolist() == ["open"]


def test_each_annotator_is_asked(tmp_path):
    """One model that stands for two must not be read twice from the same logs."""
    sheet, mock = validation_sheet(SCENARIOS), Mock(lambda *_: "Answer: A")
    validation_answers(sheet, mock.model, annotator="one", log_dir=tmp_path)
    validation_answers(sheet, mock.model, annotator="two", log_dir=tmp_path)
    assert len(mock.conversations) == 2 * len(sheet)


@pytest.mark.parametrize(
    ("answers", "complaint"),
    [
        (named("six", "A"), "'six', annotator 'Ada', .*:"),
        (named("one", "C"), "annotator 'Ada', answer"),
        (named("one", math.nan), "answer 'nan': it is not "),
        (pd.concat([named("one", "A")] * 2), "annotator 'Ada', .*: there"),
        (named("one", "A").drop(columns="answer"), "answers:"),
        ([], "no answers; give at least"),
        (["A"], "answers:"),
    ],
)
def test_bad_answers_are_refused(answers, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        validate_situations(MEANT, answers)


# --- rates ---------------------------------------------------------------------------------------


def verdicts_of(kept, rejected, still_open=0):
    words = ["kept"] * kept + ["rejected"] * rejected + ["open"] * still_open
    return pd.DataFrame({"verdict": words})


@pytest.mark.parametrize(("count", "total"), [(0, 10), (8, 100), (10, 10), (1, 3)])
def test_rates_have_wilsons_interval(count, total):
    """Its ends are the rates whose score test just rejects the observed one."""
    rate = rejection_rate(verdicts_of(total - count, count, still_open=5), prob=0.9)
    assert rate[["scenarios", "rejected"]].tolist() == [total, count]
    assert rate["rate"] == count / total
    for end in (rate["low"], rate["high"]):
        if 0 < end < 1:
            score = (count / total - end) / math.sqrt(end * (1 - end) / total)
            assert abs(score) == pytest.approx(stats.norm.ppf(0.95), rel=1e-9)
        else:
            assert end == rate["rate"]


@pytest.mark.parametrize(
    ("one", "two", "published"),
    [
        ((56, 70), (48, 80), (0.0524, 0.3339)),
        ((9, 10), (3, 10), (0.1705, 0.8090)),
        ((6, 7), (2, 7), (0.0582, 0.8062)),
        ((5, 56), (0, 29), (-0.0381, 0.1926)),
        ((0, 10), (0, 20), (-0.1611, 0.2775)),
        ((10, 10), (0, 20), (0.6791, 1.0)),
    ],
)
def test_differences_have_newcombes_interval(one, two, published):
    """Newcombe (1998), Table II, method 10."""
    pair = [
        (count / total, *wilson(np.array(count / total), np.array(total), 0.95))
        for count, total in (one, two)
    ]
    found = newcombe(*pair)
    assert found[1:] == pytest.approx(published, abs=5e-5)


def test_nothing_decided_has_no_rate():
    assert rejection_rate(verdicts_of(0, 0, 3))[["rate", "low", "high"]].isna().all()
    with pytest.raises(AnnotationError, match="prob=1"):
        rejection_rate(verdicts_of(1, 1), prob=1)


# --- shuffled advice -----------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [(1, 1), (2, 1, 1), (5, 5), (5, 3, 2), (1,) * 40, (20, 1, 19)])
def test_a_derangement_gives_every_place_another_group(sizes):
    groups = np.repeat(np.arange(len(sizes)), sizes)
    for seed in range(50):
        given = derangement(groups, np.random.default_rng(seed))
        assert sorted(given) == list(range(len(groups)))
        assert not (groups[given] == groups).any()


def test_shuffled_scenarios_have_the_advice_of_another_statement():
    statements = [f"Do {number // 4}." for number in range(160)]
    names = [f"s{number}" for number in range(160)]
    scenarios = SCENARIOS.iloc[[0] * 160].assign(advice=statements).set_axis(names)
    shuffled = shuffled_statements(scenarios)
    assert len(shuffled) == 100
    assert (shuffled["advice"] != scenarios["advice"][shuffled.index]).all()
    source = scenarios["advice"][shuffled["advice_from"]]
    assert shuffled["advice"].tolist() == source.tolist()
    assert shuffled["user_message"].equals(scenarios["user_message"][shuffled.index])
    pd.testing.assert_frame_equal(shuffled, shuffled_statements(scenarios))
    assert list(shuffled_statements(scenarios, seed=2).index) != list(shuffled.index)
    with pytest.raises(AnnotationError, match=r"4 of 6 scenarios have the advice 'Do 0\.'"):
        shuffled_statements(scenarios[:6])


def test_attentive_annotators_reject_shuffled_scenarios():
    """A model that knows what each advice is about, before and after shuffling."""
    advice = [f"I recommend that a person should mind {number}." for number in range(15)]
    scenarios = pd.DataFrame(
        {
            "advice": advice,
            "user_message": [f"Do I mind {number} or not?" for number in range(15)],
            "agree_action": [f"mind {number}." for number in range(15)],
            "oppose_action": "Do not mind",
        },
        index=[f"s{number}" for number in range(15)],
    )

    def attentive(question, _attempt):
        shown = material_of(question)
        fitting = [letter for letter in "AB" if shown["advice"].endswith(f" {shown[letter]}")]
        return f"Answer: {fitting[0] if fitting else 'N/A'}"

    def verdicts(table):
        sheet = validation_sheet(table)
        annotators = ("one", "two", "three")
        said = [validation_answers(sheet, Mock(attentive).model, annotator=a) for a in annotators]
        return validate_situations(sheet, [one.table for one in said])

    table = validation_sensitivity(verdicts(scenarios), verdicts(shuffled_statements(scenarios)))
    assert table["rate"].tolist() == [0, 1, 1]
    assert table.loc["difference", "low"] > 0.6
