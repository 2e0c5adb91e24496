"""What is missing is found, named first, and gains what adding it gains."""

import numpy as np
import pandas as pd
import pytest
from helpers import two_demands
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.validation.criticism.criticise import criticise
from measurement_layouts.validation.leave_one_out.compare import compare_layouts

WHO = ["Ann", "Bob"]


@pytest.fixture(scope="module")
def planted():
    """Ann is put off by light; Bob is not. What can be seen goes with `lit`, on other items."""
    items = two_demands.items(300, seed=3)
    items["doubled"] = 2 * items["reach"]
    items["always"] = "yes"
    profiles = pd.DataFrame(
        {"strength": 3.0, "memory": 3.5, "noise": 0.1, "litBias": [-2.5, 0.0]}, index=WHO
    )
    return ml.simulate(two_demands.layout("lit"), items, profiles, seed=4)


@pytest.fixture(scope="module")
def fitted(planted):
    return ml.fit(two_demands.layout(), planted, **two_demands.SAMPLING)


@pytest.fixture(scope="module")
def found(fitted, planted):
    return criticise(fitted, planted)


def test_what_is_missing_comes_first_and_nobody_else_is_accused(found):
    assert found.first()["Ann"] == "lit"
    assert pd.isna(found.first()["Bob"])
    row = found.table.iloc[0]
    assert row[["subject", "property", "level"]].tolist() == ["Ann", "lit", "1"]
    assert row["effect"] < row["high"] < 0
    assert row["effect"] == pytest.approx(row["observed"] - row["expected"])
    assert list(found.flagged()["property"]) == ["lit"]
    assert row["kind"] == "candidate"
    (said,) = found.suggestions()
    assert said.startswith("adding a bias on lit would gain")
    assert "where it is 1, the success rate is" in said


def test_the_expected_gain_is_what_adding_it_gains(found, fitted, planted):
    """Within three standard errors together; for Bob, whom light leaves cold, not from 0."""
    larger = ml.fit(two_demands.layout("lit"), planted, **two_demands.SAMPLING)
    fits = {"small": fitted, "large": larger}
    tables = {name: compare_layouts(fits, subjects=name) for name in WHO}
    actual = {
        name: table["elpd"]["large"] - table["elpd"]["small"] for name, table in tables.items()
    }
    error = {name: table["dse"].max() for name, table in tables.items()}
    ours = found.table[found.table["property"] == "lit"].set_index("subject")
    for subject in WHO:
        tolerance = 3 * np.hypot(error[subject], ours.loc[subject, "gain_se"])
        assert abs(ours.loc[subject, "gain"] - actual[subject]) <= tolerance
    gain, error = ours["gain"], ours["gain_se"]
    assert gain["Ann"] > 5
    assert gain["Bob"] < 3 * error["Bob"]
    others = found.candidates[found.candidates["property"] != "lit"].dropna(subset="gain")
    assert (others["gain"] < 3 * others["gain_se"]).all()  # twin: what is unrelated gains nothing


def test_candidates_that_cannot_be_told_apart_are_said_so(found):
    assert found.untried() == ""
    remarks = found.table.drop_duplicates("property").set_index("property")["remark"]
    assert remarks["doubled"] == "cannot be told apart from what the layout uses"
    assert remarks["always"] == "the same on all items that the subject attempted"
    assert found.table.set_index("property").loc[["doubled", "always"], "p"].isna().all()
    assert set(found.forms["property"]) == set(two_demands.USED)


def test_an_effect_in_one_level_of_a_used_property_shows_there():
    """Light matters where the load is small only."""
    items = two_demands.items(500, seed=9)
    items["load"] = np.where(np.arange(500) % 2, 4.0, 1.0)
    profile = pd.DataFrame({"strength": 4.5, "memory": 3.8, "noise": 0.05}, index=["Ann"])
    plain = ml.simulate(two_demands.layout(), items, profile, seed=1)
    off = (items["lit"] == 1) & (items["load"] == 1)
    still = np.random.default_rng(2).random(500) < 0.3
    outcomes = plain.successes * np.where(off, still, 1.0)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    fit = ml.fit(two_demands.layout(), evaluation, **two_demands.SAMPLING)
    found = criticise(fit, evaluation)
    assert found.first()["Ann"] == "lit"
    cells = found.residuals("Ann", "lit", "load")
    worst = (cells["expected"] - cells["observed"]).idxmax()
    assert worst == ("1", "1")
    assert cells.loc[worst, "surprising"]
    together = found.interplay("Ann", "lit")
    assert together.index[0] == "load"
    assert together["p"].iloc[0] < 1e-4 < together["p"].iloc[1]


def test_a_used_property_in_another_form_is_named_in_table_and_words():
    """What is asked of memory first helps and then harms: no falling curve holds that."""
    items = two_demands.items(400, seed=5)
    rng = np.random.default_rng(6)
    chances = expit(4 - items["reach"]) * expit(3 - 2 * (items["load"] - 2.5).abs())
    outcomes = pd.DataFrame((rng.random((1, 400)) < chances.to_numpy()) * 1, ["Ann"], items.index)
    evaluation = ml.Evaluation.from_wide(outcomes, items)
    fit = ml.fit(two_demands.layout(), evaluation, **two_demands.SAMPLING)
    found = criticise(fit, evaluation, candidates=["colour"])
    flagged = found.flagged()
    assert flagged[["property", "kind"]].to_numpy().tolist() == [["load", "used"]]
    assert pd.isna(found.first()["Ann"])  # nothing is missing
    assert repr(found).endswith(
        ": 0 of 1 candidates flagged, 1 of 2 used properties flagged, at 5% over all>"
    )
    (said,) = found.suggestions()
    assert said.startswith("another form for load, which the layout uses, would gain")
    assert said.endswith("or give the latent that it is compared with parameters of its own")
    assert (
        "The layout's form does not fit load: where it is" in ml.describe(fit, found).texts["Ann"]
    )


def test_why_no_candidate_could_be_tried(fitted, planted):
    same = criticise(fitted, planted, candidates=["always", "doubled"])
    assert same.untried().startswith(
        "no candidate could be tried (doubled: cannot be told apart from what the layout uses; "
        "always: the same on all items that the subject attempted); add columns "
    )
    assert repr(same).endswith("attempted), 0 of 4 used properties flagged, at 5% over all>")
    counts = planted.successes, planted.trials
    bare = ml.Evaluation(planted.items[list(two_demands.USED)], *counts)
    none = criticise(fitted, bare)
    assert set(none.table["kind"]) == {"used"}
    assert "(the layout uses every property of the items); add columns" in none.untried()
    named = ml.Evaluation(bare.items.assign(title=[f"t{n}" for n in range(300)]), *counts)
    told = criticise(fitted, named).untried()
    assert "what the layout does not use (title) has over 30 different texts" in told


def test_the_same_seed_gives_the_same_table_and_company_changes_nothing(found, fitted, planted):
    again = criticise(fitted, planted)
    pd.testing.assert_frame_equal(found.table, again.table)
    alone = criticise(fitted, planted, subjects=["Bob"]).table
    same = found.table[found.table["subject"] == "Bob"].reset_index(drop=True)
    over_all = ["p_adjusted", "flagged"]
    pd.testing.assert_frame_equal(alone.drop(columns=over_all), same.drop(columns=over_all))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidates": ["taste"]}, DataError, "no column taste"),
        ({"candidates": ["reach"]}, DataError, "the layout uses reach"),
        ({"candidates": []}, DataError, "candidates= is empty; name col"),
        ({"candidates": ["lit", "lit"]}, DataError, "lit"),
        ({"subjects": ["Zoe"]}, FitError, "Zoe"),
        ({"alpha": 1.0}, FitError, "alpha=1.0"),
        ({"prob": 0}, FitError, "prob=0"),
        ({"seed": -1}, FitError, "seed=-1"),
    ],
)
def test_what_cannot_be_asked_is_refused(fitted, planted, options, error, message):
    with pytest.raises(error, match=message):
        criticise(fitted, planted, **options)


def test_another_evaluation_is_refused(fitted, planted):
    fewer = planted.select(items=planted.items.index[:200])
    with pytest.raises(DataError, match=r"lacks the fitted item\(s\) i200"):
        criticise(fitted, fewer)
