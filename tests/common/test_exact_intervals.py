"""Clopper and Pearson's interval, against SciPy's and by its coverage."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest

from measurement_layouts.common.proportions import clopper_pearson, wilson

CASES = [(0, 1), (1, 1), (0, 20), (7, 20), (20, 20), (999, 1000)]


@pytest.mark.parametrize("prob", [0.5, 0.9, 0.99])
def test_it_is_that_of_scipy(prob):
    low, high = clopper_pearson(*np.array(CASES).T, prob)
    for (won, count), *ends in zip(CASES, low, high, strict=True):
        exact = binomtest(won, count).proportion_ci(prob, method="exact")
        assert ends == pytest.approx(exact, abs=1e-12)


def coverage(interval, rate, count, prob):
    won = np.arange(count + 1)
    if interval is wilson:
        low, high = wilson(won / count, np.full(count + 1, count), prob)
    else:
        low, high = interval(won, np.full(count + 1, count), prob)
    return binom.pmf(won, count, rate)[(low <= rate) & (rate <= high)].sum()


def test_it_holds_the_rate_at_least_as_often_as_said():
    rates = np.linspace(0.01, 0.99, 99)
    assert min(coverage(clopper_pearson, rate, 30, 0.9) for rate in rates) >= 0.9
    assert min(coverage(wilson, rate, 30, 0.9) for rate in rates) < 0.9, "twin: Wilson's does not"
