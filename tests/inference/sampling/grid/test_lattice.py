"""Lattices: as wide as the density, as close as the steps, and boxes around all that matters."""

import numpy as np
import pytest

from measurement_layouts import FitError
from measurement_layouts.inference.sampling.grid.lattice import WIDEST, grow, spaced, start

OPEN = np.array([False])


def target(logpdf):
    def both(points):
        return logpdf(*points), points[0][..., None]

    return both


@pytest.mark.parametrize("centre", [0.0, 40.0, -300.0])
def test_a_lattice_grows_to_where_the_density_is(centre):
    (line,), logs = grow(target(lambda x: -abs(x - centre)), [np.linspace(-1, 1, 9)], ["a"], OPEN)
    assert line[0] < centre - 30
    assert line[-1] > centre + 30
    assert (len(line) - 1) % WIDEST == 0
    assert (np.diff(line) > 0).all()
    assert logs.shape == line.shape


def test_a_closed_axis_stays():
    line = np.linspace(-1, 1, 9)
    (found,), _ = grow(target(lambda x: -(x**2)), [line], ["a"], ~OPEN)
    assert found.tolist() == line.tolist()


@pytest.mark.parametrize(
    "logpdf", [lambda x: 0 * x, lambda x: 0 * x - 1e10, lambda x: 1e-30 * x, np.arctan]
)
def test_what_cannot_be_normalised_is_refused(logpdf):
    with pytest.raises(FitError, match="posterior of skill cannot be normalised"):
        grow(target(logpdf), [np.linspace(-1, 1, 9)], ["skill"], OPEN)


def holds(low, high, point):
    return ((low <= point) & (point <= high)).all(axis=1).any()


@pytest.mark.parametrize("width", [3.0, 0.1, 1e-3])
@pytest.mark.parametrize("axes", [1, 2])
def test_boxes_hold_a_peak_however_narrow(width, axes):
    rng = np.random.default_rng(2)
    lines = [np.linspace(-8, 8, 33)] * axes
    for _ in range(30):
        peak = rng.uniform(-6, 6, axes)
        bend = [((line - p) / width) ** 2 / 2 for line, p in zip(lines, peak, strict=True)]
        logs = -(bend[0] if axes == 1 else np.add.outer(*bend))
        low, high = start(lines, logs)
        assert holds(low, high, peak)
        # no two boxes overlap, and the negligible is left out
        assert np.prod(high - low, axis=1).sum() <= 16**axes
        if width < 1:
            assert np.prod(high - low, axis=1).sum() < 0.3 * 16**axes


def test_even_and_smooth_gaps_are_joined_others_not():
    smooth = np.linspace(0, 1, 17)
    assert len(start([smooth], smooth)[0]) == 2
    dense = np.sort(np.append(np.linspace(0, 1, 13), [0.501, 0.502, 0.503, 0.504]))
    low, high = start([dense], dense)
    width = (high - low)[(low[:, 0] < 0.504) & (high[:, 0] > 0.5)]
    assert width.max() <= 0.004
    assert holds(low, high, np.array([0.5025]))


def test_a_step_is_followed_to_rounding():
    """Two steps, 1e-9 apart; lines fall between them."""

    def changes(places):
        return np.diff(((places > 0.3) & (places < 0.3 + 1e-9)).astype(float))

    def seen(places):  # shows on the first look, as an item's band would
        return np.maximum(np.abs(changes(places)), np.abs(np.diff((places > 0.3).astype(float))))

    line = spaced(seen, 0.0, 1.0, fewest=8, most=64)
    assert np.abs(line - 0.3).min() < 1e-9
    assert (len(line) - 1) % WIDEST == 0
    assert (line[0], line[-1]) == (0, 1)


def test_without_steps_lines_are_even_and_few():
    line = spaced(lambda places: 0 * np.diff(places), 0.0, 1.0, fewest=8, most=64)
    np.testing.assert_allclose(np.diff(line), 1 / 8)
    busy = spaced(lambda places: np.full(len(places) - 1, 0.4), 0.0, 1.0, fewest=8, most=64)
    assert len(busy) == 65
