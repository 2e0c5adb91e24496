"""Models beside several populations: known truths, groups of different sizes, and the split."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from measurement_layouts.common.errors import DataError
from measurement_layouts.dispositions import (
    SituationalJudgments,
    alignment_by_population,
    misalignment,
    populations,
    rates_by_population,
)

SIZES = {"many": 8, "few": 2, "apart": 4}
SHIFT = 1.5  # logits by which the raters "apart" lean to the trait


def drawn(seed, scenarios, *, neutral=0.2):
    """Judgments of three populations and of a model that chooses as `many` and `few` do."""
    rng = np.random.default_rng(seed)
    pulls = rng.normal(scale=2, size=scenarios)
    names = [f"s-{number}" for number in range(scenarios)]
    keyed = rng.choice([1, -1], size=scenarios)
    tests = pd.DataFrame({"scenario": names, "trait": "calm", "statement": names, "keyed": keyed})
    votes, raters = [], []
    for group, size in SIZES.items():
        pool = [f"{group}-{number}" for number in range(5 * size)]
        raters += [{"rater": rater, "group": group} for rater in pool]
        rates = expit(pulls + SHIFT * (group == "apart"))
        for name, rate, key in zip(names, rates, keyed, strict=True):
            either = neutral * 2 * min(rate, 1 - rate)
            for rater in rng.choice(pool, size=size, replace=False):
                draw = rng.random()
                positive = draw < rate - either / 2
                word = "agree" if positive == (key == 1) else "oppose"
                if rate - either / 2 <= draw < rate + either / 2:
                    word = "neutral"
                votes.append({"scenario": name, "rater": rater, "vote": word})
    counts = rng.binomial(20, expit(pulls))
    agree = np.where(keyed == 1, counts, 20 - counts)
    samples = pd.DataFrame(
        {"model": "m", "scenario": names, "agree": agree, "oppose": 20 - agree, "undecided": 0}
    )
    return SituationalJudgments.from_long(
        tests, pd.DataFrame(votes), samples, raters=pd.DataFrame(raters)
    ), pulls


@pytest.fixture(scope="module")
def study():
    return drawn(1, 600)


@pytest.fixture(scope="module")
def table(study):
    return alignment_by_population(study[0], "group").table.loc[("m", "calm")]


@pytest.fixture(scope="module")
def apart(study):
    """How much more the raters apart choose the trait-positive action, by scenario."""
    return expit(study[1] + SHIFT) - expit(study[1])


def test_distance_and_disposition_are_those_that_were_drawn(table, apart):
    """Intervals of 90 % are 3.3 standard errors wide: 3 of these are 0.9 widths."""
    truth = {"many": 0.0, "few": 0.0, "apart": float(np.sqrt(np.mean(apart**2)))}
    for group, distance in truth.items():
        row = table.loc[group]
        error = (row["distance_high"] ** 2 - row["distance_low"] * abs(row["distance_low"])) / 3.3
        assert row["distance"] * abs(row["distance"]) == pytest.approx(distance**2, abs=3 * error)
    for group, lean in {"many": 0.0, "few": 0.0, "apart": -float(apart.mean())}.items():
        row = table.loc[group]
        error = (row["disposition_high"] - row["disposition_low"]) / 3.3
        # the model's own samples add little: sd 0.1 each, over the scenarios
        assert row["disposition"] == pytest.approx(lean, abs=3 * error + 0.1 * 3 / 600**0.5)
    assert table["farther_low"]["apart"] > 0
    assert table["farther_high"]["many"] < 0


def test_the_published_measure_makes_small_groups_look_farther(study):
    """Twin: `many` and `few` choose at the same rates, and only their numbers of votes differ."""
    split = populations(study[0], "group")
    raw = {
        name: misalignment(part, resamples=2, draws=2).loc[("m", "all"), "misalignment"]
        for name, part in split.items()
    }
    assert raw["few"] > 1.5 * raw["many"]


@pytest.mark.slow
def test_intervals_of_the_distance_hold():
    """Of 40 studies, 90 % intervals miss 4; 10 or more would be a chance of 0.5 %."""
    held = 0
    for seed in range(40):
        judgments, pulls = drawn(100 + seed, 60)
        row = alignment_by_population(judgments, "group", resamples=200).table
        row = row.loc[("m", "all", "apart")]
        truth = np.sqrt(np.mean((expit(pulls + SHIFT) - expit(pulls)) ** 2))
        held += row["distance_low"] <= truth <= row["distance_high"]
    assert held > 30


def test_one_scenario_by_hand():
    tests = pd.DataFrame([{"scenario": "s", "trait": "calm", "statement": "t", "keyed": -1}])
    votes = pd.DataFrame(
        {
            "scenario": "s",
            "rater": list("abcde"),
            "vote": ["oppose", "neutral", "agree"] + ["agree"] * 2,
        }
    )
    raters = pd.DataFrame({"rater": list("abcde"), "age": ["old"] * 3 + ["young", None]})
    samples = pd.DataFrame(
        {"model": ["m"], "scenario": "s", "agree": 4, "oppose": 16, "undecided": 0}
    )
    judgments = SituationalJudgments.from_long(tests, votes, samples, raters=raters)
    row = alignment_by_population(judgments, "age", resamples=10).table.loc[("m", "calm", "old")]
    square = (0.5 - 0.8) ** 2 - 0.25 / 3 - 0.8 * 0.2 / 19
    assert row["distance"] == pytest.approx(np.sign(square) * abs(square) ** 0.5)
    assert row["disposition"] == pytest.approx(0.3)
    assert row["support"] == 0.5
    assert np.isnan(row["farther"])  # the others have one vote
    assert row[["raters", "votes", "scenarios"]].tolist() == [3, 3, 1]


def test_rates_come_from_a_group_s_own_votes(study):
    rates = rates_by_population(study[0], "group")
    assert rates["votes"].groupby("population").first().to_dict() == SIZES
    widths = (rates["high"] - rates["low"]).groupby("population").mean()
    assert widths["many"] < widths["apart"] < widths["few"]
    shift = rates["mean"].groupby("population").mean()
    assert shift["apart"] - shift["many"] > 0.15
    inside = rates["rate"].unstack("population")
    assert (
        inside["many"].loc["s-0"]
        == populations(study[0], "group")["many"].human_rates().loc["s-0", "rate"]
    )


def test_the_split_has_each_rater_once(study):
    split = populations(study[0], "group")
    assert {name: len(part.raters) for name, part in split.items()} == {
        name: 5 * size for name, size in sorted(SIZES.items())
    }
    assert sum(len(part.votes) for part in split.values()) == len(study[0].votes)


def test_an_attribute_that_nobody_has_is_refused(study):
    for refused in (populations, alignment_by_population, rates_by_population):
        with pytest.raises(DataError, match=r"no column 'age'; they have group"):
            refused(study[0], "age")
