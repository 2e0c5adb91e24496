"""Directional alignment: the small study by hand, and ties."""

import pytest

from measurement_layouts import DataError, FitError
from measurement_layouts.dispositions import consensus, directional_alignment, divided

QUICK = {"resamples": 50}


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
    assert found.columns.tolist() == ["scenarios", "aligned", "low", "high", "ties"]


@pytest.mark.parametrize(("ties", "wanted"), [("miss", 1 / 4), ("half", 1.5 / 4), ("drop", 1 / 3)])
def test_ties_count_as_asked(judgments, ties, wanted):
    """With a lower threshold blunt has four scenarios: a hit, two misses, and a tie on `letter`."""
    found = directional_alignment(judgments, threshold=0.6, ties=ties, **QUICK)
    row = found.loc[("blunt", "empathy", "all")]
    assert row["aligned"] == pytest.approx(wanted)
    assert row[["scenarios", "ties"]].tolist() == [4, 1]
    # consensus below 0.8 is in no bucket
    assert found.loc[("blunt", "empathy")]["scenarios"].tolist() == [1, 1, 4]


def test_unusable_options_are_refused(judgments):
    for threshold in (0.5, 1.1, "high", True):
        with pytest.raises(FitError, match="threshold="):
            directional_alignment(judgments, threshold=threshold, **QUICK)
    with pytest.raises(FitError, match="ties='split'; give one of 'miss', 'half', 'drop'"):
        directional_alignment(judgments, ties="split", **QUICK)
    with pytest.raises(DataError, match="do 95% of the people agree"):
        directional_alignment(judgments.select(traits=["assertion"]), threshold=0.95, **QUICK)
