"""Transformed problems have the log-density they had, up to a constant: the code that fits run.

At random points, over random layouts and data. Tolerance 1e-10 of the log-density and of the
largest slope, as for the kernel: sums of some hundreds of terms, each rounded to 1e-16 of itself.
The constant is the binomial coefficient where attempts are counted otherwise, and 0 elsewhere.
"""

import numpy as np
import pytest
from helpers.broken_transformations import BROKEN
from helpers.log_density import ours, points
from helpers.random_layouts import random_layouts
from helpers.transformations import UNCHANGED, random_problem, rich_problem
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from measurement_layouts import DataError, LayoutError

ROUNDING = 1e-10
NOT_COUNTED_ALIKE = {"repeated items against counts", "splitting trials over two items"}
SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large]
MANY = 7  # twice as many with --inputs 2, which scripts/trust.sh gives


def density(problem):
    return ours(problem.layout, problem.evaluation, problem.subject)


def largest_differences(problem, transformed, count=3):
    """Of the log-density's changes between points, its slopes, and the constant."""
    one, other = density(problem), density(transformed)
    rows = []
    for point in points(one.size, count):
        value, slope = one(point)
        moved_value, moved_slope = other(transformed.moved(point))
        rows.append((moved_value - value, abs(moved_slope - transformed.moved(slope)).max()))
        scale = max(1, abs(value), abs(slope).max())
    constants, slopes = np.transpose(rows) / scale
    return np.ptp(constants), slopes.max(), abs(constants).max()


def hold_unchanged(problem, name, rng):
    shape, slope, constant = largest_differences(problem, UNCHANGED[name](problem, rng))
    assert shape < ROUNDING
    assert slope < ROUNDING
    assert constant < ROUNDING or name in NOT_COUNTED_ALIKE


@pytest.fixture(scope="module")
def rich():
    return rich_problem(np.random.default_rng(20261))


@pytest.mark.parametrize("name", UNCHANGED)
def test_a_layout_with_everything(rich, name, rng):
    hold_unchanged(rich, name, rng)


def hold_random_layout(layout, seed):
    """All transformations, one after the other; layouts that no data fit are tested elsewhere."""
    rng = np.random.default_rng(seed)
    problem = random_problem(layout, rng)
    try:
        density(problem)
    except (DataError, LayoutError):
        reject()
    for name in UNCHANGED:
        hold_unchanged(problem, name, rng)


@pytest.mark.slow
def test_many_random_layouts(more):

    @settings(max_examples=more * MANY, suppress_health_check=SLOW_IS_FINE)
    @given(layout=random_layouts(), seed=st.integers(0, 2**31))
    def hold(layout, seed):
        hold_random_layout(layout, seed)

    hold()


# --- twins that must fail ------------------------------------------------------------------------


@pytest.mark.parametrize("broken", BROKEN, ids=lambda function: function.__name__)
def test_a_broken_transformation_is_noticed(rich, broken, rng):
    """Twin that must fail, for each family: by far more than rounding."""
    shape, slope, _ = largest_differences(rich, broken(rich, rng))
    assert min(shape, slope) > 1e6 * ROUNDING
