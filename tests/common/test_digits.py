"""How numbers are written: three significant digits, errors, probabilities and p values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts.common import digits
from measurement_layouts.inference.posterior.summaries import summarise

ERRORS = st.floats(1e-7, 1e7)
VALUES = st.floats(-1e5, 1e5)
SLACK = 1 + 1e-8


def read(text):
    """The number that is written."""
    return float(text.replace("−", "-"))


@given(VALUES, st.floats(0, 1e5))
def test_a_number_keeps_three_significant_digits(value, width):
    assert abs(read(digits.significant(value, width)) - value) <= 0.005 * abs(value) * SLACK


@given(st.floats(-1e5, 1e5), st.floats(1e-4, 1e4))
def test_the_ends_of_an_interval_differ(low, width):
    """However narrow it is beside its values."""
    ends = digits.in_brackets(low, low + width).strip("[]").split(", ")
    assert 0 < read(ends[1]) - read(ends[0]) < 2.01 * width


@given(st.floats(0, 1))
def test_a_smaller_p_value_is_not_written_as_a_larger_one(p):
    text = digits.p_value(p)
    if text.startswith("<"):
        assert p < float(text[1:])
    else:
        assert abs(float(text) - p) <= 0.0005 * SLACK


@given(VALUES, st.integers(-4, 8))
def test_what_is_written_is_the_number_rounded(value, shown):
    text = digits.fixed(value, shown)
    assert abs(float(text.replace("−", "-")) - value) <= 0.5 * 10.0**-shown * SLACK + 1e-9
    assert len(text.partition(".")[2]) == max(shown, 0)
    assert text.lstrip("−").strip("0.") or not text.startswith("−")


@given(st.floats(0, 1), st.floats(1e-6, 0.3))
def test_a_probability_is_never_said_to_be_0_or_1(value, error):
    text = digits.chance(value, error)
    if error > 0.1:
        assert text == "–"
    elif text[0] in "<>":
        assert 0 < float(text[1:]) < 1
    else:
        assert 0 < float(text) < 1


@given(VALUES, ERRORS)
def test_a_number_with_its_error_keeps_a_digit_of_it(value, error):
    number, _, shown = digits.with_error(value, error, most=12).partition(" ± ")
    assert len(number.partition(".")[2]) == len(shown.partition(".")[2])
    assert 0.88 < float(shown) / error < 1.15  # at worst 4.5 and 3.5, to one digit


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
