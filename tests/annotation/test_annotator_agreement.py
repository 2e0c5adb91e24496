"""Agreement of annotators, against hand-made numbers, published examples and chance."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from measurement_layouts.annotation import AnnotationError, agreement

NAN = np.nan

# Krippendorff (2011), the reliability data of four observers and twelve units, whose alpha is 0.815
# for ordinal data; five values, here moved to -2 ... 2
OBSERVERS = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
    [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
]


def frames(lows, highs=None):
    """Bands by annotator: annotator x item."""
    lows = np.asarray(lows, dtype=float)
    highs = np.full_like(lows, 3) if highs is None else np.asarray(highs, dtype=float)
    return {
        f"annotator{number}": pd.DataFrame({"low": low, "high": high})
        for number, (low, high) in enumerate(zip(lows, highs, strict=True))
    }


def row(table, measure, end="low", names=None):
    found = table[(table["measure"] == measure) & (table["end"] == end)]
    if names is not None:
        found = found[found["annotators"] == names]
    assert len(found) == 1
    return found.iloc[0]


def low_ends(rng, annotators=3, items=400, noise=None):
    """Low ends around true ones, or (without noise) drawn from -3 to 0 by each annotator alone."""
    if noise is None:
        return rng.integers(-3, 1, size=(annotators, items))
    truth = rng.integers(-3, 1, size=items)
    wrong = rng.random((annotators, items)) < noise
    return np.where(wrong, rng.integers(-3, 1, size=(annotators, items)), truth)


# --- known values --------------------------------------------------------------------------------


def test_r_wg_by_hand():
    """Two annotators one level apart: s² = 1/2, against (49 - 1) / 12 = 4 and (16 - 1) / 12."""
    said = frames([[-3, -1], [-2, -1]])
    assert row(agreement(said, resamples=9), "r_WG")["estimate"] == pytest.approx(
        (0.875 + 1) / 2, abs=1e-14
    )
    strict = agreement(said, levels=4, resamples=9)
    assert row(strict, "r_WG")["estimate"] == pytest.approx((0.6 + 1) / 2, abs=1e-14)


def test_alpha_is_the_textbooks():
    found = row(agreement(frames(np.array(OBSERVERS) - 3), resamples=9), "alpha")
    assert found["estimate"] == pytest.approx(0.815, abs=5e-4)  # published to three places
    assert found["items"] == 11  # the twelfth unit has one observer


def test_alpha_of_changed_textbook_data_is_another():
    """Twin that must fail."""
    changed = np.array(OBSERVERS) - 3
    changed[3] = -changed[3]
    assert abs(row(agreement(frames(changed), resamples=9), "alpha")["estimate"] - 0.815) > 0.1


def test_kappa_is_scikit_learns():
    said = low_ends(np.random.default_rng(1), items=60, noise=0.4)
    table = agreement(frames(said), resamples=10)
    for one, two in itertools.combinations(range(3), 2):
        expected = cohen_kappa_score(said[one], said[two], weights="quadratic")
        found = row(table, "kappa", names=f"annotator{one}, annotator{two}")
        assert found["estimate"] == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_intervals_are_scipys():
    """Percentile bootstrap of r_WG; each end is a quantile of 2000 draws, its error by the density.

    The bootstrap distribution of a mean over 400 items is close to normal: the standard error of
    its 2.5 % quantile is sqrt(0.025 * 0.975 / 2000) / 0.0584 = 0.06 standard deviations.
    """
    said = low_ends(np.random.default_rng(2), noise=0.5)
    found = row(agreement(frames(said), prob=0.95, resamples=2000), "r_WG")
    values = 1 - said.var(axis=0, ddof=1) / 4
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=2000, method="percentile", rng=np.random.default_rng(3)
    )
    tolerance = 4 * np.sqrt(2) * 0.06 * theirs.standard_error
    assert found["low"] == pytest.approx(theirs.confidence_interval.low, abs=tolerance)
    assert found["high"] == pytest.approx(theirs.confidence_interval.high, abs=tolerance)


# --- agreement and chance ------------------------------------------------------------------------


def test_agreement_is_seen():
    said = frames(low_ends(np.random.default_rng(4), noise=0.2))
    table = agreement(said, levels=4, resamples=300)
    low = table[table["end"] == "low"]
    assert (low["low"] > 0.4).all()
    assert (low["low"] < low["estimate"]).all()
    assert (low["estimate"] < low["high"]).all()


def test_chance_is_no_agreement():
    """Twin: of annotators who draw alone every interval holds what chance gives."""
    said = frames(low_ends(np.random.default_rng(5)))
    strict = agreement(said, levels=4, prob=0.99, resamples=300)
    low = strict[strict["end"] == "low"]
    assert ((low["low"] < 0) & (low["high"] > 0)).all()
    whole_scale = row(agreement(said, prob=0.99, resamples=300), "r_WG")
    assert whole_scale["low"] < 1 - 1.25 / 4 < whole_scale["high"]


def test_one_seed_gives_one_table():
    said = frames(low_ends(np.random.default_rng(6), items=30, noise=0.5))
    one, same, other = (agreement(said, resamples=50, seed=seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(one, same)
    assert not one["low"].equals(other["low"])


# --- what is missing -----------------------------------------------------------------------------


def test_missing_annotations_are_left_out_of_what_needs_them():
    said = frames([[-3, -1, 0, NAN], [-2, -1, NAN, NAN], [NAN, NAN, 0, -3]])
    table = agreement(said, resamples=20)
    assert row(table, "r_WG")["items"] == 3
    pairs = table[(table["measure"] == "kappa") & (table["end"] == "low")].set_index("annotators")
    assert pairs["items"].tolist() == [2, 1, 0]
    assert pairs["reason"].tolist()[1:] == [
        "all levels are equal, so that agreement by chance is complete",
        "no item in common",
    ]
    assert np.isnan(pairs["estimate"].iloc[2])


def test_without_variation_chance_corrected_measures_are_undefined():
    table = agreement(frames([[-2, -2, -2], [-2, -2, -2]]), resamples=5)
    assert row(table, "r_WG")["estimate"] == 1
    for measure in ("kappa", "alpha"):
        found = row(table, measure)
        assert np.isnan(found["estimate"])
        assert found["reason"] == "all levels are equal, so that agreement by chance is complete"


def test_one_item_gives_no_interval():
    found = row(agreement(frames([[-3], [-1]]), resamples=9), "alpha")
    assert np.isfinite(found["estimate"])
    assert np.isnan(found["low"])
    assert found["reason"] == "there is only one item, which gives no interval"


@pytest.mark.parametrize(
    ("said", "options", "complaint"),
    [
        (frames([[-1, 0]]), {}, "annotations of 1; give a mapping .* with at least two"),
        ([1, 2], {}, "annotations of list; give a mapping"),
        ({"a": frames([[-1]])["annotator0"], "b": 3}, {}, "annotator 'b': give Annotations, or a"),
        (frames([[-1, NAN], [NAN, 0]]), {}, "no item was annotated by two annotators"),
        (frames([[-4], [0]]), {}, r"annotator 'annotator0', item 0: the band \[-4.0, 3.0\] goes"),
        (frames([[-np.inf], [0]]), {}, "goes beyond the levels -3 to 3; give levels"),
        (frames([[-1], [0]]), {"levels": 1}, "levels=1; give a whole number from 2 to 7"),
        (frames([[-1], [0]]), {"prob": 1}, "prob=1; give a number between 0 and 1"),
        (frames([[-1], [0]]), {"resamples": 0}, "resamples=0; give a whole number"),
    ],
)
def test_what_cannot_be_compared_is_refused(said, options, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        agreement(said, **options)


def test_an_item_twice_is_refused():
    said = frames([[-1, 0], [0, 0]])
    said["annotator1"] = said["annotator1"].set_axis(["a", "a"])
    with pytest.raises(AnnotationError, match="annotator 'annotator1': the item 'a' occurs twice"):
        agreement(said)


def test_text_is_no_end():
    said = frames([[-1], [0]])
    said["annotator0"] = said["annotator0"].astype({"low": object}).replace(-1, "low")
    with pytest.raises(AnnotationError, match="annotator 'annotator0': an end is not a number"):
        agreement(said)
