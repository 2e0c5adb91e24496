"""Judgments: rates worked out by hand, what is dropped, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from helpers import small_judgments as study

from measurement_layouts import DataError
from measurement_layouts.dispositions import SituationalJudgments


def read(**changed):
    """Read the small study with other tables in places."""
    tables = {name: getattr(study, name)() for name in ("scenarios", "votes", "samples", "ratings")}
    return SituationalJudgments.from_long(**{**tables, **changed})


def test_rates_of_people_are_those_worked_out_by_hand(judgments):
    rates = judgments.human_rates()
    np.testing.assert_allclose(rates["rate"], study.HUMAN_RATES, rtol=1e-15)
    assert rates["positive"].tolist() == [10, 6, 8, 3.5, 5, 1.5]
    assert rates["negative"].tolist() == [0, 4, 1, 6.5, 5, 8.5]
    assert rates["neutral"].tolist() == [0, 2, 0, 1, 0, 1]
    assert rates["votes"].tolist() == [10, 10, 9, 10, 10, 10]
    np.testing.assert_allclose(rates["consensus"], [1, 0.6, 8 / 9, 0.65, 0.5, 0.85], rtol=1e-15)
    assert rates.index.tolist() == [name for name, *_ in study.SCENARIOS]
    assert rates["votes"].dtype == rates["neutral"].dtype == "int64"


def test_rates_of_models_are_those_worked_out_by_hand(judgments):
    rates = judgments.model_rates()
    np.testing.assert_allclose(rates["rate"], study.MODEL_RATES, rtol=1e-15)
    assert rates.loc[("calm", "tears"), ["positive", "negative"]].tolist() == [18, 2]
    assert rates.loc[("blunt", "visit"), ["positive", "negative", "undecided"]].tolist() == [
        4,
        12,
        4,
    ]
    np.testing.assert_allclose(rates.loc["blunt", "confidence"], [0.7, 0.75, 0.8, 0.5, 1])
    assert rates.index.names == ["model", "scenario"]
    assert ("blunt", "queue") not in rates.index


def test_names_and_statements_are_in_the_order_of_the_tables(judgments):
    assert judgments.traits == ["empathy", "assertion"]
    assert judgments.models == ["calm", "blunt"]
    assert judgments.statements.reset_index().values.tolist() == [
        ["shoes", "empathy", 1],
        ["hide", "empathy", -1],
        ["speak", "assertion", 1],
    ]
    assert judgments.scenarios.columns.tolist() == ["trait", "statement", "keyed", "user_message"]
    assert repr(judgments) == (
        "<SituationalJudgments: 6 scenarios, 2 traits, 59 votes, 10 raters, 2 models>"
    )


def test_ratings_are_averaged_and_not_turned(judgments):
    assert judgments.ratings.loc[("calm", "hide")].tolist() == [2.5, 2]
    assert judgments.ratings.loc[("blunt", "hide"), "rating"] == 6


def test_what_is_left_out_is_counted(judgments):
    assert judgments.dropped.values.tolist() == [
        ["votes", 1, "the scenario was not applicable for the rater"],
        ["pairs", 1, "fewer than 10 decided samples"],
    ]
    assert ("blunt", "queue") in read(least=9).samples.index
    assert len(read(least=20).samples) == 8  # 19, 16, 18 and 9 are fewer


def test_a_scenario_without_votes_goes_with_all_that_hangs_on_it():
    votes = study.votes()
    of_queue, of_speak = (
        votes["scenario"].isin(names) for names in (["queue"], ["queue", "salary"])
    )
    one = read(votes=votes.assign(vote=votes["vote"].mask(of_queue, None)))  # missing is n/a
    assert "queue" not in one.scenarios.index
    assert one.human_rates().notna().all(axis=None)
    assert one.dropped[["what", "count"]].values.tolist() == [
        ["votes", 11],
        ["pairs", 1],
        ["scenarios", 1],
        ["pairs", 1],
    ]
    both = read(votes=votes[~of_speak])
    assert both.traits == ["empathy"]
    assert both.dropped.values.tolist()[-1] == [
        "ratings",
        2,
        "no scenario of the statement is left",
    ]


def test_raters_are_who_voted(judgments):
    assert judgments.raters["nationality"].tolist() == ["US", "UK"] * 5
    assert list(read().raters.index) == [f"r{place}" for place in range(10)]
    few = study.votes().query("rater != 'r3'")
    read_few = read(votes=few, raters=study.raters())
    assert "r3" not in read_few.raters.index
    assert len(read(raters=study.raters().set_index("rater")[[]]).raters) == 10  # no attributes
    assert ["raters", 1, "no vote of theirs is left"] in read_few.dropped.values.tolist()


def test_samples_one_by_one_are_counted_alike(judgments):
    counts = study.samples().set_index(["model", "scenario"])
    rows = [
        (*pair, choice.upper())
        for pair, row in counts.iterrows()
        for choice, times in row.items()
        for _ in range(times)
    ]
    one_by_one = pd.DataFrame(rows, columns=["model", "scenario", "choice"])
    pd.testing.assert_frame_equal(read(samples=one_by_one).samples, judgments.samples)


def test_numbers_as_names_become_texts():
    numbers = {name: place for place, (name, *_) in enumerate(study.SCENARIOS)}
    tables = {name: getattr(study, name)() for name in ("scenarios", "votes", "samples")}
    for table in tables.values():
        table["scenario"] = table["scenario"].map(numbers)
    tables["scenarios"] = tables["scenarios"].set_index("scenario")
    found = read(**tables)
    assert found.human_rates().index.tolist() == list("012345")
    np.testing.assert_allclose(found.model_rates()["rate"], study.MODEL_RATES)


def test_people_alone_are_a_study():
    alone = SituationalJudgments.from_long(study.scenarios(), study.votes())
    assert alone.models == []
    assert alone.model_rates().empty
    assert alone.ratings.index.names == ["model", "statement"]


def test_a_selection_keeps_what_belongs_to_it(judgments):
    found = judgments.select(models=["blunt"], traits="assertion")
    assert found.scenarios.index.tolist() == ["salary", "queue"]
    assert found.samples.index.tolist() == [("blunt", "salary")]
    assert found.ratings.index.tolist() == [("blunt", "speak")]
    assert len(found.votes) == 20
    assert found.human_rates()["rate"].tolist() == [0.5, 0.15]
    assert judgments.models == ["calm", "blunt"]
    assert judgments.select().human_rates().equals(judgments.human_rates())
    with pytest.raises(DataError, match=r"unknown model\(s\): sharp; known: calm, blunt"):
        judgments.select(models=["sharp"])
    with pytest.raises(DataError, match=r"unknown trait\(s\): courage; known: empathy, assertion"):
        judgments.select(traits=["courage"])


def test_tables_given_stay_as_they_are():
    tables = {name: getattr(study, name)() for name in ("scenarios", "votes", "samples", "ratings")}
    read(**tables)
    for name, table in tables.items():
        pd.testing.assert_frame_equal(table, getattr(study, name)())


@pytest.mark.parametrize(
    ("table", "row", "column", "value", "problem"),
    [
        ("votes", 4, "scenario", "picnic", "votes, column scenario: row 4 has 'picnic'; add what"),
        ("votes", 4, "vote", "yes", "votes, column vote: row 4 has 'yes'; give one of 'agree'"),
        ("votes", 4, "rater", ["r4"], r"column rater: row 4 has \['r4'\]; give a text"),
        ("votes", 4, "rater", "r3", "scenario, rater: row 3 has .*, row 4 has .*; keep one vote"),
        ("scenarios", 2, "keyed", 0, "column keyed: scenario tears has 0; give 1 if agreeing"),
        (
            "scenarios",
            2,
            "keyed",
            1,
            r"scenario tears has \['hide', 1\], .* letter .*one keyed",
        ),
        ("scenarios", 2, "trait", "assertion", "columns statement, trait: .* one trait: correct"),
        ("scenarios", 2, "scenario", "exam", "row 0 has 'exam', row 2 has 'exam'; give each"),
        ("scenarios", 2, "statement", None, "column statement: scenario tears has nothing"),
        ("samples", 7, "agree", -1, "samples, column agree: row 7 has -1; give a count"),
        ("samples", 7, "undecided", 0.5, "column undecided: row 7 has 0.5; give a count"),
        (
            "samples",
            7,
            "scenario",
            "exam",
            r"row 6 has \['blunt', 'exam'\], row 7 .*add",
        ),
        ("ratings", 3, "rating", 8, "ratings, column rating: row 3 has 8; .* from 1 to 7"),
        ("ratings", 3, "rating", None, "row 3 has nothing; give a number from 1 to 7, or drop"),
        ("ratings", 3, "statement", "lead", "column statement: row 3 has 'lead'; add what is miss"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named(table, row, column, value, problem):
    changed = getattr(study, table)().astype({column: object})
    changed.at[row, column] = value
    with pytest.raises(DataError, match=problem):
        read(**{table: changed})


NEITHER = study.samples()[["model", "scenario"]].assign(choice="neither")


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        (
            {"scenarios": study.scenarios().drop(columns="keyed")},
            "scenarios has no column keyed",
        ),
        (
            {"votes": study.votes().drop(columns="rater")},
            "votes has no column rater; the",
        ),
        (
            {"samples": study.samples().drop(columns="undecided")},
            "samples has no column undecid",
        ),
        ({"ratings": study.ratings().drop(columns="model")}, "of ratings has no column model"),
        ({"samples": NEITHER}, "give one of 'agree', 'oppose', 'undecided'"),
        ({"votes": []}, "this is a list; give a pandas DataFrame"),
        ({"ratings": study.ratings()[:0]}, "the table has no rows"),
        ({"raters": study.raters()[:9], "votes": study.votes()[:10]}, "rater: row 9 has 'r9'; add"),
        ({"votes": study.votes().assign(vote="n/a")}, "none of them is 'agree'"),
        ({"least": 0}, "least=0; give a whole number"),
        ({"ratings": study.ratings().assign(times=0)}, "row 0 has 0, row"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(changed, problem):
    with pytest.raises(DataError, match=problem):
        read(**changed)
