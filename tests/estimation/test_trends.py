"""Trends of joint fits: by hand from given draws, and what is no trend."""

import numpy as np
import pandas as pd
import pytest
from helpers import joint_fits

import measurement_layouts as ml
from measurement_layouts import FitError
from measurement_layouts.estimation import joint_trend
from measurement_layouts.linking import logistic
from measurement_layouts.scenarios import weirdml

DRAWS = 400
DAYS = 365.25


@pytest.fixture(scope="module")
def models():
    cohort = weirdml.simulated_cohort()
    chosen = cohort.evaluation.select(items=cohort.evaluation.items.index[:3])
    return weirdml.dated(chosen, weirdml.release_dates())


def fitted(layout, models):
    """A fit of made-up draws, in which horizons grow."""
    draws = joint_fits.random_draws(layout, models, DRAWS, seed=1)
    draws["rate"] = 2 + 0.3 * draws["rate"]
    return joint_fits.crafted(layout, models, draws), draws


def courses(shape, draws, at):
    """The trend of each draw at one date, without the library."""
    line = draws["start"] + draws["rate"] * at
    if shape == "kink":
        bent = np.maximum(at - draws["when"], 0) - np.maximum(-draws["when"], 0)
        line = line + draws["change"] * (bent - at / 2)
    if shape == "walk":
        knots = np.arange(-7, 13) / 4
        walked = np.cumsum(np.pad(0.5 * draws["step"], ((0, 0), (1, 0))), axis=1)
        there, now = (np.array([np.interp(t, knots, one) for one in walked]) for t in (at, 0.0))
        line = line + draws["pace"] * (there - now)
    return line


@pytest.mark.parametrize("shape", ["line", "kink", "walk"])
def test_by_hand(shape, models):
    fit, draws = fitted(weirdml.trend_layout(shape), models)
    found = joint_trend(fit, weirdml.SINCE, between=("2024-01-01", "2025-12-31"), prob=0.8)
    ends = [
        (pd.Timestamp(day) - pd.Timestamp("2025-01-01")).days / DAYS
        for day in ("2024-01-01", "2025-12-31")
    ]
    first, last = (courses(shape, draws, at) for at in ends)
    rates = (last - first) / (ends[1] - ends[0])
    months = [12 / rate if rate > 0 else np.inf for rate in np.quantile(rates, [0.9, 0.5, 0.1])]
    assert [found.low, found.months, found.high] == pytest.approx(months)
    wanted = np.exp2(np.quantile(last, [0.1, 0.5, 0.9]))
    assert found.line[["low", "hours", "high"]].iloc[-1].tolist() == pytest.approx(wanted)
    assert found.line["released"].iloc[[0, -1]].dt.date.astype(str).tolist() == [
        "2024-01-01",
        "2025-12-31",
    ]
    assert found.scatter == pytest.approx(draws["horizonSpread"].mean())


def test_the_dates_of_subjects_by_default(models):
    fit, _ = fitted(weirdml.trend_layout(), models)
    days = joint_trend(fit, weirdml.SINCE).line["released"].iloc[[0, -1]].dt.round("D")
    dates = weirdml.release_dates().sort_values().iloc[[0, -1]]
    assert days.tolist() == dates.tolist()


def test_another_base(models):
    """Of orders of magnitude, doublings are log2(10) as many."""
    fit, _ = fitted(weirdml.trend_layout(), models)
    two, ten = (joint_trend(fit, weirdml.SINCE, base=base).months for base in (2, 10))
    assert two == pytest.approx(ten * np.log2(10))


def layout_of(mean, unit="year"):
    """A capability about a mean of a date and something of its own."""
    released = ml.MetaFeature("released", low=-2, high=3, unit=unit, per="subject")
    rate = ml.Bias("rate", unit=f"1/{unit}" if unit else None, per="population")
    skill = ml.Capability(
        "skill", prior=ml.Prior("Normal", mu=mean(rate * released), sigma=ml.Spread("spread"))
    )
    return ml.Layout("other", ml.Success("ok", logistic(skill)))


@pytest.mark.parametrize(
    ("mean", "unit", "message"),
    [
        (lambda line: line, "level", "needs a unit of time"),
        (lambda line: line, None, "needs a unit of time"),
        (lambda line: line + ml.Bias("own"), "year", "depends on own"),
        (
            lambda line: line * ml.MetaFeature("tests", low=0, high=1, per="subject"),
            "year",
            "depends on released, tests",
        ),
    ],
)
def test_what_is_no_trend(mean, unit, message, models):
    layout = layout_of(mean, unit)
    people = models.subject_table.assign(tests=0.5)
    known = ml.Evaluation(models.items, models.successes, models.trials, subjects=people)
    fit = joint_fits.crafted(layout, known, joint_fits.random_draws(layout, known, 16, seed=1))
    with pytest.raises(FitError, match=message):
        joint_trend(fit, weirdml.SINCE)


def test_a_fit_without_dates(models):
    layout = joint_fits.rasch()
    fit = joint_fits.crafted(layout, models, joint_fits.random_draws(layout, models, 16, seed=1))
    with pytest.raises(FitError, match=r"depends on none.*declare its prior as in"):
        joint_trend(fit, weirdml.SINCE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"base": 1}, "base=1"),
        ({"prob": 1}, "prob"),
        ({"node": "x"}, "x"),
        ({"between": ("2025-01-01", "2024-01-01")}, "rising order"),
        ({"between": ("2025-01-01", "2040-01-01")}, "within that range"),
    ],
)
def test_options(options, message, models):
    fit, _ = fitted(weirdml.trend_layout(), models)
    with pytest.raises(FitError, match=message):
        joint_trend(fit, weirdml.SINCE, **options)
