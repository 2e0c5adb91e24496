"""The rule of digits: the last one is worth at least the number's error."""

import math

import numpy as np
import pytest
from helpers.unsure import FEW, SELDOM
from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts.common import digits
from measurement_layouts.inference.posterior.summaries import summarise

ERRORS = st.floats(1e-7, 1e7)
SIZES = st.floats(1, 1e7)
VALUES = st.floats(-1e5, 1e5)
SLACK = 1 + 1e-8
RULE = pytest.mark.trust("digits", "the rule")


@RULE
@given(ERRORS)
def test_the_last_digit_is_worth_the_error_and_the_next_one_is_not(error):
    shown = digits.supported(error)
    assert 10.0**-shown * SLACK >= error
    assert 10.0 ** -(shown + 1) < error * SLACK


@RULE
@given(ERRORS, SIZES)
def test_a_mean_has_at_most_two_digits_of_its_sd(sd, ess):
    unit = 10.0 ** -digits.decimals(sd, ess)
    assert unit * SLACK >= sd / math.sqrt(ess)
    assert unit * SLACK >= 10.0 ** (math.floor(math.log10(sd)) - 1)


@RULE
@pytest.mark.parametrize("ess", [math.nan, 0.0])
def test_an_unknown_error_leaves_one_digit_of_the_sd(ess):
    assert [digits.decimals(sd, ess) for sd in (0.03, 0.4, 5.0, 60.0)] == [2, 1, 0, -1]
    row = {"sd": 0.4, "ess_bulk": ess, "ess_tail": 900.0, "low_error": math.nan, "high_error": 0.1}
    assert digits.of_profile(row) == (1, 1)


@RULE
@given(VALUES, st.integers(-4, 8))
def test_what_is_written_is_the_number_rounded(value, shown):
    text = digits.fixed(value, shown)
    assert abs(float(text.replace("−", "-")) - value) <= 0.5 * 10.0**-shown * SLACK + 1e-9
    assert len(text.partition(".")[2]) == max(shown, 0)
    assert text.lstrip("−").strip("0.") or not text.startswith("−")


@RULE
@given(st.floats(0, 1), st.floats(1e-6, 0.3))
def test_a_probability_is_never_said_to_be_0_or_1(value, error):
    text = digits.chance(value, error)
    if error > 0.1:
        assert text == "–"
    elif text[0] in "<>":
        assert 0 < float(text[1:]) < 1
    else:
        assert 0 < float(text) < 1


@RULE
@given(VALUES, ERRORS)
def test_a_number_with_its_error_keeps_a_digit_of_it(value, error):
    number, _, shown = digits.with_error(value, error, most=12).partition(" ± ")
    assert len(number.partition(".")[2]) == len(shown.partition(".")[2])
    assert 0.88 < float(shown) / error < 1.15  # at worst 4.5 and 3.5, to one digit


@RULE
def test_two_runs_differ_by_few_units():
    """The derivation: errors of one unit each, at worst, differ by five units in half a percent."""
    rng = np.random.default_rng(1)
    true = rng.uniform(-50, 50, 100_000)
    runs = np.round(true + rng.normal(size=(2, len(true))))
    seldom = (abs(np.subtract(*runs)) >= FEW).mean()
    assert seldom <= SELDOM + 4 * math.sqrt(SELDOM / len(true))
    finer = np.round(100 * (true + rng.normal(size=(2, len(true)))))
    assert (abs(np.subtract(*finer)) >= FEW).mean() > 0.9  # twin: two digits more


@pytest.mark.trust("digits", "errors of the ends of intervals")
@pytest.mark.parametrize("draw", ["normal", "uniform", "exponential", "laplace"])
@pytest.mark.parametrize("prob", [0.5, 0.9])
def test_errors_of_ends_are_their_spread_over_runs(draw, prob):
    """Mean error and spread of 500 runs: the spread is known to 3 %, densities to some 20 %."""
    rng = np.random.default_rng(1)
    draws = getattr(rng, draw)(size=(500, 1, 4, 250))
    found = summarise(draws, draws[0, 0].reshape(1000, 1), prob)
    for end in ("low", "high"):
        ratio = found[f"{end}_error"].mean() / found[end].std(ddof=1)
        assert 0.85 < ratio < 1.35
    if draw == "normal" and prob == 0.9:  # twin: the mean's error is not that of the ends
        mean_error = (found["sd"] / np.sqrt(found["ess_bulk"])).mean()
        assert mean_error / found["low"].std(ddof=1) < 0.6


@RULE
@given(VALUES, st.floats(0, 1e4), st.integers(-3, 6))
def test_a_written_interval_holds_the_interval(low, width, shown):
    """And no more than a unit of the last digit beyond either end."""
    texts = digits.outward(low, low + width, shown)
    written_low, written_high = (float(text.replace("−", "-")) for text in texts)
    unit, slack = 10.0**-shown, 1e-8 * (1 + abs(low) + width)
    assert written_low <= low + 1.1e-9 * unit + slack
    assert written_high >= low + width - 1.1e-9 * unit - slack
    assert low - written_low < unit + slack
    assert written_high - (low + width) < unit + slack


@RULE
def test_no_coverage_is_lost_by_rounding():
    """A 90 % interval of a uniform number; rounded to the nearest, it loses up to a tenth."""
    assert digits.outward(3.94, 7.46, 0) == ("3", "8")
    assert digits.outward(3.9, 7.5, 1) == ("3.9", "7.5")
    rng = np.random.default_rng(1)
    lost = {"outward": 0, "nearest": 0}
    for low in rng.uniform(0, 50, 300):
        high = low + 3.0
        out = [float(text) for text in digits.outward(low, high, 0)]
        near = [float(digits.fixed(end, 0)) for end in (low, high)]
        for name, (start, stop) in {"outward": out, "nearest": near}.items():
            lost[name] += start > low or stop < high
    assert lost["outward"] == 0
    assert lost["nearest"] > 100  # twin: what rounding to the nearest does


def test_an_interval_is_not_written_beyond_its_range():
    """The declared end is written, and only where rounding goes beyond it."""
    assert digits.outward(4.1, 5.22, 0, (0.0, 5.3)) == ("4", "5.3")
    assert digits.outward(0.24, 0.9, 1, (0.21, 5.3)) == ("0.21", "0.9")
    assert digits.outward(4.1, 4.2, 0, (0.0, 5.3)) == ("4", "5")
    assert digits.outward(4.1, 5.4, 0, (0.0, 5.3)) == ("4", "6")  # twin: it lies beyond
