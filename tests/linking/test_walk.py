"""Walks: by hand, as Brownian motion, and in machine code."""

import numpy as np
import pytest
from helpers.joint_points import levels, plain_density, plain_point
from helpers.populations import P, cohort_data, normal

import measurement_layouts as ml
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.pymc_model import build_model
from measurement_layouts.inference.sampling.engine import Kernel
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import LayoutError, logistic, walk

KNOTS = (0.0, 1.0, 1.25, 4.0)
STEPS = ("early", "middle", "late")
ROUNDING = 1e-12  # a sum of three products of numbers of size 3


def by_hand(at, steps, knots=KNOTS):
    """Walk knot by knot: each step as far as the time allows."""
    found = 0.0
    for begin, end, step in zip(knots, knots[1:], steps, strict=False):
        if at > begin:
            part = min(1.0, (at - begin) / (end - begin))
            found += step * (end - begin) ** 0.5 * part
    return found


def test_knot_by_knot():
    rng = np.random.default_rng(1)
    for at in (-1.0, 0.0, 0.3, 1.0, 1.2, 3.0, 4.0, 9.0):
        steps = rng.normal(size=3)
        found = walk(at, steps, knots=KNOTS, over=-1)
        assert found == pytest.approx(by_hand(at, steps), abs=ROUNDING)


def covariance(steps):
    """Of the walk at the knots, over draws (draws, steps)."""
    return np.cov(np.hstack([walk(at, steps, knots=KNOTS, over=-1) for at in KNOTS[1:]]).T)


def test_at_the_knots_it_is_brownian_motion():
    """The covariance of two times is the earlier; the error is five Monte Carlo errors."""
    rng, count = np.random.default_rng(2), 40_000
    wanted = np.minimum.outer(KNOTS[1:], KNOTS[1:])
    error = 5 * np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / count)
    steps = rng.normal(size=(count, 3))
    assert (np.abs(covariance(steps) - wanted) < error).all()
    alike = np.repeat(steps[:, :1], 3, axis=1)  # the twin: steps that are one
    assert not (np.abs(covariance(alike) - wanted) < error).all()


def declared(knots, over="part", at=None):
    at = ml.MetaFeature("at", low=0, high=4) if at is None else at
    step = ml.Bias("step", labels=STEPS, dim="part", per=P)
    return walk(at, step, knots=knots, over=over)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"knots": (0, 1, 2)}, "3 knots and 3 steps.*give 4"),
        ({"knots": (0, 2, 1, 3)}, "rising order"),
        ({"knots": (0, 1, np.inf, 3)}, "finite"),
        ({"knots": (0,)}, "at least two"),
        ({"knots": 3}, "at least two"),
        ({"knots": KNOTS, "over": None}, "give the dimension of the"),
        ({"knots": KNOTS, "at": ml.Bias("b", labels=STEPS, dim="part")}, "with one value"),
    ],
)
def test_what_is_no_walk(options, message):
    with pytest.raises(LayoutError, match=message):
        declared(**options)


def layout_of(where):
    """A capability about a walk, of each school or beside other labels, and one of items."""
    released = ml.MetaFeature("tests", low=-3, high=3, unit="year", per="subject")
    size = ml.MetaFeature("size", low=0, high=2)
    school = ml.Category("school", per="subject")
    knots = (-3.0, -0.5, 0.25, 3.0)

    def steps(name, per):
        return ml.Bias(name, labels=STEPS, dim="part", per=per)

    per = school if where == "schools and items" else P
    course = ml.Spread("pace") * walk(released, steps("step", per), knots=knots, over="part")
    ability = ml.Capability("ability", prior=normal(course, ml.Spread("spread")))
    margin = ability - size
    if where == "schools and items":
        margin = margin + walk(size, steps("bend", P), knots=(0, 0.4, 1.1, 2), over="part")
    else:
        levels = ("low", "mid", "high")
        other = ml.Bias("other", labels=levels, dim="level", per=P)
        again = walk(released, other, knots=(-3, -1, 1, 3), over="level")
        margin = margin + again * ml.Bias("weight", per=P)
    return ml.Layout(where, ml.Success("ok", logistic(margin)))


@pytest.mark.parametrize("where", ["schools and items", "two dimensions of one size"])
def test_density_and_gradient_are_the_plain_models(where):
    """To 1e-10; the plain model is PyMC's, whose walk is summed by PyTensor."""
    layout = layout_of(where)
    cohort = Cohort.of_evaluation(layout, cohort_data())
    kernel, model = Kernel(cohort), build_model(cohort, ())
    density = LogDensity(kernel.on())
    plain = plain_density(model)
    at = np.random.default_rng(3).normal(size=density.size) * 0.7
    value, gradient = density.with_gradient(at)
    point, _ = plain_point(model, levels(kernel, at))
    expected, slopes = plain(point)
    assert abs(value - expected) < 1e-10 * max(1, abs(expected))
    own = plain_point(model, levels(kernel, gradient))[0]
    for name, wanted in slopes.items():
        assert np.shape(wanted) == np.shape(own[name])
        assert np.abs(own[name] - wanted).max() < 1e-10 * max(1, np.abs(wanted).max())
