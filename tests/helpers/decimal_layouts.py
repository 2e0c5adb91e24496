"""The log-likelihood of a layout in decimals of 60 digits, and layouts that reach 0 and 1.

Every linking function is `exact_formulas`', every chance is computed as written, and 1 - p is a
difference: decimals have the digits for that.
"""

import decimal
import math
import operator
from decimal import Decimal

import numpy as np

import measurement_layouts as ml
from helpers import exact_formulas
from measurement_layouts.evaluations.subject_data import EDGE, SubjectData
from measurement_layouts.linking import (
    band,
    bilogistic,
    generalised_mean,
    guessing,
    logistic,
    logit,
    mean_failure,
    mixture,
    presence,
    product,
    uncertain_band,
)
from measurement_layouts.linking.evaluation import ancestry

inf = math.inf
STEP = Decimal("1e-22")  # differences err by its square, and by 1e-38 from rounding
GUARDS = Decimal(EDGE), Decimal(1 - EDGE)
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
}
NAMES = {"logistic": "sigmoid"}


def real(name, sigma=10, **options):
    return ml.Bias(name, prior=ml.Prior("Normal", mu=0, sigma=sigma), **options)


X, Y = (ml.MetaFeature(name, low=-5, high=5) for name in ("x", "y"))
CHANCE = ml.MetaFeature("chance", low=0, high=1)
FLAG = ml.MetaFeature("flag", levels=(0, 1))
LOW, HIGH = (ml.MetaFeature(end, low=-inf, high=inf) for end in ("low", "high"))
LABELS = {"labels": ("a", "b", "c", "d")}
XS, FREE = ml.MetaFeature("xs", low=-5, high=5, **LABELS), real("free", **LABELS)
BOUNDED = ml.Capability("bounded", low=0, high=5, **LABELS)
SKILL = ml.Capability("skill", low=0, high=5)
NOISE, A, B = ml.Noise("noise"), real("a"), real("b")
ONE, OTHER, EACH = logistic(A - X), logistic(B - Y), logistic(FREE - XS)
STEEP = logistic(BOUNDED - XS, 10.0)

LAYOUTS = {
    "logistic": ONE,
    "steep logistic": logistic(SKILL - X, 40.0),
    "slope estimated": logistic(SKILL - X, ml.Slope("slope")),
    "product": product(ONE, OTHER),
    "product of labels": product(STEEP, over="dimension"),
    "mixture": mixture(ONE, by=NOISE, toward=0.3),
    "mixture towards the mean failure": mixture(product(ONE, OTHER), by=NOISE, toward=mean_failure),
    "mixture towards a feature": mixture(product(ONE, OTHER), by=NOISE, toward=CHANCE),
    "mixture by a fixed weight": mixture(ONE, by=0.001, toward=1.0),
    "mixture by a weighed noise": mixture(ONE, by=NOISE * CHANCE, toward=0.5),
    "guessing": guessing(ONE, CHANCE),
    "guessing and noise": mixture(guessing(ONE, 0.25), by=NOISE, toward=0.0),
    "guessing the rest": guessing(product(EACH, over="dimension"), 1 - 0.01 * CHANCE),
    "presence": presence(ONE, FLAG),
    "presences": mixture(product(presence(ONE, FLAG), OTHER), by=NOISE, toward=0.5),
    "presence weighed": presence(ONE, CHANCE),
    "band": band(A, LOW, HIGH),
    "steep band": product(band(A, LOW, HIGH, 10.0), OTHER),
    "bilogistic": bilogistic(A, LOW, HIGH, 1.0, 3.0),
    "uncertain band": uncertain_band(A, LOW, HIGH, CHANCE),
    "smallest": generalised_mean(STEEP, power=-inf, over="dimension"),
    "largest": generalised_mean(ONE, OTHER, power=inf),
    "arithmetic mean": generalised_mean(STEEP, power=1, over="dimension"),
    "one or the other": mixture(ONE, by=CHANCE, toward=OTHER),
    "mean of three": generalised_mean(ONE, OTHER, logistic(A + B), power=1, weights=(1, 1, 4)),
    "weighted mean of labels": generalised_mean(
        STEEP, power=1, weights=(1, 2, 3, 4), over="dimension"
    ),
    "geometric mean": generalised_mean(ONE, OTHER, power=0),
    "geometric mean of labels": generalised_mean(STEEP, power=0, over="dimension"),
    "harmonic mean with noise": mixture(
        generalised_mean(STEEP, power=-1, over="dimension"), by=NOISE, toward=0.2
    ),
    "squares": generalised_mean(ONE, OTHER, power=2),
    "power estimated": generalised_mean(EACH, power=real("power", 2), over="dimension"),
    "one less": 1 - product(ONE, OTHER),
    "either": 1 - product(1 - EACH, over="dimension"),
    "beside a chance": logistic(logit(ONE) + B),
    "beside a mixture": logistic(logit(mixture(product(ONE, OTHER), by=NOISE, toward=0.5)) + B),
    "beside a guess": logistic(logit(guessing(product(EACH, over="dimension"), CHANCE)) + B),
    "weights": 0.25 * ONE + 0.75 * OTHER,
}

ROUNDED = {  # what has no rule, or a slope that cancels: the difference of p to 1 is rounded
    "power": ONE**2.5,
    "weights that are rounded": 0.3 * ONE + 0.7 * OTHER,
    "mixture towards 1": mixture(ONE, by=NOISE, toward=1.0),
}


def layout(name):
    return ml.Layout(name, ml.Success("ok", (LAYOUTS | ROUNDED)[name]))


def items(layout, rng, count):
    """Few levels, so that tables arise, and chances next to 0 and 1 among those given."""
    found = {}
    for feature in layout.meta_features:
        shape = (count, *map(len, feature.dims.values()))
        found[feature.name] = rng.integers(-20, 21, shape) / 4
    centre, half = rng.integers(-8, 9, count) / 4, rng.choice([0.25, 0.5, 2.0], count)
    special = {
        "low": np.where(np.arange(count) == 0, -inf, centre - half),
        "high": np.where(np.arange(count) == 1, inf, centre + half),
        "chance": rng.choice([0, 2.0**-30, 0.25, 0.875, 1 - 2.0**-30, 1], count),
        "flag": np.arange(count) % 2.0,
    }
    return {name: special.get(name, values) for name, values in found.items()}


def outcomes(layout, count, unanimous):
    """Both outcomes of every item; or one attempt at each, of which every other failed."""
    constants = {constant.name: 0.375 for constant in layout.constants}
    once = np.ones(count, dtype=int)
    won = np.arange(count) // 2 % 2 if unanimous else once
    return SubjectData(won, once if unanimous else 2 * once, constants)


def latent(node, z):
    """A latent's value, from the real line."""
    low, high = node.range.low, node.range.high
    if math.isfinite(high):
        return Decimal(low) + (Decimal(high) - Decimal(low)) / (1 + (-z).exp())
    return Decimal(low) + z.exp() if math.isfinite(low) else z


def computed(part, values):
    """One step of a formula; labels are arrays of decimals."""
    if not hasattr(part, "function"):
        if hasattr(part, "symbol"):
            return ARITHMETIC[part.symbol](*values)
        return Decimal(part.value) if hasattr(part, "value") else values[0]
    name, options = part.function.name, dict(part.options)
    if name == "generalised_mean" and "power" not in options:
        name = "power_mean"  # the power is the last operand
        options.pop("weights", None)
    formula = getattr(exact_formulas, NAMES.get(name, name)).__wrapped__
    if options.pop("over", None) is not None:
        return formula(*values[0], *values[1:], **options)
    labels = max(np.size(value) for value in values)
    if labels == 1:
        return formula(*values, **options)
    rows = zip(*(np.broadcast_to(value, labels) for value in values), strict=True)
    return np.array([formula(*row, **options) for row in rows], dtype=object)


def chance(expression, known):
    """The chance of success of an item."""
    found = {}
    for part in ancestry(expression, stop_at=lambda of: of.name in known):
        named = part.name is not None and part.name in known
        values = () if named else [found[id(parent)] for parent in part.parents]
        found[id(part)] = known[part.name] if named else computed(part, values)
    return found[id(expression)]


def decimals(numbers):
    """Turn doubles into decimals, labels into arrays of them."""
    if np.ndim(numbers) == 0:
        return Decimal(float(numbers))
    return np.array([Decimal(float(number)) for number in numbers], dtype=object)


def log_likelihood(layout, features, data, point):
    """Of a point on the real line, with chances of what happened, (items,)."""
    known, rest = {name: decimals(of) for name, of in data.constants.items()}, list(point)
    for node in layout.latents:
        count = math.prod(map(len, node.dims.values()))
        values = [latent(node, z) for z in rest[:count]]
        known[node.name] = np.array(values, dtype=object) if node.dims else values[0]
        rest = rest[count:]
    total, came = Decimal(0), []
    for item, (won, tried) in enumerate(zip(data.successes, data.trials, strict=True)):
        row = {name: decimals(values[item]) for name, values in features.items()}
        p = chance(layout.outcome.expression, known | row)
        kept = min(max(p, GUARDS[0]), GUARDS[1])
        parts = ((int(won), p, kept), (int(tried - won), 1 - p, 1 - kept))
        total += sum(n * of.ln() for n, _, of in parts if n) + Decimal(math.comb(tried, won)).ln()
        came.append(min(of for n, of, _ in parts if n))
    return total, came


def exact(layout, features, data, point):
    """The log-likelihood, its slopes, and the chances of what happened."""
    with decimal.localcontext(exact_formulas._CONTEXT):
        at = [Decimal(float(z)) for z in point]
        value, came = log_likelihood(layout, features, data, at)
        slopes = []
        for place, z in enumerate(at):
            above, below = (
                log_likelihood(layout, features, data, [*at[:place], z + move, *at[place + 1 :]])[0]
                for move in (STEP, -STEP)
            )
            slopes.append(float((above - below) / (2 * STEP)))
        return float(value), np.array(slopes), np.array(came, dtype=float)
