"""Whether an inferred value needs a property of items that does not vary."""

from collections.abc import Mapping

import numpy as np

from ...layouts import Latent, Layout, MetaFeature, Success, Unseen
from ...layouts.checks import inside
from ...layouts.plates import ITEM, SUBJECT, root
from ...linking.evaluation import ancestry
from ..evaluator import Evaluator
from .alignment import defined

_PROFILES, _SEED = 8, 20231  # random profiles at which slopes are computed
_ITEMS, _VALUES = 60, 5  # most items that are looked at, and other values of the property
_STEP, _LEAST, _SAME = 1e-5, 1e-8, 1e-4


def needing(
    layout: Layout,
    feature: MetaFeature,
    features: Mapping[str, np.ndarray],
    label: int | None = None,
) -> list[str]:
    """Name the latents that can be inferred only if a property of items varies.

    A latent cannot be inferred if other latents cancel a change of it in all outcomes, to first
    order. It needs the property if that is so on these items at every one of 8 random profiles, and
    would not be so if each of the items occurred with other values of the property. Effects of
    items, which have a prior of their own, do not cancel anything.

    Parameters
    ----------
    layout : Layout
        Layout that uses the property.
    feature : MetaFeature
        A property that is the same on all items.
    features : mapping of str to ndarray
        Values of all properties, shape (items,) or (items, labels).
    label : int, optional
        Position of the label that is the same on all items (default: all labels are).

    Returns
    -------
    list of str
        Names of the latents.

    Examples
    --------
    >>> from measurement_layouts import Capability, Slope
    >>> from measurement_layouts.linking import logistic
    >>> words = MetaFeature("words", low=0, high=9)
    >>> margin = Capability("span", low=0, high=9) - words
    >>> same = {"words": np.full(20, 4.0)}
    >>> needing(Layout("fixed", Success("right", logistic(margin))), words, same)
    []
    >>> needing(Layout("steep", Success("right", logistic(margin, Slope("slope")))), words, same)
    ['span', 'slope']
    """
    count = len(features[feature.name])
    chosen = np.unique(np.linspace(0, count - 1, min(count, _ITEMS)).round().astype(int))
    items = {name: values[chosen] for name, values in features.items()}
    same = _evaluator(layout, items)
    other = _evaluator(layout, _with_other_values(feature, items, label))
    elements = [
        (latent, label_index)
        for latent in layout.latents
        if not any(plate != SUBJECT and root(plate) == ITEM for plate in latent.plates)
        for label_index in np.ndindex(*map(len, latent.dims.values()))
    ]
    lost = np.ones(len(elements), dtype=bool)
    gained = np.zeros(len(elements), dtype=bool)
    rng = np.random.default_rng(_SEED)
    for _ in range(_PROFILES):
        profile = {
            latent.name: np.array(inside(latent.range, tuple(map(len, latent.dims.values())), rng))
            for latent in layout.latents
        }
        lost &= ~_separable(_slopes(same, profile, elements))
        gained |= _separable(_slopes(other, profile, elements))
    names = [latent.name for (latent, _), need in zip(elements, lost & gained, strict=True) if need]
    return list(dict.fromkeys(names))


def _evaluator(layout: Layout, features: Mapping[str, np.ndarray]) -> Evaluator:
    """Prepare the outcomes' formulas for some items, with middle values of all other properties."""
    rows = len(next(iter(features.values())))
    formulas = [
        outcome.expression if isinstance(outcome, Success) else outcome.performance
        for outcome in layout.outcomes
    ]
    columns = dict(features)
    for node in (*layout.covariates, *(one for formula in formulas for one in ancestry(formula))):
        if isinstance(node, MetaFeature) and node.name not in columns:
            shape = (rows, *map(len, node.dims.values()))
            columns[node.name] = np.full(shape, node.stand_in)
        elif isinstance(node, Unseen):
            columns[node.name] = np.zeros(rows)
    for constant in layout.constants:
        columns[constant.name] = np.full(rows, 0.5)
    return Evaluator(layout, formulas, columns, rows)


def _with_other_values(
    feature: MetaFeature, features: Mapping[str, np.ndarray], label: int | None
) -> dict[str, np.ndarray]:
    """Repeat the items with random values of a property, and of its presence flag."""
    rng = np.random.default_rng(_SEED)
    repeated = {name: np.repeat(values, 1 + _VALUES, axis=0) for name, values in features.items()}
    count = len(repeated[feature.name])
    anew = np.arange(count) % (1 + _VALUES) > 0
    if feature.given is not None:
        flags = feature.given.levels or (feature.given.range.low, feature.given.range.high)
        repeated[feature.given.name][anew] = max(flags, key=abs)
    shape = repeated[feature.name].shape
    values = (
        rng.choice(feature.levels, shape)
        if feature.levels is not None
        else inside(feature.range, shape, rng)
    )
    is_defined = defined(feature, repeated, count) & anew
    at = (is_defined,) if label is None or not feature.label_dims else (is_defined, label)
    repeated[feature.name][at] = values[at]
    return repeated


def _slopes(
    evaluator: Evaluator,
    profile: Mapping[str, np.ndarray],
    elements: list[tuple[Latent, tuple[int, ...]]],
) -> np.ndarray:
    """Compute slopes of the outcomes by latents, per standard deviation of an outcome."""
    count = len(elements)
    draws = {
        name: np.repeat(values[None, ..., None], 1 + 2 * count, axis=-1)
        for name, values in profile.items()
    }
    for column, (latent, label) in enumerate(elements, start=1):
        draws[latent.name][(0, *label, column)] += _STEP
        draws[latent.name][(0, *label, count + column)] -= _STEP
    with np.errstate(all="ignore"):
        chances = np.concatenate([c.reshape(-1, 1 + 2 * count) for c in evaluator(draws)])
    centre, above, below = np.split(chances, [1, 1 + count], axis=1)
    error = np.sqrt(np.maximum(centre * (1 - centre), _LEAST))
    slopes = (above - below) / (2 * _STEP) / error
    return np.asarray(slopes[np.isfinite(slopes).all(axis=1)])


def _separable(slopes: np.ndarray) -> np.ndarray:
    """Find the latents of which no change can be cancelled by changes of others."""
    sizes = np.linalg.norm(slopes, axis=0)
    scaled = slopes / np.where(sizes > _SAME, sizes, 1.0)
    _, values, turned = np.linalg.svd(scaled, full_matrices=True)
    free = turned[np.count_nonzero(values > _SAME) :]
    return np.asarray((sizes > _SAME) & (np.linalg.norm(free, axis=0) < 100 * _SAME))
