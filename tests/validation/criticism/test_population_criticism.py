"""Criticism of a joint fit: what is planted is found, in words and figures, and nothing else."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_fits import crafted, random_draws, rasch
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts import DataError, FitError, plots
from measurement_layouts.validation import PopulationCriticism, criticise
from measurement_layouts.validation.criticism import overdispersion
from measurement_layouts.validation.criticism.population.attempts import REPEATED
from measurement_layouts.validation.criticism.population.dependence import TOGETHER

SUBJECTS, ITEMS = 120, 16
FAVOURED, BACKWARDS = "i0", "i3"
ALIKE = ("i6", "i7")


def spoilt(seed=1):
    """Draw a cohort: an item for one school, one that is keyed wrongly, copies, and a learner."""
    rng = np.random.default_rng(seed)
    school = np.arange(SUBJECTS) % 2
    log_odds = rng.normal(size=(SUBJECTS, 1)) + np.linspace(-2, 2, ITEMS)[rng.permutation(ITEMS)]
    log_odds[:, 0] = log_odds[:, 0] * 0.5 + 2 * school - 1
    log_odds[:, 3] *= -1
    log_odds[:, 7] = log_odds[:, 6]
    passed = (rng.logistic(size=log_odds.shape) < log_odds).astype(float)
    passed[:, 7] = np.where(rng.random(SUBJECTS) < 0.8, passed[:, 6], passed[:, 7])
    passed[5] = passed.mean(axis=0) < np.median(passed.mean(axis=0))
    people, names = [f"s{row}" for row in range(SUBJECTS)], [f"i{at}" for at in range(ITEMS)]
    items = pd.DataFrame(
        {"story": [f"story {at // 2}" for at in range(ITEMS)], "own": names}, names
    )
    who = pd.DataFrame(
        {
            "school": np.array(["east", "west"])[school],
            "year": np.resize(["first", "second", "third"], SUBJECTS),
            "age": rng.normal(size=SUBJECTS),
            "lonely": ["x"] + ["y"] * (SUBJECTS - 1),
        },
        people,
    )
    return ml.Evaluation.from_wide(pd.DataFrame(passed, people, names), items, subjects=who)


@pytest.fixture(scope="module")
def known():
    return spoilt()


@pytest.fixture(scope="module")
def fit(known):
    return ml.fit(rasch(), known, draws=200, tune=300, chains=2, seed=1, progressbar=False)


@pytest.fixture(scope="module")
def found(fit, known):
    return criticise(fit, known)


def flagged(table):
    return table[table["flagged"]]


def test_a_subject_whose_pattern_is_upside_down_is_found(found):
    rows = flagged(found.subjects).set_index("subject")
    assert list(rows.index) == ["s5"]
    row = rows.loc["s5"]
    assert row["high"] < 0
    assert row["observed"] > row["expected"] + 0.2


def test_an_item_with_the_wrong_key_is_found(found):
    rows = flagged(found.items).set_index("item")
    assert BACKWARDS in rows.index
    assert rows.loc[BACKWARDS, "effect"] < -1
    assert set(found.items["what"]) == {"slope"}  # items have an ease of their own


def test_an_item_for_one_school_is_found_with_its_size(found):
    rows = flagged(found.groups)
    assert set(zip(rows["by"], rows["item"], strict=True)) == {("school", FAVOURED)}
    (row,) = rows.to_dict("records")
    assert (row["level"], row["against"], row["df"], row["subjects"]) == ("west", "east", 1, 60)
    assert row["low"] < 2 < row["high"]
    assert set(found.groups["by"]) == {"school", "year"}
    assert set(found.groups.loc[found.groups["by"] == "year", "df"]) == {2}


def test_copies_are_found(found):
    row = found.pairs.iloc[0]
    assert (row["item"], row["other"]) == ALIKE
    assert row["flagged"]
    assert row["q3"] > 0.3
    assert row["widening"] > 1
    assert len(found.pairs) == 20


def test_words_name_what_is_wrong_and_what_to_add(found):
    told = "\n".join(found.suggestions())
    assert "s5: the pattern is flatter than the layout implies (s5 passes" in told
    assert f"check the key of {BACKWARDS}" in told
    assert 'Slope("discrimination", per="item")' in told
    assert f"items differ in difficulty by school: {FAVOURED}" in told
    assert 'Effect("favour", per=(Category(\'school\', per="subject"), "item")' in told
    assert "i6 + i7" in told
    assert 'Effect("shared", per=("subject", Category(' in told
    assert "1 of 120 subjects flagged" in repr(found)
    alarms = found.flagged()
    assert set(alarms["table"]) == {"subjects", "items", "groups", "pairs"}
    assert "i0, school west" in set(alarms["name"])


def test_testlets_are_asked_one_by_one_and_together(fit, known, found):
    other = criticise(fit, known, testlets="story", by=["age"], subjects=["s5", "s7"])
    assert isinstance(other, PopulationCriticism)
    assert other.testlets == "story"
    assert len(other.pairs) == ITEMS // 2 + 1
    rows = other.pairs.set_index("testlet")
    assert rows.loc["story 3", "flagged"]
    assert rows.loc[TOGETHER, "items"] == ITEMS
    pair = found.pairs.iloc[0]
    assert rows.loc["story 3", "effect"] == pytest.approx(pair["effect"])
    assert rows.loc["story 3", "z"] == pytest.approx(pair["z"])
    assert list(other.subjects["subject"]) == ["s5", "s7"]
    assert set(other.groups["level"]) == {"+1 sd"}
    assert not other.groups["flagged"].any()
    assert "story story 3" in other.suggestions()[-1]


def test_the_same_seed_gives_the_same_tables(fit, known):
    first, second = (criticise(fit, known, testlets="story", seed=4) for _ in range(2))
    pd.testing.assert_frame_equal(first.pairs, second.pairs)


@pytest.mark.parametrize(
    ("asked", "error", "words"),
    [
        ({"candidates": ["story"]}, FitError, "candidates= applies to subjects that are fitted"),
        ({"by": "shool"}, DataError, "by: the subjects have no column shool; the columns are scho"),
        ({"by": "lonely"}, DataError, "by: lonely has the levels x: 1, y: 119"),
        ({"testlets": "own"}, DataError, "testlets: own is different for each item"),
        ({"testlets": "passage"}, DataError, "testlets: the items have no column passage"),
        ({"subjects": ["nobody"]}, FitError, "nobody"),
        ({"alpha": 2}, FitError, "alpha"),
    ],
)
def test_what_cannot_be_asked_is_refused(fit, known, asked, error, words):
    with pytest.raises(error, match=words):
        criticise(fit, known, **asked)


def test_an_evaluation_of_others_is_refused(fit, known):
    with pytest.raises(DataError, match=r"lacks the fitted subject\(s\) s0"):
        criticise(fit, known.select(subjects=known.subjects[1:]))


def test_few_draws_are_refused(known):
    layout = rasch()
    few = crafted(layout, known, random_draws(layout, known, 40, seed=1))
    with pytest.raises(FitError, match="the fit has 40 draws; criticise needs at least 100"):
        criticise(few, known)


def test_subjects_fitted_one_by_one_take_no_groups(known):
    skill = ml.Capability("skill", low=-3, high=3)
    size = ml.MetaFeature("size", low=-3, high=3)
    layout = ml.Layout("alone", ml.Success("ok", ml.linking.logistic(skill - size)))
    items = pd.DataFrame({"size": np.linspace(-2, 2, ITEMS)}, known.items.index)
    alone = ml.Evaluation(items, known.successes, known.trials).select(subjects=["s0"])
    fit = ml.fit(layout, alone, draws=50, tune=50, chains=2, seed=1, progressbar=False)
    with pytest.raises(FitError, match="by= and testlets= apply to joint fits"):
        criticise(fit, alone, by="school")


def test_items_without_an_effect_of_their_own_are_asked_for_their_level():
    rng = np.random.default_rng(3)
    spread = ml.Spread("spread")
    ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=0, sigma=spread))
    size = ml.MetaFeature("size", low=-3, high=3)
    layout = ml.Layout("demands", ml.Success("ok", ml.linking.logistic(ability - size)))
    names = [f"i{at}" for at in range(8)]
    items = pd.DataFrame({"size": np.linspace(-1.5, 1.5, 8)}, names)
    log_odds = rng.normal(size=(80, 1)) - items["size"].to_numpy()
    log_odds[:, 2] += 1.5
    passed = (rng.logistic(size=log_odds.shape) < log_odds).astype(float)
    people = [f"s{row}" for row in range(80)]
    known = ml.Evaluation.from_wide(pd.DataFrame(passed, people, names), items)
    fit = ml.fit(layout, known, draws=200, tune=300, chains=2, seed=1, progressbar=False)
    found = criticise(fit, known)
    levels = found.items[found.items["what"] == "level"].set_index("item")
    assert levels.loc["i2", "flagged"]
    assert levels.loc["i2", "low"] < 1.5 < levels.loc["i2", "high"]
    assert 'Effect("ease", per="item"' in "\n".join(found.suggestions())
    assert found.groups.empty
    assert "items by groups" not in repr(found)


def test_the_figure_shows_each_table_and_what_is_flagged(found):
    panels = plots.misfit_plot(found)
    titles = [panel.get_title() for panel in panels]
    assert titles[0] == f"Subjects: {len(flagged(found.subjects))} flagged"
    assert [title.split(":")[0] for title in titles[1:]] == [
        "Items",
        *(f"Items by {name}" for name in found.groups["by"].unique()),
        "Pairs",
    ]
    dark = [line for line in panels[1].lines if line.get_label().startswith("flagged")]
    shown = np.concatenate([line.get_xdata() for line in dark])
    assert sorted(shown) == sorted(flagged(found.items)["effect"])
    (only,) = plots.misfit_plot(found, tables="pairs")
    assert only.get_title() == titles[-1]


@pytest.mark.slow
def test_repeated_attempts_that_are_too_much_alike_are_found_with_their_part():
    rng = np.random.default_rng(4)
    people, names = [f"s{row}" for row in range(40)], [f"i{at}" for at in range(8)]
    log_odds = rng.normal(size=(40, 1)) + rng.normal(size=8)
    trials = pd.DataFrame(4, people, names)
    told = {}
    for sd in (0.0, 1.0):
        chances = expit(log_odds + sd * rng.normal(size=log_odds.shape))
        passed = pd.DataFrame(rng.binomial(4, chances), people, names)
        known = ml.Evaluation(pd.DataFrame(index=names), passed, trials)
        fit = ml.fit(rasch(), known, draws=200, tune=300, chains=2, seed=1, progressbar=False)
        criticism = criticise(fit, known)
        (row,) = criticism.pairs[criticism.pairs["testlet"] == REPEATED].to_dict("records")
        assert row["flagged"] == (sd > 0)
        told[sd] = (
            row,
            [line for line in criticism.suggestions() if line.startswith(overdispersion.ALIKE)],
        )
    assert told[0.0][1] == []
    row, (line,) = told[1.0]
    assert 0.3 < row["effect"] < 1.5  # of a variance of 1, by one step from 0
    assert row["widening"] > 1.2
    assert 'add Unseen("itemEffect", 0, Spread("itemSpread"))' in line
    effect = ml.Unseen("itemEffect", 0, ml.Spread("itemSpread"))
    margin = rasch().outcome.expression.arguments[0] + effect
    advised = ml.Layout("advised", ml.Success("ok", ml.linking.logistic(margin)))
    assert ml.check(advised, known).latents.set_index("node").at["itemSpread", "expected_sd"] > 0


def test_tables_of_the_figure_are_known(found):
    with pytest.raises(DataError, match="no item; there are subjects"):
        plots.misfit_plot(found, tables="item")
