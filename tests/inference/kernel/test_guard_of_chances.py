"""Next to 0 and 1, machine code is `to_pymc`'s model: value, slopes, and the guard of 1e-12.

A chance p that is rounded beside 1 leaves 1 - p with an error of about 2**-53. So the two differ,
from each other and from exact arithmetic, by a few of these over 1 - p: 4e-4 nats an attempt where
p is at the guard.
"""

import itertools

import numpy as np
import pandas as pd
import pytensor
import pytensor.tensor as pt
import pytest
from helpers.function_cases import AS_IN_THE_MODEL
from helpers.joint_points import levels
from scipy.special import log_expit
from scipy.stats import norm

import measurement_layouts as ml
from measurement_layouts.evaluations.subject_data import EDGE, SubjectData
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.sampling.engine import Battery, Kernel, compiled
from measurement_layouts.inference.sampling.unbounded import LogDensity
from measurement_layouts.linking import guessing, logistic, mixture, product

ROUNDED = 2.0**-51  # four numbers of about 1, 2**-53 each
AT_THE_GUARD = 4.5e-4  # nats, of an attempt: `ROUNDED` over the guard
SHIFTS = (-800.0, 0.0, 0.5, 800.0)  # of items, in log-odds
FAR = (-800.0, -27.7, -27.6, -20.0, 0.0, 20.0, 27.6, 27.7, 800.0)  # 1e-12 is at 27.63
FEW = (-800.0, -27.0, 1.0, 30.0, 800.0)


def real(name, **options):
    return ml.Bias(name, prior=ml.Prior("Normal", mu=0, sigma=10), **options)


A, B, X = real("a"), real("b"), ml.MetaFeature("x", low=-np.inf, high=np.inf)
EACH, NOISE = real("each", labels=("u", "v", "w")), ml.Noise("noise")
RARE = ml.Noise("rare", prior=ml.Prior("Beta", alpha=1, beta=9))
ONE, OTHER, ALL = logistic(A - X), logistic(B - X), product(logistic(EACH - X), over="dimension")
OUTCOMES = {
    "logistic": ml.Success("ok", ONE),
    "noise": ml.Success("ok", mixture(ONE, by=NOISE, toward=0.5)),
    "noise towards 1": ml.Success("ok", mixture(ONE, by=NOISE, toward=1.0)),
    "product": ml.Success("ok", product(ONE, OTHER)),
    "one or the other": ml.Success("ok", 1 - (1 - ONE) * (1 - OTHER)),
    "product of labels": ml.Success("ok", ALL),
    "labels guessed": ml.Success("ok", guessing(ALL, 0.25)),
    "grades": ml.Graded("ok", ONE, grades=("lost", "near", "met"), gap=1.5),
    "jointly": ml.Success("ok", logistic(A + real("ease", per="item") - X)),
}


def outcomes(layout, tries):
    """Items that are failed, solved and, of several attempts, both; each with all shifts."""
    shifts = np.repeat(SHIFTS, 3 if not layout.joint else 1)
    items = pd.DataFrame({"x": shifts}, [f"i{place}" for place in range(len(shifts))])
    won = np.resize([0, 2, 1], len(shifts))
    if layout.name == "grades":
        graded = pd.DataFrame({"subject": "Ann", "item": items.index, "outcome": won})
        return ml.Evaluation.of_outcomes(layout, {"ok": pd.concat([graded] * tries)}, items)
    names = ("Ann", "Bob", "Cem") if layout.joint else ("Ann",)
    table = pd.DataFrame([np.roll(won * tries // 2, k) for k in range(len(names))], names)
    table.columns = items.index
    return ml.Evaluation(items, table, 0 * table + tries)


def by_machine(layout, evaluation):
    """The log-density; and a point, or a gradient, in the order of PyMC's variables."""
    if layout.joint:
        kernel = Kernel(Cohort.of_evaluation(layout, evaluation))
        names = [latent.name for latent in layout.latents]
        return LogDensity(kernel.on()), lambda at: [levels(kernel, at)[own] for own in names]
    battery = Battery.of(layout, evaluation)
    cohort = battery.alone(SubjectData.of(evaluation, "Ann"))
    kernel = compiled(cohort)
    assert isinstance(kernel, Kernel)
    shapes = [tuple(map(len, latent.dims.values())) for latent in layout.latents]
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1]

    def parts(at):
        return [of.reshape(own) for of, own in zip(np.split(at, ends), shapes, strict=True)]

    return LogDensity(kernel.on(cohort)), parts


def by_pymc(layout, evaluation):
    """Log-density and slopes, and the roundings over the chances of what came."""
    model = ml.to_pymc(layout, evaluation, None if layout.joint else "Ann")
    points = [model.rvs_to_values[model[latent.name]] for latent in layout.latents]
    density, (outcome,) = model.logp(), model.observed_RVs
    n, p = model.replace_rvs_by_values([*outcome.owner.op.dist_params(outcome.owner)])
    won = model.rvs_to_values[outcome]
    off = ROUNDED * pt.sum(won / p + (n - won) / (1 - p))
    outputs = [density, off, *pt.grad(density, points)]
    return pytensor.function(points, outputs, mode=AS_IN_THE_MODEL, on_unused_input="ignore")


def places(layout, size):
    """Points of which a chance is next to 0, next to 1, beyond the guard, and between."""
    if size == 1:
        return map(np.array, itertools.product(FAR, repeat=size))
    rng = np.random.default_rng(1)
    return rng.choice(FEW, (40, size)) + rng.choice([0, 0.01], (40, size))


@pytest.mark.parametrize(
    ("name", "tries"),
    [
        *((name, 1) for name in OUTCOMES),
        *((name, 2) for name in ("logistic", "product of labels", "grades", "jointly")),
    ],
)
def test_machine_code_is_the_model_of_to_pymc(name, tries):
    """Slopes are finite, too, where all chances are saturated."""
    layout = ml.Layout(name, OUTCOMES[name])
    evaluation = outcomes(layout, tries)
    (density, parts), plain = by_machine(layout, evaluation), by_pymc(layout, evaluation)
    attempts, offs = int(evaluation.trials.to_numpy().sum()), []
    for at in places(layout, density.size):
        value, slopes = density.with_gradient(at)
        wanted, off, *gradient = plain(*parts(at))
        offs.append(off)
        assert abs(value - wanted) <= 1e-10 * max(1, abs(wanted)) + off, at
        steepest = max(1, *(abs(slope).max() for slope in gradient))
        for found, slope in zip(parts(slopes), gradient, strict=True):
            assert np.isfinite(found).all(), at
            assert (abs(found - slope) <= (1e-10 + off) * steepest).all(), at
    assert 1e-4 < max(offs) <= AT_THE_GUARD * attempts  # the points reach the guard


@pytest.mark.parametrize("at", [-800.0, -30.0, 30.0, 38.0, 800.0])
def test_the_prior_of_a_saturated_noise(at):
    """Of a beta prior 1 - x is known to all digits, and slopes are finite where x rounds to 1."""
    layout = ml.Layout("rare", ml.Success("ok", mixture(ONE, by=RARE, toward=0.5)))
    density, _ = by_machine(layout, outcomes(layout, 1))
    values, slopes = density.at_all(np.array([[0.0, at], [0.0, at + 1]]))
    change = np.diff(log_expit([at, at + 1]) + 9 * log_expit([-at, -at - 1]))
    assert np.isfinite(slopes).all()
    assert np.diff(values) == pytest.approx(change, abs=1e-9)


def test_exact_arithmetic_is_as_near_as_promised():
    """Log-odds of -x have the digits of 1 - p that p has not."""
    layout = ml.Layout("logistic", OUTCOMES["logistic"])
    evaluation = outcomes(layout, 2)
    density, _ = by_machine(layout, evaluation)
    won, lost = evaluation.successes.loc["Ann"], 2 - evaluation.successes.loc["Ann"]
    bounds = np.log(EDGE), np.log1p(-EDGE)
    ways = np.log(2) * (won == 1).sum()
    for (a,) in places(layout, 1):
        each = [np.clip(log_expit(sign * (a - evaluation.items["x"])), *bounds) for sign in (1, -1)]
        exact = won @ each[0] + lost @ each[1] + ways + norm.logpdf(a, 0, 10)
        assert abs(density(np.array([a])) - exact) <= AT_THE_GUARD * lost.sum()
