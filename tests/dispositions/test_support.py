"""Support by attributes of raters: the small study by hand, and intervals over raters."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError
from measurement_layouts.dispositions import SituationalJudgments, support_by


def test_small_study_by_hand(judgments):
    """US raters are r0, r2, ..., UK raters r1, r3, ...; r9's vote on `tears` was not applicable."""
    found = support_by(judgments, "nationality")
    assert found.index.tolist() == [
        *[("empathy", "UK"), ("empathy", "US")],
        *[("assertion", "UK"), ("assertion", "US")],
    ]
    assert found["ratings"].tolist() == [19, 20, 10, 10]
    words = {  # of each rater: 1 for the trait-positive action
        "exam": [1] * 10,
        "visit": [1, 1, 1, 1, 1, 0, 0, 0, 0.5, 0.5],
        "tears": [0, 1, 1, 1, 1, 1, 1, 1, 1],
        "letter": [0, 0, 0, 0, 0, 0, 1, 1, 1, 0.5],
        "salary": [1, 0] * 5,
        "queue": [1, 0, 0, 0, 0, 0, 0, 0, 0, 0.5],
    }
    uk = [value for name in ("exam", "visit", "tears", "letter") for value in words[name][1::2]]
    us = [value for name in ("salary", "queue") for value in words[name][::2]]
    assert found.loc[("empathy", "UK"), "support"] == pytest.approx(np.mean(uk))
    assert found.loc[("assertion", "US"), "support"] == pytest.approx(np.mean(us))


def test_votes_of_a_rater_belong_together(rng):
    """Each rater gives one answer throughout: an interval over raters is that of 40 answers."""
    answers = rng.random(40) < 0.5
    names = [f"s{place}" for place in range(25)]
    scenarios = pd.DataFrame({"scenario": names, "trait": "calm", "statement": "s", "keyed": 1})
    votes = pd.DataFrame(
        {
            "scenario": np.repeat(names, 40),
            "rater": np.tile(np.arange(40), 25),
            "vote": np.tile(np.where(answers, "agree", "oppose"), 25),
        }
    )
    raters = pd.DataFrame({"rater": np.arange(40), "gender": "any"})
    judgments = SituationalJudgments.from_long(scenarios, votes, raters=raters)
    low, high = support_by(judgments, "gender").loc[("calm", "any"), ["low", "high"]]
    error = answers.std() / np.sqrt(40)
    # 1000 draws, and answers in steps of a fortieth
    assert (high - low) / error == pytest.approx(2 * 1.645, abs=4 * 0.07 * np.sqrt(2) + 0.2)


def test_a_single_rater_gives_no_interval(judgments):
    """Ages are 21 to 29, each of one rater; of r0 it is not known."""
    found = support_by(judgments, "age")
    assert found["ratings"].sum() == 59 - 6
    assert found[["low", "high"]].isna().all(axis=None)


def test_unknown_attributes_are_refused(judgments):
    with pytest.raises(DataError, match="no column 'height'; they have nationality, age"):
        support_by(judgments, "height")
