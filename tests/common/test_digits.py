"""How numbers are written: three significant digits, errors, probabilities and p values."""

from hypothesis import given
from hypothesis import strategies as st

from measurement_layouts.common import digits

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


@given(VALUES, ERRORS)
def test_a_number_with_its_error_keeps_a_digit_of_it(value, error):
    number, _, shown = digits.with_error(value, error, most=12).partition(" ± ")
    assert len(number.partition(".")[2]) == len(shown.partition(".")[2])
    assert 0.88 < float(shown) / error < 1.15  # at worst 4.5 and 3.5, to one digit
