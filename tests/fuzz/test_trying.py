"""What tries many inputs notices what is planted: another exception, a hang, a wrong answer."""

import time

import pytest
from helpers.trying import need, try_many

from measurement_layouts import DataError


def refusing(choice):
    if choice.random() < 0.5:
        raise DataError("too small")


def raising(choice):
    raise KeyError("size")


def hanging(choice):
    try:
        while True:
            time.sleep(0.001)
    except Exception:  # as careless code does
        pass


def lying(choice):
    need(choice.random() < 0.5, "one and one are three")


def silent(choice):
    raise DataError("")


def test_refusals_and_answers_hold():
    try_many(refusing, 50, DataError).hold(accepted=0.3, refused=0.3)


@pytest.mark.parametrize(
    ("attempt", "what"),
    [
        (raising, "raising 0: KeyError at test_trying.py:.*size"),
        (hanging, "hanging 0: TookTooLong at .*: not done after 0.05 s"),
        (lying, "lying .*: AssertionError at trying.py:.*: one and one are three"),
        (silent, "silent 0: refused without a word"),
    ],
)
def test_what_is_planted_is_noticed(attempt, what):
    tried = try_many(attempt, 3, DataError, seconds=0.05)
    with pytest.raises(AssertionError, match=what):
        tried.hold(accepted=0, refused=0)


def test_an_input_maker_that_makes_no_odd_ones_is_noticed():
    with pytest.raises(AssertionError, match="only 0 of 20 refused"):
        try_many(lambda choice: None, 20, DataError).hold(accepted=0.1, refused=0.2)
