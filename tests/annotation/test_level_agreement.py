"""Agreement on levels of a demand: by hand, and against chance."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts.annotation import AnnotationError, agreement


def frames(levels):
    """Levels by annotator: annotator x item."""
    return {f"a{number}": pd.DataFrame({"level": row}) for number, row in enumerate(levels)}


def estimate(table, measure, names="all"):
    return row(table, measure, names)["estimate"]


def row(table, measure, names="all"):
    rows = table[(table["measure"] == measure) & (table["annotators"] == names)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_r_wg_by_hand():
    """The null's variance is (36 - 1) / 12; that of 2, 2, 3 is 1/3, that of 0, 2, 4 is 4."""
    table = agreement(frames([[2, 0], [2, 2], [3, 4]]))
    assert estimate(table, "r_WG") == pytest.approx((31 / 35 - 13 / 35) / 2, abs=1e-14)
    five = agreement(frames([[2, 0], [2, 2], [3, 4]]), levels=5)  # variance 2
    assert estimate(five, "r_WG") == pytest.approx((1 - 1 / 6 + 1 - 2) / 2, abs=1e-14)


def test_spearman_by_hand():
    """Without ties one minus 6 * 2 / (4 * 15); with ties ranks 1.5, 1.5, 3 and 1, 2.5, 2.5."""
    table = agreement(frames([[0, 1, 2, 5], [0, 4, 3, 5]]))
    assert estimate(table, "spearman", "a0, a1") == pytest.approx(0.8, abs=1e-14)
    tied = agreement(frames([[0, 0, 4], [1, 2, 2]]))
    assert estimate(tied, "spearman", "a0, a1") == pytest.approx(0.5, abs=1e-14)


def test_each_measure_is_there_once_and_each_pair():
    table = agreement(frames([[0, 1, 2], [0, 2, 2], [1, 1, 5]]))
    assert table["measure"].tolist() == ["r_WG", "spearman", "spearman", "spearman"]
    assert table["annotators"].tolist() == ["all", "a0, a1", "a0, a2", "a1, a2"]
    assert (table["end"] == "level").all()


def test_chance_is_no_agreement_and_agreement_is_no_chance():
    """Three who draw alone reach 0, to four standard errors. The twin: three who look."""
    rng = np.random.default_rng(1)
    alone = agreement(frames(rng.integers(0, 6, size=(3, 300))))
    assert (alone["estimate"].abs() < 4 / np.sqrt(300)).all()
    looked = rng.integers(0, 6, size=300) + rng.integers(-1, 2, size=(3, 300))
    together = agreement(frames(looked.clip(0, 5)))
    assert (together["estimate"] > 0.6).all()


def test_a_constant_annotator_has_no_ranks():
    table = agreement(frames([[2, 2, 2], [2, 1, 2]]))
    rows = row(table, "spearman", "a0, a1")
    assert np.isnan(rows["estimate"])
    assert (
        rows["reason"] == "an annotator gives all items the same level, so that there are no ranks"
    )
    assert estimate(table, "r_WG") == pytest.approx(1 - 0.5 * 12 / 35 / 3, abs=1e-14)


@pytest.mark.parametrize(
    ("said", "options", "complaint"),
    [
        (frames([[6], [0]]), {}, r"'a0', item 0: the level \[6.0\] goes beyond the levels 0 to 5"),
        (frames([[-1], [0]]), {}, "goes beyond the levels 0 to 5; give levels$"),
        (frames([["high"], [0]]), {}, "annotator 'a0': a level is not a number"),
        (frames([[1], [0]]), {"levels": 7}, "levels=7; give a whole number from 2 to 6"),
        (
            {**frames([[1]]), "b": pd.DataFrame({"low": [0], "high": [1]})},
            {},
            "annotator 'a0': give Annotations, or a DataFrame .* columns low and high",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(said, options, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        agreement(said, **options)
