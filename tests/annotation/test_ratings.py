"""Ratings: what is read, what is listed instead of guessed, and how far raters agree."""

import numpy as np
import pandas as pd
import pytest
from helpers.real_folders import study
from sklearn.metrics import cohen_kappa_score

from measurement_layouts.annotation import AnnotationError, Annotations, DemandTable, Ratings


def draws(raters=3, items=80, gaps=0.0, seed=1):
    """Levels by raters that look at the items; some are missing."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 6, items)[:, None]
    levels = (truth + random.integers(-1, 2, (items, raters))).clip(0, 5).astype(float)
    levels[random.random(levels.shape) < gaps] = np.nan
    return levels


def ratings_of(levels):
    return Ratings.from_wide(
        {f"r{number}": pd.DataFrame({"d": column}) for number, column in enumerate(levels.T)}
    )


def test_files_are_read_and_what_is_no_level_is_listed(tmp_path):
    text = 'set,id,demand[a],b\nx,1,3,0\nx,2,,1\ny,1,"Sure, here\nit is",6\ny,2,2.5,2\n'
    (tmp_path / "one.csv").write_text(text)
    ratings = Ratings.from_wide({"one": tmp_path / "one.csv"}, item=["set", "id"])
    assert ratings.dimensions == ["a", "b"]
    assert ratings.said["item"].to_numpy().tolist() == ["x/1", "x/2", "y/1", "y/2"]
    assert ratings.said.sel(dimension="a").to_numpy()[0, 0] == 3
    assert int(ratings.said.notnull().sum()) == 4
    assert ratings.problems.to_numpy().tolist() == [
        ["one", 3, "x/2", "a", ""],
        ["one", 4, "y/1", "a", "Sure, here\nit is"],
        ["one", 4, "y/1", "b", "6"],
        ["one", 5, "y/2", "a", "2.5"],
    ]


def test_long_and_wide_are_alike():
    ratings = ratings_of(draws(gaps=0.2))
    long = ratings.said.to_dataframe(name="level").reset_index()
    assert Ratings.from_long(long).said.equals(ratings.said)


def test_runs_of_annotate_demands_are_read():
    empty = pd.DataFrame()
    levels = pd.DataFrame({"level": [1, 4]}, index=pd.Index(["x", "y"], name="item"))
    one = Annotations("planning", "mock", "levels", levels, empty, empty, pd.Series(dtype=str))
    table = DemandTable(empty, {"demand[PL]": one}, empty)
    ratings = Ratings.from_wide({"first": table, "second": table})
    assert ratings.said.sel(rater="second", dimension="PL", item="y").item() == 4


def test_agreement_is_others():
    """Kappa of scikit-learn; gaps and three raters."""
    levels = draws(gaps=0.15)
    row = ratings_of(levels).agreement().loc["d"]
    kappas, equal = [], []
    for pair in ([0, 1], [0, 2], [1, 2]):
        both = levels[:, pair][~np.isnan(levels[:, pair]).any(axis=1)]
        kappas.append(cohen_kappa_score(*both.T, weights="quadratic", labels=range(6)))
        equal.append((both[:, 0] == both[:, 1]).mean())
    assert row["kappa"] == pytest.approx(np.mean(kappas), abs=1e-12)
    assert row["exact"] == pytest.approx(np.mean(equal))


def test_real_levels():
    """As the files' page says: 352,322 pairs, 54.5 % alike, 85.6 % within one; 46 cells without."""
    files = study("demand_annotations", "annotations_gpt4o.csv")
    ratings = Ratings.from_wide(
        {name: files / f"annotations_{name}.csv" for name in ("gpt4o", "gemini")},
        item=["dataset name", "sample id"],
    )
    table = ratings.agreement()
    assert table["items"].sum() == 352_322
    assert np.average(table["exact"], weights=table["items"]) == pytest.approx(0.545, abs=5e-4)
    assert np.average(table["within_one"], weights=table["items"]) == pytest.approx(0.856, abs=5e-4)
    problems = ratings.problems.groupby("rater")["found"]
    assert (problems.get_group("gemini") == "").sum() == 42
    assert (problems.get_group("gpt4o").str.len() > 100).sum() == 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Ratings.from_wide({}), "no tables"),
        (lambda: Ratings.from_wide({"one": "nowhere.csv"}), "rater 'one': cannot read"),
        (
            lambda: Ratings.from_wide({"one": pd.DataFrame({"d": [1, 2]}, index=["x", "x"])}),
            "rater 'one', row 2: a",
        ),
        (
            lambda: Ratings.from_wide({"one": pd.DataFrame({"d": [1]})}, item="set"),
            "rater 'one': there is no",
        ),
        (lambda: Ratings.from_wide({"one": pd.DataFrame({"d": [1]})}, levels=[1, 1]), "ascend"),
        (
            lambda: Ratings.from_long(
                pd.DataFrame({"item": "x", "rater": "r", "dimension": "d", "level": [1, 2]})
            ),
            "rater 'r', row 2: a second",
        ),
        (lambda: ratings_of(draws(raters=1)).agreement(), "only the rater 'r0'"),
    ],
)
def test_what_cannot_be_read_is_refused(make, message):
    with pytest.raises(AnnotationError, match=message):
        make()
