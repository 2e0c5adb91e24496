"""The findings of a report are counts of the tables behind it, with ties as ties."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits
from helpers.awkward_names import FAILED

import measurement_layouts as ml
from measurement_layouts.reports.contents import Contents
from measurement_layouts.reports.summary import findings


def groups(fit, evaluation=None):
    """Sentences by group."""
    return {part.title: part.parts[0] for part in findings(Contents(fit, evaluation))}


def test_success_lies_where_the_outcomes_say(fitted, evaluation):
    first = groups(fitted, evaluation)["Who can do what"][0]
    rates = evaluation.successes.mean(axis=1)
    assert f"between {rates.min():.2f} ({rates.idxmin()})" in first
    assert f"and {rates.max():.2f} ({rates.idxmax()})" in first
    assert f"the median is {rates.median():.2f}" in first


def test_strengths_are_counted_and_who_failed_is_named(fitted):
    told = groups(fitted)
    judged = ml.describe(fitted).findings
    skill = judged[judged["where"] == "skill"]["what"].value_counts()
    (text,) = [one for one in told["Who can do what"] if one.startswith("skill:")]
    for kind in ("strength", "weakness"):
        assert (f"a {kind} of {skill.get(kind)}" in text) == (kind in skill)
    assert any("could not be fitted" in one and FAILED in one for one in told["What not to trust"])


@pytest.fixture
def persons(rng):
    """Six persons on 8 items: two solved all, three of the same posterior, and one far below."""
    layout = joint_fits.rasch()
    names = [f"p{number}" for number in range(6)]
    solved = np.array([8, 8, 6, 6, 6, 1])
    outcomes = (np.arange(8) < solved[:, None]).astype(int)
    items = joint_fits.evaluation_of(6, 8).items
    evaluation = ml.Evaluation.from_wide(pd.DataFrame(outcomes, names, items.index), items)
    draws = joint_fits.random_draws(layout, evaluation, 400, seed=1)
    (name,) = [latent.name for latent in layout.profile]
    centres = np.array([4.0, 4.0, 1.0, 1.0, 1.0, -3.0])
    draws["ease"] = rng.normal(np.linspace(-2, 2, 8), 0.2, np.shape(draws["ease"]))
    draws[name] = rng.normal(centres, 0.3, np.shape(draws[name]))
    return name, joint_fits.crafted(layout, evaluation, draws)


def test_the_highest_are_tied_and_perfect_scores_have_no_rank(persons):
    name, fit = persons
    (text,) = [one for one in groups(fit)["Who can do what"] if one.startswith(f"{name}:")]
    assert "bounded on one side only, without a rank, in p0, p1" in text
    tied = text.split("highest in one of ")[1].split(" (probability")[0]
    assert sorted(tied.split(", ")) == ["p2", "p3", "p4"]
    assert "lowest in p5 (probability >0.99)" in text
