"""Place and firmness, and how far prompts move both: against draws and lines that are known."""

import numpy as np
import pandas as pd
import pytest
from helpers.small_layouts import crafted
from scipy import stats

import measurement_layouts as ml
from measurement_layouts.estimation import firmness, incitability
from measurement_layouts.scenarios import propensities

LAYOUT = propensities.firmness_layout()
ITEMS = propensities.battery("risk_aversion").drop(columns="propensity").iloc[:140]


def drawn(profiles, subjects, items=ITEMS, layout=LAYOUT, solved=None):
    """A fit whose draws are normal about means with given spreads, shape (subject, 2, 500)."""
    rng = np.random.default_rng(3)
    shape = len(subjects), 2, 500
    posterior = {
        name: np.abs(values) if name == "wobble" else values
        for name, (mean, sd) in profiles.items()
        for values in [np.reshape(mean, (-1, 1, 1)) + sd * rng.normal(size=shape)]
    }
    posterior["noise"] = rng.beta(1, 20, shape)
    solved = rng.integers(0, 2, (len(subjects), len(items))) if solved is None else solved
    outcomes = pd.DataFrame(solved, subjects, items.index)
    return crafted(layout, ml.Evaluation.from_wide(outcomes, items), posterior)


def test_numbers_are_the_posterior_s():
    fit = drawn({"propensity": ([0.5, -1.0], 0.2), "wobble": ([0.8, 0.6], 0.1)}, ["Ann", "Bob"])
    table = firmness(fit, prob=0.8)
    draws = fit.posterior["propensity"].stack(draw_=("chain", "draw")).to_numpy()
    other = fit.posterior["wobble"].stack(draw_=("chain", "draw")).to_numpy()
    assert table["place"].to_numpy() == pytest.approx(draws.mean(axis=1))
    assert table["wobble_high"].to_numpy() == pytest.approx(np.quantile(other, 0.9, axis=1))
    expected = [np.corrcoef(one, two)[0, 1] for one, two in zip(draws, other, strict=True)]
    assert table["correlation"].to_numpy() == pytest.approx(expected)
    assert table["identified"].all()
    assert (table["reason"] == "").all()


def test_trials_near_an_end_are_counted():
    """By hand: ends lie half a level outside the annotated ones."""
    fit = drawn({"propensity": ([0.5], 0.02), "wobble": ([0.3], 0.02)}, ["Ann"])
    at = (ITEMS["upper"] + 0.5 == 0.5) | (ITEMS["lower"] - 0.5 == 0.5)
    table = firmness(fit)
    assert table.loc["Ann", "near"] == at.sum() > 10
    wide = drawn({"propensity": ([0.5], 0.02), "wobble": ([1.2], 0.02)}, ["Ann"])
    more = (abs(ITEMS["upper"]) <= 1) | (abs(ITEMS["lower"] - 1) <= 1)
    more |= ITEMS["upper"].between(-1, 1) | (abs(ITEMS["lower"] - 0.5 - 0.5) <= 1.25)
    assert firmness(wide).loc["Ann", "near"] == more.sum()


def test_a_wobble_between_ends_is_known_from_above_only():
    fit = drawn({"propensity": ([1.0], 0.02), "wobble": ([0.1], 0.02)}, ["Ann"])
    row = firmness(fit).loc["Ann"]
    assert (row["near"], row["identified"]) == (0, True)
    assert row["reason"] == (
        "0 of 140 trials are at bands that end within 0.13 of the place: the wobble is known from "
        "above only"
    )


def test_what_the_prior_decides_has_no_number():
    priors = {"propensity": ([0.0], 2.0), "wobble": ([0.0], 1.0)}
    row = firmness(drawn(priors, ["Ann"])).loc["Ann"]
    assert not row["identified"]
    assert np.isnan(row[["place", "wobble", "wobble_high"]].astype(float)).all()
    assert row["reason"].startswith("the prior decides the place and wobble; add items whose bands")
    silent = drawn(
        {"propensity": ([0.5], 0.2), "wobble": ([0.8], 0.1)}, ["Ann"], solved=[[0] * 140]
    )
    assert not firmness(silent).loc["Ann", "identified"]


def test_it_is_told_what_is_missing():
    fit = drawn({"propensity": ([0.5], 0.2), "wobble": ([0.8], 0.1)}, ["Ann"])
    with pytest.raises(ml.FitError, match="no profile element firm; it has propensity, wobble"):
        firmness(fit, wobble="firm")
    with pytest.raises(ml.DataError, match="no row for Ann; give each subject its model"):
        incitability(fit, pd.DataFrame({"model": [], "incited": []}))
    with pytest.raises(ml.DataError, match="incited"):
        incitability(fit, pd.DataFrame({"model": ["A"]}, ["Ann"]))


LEVELS = [-2.0, -1.0, 0.0, 1.0, 2.0, np.nan]


@pytest.fixture(scope="module")
def prompted():
    """One model that goes where it is sent, one that stays, and what they do unprompted."""
    names = [f"{model} {level:g}" for model in "AB" for level in LEVELS]
    places = [-1.9, -1.2, 0.2, 0.9, 2.1, 0.4, 0.1, 0.0, 0.2, 0.1, 0.1, -0.3]
    wobbles = [0.8] * 6 + [0.4] * 6
    fit = drawn({"propensity": (places, 0.1), "wobble": (wobbles, 0.1)}, names)
    return fit, pd.DataFrame({"model": list("AAAAAABBBBBB"), "incited": LEVELS * 2}, names)


def test_lines_are_those_of_least_squares(prompted):
    fit, conditions = prompted
    table, places = incitability(fit, conditions), firmness(fit)["place"]
    for model, row in table.iterrows():
        own = conditions[(conditions["model"] == model) & conditions["incited"].notna()]
        design = np.column_stack([np.ones(5), own["incited"]])
        y = places[own.index].to_numpy()
        best, rest = np.linalg.lstsq(design, y, rcond=None)[:2]
        scatter = (rest[0] / 3) ** 0.5
        half = stats.t.ppf(0.95, 3) * scatter / (own["incited"] ** 2).sum() ** 0.5
        expected = [best[1], best[1] - half, best[1] + half, best[0], scatter]
        names = ["slope", "slope_low", "slope_high", "at_zero", "scatter"]
        assert row[names].to_numpy(float) == pytest.approx(expected)
        assert (row["used"], row["left_out"]) == (5, 0)
    assert table.loc["A", "slope_low"] > 0.5 > table.loc["B", "slope_high"]
    assert table["wobble"].to_numpy() == pytest.approx([0.8, 0.4], abs=0.02)
    plain = places[["A nan", "B nan"]].to_numpy()
    assert table["unprompted"].to_numpy() == pytest.approx(plain)


def test_prompts_that_are_not_identified_are_left_out_and_counted():
    lost = drawn(
        {"propensity": ([0.0, 1.0, 0.0, 2.0], [[[2.0]], [[0.1]], [[2.0]], [[0.1]]]),
         "wobble": ([0.0, 0.5, 0.0, 0.5], [[[1.0]], [[0.1]], [[1.0]], [[0.1]]])},
        list("abcd"),
    )  # fmt: skip
    asked = pd.DataFrame({"model": "A", "incited": [0.0, 1.0, 1.0, 2.0]}, list("abcd"))
    row = incitability(lost, asked).loc["A"]
    assert (row["used"], row["left_out"]) == (2, 2)
    assert np.isnan(row["slope"])
    assert row["wobble"] == pytest.approx(0.5, abs=0.02)


def test_intervals_of_slopes_hold_the_slope(rng):
    """The error of places counts, because it scatters; the twin has intervals a third as wide."""
    from measurement_layouts.estimation.firmness import _line

    level, held, third = np.arange(-3.0, 4), 0, 0
    for _ in range(600):
        found = _line(level, 0.7 * level + rng.normal(0, 0.4, 7), 0.9)
        held += found["slope_low"] <= 0.7 <= found["slope_high"]
        third += abs(found["slope"] - 0.7) <= (found["slope_high"] - found["slope"]) / 3
    slack = 4 * (0.09 / 600) ** 0.5
    assert abs(held / 600 - 0.9) < slack < abs(third / 600 - 0.9)
