"""Rows in blocks, and sums over neighbouring rows, against rows that are computed at once."""

import numpy as np
import pandas as pd
import pytest
from helpers.joint_layouts import rasch
from helpers.populations import cohort_data, full_layout, random_layout

import measurement_layouts as ml
from measurement_layouts.inference.kernel import domains, inputs
from measurement_layouts.inference.kernel.outcomes import Outcomes
from measurement_layouts.inference.kernel.stages import local_values, schedule
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.sampling.engine import Kernel
from measurement_layouts.inference.sampling.unbounded import LogDensity

_ROWS = 8  # of a block: ten blocks and a half


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(inputs, "_BLOCK", _ROWS)


def address(kernel):
    return kernel.on().compiled_logp_func.address


def _layouts():
    yield "latents of all plates", full_layout()
    for seed in (1, 2, 3):
        yield f"random {seed}", random_layout(seed)


_LAYOUTS = dict(_layouts())


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if name.startswith("random") else [])
        for name in _LAYOUTS
    ],
)
def test_rows_in_blocks_have_the_same_density_and_gradient(name, monkeypatch, small_blocks):
    cohort = Cohort.of_evaluation(_LAYOUTS[name], cohort_data())
    in_blocks = Kernel(cohort)
    assert in_blocks.domains.rows.size % _ROWS
    assert in_blocks.domains.rows.size > 4 * _ROWS
    at = np.random.default_rng(1).normal(size=len(in_blocks.start)) * 0.6
    blocked = in_blocks.on()
    monkeypatch.setattr(inputs, "_BLOCK", 10**9)
    whole = in_blocks.on()
    counts = [(model.user_data == _ROWS).sum() for model in (blocked, whole)]
    assert counts[0] == counts[1] + 1  # the size of a block
    value, slopes = LogDensity(blocked).with_gradient(at)
    expected, gradient = LogDensity(whole).with_gradient(at)
    assert value == pytest.approx(expected, rel=1e-13)
    np.testing.assert_allclose(slopes, gradient, rtol=0, atol=1e-12 * np.abs(gradient).max())


def test_only_a_block_of_rows_is_stored():
    """Otherwise the memory of a gradient would grow with the number of cells."""
    kernel = Kernel(Cohort.of_evaluation(full_layout(), cohort_data()))
    planned = kernel.density.on(kernel.domains).plan(Outcomes(False))
    outputs, rows = [planned.total, *planned.gradient.values()], kernel.domains.rows
    steps = schedule(outputs, rows)
    stored = {value.number for step in steps for value in step.arrays if value.space.domain is rows}
    assert stored
    assert local_values(steps, outputs, rows) == stored


def _long_test(subjects=6, items=40):
    """Draw an evaluation whose neighbouring rows mostly have the same subject."""
    rng = np.random.default_rng(5)
    names, who = [f"i{at}" for at in range(items)], [f"s{at}" for at in range(subjects)]
    came = pd.DataFrame(rng.integers(0, 2, (subjects, items)), who, names)
    return ml.Evaluation(pd.DataFrame(index=names), came, came * 0 + 1)


def test_sums_over_neighbouring_rows_are_the_same_to_the_bit(monkeypatch):
    cohort = Cohort.of_evaluation(rasch(), _long_test())
    at = np.random.default_rng(3).normal(size=len(Kernel(cohort).start))
    found, programs = [], set()
    for most in (domains._CHANGES, 0.0):
        monkeypatch.setattr(domains, "_CHANGES", most)
        kernel = Kernel(cohort)
        found.append(LogDensity(kernel.on()).with_gradient(at))
        programs.add(address(kernel))
    assert len(programs) == 2
    (value, slopes), (expected, gradient) = found
    assert value == expected
    np.testing.assert_array_equal(slopes, gradient)
