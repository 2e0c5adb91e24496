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


def bands(lows):
    """Bands up to 3 by annotator: annotator x item."""
    lows = np.asarray(lows, dtype=float)
    return {f"a{n}": pd.DataFrame({"low": low, "high": 3.0}) for n, low in enumerate(lows)}


def levels(values):
    """Levels by annotator: annotator x item."""
    return {f"a{n}": pd.DataFrame({"level": row}) for n, row in enumerate(values)}


def row(table, measure, names="all"):
    rows = table[(table["measure"] == measure) & (table["annotators"] == names)]
    return rows[rows["end"] != "high"].squeeze()


def low_ends(rng, noise):
    """Low ends of three annotators around true ones, or drawn by each annotator alone."""
    truth = rng.integers(-3, 1, size=400)
    return np.where(rng.random((3, 400)) < noise, rng.integers(-3, 1, size=(3, 400)), truth)


@pytest.mark.parametrize(
    ("annotations", "options", "expected"),
    [
        (bands([[-3, -1], [-2, -1]]), {}, (0.875 + 1) / 2),  # s² = 1/2 against (49 - 1) / 12
        (bands([[-3, -1], [-2, -1]]), {"levels": 4}, (0.6 + 1) / 2),
        (levels([[2, 0], [2, 2], [3, 4]]), {}, (31 / 35 - 13 / 35) / 2),  # 1/3 and 4, (36 - 1) / 12
        (levels([[2, 0], [2, 2], [3, 4]]), {"levels": 5}, (1 - 1 / 6 + 1 - 2) / 2),
        (levels([[2, 2, 2], [2, 1, 2]]), {}, 1 - 0.5 * 12 / 35 / 3),
    ],
)
def test_r_wg_by_hand(annotations, options, expected):
    table = agreement(annotations, **options)
    assert row(table, "r_WG")["estimate"] == pytest.approx(expected, abs=1e-14)


def test_alpha_is_the_textbooks():
    alpha = row(agreement(bands(np.array(OBSERVERS) - 3)), "alpha")
    assert alpha["estimate"] == pytest.approx(0.815, abs=5e-4)  # published to three places
    assert alpha["items"] == 11  # the twelfth unit has one observer


def test_kappa_is_scikit_learns():
    annotations = low_ends(np.random.default_rng(1), noise=0.4)
    table = agreement(bands(annotations))
    for one, two in itertools.combinations(range(3), 2):
        expected = cohen_kappa_score(annotations[one], annotations[two], weights="quadratic")
        estimate = row(table, "kappa", f"a{one}, a{two}")["estimate"]
        assert estimate == pytest.approx(expected, abs=1e-12)


def test_spearman_by_hand():
    """Without ties one minus 6 * 2 / (4 * 15); with ties ranks 1.5, 1.5, 3 and 1, 2.5, 2.5."""
    for values, expected in (([[0, 1, 2, 5], [0, 4, 3, 5]], 0.8), ([[0, 0, 4], [1, 2, 2]], 0.5)):
        table = agreement(levels(values))
        assert row(table, "spearman", "a0, a1")["estimate"] == pytest.approx(expected, abs=1e-14)


def test_annotators_who_draw_alone_agree_by_chance_only():
    """They reach 0 within four standard errors; the twin looks at the items."""
    for noise, agree in ((0.2, True), (1, False)):
        table = agreement(bands(low_ends(np.random.default_rng(4), noise)), levels=4)
        low = table.loc[table["end"] == "low", "estimate"]
        assert ((low > 0.4) if agree else (low.abs() < 0.2)).all()
    drawn = np.random.default_rng(1).integers(0, 6, size=(3, 300))
    assert (agreement(levels(drawn))["estimate"].abs() < 4 / np.sqrt(300)).all()


def test_missing_annotations_are_left_out_of_what_needs_them():
    table = agreement(bands([[-3, -1, 0, NAN], [-2, -1, NAN, NAN], [NAN, NAN, 0, -3]]))
    assert row(table, "r_WG")["items"] == 3
    pairs = table[(table["measure"] == "kappa") & (table["end"] == "low")]
    assert pairs["annotators"].tolist() == ["a0, a1", "a0, a2", "a1, a2"]
    assert pairs["items"].tolist() == [2, 1, 0]
    assert pairs["reason"].str[:10].tolist() == ["", "all levels", "no item in"]
    assert pairs["estimate"].isna().tolist() == [False, True, True]


def test_without_variation_chance_corrected_measures_are_undefined():
    table = agreement(bands([[-2, -2, -2], [-2, -2, -2]]))
    assert row(table, "r_WG")["estimate"] == 1
    undefined = [row(table, "kappa", "a0, a1"), row(table, "alpha")]
    undefined.append(row(agreement(levels([[2, 2, 2], [2, 1, 2]])), "spearman", "a0, a1"))
    for measure in undefined:
        assert np.isnan(measure["estimate"])
        assert "all levels are equal" in measure["reason"] or "the same level" in measure["reason"]


@pytest.mark.parametrize(
    ("annotations", "options", "complaint"),
    [
        (bands([[-1, 0]]), {}, "annotations of 1; give a"),
        ([1, 2], {}, "annotations of list; give a"),
        ({**bands([[-1]]), "b": 3}, {}, "annotator 'b': give"),
        ({**levels([[1]]), **{"b": bands([[0]])["a0"]}}, {}, "'a0': .* columns low and"),
        (bands([[-1, NAN], [NAN, 0]]), {}, "no item was annotated by"),
        (bands([[-4], [0]]), {}, "annotator 'a0', item 0:"),
        (bands([[-np.inf], [0]]), {}, "goes beyond the levels -3"),
        (levels([[6], [0]]), {}, r"'a0', item 0: \[6.0\] goes"),
        (levels([["high"], [0]]), {}, "annotator 'a0': not a number"),
        (bands([[-1], [0]]), {"levels": 1}, "levels=1; give a whole"),
        (
            {"a": bands([[-1]])["a0"], "b": bands([[0, 0]])["a0"].set_axis(["x", "x"])},
            {},
            "annotator 'b': the item 'x'",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(annotations, options, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        agreement(annotations, **options)
