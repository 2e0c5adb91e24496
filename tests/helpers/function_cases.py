"""Every linking function with an oracle and the points that tell: one row each in `CASES`."""

import functools
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytensor
import pytensor.tensor as pt
from pytensor.compile.mode import Mode

from helpers import exact_formulas as exact
from measurement_layouts.linking import (
    LinkingFunction,
    arrays,
    band,
    bilogistic,
    generalised_mean,
    guessing,
    linking_function,
    logistic,
    logit,
    mixture,
    presence,
    product,
    total,
    uncertain_band,
    walk,
)

inf = math.inf
AS_IN_THE_MODEL = Mode(linker="py", optimizer="fast_run")  # the rewrites that a sampler gets too
AS_WRITTEN = Mode(linker="py", optimizer=None)


@dataclass(frozen=True)
class Case:
    """A linking function on points that tell: each operand's values are crossed."""

    name: str
    function: Callable
    oracle: Callable
    extremes: tuple
    naive: Callable | None = None
    made_of: LinkingFunction | None = field(default=None)


def cross(*values):
    """Every combination of the operands' values, one array per operand."""
    return [np.array(column) for column in zip(*itertools.product(*values), strict=True)]


@functools.cache
def compiled(function, operands, mode=AS_IN_THE_MODEL):
    """Compile value and gradient with respect to every operand."""
    variables = [pt.dvector() for _ in range(operands)]
    value = function(*variables)
    gradients = pytensor.grad(value.sum(), variables, disconnected_inputs="ignore")
    return pytensor.function(variables, [value, *gradients], mode=mode, on_unused_input="ignore")


def along_labels(reduce):
    """Turn a function of a matrix (item, label) into one of its columns."""

    def of_columns(*columns):
        stack = np.stack if isinstance(columns[0], np.ndarray) else pt.stack
        return reduce(stack(columns, axis=-1))[..., 0]

    return of_columns


KNOTS = (-5.0, 0.0, 7.0)


def walk_over_steps(at, *steps):
    """A walk of two steps, at a column of times."""
    stack = np.stack if isinstance(at, np.ndarray) else pt.stack
    return walk(at[..., None], stack(steps, axis=-1), knots=KNOTS, over=-1)[..., 0]


@linking_function(range=(0, 1), same_unit=("ability", "demand"))
def survival(ability, demand, pace=1.0):
    """Custom function: an exponential survival curve."""
    return arrays.exp(-pace * arrays.maximum(demand - ability, 0.0))


MARGINS = (-1e3, -40.0, -1.0, -1e-9, 0.0, 1e-9, 2.0, 40.0, 1e3)
PROBABILITIES = (0.0, 1e-12, 0.3, 0.5, 1.0)
AMOUNTS = (0.0, 1e-9, 0.4, 1.0, 37.0)


def naive_sigmoid(margin, slope=1.0):
    return 1 / (1 + arrays.exp(-slope * margin))


def naive_logit(p):
    return arrays.log(p / (1 - p))


def naive_power_mean(*parts, power):
    return (sum(part**power for part in parts) / len(parts)) ** (1 / power)


def naive_band(theta, low, high, slope=1.0):
    r = (high - low) / 2
    steep = slope + arrays.exp(1 / r) - 1
    peak = naive_sigmoid(steep * r) ** 2
    return naive_sigmoid(steep * (theta - low)) * naive_sigmoid(steep * (high - theta)) / peak


def mean_cases():
    """Powers from minimum to maximum: of operands, and weighted along labels."""
    weights = (3.0, 1.0, 2.0)
    points = {"extremes": (AMOUNTS,) * 3, "made_of": generalised_mean}
    for power in (-inf, -50.0, -1.0, -1e-6, 0.0, 1e-6, 0.5, 1.0, 2.0, 50.0, inf):
        mean = functools.partial(generalised_mean, power=power)
        oracle = functools.partial(exact.generalised_mean, power=power)
        naive = functools.partial(naive_power_mean, power=power)
        fails = naive if power in (-50.0, -1.0, 0.5) else None
        yield Case(f"mean {power:g}", mean, oracle, naive=fails, **points)
        over = along_labels(functools.partial(mean, weights=weights, over=-1))
        weighted = functools.partial(oracle, weights=weights)
        yield Case(f"mean over labels {power:g}, weighted", over, weighted, **points)


def power_mean_over_labels(*columns):
    """The power, in the last column, is one for all labels."""
    *parts, power = columns
    return along_labels(lambda p: generalised_mean(p, power=power[..., None], over=-1))(*parts)


def naive_mean_of_any_power(*columns):
    *parts, power = columns
    return naive_power_mean(*parts, power=power)


BANDS = {
    "wide": (-2.0, 4.0),
    "very wide": (-1e3, 1e3),
    "narrow": (0.0, 0.3),
    "zero width": (0.5, 0.5),
    "under the least width": (0.5, 0.52),
    "at the least width": (0.5, 0.6),
    "reversed": (2.0, 1.0),
    "far off": (990.0, 990.2),
    "no low end": (-inf, 1.0),
    "no high end": (-1.0, inf),
    "no end": (-inf, inf),
}


def band_cases():
    thetas, slopes = (-1e3, -3.0, -1.0, 0.0, 0.51, 2.0, 1e3), (0.01, 1.0, 10.0)
    for name, (low, high) in BANDS.items():
        extremes = (thetas, (low,), (high,), slopes)
        fails = naive_band if name in ("zero width", "reversed", "no end") else None
        yield Case(f"band {name}", band, exact.band, extremes, fails, band)


def naive_bilogistic(theta, low, high, low_slope=1.0, high_slope=1.0):
    return naive_sigmoid(low_slope * (theta - low)) * naive_sigmoid(high_slope * (high - theta))


def naive_uncertain_band(theta, low, high, spread, slope=1.0):
    r = (high - low) / 2
    steep = slope + arrays.exp(1 / r) - 1
    blurred = (
        (arrays.softplus(steep * (t + spread)) - arrays.softplus(steep * (t - spread)))
        / (2 * steep * spread)
        for t in (theta - low, high - theta)
    )
    return math.prod(blurred) / naive_sigmoid(steep * r) ** 2


def two_sided_cases():
    """The band's relatives, on the bands that tell."""
    thetas, slopes = (-1e6, -3.0, 0.51, 2.0, 1e6), (1e-3, 1.0, 1e9)
    spreads = (0.0, 1e-12, 1e-7, 0.5, 1e4)
    for name in ("wide", "zero width", "reversed", "no low end", "no high end", "no end"):
        ends = [(end,) for end in BANDS[name]]
        yield Case(
            f"bilogistic {name}",
            bilogistic,
            exact.bilogistic,
            (thetas, *ends, slopes, slopes),
            naive_bilogistic if name == "no end" else None,
        )
        yield Case(
            f"uncertain band {name}",
            uncertain_band,
            exact.uncertain_band,
            (thetas, *ends, spreads, slopes),
            naive_uncertain_band,
        )


CASES = [
    Case("logistic", logistic, exact.sigmoid, (MARGINS,), naive_sigmoid),
    Case(
        "logistic with slope",
        logistic,
        exact.sigmoid,
        (MARGINS, (0.01, 1.0, 50.0)),
        naive_sigmoid,
    ),
    Case(
        "logistic spanning",
        logistic.spanning(-5, 5),
        lambda m: exact.spanning(m, -5, 5),
        (MARGINS,),
        made_of=logistic,
    ),
    Case(
        "logistic spanning, not symmetric",
        logistic.spanning(0, 8),
        lambda m: exact.spanning(m, 0, 8),
        (MARGINS,),
        made_of=logistic,
    ),
    Case("logit", logit, exact.logit, ((*PROBABILITIES, 1 - 1e-12),), naive_logit),
    Case("product", product, exact.product, (PROBABILITIES,) * 3),
    Case(
        "product over labels",
        along_labels(lambda matrix: product(matrix, over=-1)),
        exact.product,
        (PROBABILITIES,) * 3,
        made_of=product,
    ),
    Case("total", total, exact.total, (MARGINS,) * 2),
    Case(
        "total over labels",
        along_labels(lambda matrix: total(matrix, over=-1)),
        exact.total,
        (AMOUNTS,) * 3,
        made_of=total,
    ),
    Case(
        "walk over steps",
        walk_over_steps,
        functools.partial(exact.walk, knots=KNOTS),
        (MARGINS, (-2.0, 0.0, 37.0), (-1.0, 0.0, 1e3)),
        made_of=walk,
    ),
    Case("mixture", mixture, exact.mixture, (PROBABILITIES,) * 3),
    Case("presence", presence, exact.presence, (PROBABILITIES,) * 2),
    Case("guessing", guessing, exact.guessing, (PROBABILITIES,) * 2),
    *mean_cases(),
    Case(
        "power mean over labels",
        power_mean_over_labels,
        exact.power_mean,
        ((0.0, 1e-9, 37.0),) * 3 + ((-20.0, -1e-3, 0.0, 1e-6, 0.5, 20.0),),
        naive_mean_of_any_power,
        generalised_mean,
    ),
    *band_cases(),
    *two_sided_cases(),
    Case(
        "custom",
        survival,
        lambda a, d, pace: np.where(a > d, 1.0, np.exp(-pace * np.maximum(d - a, 0))),
        (MARGINS, MARGINS, (0.0, 1.0, 5.0)),
    ),
]
