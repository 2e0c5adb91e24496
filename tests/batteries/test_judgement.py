"""Sensitivity and specificity: counted by hand, and thresholds that make the difference."""

import numpy as np
import pandas as pd
import pytest

from measurement_layouts import DataError, FitError
from measurement_layouts.batteries.judgement import judge_benchmark

NAMES = ["QLl", "QLq", "MS"]


def battery(logic, quantity=0, mind=0):
    """Items by their level of logic, 20 at each."""
    levels = np.repeat(logic, 20)
    return pd.DataFrame({"QLl": levels, "QLq": quantity, "MS": mind})


def test_pure_and_wide():
    found = judge_benchmark(battery([1, 2, 3, 4]), ["QLl"], NAMES)
    assert (found.sensitive, found.specific) == (True, True)
    assert (found.sensitivity, found.specificity) == (0.8, 1.0)
    assert found.table["holds"].all()
    assert found.verdict == (
        "Sensitive: of 5 levels, 20 items or more ask for QLl at 1, 2, 3, 4.\n"
        "Specific: 0 of 2 other dimensions above level 1 on more than 20% of items."
    )


def test_all_claims_have_to_hold():
    items = battery([1, 2, 3, 4], quantity=np.tile([3, 0], 40))
    found = judge_benchmark(items, ["QLl", "QLq"], NAMES)
    assert found.sensitivity == pytest.approx((0.8 + 0.2) / 2)
    assert not found.sensitive
    assert "for QLl at 1, 2, 3, 4; for QLq at 3" in found.verdict
    assert found.specific


def test_other_demands_make_it_unspecific():
    quantity = np.where(np.arange(80) % 4 == 0, 2, 1)  # a quarter of the items ask for 2
    items = battery([1, 2, 3, 4], quantity=quantity, mind=1)
    found = judge_benchmark(items, ["QLl"], NAMES)
    assert found.specificity == pytest.approx(1 - (0.25 + 0) / 2)
    assert not found.specific
    assert found.verdict.endswith("on more than 20% of items (QLq 25%).")
    assert judge_benchmark(items, ["QLl"], NAMES, tolerated=0.25).specific
    assert judge_benchmark(items, ["QLl"], NAMES, low=2).specific
    assert judge_benchmark(items, ["QLl"], NAMES, low=0).specificity == 0


@pytest.mark.parametrize(
    ("claimed", "options", "error", "message"),
    [
        (["KNa"], {}, DataError, "unknown claimed"),
        ([], {}, DataError, "0 claimed dimensions"),
        (["QLl"], {"least": 0}, FitError, "least=0"),
        (["QLl"], {"cover": 80}, FitError, "cover=80; give a share from"),
        (["QLl"], {"tolerated": -0.1}, FitError, "tolerated=-0.1"),
        (["QLl"], {"low": "1"}, FitError, "low='1'; give a level"),
    ],
)
def test_errors(claimed, options, error, message):
    with pytest.raises(error, match=message):
        judge_benchmark(battery([1, 2, 3, 4]), claimed, NAMES, **options)
