"""Agreement of annotators, against hand-made numbers, published examples and chance."""

import itertools

import numpy as np
import pandas as pd
import pytest
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
    rows = table[(table["measure"] == measure) & (table["end"] == end)]
    if names is not None:
        rows = rows[rows["annotators"] == names]
    assert len(rows) == 1
    return rows.iloc[0]


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
    annotations = frames([[-3, -1], [-2, -1]])
    assert row(agreement(annotations), "r_WG")["estimate"] == pytest.approx(
        (0.875 + 1) / 2, abs=1e-14
    )
    strict = agreement(annotations, levels=4)
    assert row(strict, "r_WG")["estimate"] == pytest.approx((0.6 + 1) / 2, abs=1e-14)


def test_alpha_is_the_textbooks():
    rows = row(agreement(frames(np.array(OBSERVERS) - 3)), "alpha")
    assert rows["estimate"] == pytest.approx(0.815, abs=5e-4)  # published to three places
    assert rows["items"] == 11  # the twelfth unit has one observer


def test_kappa_is_scikit_learns():
    annotations = low_ends(np.random.default_rng(1), items=60, noise=0.4)
    table = agreement(frames(annotations))
    for one, two in itertools.combinations(range(3), 2):
        expected = cohen_kappa_score(annotations[one], annotations[two], weights="quadratic")
        rows = row(table, "kappa", names=f"annotator{one}, annotator{two}")
        assert rows["estimate"] == pytest.approx(expected, abs=1e-12)


# --- chance --------------------------------------------------------------------------------------


def test_agreement_is_seen_and_chance_is_none():
    """Annotators who draw alone reach 0 within four standard errors, of 400 items."""
    for noise, wanted in ((0.2, True), (None, False)):
        annotations = frames(low_ends(np.random.default_rng(4), noise=noise))
        table = agreement(annotations, levels=4)
        low = table.loc[table["end"] == "low", "estimate"]
        assert ((low > 0.4) if wanted else (low.abs() < 0.2)).all()


# --- what is missing -----------------------------------------------------------------------------


def test_missing_annotations_are_left_out_of_what_needs_them():
    annotations = frames([[-3, -1, 0, NAN], [-2, -1, NAN, NAN], [NAN, NAN, 0, -3]])
    table = agreement(annotations)
    assert row(table, "r_WG")["items"] == 3
    pairs = table[(table["measure"] == "kappa") & (table["end"] == "low")].set_index("annotators")
    assert pairs["items"].tolist() == [2, 1, 0]
    assert pairs["reason"].tolist()[1:] == [
        "all levels are equal, so that agreement by chance is complete",
        "no item in common",
    ]
    assert np.isnan(pairs["estimate"].iloc[2])


def test_without_variation_chance_corrected_measures_are_undefined():
    table = agreement(frames([[-2, -2, -2], [-2, -2, -2]]))
    assert row(table, "r_WG")["estimate"] == 1
    for measure in ("kappa", "alpha"):
        rows = row(table, measure)
        assert np.isnan(rows["estimate"])
        assert rows["reason"] == "all levels are equal, so that agreement by chance is complete"


@pytest.mark.parametrize(
    ("annotations", "options", "complaint"),
    [
        (frames([[-1, 0]]), {}, "annotations of 1; give a mapping .* with at least two"),
        ([1, 2], {}, "annotations of list; give a mapping"),
        ({"a": frames([[-1]])["annotator0"], "b": 3}, {}, "annotator 'b': give Annotations, or a"),
        (frames([[-1, NAN], [NAN, 0]]), {}, "no item was annotated by two annotators"),
        (frames([[-4], [0]]), {}, r"annotator 'annotator0', item 0: the band \[-4.0, 3.0\] goes"),
        (frames([[-np.inf], [0]]), {}, "goes beyond the levels -3 to 3; give levels"),
        (frames([[-1], [0]]), {"levels": 1}, "levels=1; give a whole number from 2 to 7"),
    ],
)
def test_what_cannot_be_compared_is_refused(annotations, options, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        agreement(annotations, **options)


def test_an_item_twice_is_refused():
    annotations = frames([[-1, 0], [0, 0]])
    annotations["annotator1"] = annotations["annotator1"].set_axis(["a", "a"])
    with pytest.raises(AnnotationError, match="annotator 'annotator1': the item 'a' occurs twice"):
        agreement(annotations)


def test_text_is_no_end():
    annotations = frames([[-1], [0]])
    annotations["annotator0"] = annotations["annotator0"].astype({"low": object}).replace(-1, "low")
    with pytest.raises(AnnotationError, match="annotator 'annotator0': an end is not a number"):
        agreement(annotations)
