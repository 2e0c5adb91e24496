"""Meta-features that are undefined on some items: no outcome may depend on them there."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from ...linking import Expr, LayoutError, evaluate
from ...linking.expression import Dims, SubjectConstant, merge_dims
from ...linking.interval import Interval
from ..latents import Latent
from ..nodes import MetaFeature
from ..outcomes.steps import Leaf
from ..outcomes.success import Success

_POINTS, _SEED = 500, 20231
_RELATIVE, _ABSOLUTE = 1e-9, 1e-15  # rounding; what changes tiny probabilities only is found too


def flags(parts: Iterable[Expr]) -> list[MetaFeature]:
    """List what the meta-features among the parts are given by."""
    features = (part for part in parts if isinstance(part, MetaFeature))
    return [feature.given for feature in features if feature.given is not None]


def check_undefined(outcome: Leaf, parts: Sequence[Expr]) -> None:
    """Refuse an outcome that depends on a meta-feature where it is undefined.

    The outcome is computed at many random points with the flag at 0: at each of them it must be the
    same for every value of the meta-feature.
    """
    names = {part.name for part in parts}
    for feature in parts:
        if not isinstance(feature, MetaFeature) or feature.given is None:
            continue
        flag = feature.given
        advice = f"wrap what needs it, as in presence(..., {flag})"
        if flag.name not in names:
            raise LayoutError(
                f"{feature} is undefined where {flag} is 0, but nothing between {flag} and "
                f"{outcome.name} uses {flag}; {advice}"
            )
        if _depends(outcome, feature, flag, parts):
            raise LayoutError(
                f"{feature} is undefined where {flag} is 0, but {outcome.name} depends on it "
                f"there; {advice}"
            )


def _depends(outcome: Leaf, feature: MetaFeature, flag: MetaFeature, parts: Sequence[Expr]) -> bool:
    """Whether an outcome changes with a meta-feature where its flag is 0."""
    dims = merge_dims(tuple(parts))
    known = random_values(parts, dims, _POINTS)
    known[flag.name] = np.zeros_like(known[flag.name])
    stand_in = np.full_like(known[feature.name], feature.stand_in)
    ends = [end for end in (feature.range.low, feature.range.high) if math.isfinite(end)]
    others = [known[feature.name], *(np.full_like(stand_in, end) for end in ends)]

    formula = outcome.expression if isinstance(outcome, Success) else outcome

    def compute(values: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.asarray(evaluate(formula, known | {feature.name: values}, tuple(dims)))

    expected = compute(stand_in)
    return not all(
        np.allclose(compute(values), expected, rtol=_RELATIVE, atol=_ABSOLUTE, equal_nan=True)
        for values in others
    )


def random_values(parts: Iterable[Expr], dims: Dims, points: int) -> dict[str, np.ndarray]:
    """Draw values to compute with, by name: the same ones each time.

    Parameters
    ----------
    parts : iterable of expression
        Of a layout; those that have no formula get values.
    dims : dict of str to tuple of str
        The layout's label dimensions.
    points : int
        How many values, along the axis of items.
    """
    rng = np.random.default_rng(_SEED)
    return {
        str(part.name): _values(part, dims, rng, points)
        for part in parts
        if isinstance(part, MetaFeature | Latent | SubjectConstant)
    }


def _values(part: Expr, dims: Dims, rng: np.random.Generator, points: int) -> np.ndarray:
    """Draw a value at every point: of the levels, in the range, or normal where it is infinite."""
    labels = (len(names) if dim in part.dims else 1 for dim, names in dims.items())
    shape = (points, *labels)
    if isinstance(part, MetaFeature) and part.levels is not None:
        return rng.choice(part.levels, shape)
    return inside(part.range, shape, rng)


def inside(span: Interval, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Draw numbers in a range, normal ones where it is infinite."""
    if math.isfinite(span.high - span.low):
        return rng.uniform(span.low, span.high, shape)
    if span.is_finite:  # too wide for the difference of its ends
        part = rng.random(shape)
        return span.low * (1 - part) + span.high * part
    normal = rng.normal(size=shape)
    if math.isfinite(span.low):
        return span.low + np.abs(normal)
    return span.high - np.abs(normal) if math.isfinite(span.high) else normal
