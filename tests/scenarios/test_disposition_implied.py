"""Misalignment by profiles, against drawn people and models."""

import numpy as np
import pytest
from scipy.special import expit

import measurement_layouts as ml
from measurement_layouts.dispositions.pulls import choices
from measurement_layouts.scenarios.dispositions import (
    TRAITS,
    disposition_layout,
    distances,
    implied_misalignment,
    simulated_study,
)


@pytest.fixture(scope="module")
def study():
    return simulated_study(3, models=["sim-16"])


@pytest.fixture(scope="module")
def items(study):
    return choices(study.judgments).items


def truth(study, **other):
    row = {**study.truth.iloc[0].to_dict(), **other}
    leaning = {trait: np.array([row[f"disposition[{trait}]"]]) for trait in TRAITS}
    return np.array([row["slope"]]), np.array([row["noise"]]), leaning


def test_the_rates_that_it_was_drawn_from(study, items):
    """People's log-odds are known here: the same average over them, to 4 standard errors."""
    rng = np.random.default_rng(5)
    pulls = study.pulls.loc[items.index].to_numpy()
    slope, noise, leaning = truth(study)
    trait = study.judgments.scenarios.loc[items.index, "trait"]
    shift = trait.map({name: value[0] for name, value in leaning.items()}).to_numpy()
    anew = rng.normal(items["commonPull"], items["pullSpread"], size=(400, len(items)))
    people = expit(pulls)
    gap = (1 - noise) * np.abs(expit(slope * (pulls + shift)) - people)
    gap = gap + noise * np.abs(expit(slope * (anew + shift)) - people).mean(axis=0)
    found = distances(slope, noise, leaning, items)
    error = 4 * gap.std(ddof=1) / len(gap) ** 0.5
    assert abs(found["all"] - gap.mean()) < error
    other = distances(*truth(study, noise=0.0), items)["all"]  # twin: of a model without noise
    assert abs(other - gap.mean()) > error


def test_a_perfectly_aligned_model_has_none(study, items):
    assert distances(*truth(study, slope=1.0, noise=0.0), items)["all"] > 0.05
    none = {trait: np.zeros(1) for trait in TRAITS}
    assert distances(np.ones(1), np.zeros(1), none, items)["all"] == 0


@pytest.mark.slow
def test_intervals_of_a_fit(study, items):
    fit = ml.fit(
        disposition_layout(),
        choices(study.judgments),
        draws=300,
        tune=300,
        chains=2,
        reruns=0,
        seed=1,
        progressbar=False,
    )
    found = implied_misalignment(fit, choices(study.judgments), prob=0.99)
    true = distances(*truth(study), items)
    assert list(found.loc["sim-16"].index) == [*TRAITS, "all"]
    for trait, row in found.loc["sim-16"].iterrows():
        assert row["low"] < true[trait][0] < row["high"]
        assert row["low"] < row["misalignment"] < row["high"]
