"""Several outcomes, grades and scores held against a layout before sampling."""

import numpy as np
import pandas as pd
import pytest
from helpers import graded_layouts as of

import measurement_layouts as ml
from measurement_layouts.batteries.information import sensitivity
from measurement_layouts.batteries.information.sensitivity import Sensitivity
from measurement_layouts.evaluations.steps import expanded, of_rows
from measurement_layouts.inference.model.features import read_features
from measurement_layouts.inference.model.prior import draw_prior
from measurement_layouts.linking import logistic
from measurement_layouts.validation.checking.check import check

PROFILES = pd.DataFrame({"objectPermanence": [4.0, 8.0], "noise": [0.1, 0.4]}, ["Ann", "Bob"])


@pytest.fixture(scope="module")
def several():
    """A success, grades with gaps of their own and a score; Bob tried half of the items once."""
    made = of.layout(of.success(), of.labelled(), of.score(ml.Slope("precision"), places=4))
    extra = {"gap[first]": 1.0, "gap[second]": 2.0, "precision": 2.0}
    evaluation = ml.simulate(made, of.items(14), PROFILES.assign(**extra), seed=2, trials=2)
    left = (evaluation.rows.places < 7) | (evaluation.trials.index != "Bob")[:, None]
    counts = (table.where(left, 0) for table in (evaluation.successes, evaluation.trials))
    return made, ml.Evaluation(evaluation.items, *counts)


def test_items_and_attempts_are_counted_and_nothing_hidden_is_shown(several):
    found = check(*several)
    latents = found.latents
    assert latents["node"].tolist() == ["objectPermanence", "noise", "gap", "gap", "precision"]
    assert set(latents["informed_by"]) == {"timeHidden"}
    assert latents["items"].tolist() == [14] * 5
    three_outcomes, one = (84 + 42) / 2, (28 + 14) / 2
    assert latents["trials"].tolist() == [three_outcomes] * 2 + [one] * 3
    assert found.features.index.tolist() == ["timeHidden"]
    assert found.problems == []
    assert found.subjects["trials"].tolist() == [84, 42]
    np.testing.assert_allclose(found.subjects["success"], several[1].success_rates())
    assert found.expected.loc["Bob"].gt(found.expected.loc["Ann"]).all()
    assert "· " not in str(found)


def test_two_grades_are_a_success():
    plain = of.layout(of.success())
    graded = of.layout(ml.Graded("found", of.keeps(), grades=("no", "yes")))
    seen = ml.simulate(plain, of.items(14), PROFILES, seed=2, trials=2)
    rows = expanded(graded.steps, seen.items)
    counts = (table.set_axis(rows.index, axis=1) for table in (seen.successes, seen.trials))
    one, two = check(plain, seen), check(graded, ml.Evaluation(rows, *counts))
    for name in ("latents", "features", "subjects", "expected", "findings"):
        pd.testing.assert_frame_equal(getattr(one, name), getattr(two, name), rtol=1e-9)


@pytest.mark.parametrize("weighted", [True, False])
def test_information_of_a_ladder_is_that_of_its_categories(weighted, monkeypatch):
    """Exact: one grade's categorical law. Twin: steps that are all tried tell too much."""
    if not weighted:
        monkeypatch.setattr(sensitivity, "_ordered_steps", lambda *_: [])
    memory = ml.Capability("memory", low=0, high=10)
    performance = logistic(memory - ml.MetaFeature("hidden", low=0, high=10))
    leaf = ml.Graded("path", performance, grades=of.GRADES, gap=1.5)
    layout = ml.Layout("x", leaf)
    items = pd.DataFrame({"hidden": [2.0, 5.0]}, ["a", "b"])
    features = of_rows(layout.steps, read_features(layout, items), 2)
    source = Sensitivity.of(layout, features, 6, 200, 1)
    found = (source.scaled[..., 0] ** 2).sum(axis=1)

    def chances(ability):
        p = 1 / (1 + np.exp(items["hidden"].to_numpy() - ability))
        reached = of.reach(leaf, p.ravel(), {"gap": 1.5}).reshape(*p.shape, -1)
        return -np.diff(reached, axis=-1)

    ability, step = source.draws, 1e-5
    slope = (chances(ability + step) - chances(ability - step)) / (2 * step)
    exact = (slope**2 / chances(ability)).sum(axis=(1, 2))
    inside = (ability[:, 0] > 0.01) & (ability[:, 0] < 9.99)  # the step stops at the range's ends
    if weighted:
        np.testing.assert_allclose(found[inside], exact[inside], rtol=1e-5)
    else:
        assert (found[inside] > exact[inside]).all()


def test_other_outcomes_than_the_layout_s_are_refused(several):
    made, evaluation = several
    plain = of.layout(of.success())
    with pytest.raises(ml.DataError, match=r"has steps of outcomes, and .* found \(Success\)"):
        check(plain, evaluation)
    with pytest.raises(ml.DataError, match=r"has 0/1 outcomes .* Evaluation.of_outcomes"):
        check(made, ml.simulate(plain, of.items(4), PROFILES, seed=1))
    with pytest.raises(ml.DataError, match="the rows of the evaluation"):
        check(of.layout(of.score()), evaluation)


def test_an_item_that_cannot_be_used_takes_all_its_steps_along(several):
    made, evaluation = several
    items = evaluation.items.assign(
        timeHidden=evaluation.items["timeHidden"].where(evaluation.rows.item != "arena 3")
    )
    found = check(made, ml.Evaluation(items, evaluation.successes, evaluation.trials))
    assert found.problems[0].startswith("timeHidden is missing on 1 of 14 items: arena 3 (time")
    assert found.latents["items"].max() == 13


@pytest.mark.slow
def test_expected_shrinkage_of_a_score_is_the_realised_one(monkeypatch):
    """Subjects drawn from the prior and fitted: realised sds, element by element.

    Realised sds vary by a third between subjects, so the average of 60 has a standard error of 4 %,
    and that of 200 expected ones of 2 %. The normal approximation adds 7 %, as for one success; a
    precision's information grows with its inverse square, of which the average over draws near by
    takes too much: 15 %. Twin: with steps that are all tried the precision is far off.
    """
    memory, precision = ml.Capability("memory", low=0, high=10), ml.Slope("precision")
    hidden = ml.MetaFeature("timeHidden", low=0, high=10)
    made = ml.Layout("x", ml.Score("credit", logistic(memory - hidden), precision=precision))
    chosen = np.random.default_rng(3).choice(4000, 60, replace=False)
    drawn = {name: values[chosen] for name, values in draw_prior(made).items()}
    profiles = pd.DataFrame(drawn, [f"s{number}" for number in range(60)])
    evaluation = ml.simulate(made, of.items(20), profiles, seed=4)
    fit = ml.fit(made, evaluation, method="grid", draws=400, chains=2, seed=1, progressbar=False)
    realised = fit.profiles().groupby("node")["sd"].mean()
    ratio = check(made, evaluation).expected.mean() / realised
    assert ratio["memory"] == pytest.approx(1, abs=0.12)
    assert ratio["precision"] == pytest.approx(1, abs=0.25)
    monkeypatch.setattr(sensitivity, "_ordered_steps", lambda *_: [])
    assert check(made, evaluation).expected["precision"].mean() / realised["precision"] < 0.65
