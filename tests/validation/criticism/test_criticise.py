"""Misfits of known kinds are found, named with a remedy, and nobody else is accused."""

import numpy as np
import pandas as pd
import pytest
from helpers import two_demands
from scipy import stats

import measurement_layouts as ml
from measurement_layouts import DataError, FitError
from measurement_layouts.linking import guessing, logistic, mixture
from measurement_layouts.validation.criticism.agreement import agreement
from measurement_layouts.validation.criticism.scores import SIZES
from measurement_layouts.validation.criticism.sentences import findings

SHORT = {"draws": 250, "tune": 400, "chains": 4, "seed": 1, "progressbar": False}


def rasch():
    mean, spread = ml.Bias("mean", per="population"), ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=spread))
    prior = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    return ml.Layout(
        "Rasch", ml.Success("ok", logistic(ability + ml.Bias("ease", per="item", prior=prior)))
    )


def criticised(eta, rng, items=None, subjects=None, **options):
    passed = pd.DataFrame((rng.logistic(size=eta.shape) < eta).astype(int))
    passed = passed.rename("s{}".format).rename("i{}".format, axis=1)
    people = pd.DataFrame(subjects, index=passed.index)
    data = ml.Evaluation.from_wide(
        passed, pd.DataFrame(items, index=passed.columns), subjects=people
    )
    return ml.validation.criticise(ml.fit(rasch(), data, **SHORT), data, **options)


def eta(rng, subjects, items):
    return rng.normal(size=(subjects, 1)) + rng.normal(size=items)


def test_an_item_that_is_easier_for_a_group():
    rng = np.random.default_rng(3)
    group = np.repeat([0, 1], 150)
    found = criticised(
        eta(rng, 300, 8) + 1.2 * np.outer(group, np.arange(8) == 2), rng, subjects={"sex": group}
    )
    rows = found.groups[found.groups["what"] == "level"].set_index("item")
    assert rows.index[rows["flagged"]].tolist() == ["i2"]
    assert rows.loc["i2", "low"] < 1.2 < rows.loc["i2", "high"]
    (finding,) = [one for one in found.findings() if one.what == "DIF of difficulty"]
    assert "i2" in finding.where
    assert "MetaFeature('sex', levels=(0, 1), per=\"subject\")" in finding.remedy
    assert 'mu=Effect("impact")' in finding.remedy
    anchored = ml.validation.criticise(found.fit, found.evaluation, anchors=["i0", "i1"])
    assert anchored.groups["anchor"].sum() == 2 * 2
    rows = anchored.groups[anchored.groups["what"] == "level"].set_index("item")
    assert rows.index[rows["flagged"]].tolist() == ["i2"]


def test_an_item_with_the_wrong_key():
    rng = np.random.default_rng(4)
    slopes = np.where(np.arange(16) == 0, -1, 1)
    found = criticised(slopes * rng.normal(size=(100, 1)) + rng.normal(size=16), rng)
    assert found.items.loc[found.items["flagged"], "item"].tolist() == ["i0"]
    assert "check the key of i0" in found.suggestions()[0]
    assert "0 of 100 subjects, 1 of 16 items" in repr(found)


def test_testlets_and_pairs():
    rng = np.random.default_rng(5)
    apart = eta(rng, 200, 16) + np.repeat(rng.normal(0, 1.2, (200, 4)), 4, axis=1)
    found = criticised(apart, rng, items={"text": np.repeat(list("ABCD"), 4)}, testlets="text")
    assert found.pairs["flagged"].all()
    assert found.pairs["testlet"].tolist() == ["A", "B", "C", "D", "all together"]
    assert "Category('text')" in found.suggestions()[-1]
    pairs = ml.validation.criticise(found.fit, found.evaluation).pairs
    flagged = pairs[pairs["flagged"]]
    same = (flagged[["item", "other"]].map(lambda name: int(name[1:]) // 4)).nunique(axis=1) == 1
    more = flagged["effect"] > 0
    assert more.sum() >= 3
    assert same[more].all()


@pytest.mark.slow
def test_false_alarms_of_small_cohorts_are_rare():
    """Twin: without the part that the fit absorbs, the threshold of 40 would be passed."""
    alarms = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        found = criticised(eta(rng, 10, 15), rng, subjects={"half": np.arange(10) % 2})
        alarms.append([table["flagged"].any() for table in list(found.tables.values())[1:5]])
    assert (np.sum(alarms, axis=0) <= stats.binom.ppf(0.999, 60, 0.05)).all()


def test_one_mistyped_cell_is_named_before_any_effect():
    delay = ml.MetaFeature("delay", low=0, high=60, unit="s")
    memory = ml.Capability("memory", low=0, high=120, unit="s")
    slips = ml.Noise("slips", low=0, high=0.5)
    knows = logistic(np.log2((memory + 1) / (delay + 1)), 1.7)
    layout = ml.Layout(
        "h", ml.Success("found", guessing(mixture(knows, by=slips, toward=0), 1 / 3))
    )
    items = pd.DataFrame({"delay": np.repeat([0, 5, 15, 30, 60.0], 3)}).rename("item {}".format)
    truth = pd.DataFrame({"memory": [70.0, 40, 20], "slips": 0.04}, ["Typo", "B", "C"])
    data = ml.simulate(layout, items, truth, seed=1, trials=8)
    successes = data.successes.copy()
    successes.loc["Typo", "item 0"] = 0
    data = ml.Evaluation(items, successes, data.trials)
    found = ml.validation.criticise(ml.fit(layout, data, **SHORT), data)
    first = found.cells.iloc[0]
    assert (first["subject"], first["item"], first["observed"]) == ("Typo", "item 0", 0)
    told = found.suggestions()
    assert told[0].startswith("Typo on item 0: 0 of 8 attempts successful")
    assert not any("itemEffect" in one for one in told)


def test_repeated_attempts_with_effects_of_items():
    rng = np.random.default_rng(6)
    items = two_demands.items(60, seed=3)
    data = two_demands.evaluation(60, 3, seed=5, trials=12)
    clean = ml.fit(two_demands.layout(), data, **SHORT)
    assert not ml.validation.criticise(clean, data).overdispersion["flagged"].any()
    share = (data.successes + 0.5) / (data.trials + 1)
    odds = np.log(share / (1 - share)) + rng.normal(0, 1.5, share.shape)
    successes = pd.DataFrame(rng.binomial(12, 1 / (1 + np.exp(-odds))), odds.index, odds.columns)
    spread = ml.Evaluation(data.items, successes, data.trials)
    found = ml.validation.criticise(ml.fit(two_demands.layout(), spread, **SHORT), spread)
    assert found.overdispersion["flagged"].iloc[-1]
    assert 0.5 < found.overdispersion["item_sd"].iloc[-1] < 2.5
    assert any("Unseen" in told for told in found.suggestions())
    assert len(items) == 60


def test_a_property_that_one_subject_minds():
    items = two_demands.items(300, seed=3)
    profiles = pd.DataFrame(
        {"strength": 3.0, "memory": 3.5, "noise": 0.1, "litBias": [-2.5, 0.0]}, index=["Ann", "Bob"]
    )
    data = ml.simulate(two_demands.layout("lit"), items, profiles, seed=4)
    fit = ml.fit(two_demands.layout(), data, **two_demands.SAMPLING)
    found = ml.validation.criticise(fit, data)
    assert found.first()["Ann"] == "lit"
    assert pd.isna(found.first()["Bob"])
    row = found.candidates.iloc[0]
    assert row["effect"] == pytest.approx(row["observed"] - row["expected"])
    assert row["effect"] < row["high"] < 0
    assert row["gain"] > row["gain_se"] > 0
    for wrong, match in (
        (["reach"], "the layout uses reach"),
        ([], "is empty"),
        (["x"], "no column"),
    ):
        with pytest.raises(DataError, match=match):
            ml.validation.criticise(fit, data, candidates=wrong)
    with pytest.raises(FitError, match="alpha=2"):
        ml.validation.criticise(fit, data, alpha=2)


def test_what_is_not_tested_says_why():
    rng = np.random.default_rng(7)
    passed = pd.DataFrame((rng.random((6, 6)) < 0.6).astype(float)).rename("s{}".format)
    passed = passed.rename("i{}".format, axis=1)
    passed.iloc[1:, 5] = np.nan
    data = ml.Evaluation.from_wide(passed, pd.DataFrame(index=passed.columns))
    found = ml.validation.criticise(ml.fit(rasch(), data, **SHORT), data)
    last = found.items.set_index("item").loc["i5"]
    assert np.isnan(last["p"])
    assert last["remark"] == "attempted by a single subject"
    assert "i5" in [one.where for one in found.findings() if not one.computed]


@pytest.mark.parametrize(("flagged", "where"), [(2, "s0, s1"), (6, "layout")])
def test_patterns_of_most_subjects_are_a_misfit_of_the_layout(flagged, where):
    columns = [*SIZES, "subject", "item", "other", "what", "by"]
    none = pd.DataFrame(columns=columns).astype({"flagged": bool})
    subjects = pd.DataFrame({"subject": [f"s{number}" for number in range(10)]})
    subjects = subjects.assign(effect=-0.5, low=-0.7, high=-0.3, p=0.5, p_adjusted=0.5, hard=0)
    subjects = subjects.assign(flagged=np.arange(10) < flagged, cell=-1, remark="")
    names = ("properties", "items", "groups", "pairs", "repeated attempts")
    tables = {"subjects": subjects} | dict.fromkeys(names, none)
    (finding,) = findings(tables, none, none, rasch(), "")
    assert finding.where == where
    assert finding.what == "person fit"


def by_cell(outcomes):
    subject, item = np.indices(outcomes.shape).reshape(2, -1)
    return pd.DataFrame({"subject": subject, "item": item, "outcome": outcomes.ravel()})


def test_agreement_is_0_over_permutations_within_strata():
    rng, strata, values = np.random.default_rng(9), np.repeat([0, 1], 30), []
    passed = (rng.logistic(size=(8, 60)) < eta(rng, 8, 60) + 2 * strata).astype(float)
    for _ in range(400):
        for half in (strata == 0, strata == 1):
            passed[0, half] = rng.permutation(passed[0, half])
        table = agreement(list("abcdefgh"), by_cell(passed), prob=0.9, strata=strata)
        values.append(table.loc[0, "agreement"])
    assert np.mean(values) == pytest.approx(0, abs=4 * np.std(values) / 400**0.5)
    assert table.loc[1:, "agreement"].min() > 4 * np.std(values) / 400**0.5


def test_a_permuted_subject_agrees_with_nobody():
    """Also where two files of different difficulty are stacked, in strata."""
    rng, hits, alarms = np.random.default_rng(8), 0, 0
    for _ in range(10):
        passed = (rng.logistic(size=(11, 100)) < eta(rng, 11, 100) * 2).astype(float)
        passed[0] = rng.permutation(passed[0])
        flagged = agreement(list("abcdefghijk"), by_cell(passed), prob=0.9)["flagged"]
        hits, alarms = hits + flagged[0], alarms + flagged[1:].sum()
    assert hits >= 8
    assert alarms <= 2
    files, found = np.repeat([0, 1], 60), []
    for _ in range(6):
        ease = rng.normal(0, 2, 120) + 2 * files - 1
        passed = (rng.logistic(size=(11, 120)) < rng.normal(size=(11, 1)) + ease).astype(float)
        for part in (files == 0, files == 1):
            passed[0, part] = rng.permutation(passed[0, part])
        found.append(
            [
                agreement(list("abcdefghijk"), by_cell(passed), prob=0.9, strata=strata)["flagged"][
                    0
                ]
                for strata in (files, None)
            ]
        )
    within, whole = np.sum(found, axis=0)
    assert within >= 5
    assert whole < within
