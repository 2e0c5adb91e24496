"""Runs over situations: resumed from logs, and the whole way to judgments."""

import json

import pandas as pd
import pytest
from helpers.mock_situations import SCENARIOS, STATEMENTS, Mock, material_of

from measurement_layouts.dispositions import (
    generate_situations,
    judge_responses,
    reframe_statements,
    self_ratings,
    situation_responses,
    validate_situations,
    validation_answers,
    validation_sheet,
)

ADVISABLE = STATEMENTS[STATEMENTS["advice"] != ""]
RESPONSES = pd.DataFrame(
    {"model": "m", "scenario": SCENARIOS.index, "sample": 1, "response": "Wait."}
)
TEST = {"user_message": "Do I act or wait?", "agree_action": "Wait", "oppose_action": "Act"}
ADVICE = {"kind": "virtue", "reason": "So.", "advice": "I recommend that a person should rest."}
JUDGED = {"explanation": "So.", "answer": 2}

STEPS = {
    "reframe": (lambda *way, **how: reframe_statements(STATEMENTS, *way, **how), ADVICE),
    "generate": (lambda *way, **how: generate_situations(ADVISABLE, *way, count=2, **how), TEST),
    "validate": (
        lambda *way, **how: validation_answers(validation_sheet(SCENARIOS), *way, **how),
        "Answer: A",
    ),
    "respond": (
        lambda *way, **how: situation_responses(SCENARIOS[:2], *way, samples=2, **how),
        "Wait.",
    ),
    "judge": (lambda *way, **how: judge_responses(SCENARIOS, RESPONSES, *way, **how), JUDGED),
    "rate": (lambda *way, **how: self_ratings(ADVISABLE, *way, times=2, **how), "Rating: 3"),
}


def said(answer):
    return answer if isinstance(answer, str) else json.dumps(answer)


@pytest.mark.parametrize(("step", "answer"), STEPS.values(), ids=STEPS)
def test_every_step_goes_on_where_it_ended(step, answer, tmp_path):
    """The third item gets no usable answer: it alone is asked about again."""
    failing = Mock(lambda *_: "" if len(failing.conversations) == 3 else said(answer))
    step(failing.model, log_dir=tmp_path, max_samples=1, attempts=1)
    mock = Mock(lambda *_: said(answer))
    resumed = step(mock.model, log_dir=tmp_path)
    assert len(mock.conversations) == 1
    pd.testing.assert_frame_equal(resumed.table, step(mock.model).table)


def test_from_statements_to_judgments():
    """Two models, one of which always waits; people vote by halves."""
    from measurement_layouts.dispositions import SituationalJudgments

    reply = STEPS["generate"][1]
    written = Mock(lambda question, _: json.dumps({**reply, **_of(question)}))
    scenarios = generate_situations(ADVISABLE, written.model, count=3).table
    sheet = validation_sheet(scenarios)
    annotator = Mock(lambda question, _: f"Answer: {_waits(material_of(question))}")
    names = ("one", "two", "three")
    said_of = [validation_answers(sheet, annotator.model, annotator=name).table for name in names]
    verdicts = validate_situations(sheet, said_of)
    kept = scenarios[verdicts["verdict"] == "kept"]
    assert len(kept) == 6
    models = [Mock(lambda *_, word=word: word, f"mockllm/{word}") for word in ("Wait", "Act")]
    responses = [situation_responses(kept, mock.model, samples=2).table for mock in models]
    judge = Mock(lambda question, _: json.dumps({**JUDGED, "answer": _said(question)}))
    samples = judge_responses(kept, pd.concat(responses), judge.model).table
    ratings = [
        self_ratings(ADVISABLE, Mock(lambda *_: "Rating: 6", str(mock.model)).model)
        for mock in models
    ]
    votes = pd.DataFrame(
        [
            (name, rater, vote)
            for name in kept.index
            for rater, vote in (("A", "agree"), ("B", "n/a"))
        ],
        columns=["scenario", "rater", "vote"],
    )
    judgments = SituationalJudgments.from_long(
        kept, votes, samples, pd.concat([one.table for one in ratings]), least=2
    )
    assert sorted(judgments.models) == ["mockllm/Act", "mockllm/Wait"]
    rates = judgments.model_rates()["rate"].unstack("scenario")
    keyed = judgments.scenarios["keyed"]
    assert (rates.loc["mockllm/Wait"] == (keyed == 1)).all()
    assert (rates.loc["mockllm/Act"] == (keyed == -1)).all()
    assert judgments.scenarios["target"].tolist() == ["AGREE", "OPPOSE", "AMBIGUOUS"] * 2


def _of(question):
    return {"user_message": f"In {material_of(question)['setting']}: do I act or wait?"}


def _waits(shown):
    return "A" if shown["A"] == "Wait" else "B"


def _said(question):
    return 2 if material_of(question)["response"] == "Wait" else 1
