"""Directional alignment: the small study by hand, ties, and what is attainable."""

import numpy as np
import pytest
from helpers import drawn_study
from scipy import stats

from measurement_layouts import DataError, FitError
from measurement_layouts.dispositions import consensus, directional_alignment, divided

QUICK = {"resamples": 50, "draws": 50}


def test_consensus_and_division_by_hand(judgments):
    assert consensus(judgments).index.tolist() == ["exam", "tears", "queue"]
    assert consensus(judgments, 1).to_dict() == {"exam": 1.0}
    assert consensus(judgments, 0.6).index.tolist() == [
        *("exam", "visit", "tears", "letter", "queue"),
    ]
    assert divided(judgments).to_dict() == {"visit": 0.6, "letter": 0.35, "salary": 0.5}
    # a share that is reached, but for rounding, is not divided
    assert divided(judgments, 0.65).index.tolist() == ["visit", "salary"]


def test_small_study_by_hand(judgments):
    found = directional_alignment(judgments, **QUICK)
    strong, weak = "1", "[0.8, 0.9)"
    assert found.loc["calm"].index.tolist() == [
        *[("empathy", weak), ("empathy", strong), ("empathy", "all")],
        *[("assertion", weak), ("assertion", "all")],
        *[("all", weak), ("all", strong), ("all", "all")],
    ]
    assert found.loc["calm", "scenarios"].tolist() == [1, 1, 2, 1, 1, 2, 1, 3]
    assert (found.loc["calm", "aligned"] == 1).all()
    # blunt has no samples left on `queue`
    blunt = found.loc["blunt"]
    assert blunt["aligned"].tolist() == [0, 1, 0.5, 0, 1, 0.5]
    assert blunt["ties"].tolist() == [0] * 6
    assert found.columns.tolist() == [
        *("scenarios", "aligned", "low", "high", "ties"),
        *("posterior", "posterior_low", "posterior_high", "attainable"),
    ]


@pytest.mark.parametrize(("ties", "wanted"), [("miss", 1 / 4), ("half", 1.5 / 4), ("drop", 1 / 3)])
def test_ties_count_as_asked(judgments, ties, wanted):
    """With a lower threshold blunt has four scenarios: a hit, two misses, and a tie on `letter`."""
    found = directional_alignment(judgments, threshold=0.6, ties=ties, **QUICK)
    row = found.loc[("blunt", "empathy", "all")]
    assert row["aligned"] == pytest.approx(wanted)
    assert row[["scenarios", "ties"]].tolist() == [4, 1]
    # consensus below 0.8 is in no bucket
    assert found.loc[("blunt", "empathy")]["scenarios"].tolist() == [1, 1, 4]


def test_attainable_is_what_a_perfectly_aligned_model_reaches(rng):
    people = rng.beta(1, 1, 4000)
    judgments = drawn_study.study(people, {"aligned": people}, rng, samples=11)
    row = directional_alignment(judgments, **QUICK).loc[("aligned", "all", "all")]
    votes = consensus(judgments).to_numpy()
    error = np.sqrt(row["attainable"] * (1 - row["attainable"]) / len(votes))
    assert abs(row["aligned"] - row["attainable"]) < 3 * error
    # a twin that takes the shares of votes for the rates promises too much
    naive = stats.binom.sf(5, 11, np.maximum(votes, 1 - votes)).mean()
    assert naive - row["aligned"] > 4 * error


def test_attainable_counts_ties_as_asked():
    """Samples in even numbers tie; halves are between misses and what is left without ties."""
    rng = np.random.default_rng(9)
    people = rng.uniform(size=200)
    judgments = drawn_study.study(people, {"one": people}, rng, samples=10)
    miss, half, drop = (
        directional_alignment(judgments, ties=ties, **QUICK).loc[
            ("one", "all", "all"), "attainable"
        ]
        for ties in ("miss", "half", "drop")
    )
    assert miss < half < drop < 1


def test_posterior_is_of_the_rates_sides(rng):
    people = np.where(rng.random(300) < 0.5, 0.95, 0.05)
    models = {"same": people, "other": 1 - people, "any": rng.uniform(size=300)}
    judgments = drawn_study.study(people, models, rng)
    found = directional_alignment(judgments).xs(("all", "all"), level=("trait", "bucket"))
    assert found.loc["same", "posterior_low"] > 0.98
    assert found.loc["other", "posterior_high"] < 0.02
    truth = ((people > 0.5) == (models["any"] > 0.5)).mean()
    low, high = found.loc["any", ["posterior_low", "posterior_high"]]
    assert low < truth < high


def test_nothing_of_a_model_depends_on_the_others(judgments):
    whole = directional_alignment(judgments, **QUICK)
    part = directional_alignment(judgments.select(models=["blunt"]), **QUICK)
    np.testing.assert_allclose(
        part[["aligned", "posterior", "attainable"]],
        whole.loc[["blunt"], ["aligned", "posterior", "attainable"]],
        rtol=1e-12,
    )


def test_unusable_options_are_refused(judgments):
    for threshold in (0.5, 1.1, "high", True):
        with pytest.raises(FitError, match="threshold="):
            directional_alignment(judgments, threshold=threshold, **QUICK)
    with pytest.raises(FitError, match="ties='split'; give one of 'miss', 'half', 'drop'"):
        directional_alignment(judgments, ties="split", **QUICK)
    with pytest.raises(DataError, match="do 95% of the people agree"):
        directional_alignment(judgments.select(traits=["assertion"]), threshold=0.95, **QUICK)
