"""Levels of demand that a subject's items oppose to a capability."""

import numpy as np

from ...inference.evaluator import Draws, Evaluator
from ...inference.fit import Fit
from ...inference.forecasts.scope import block_of
from ...inference.model.alignment import Features
from ...inference.posterior.posterior import span
from ...layouts.elements import Element
from ...linking.evaluation import ancestry
from ...linking.expression import Expr
from ...linking.function import Call
from ...linking.interval import Interval

_CHANCE = Interval(0, 1)
_BEYOND = 2  # spans above the range, within which demands are looked for, too ...
_STEPS = 64, 4096  # ... at no fewer and no more values in each, and ...
_CELLS = 2**17  # ... at so many of all items together
_ALIKE = 3  # decimals of a demand, in spans, up to which levels differ


def demand_levels(
    fit: Fit, subject: str, features: Features, items: int, element: Element
) -> np.ndarray | None:
    """Find the levels of demand that items oppose to a capability.

    The demand of an item is the value of the capability at which the function that links the two,
    such as ``logistic(reach - distance)``, is one half, with other latents at their posterior
    means.

    Parameters
    ----------
    fit : Fit
        The fit.
    subject : str
        Name of the subject.
    features : dict of str to ndarray
        Values of the items by meta-feature, of shape (items,) or (items, labels).
    items : int
        Number of items.
    element : Element
        The capability.

    Returns
    -------
    ndarray or None
        Distinct levels in ascending order, in the capability's unit; a single infinite level stands
        for all levels far beyond the range. Items that make no demand on the capability, because
        its lowest value is enough, are left out, so the array may be empty; it is also empty if
        another capability or a propensity compensates for this one. None if the capability is a
        chance, from 0 to 1, to which nothing is opposed.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> features = {"rewardSize": np.array([0.5, -1.0, 0.5])}
    >>> features |= {name: np.zeros(3) for name in ("rewardDistance", "rewardBehind", "XPos")}
    >>> from measurement_layouts.layouts.elements import find_elements
    >>> (sight,) = find_elements(result.elements, "visualAbility")
    >>> demand_levels(result, "sim-01", features, 3, sight).round(2)
    array([0.5])
    """
    functions = _opposing(fit, element)
    if not functions and element.latent.range == _CHANCE:
        return None
    if not functions or not all(_alone(fit, function, element) for function in functions):
        return np.empty(0)
    low, high = span(fit, element)
    width = high - low
    steps = int(np.clip(_CELLS // max(items, 1), *_STEPS))
    line = np.linspace(low, high + _BEYOND * width, steps * (1 + _BEYOND) + 1)
    block = block_of(fit, features, items)
    profile = _profile(block.read(fit.subjects.index(subject)), element, line)
    evaluator = Evaluator(fit.layout, functions, features, items, block.levels)
    crossings = []
    with np.errstate(all="ignore"):  # far above the range a formula may have no value
        for function, values in zip(functions, evaluator(profile), strict=True):
            chances = values
            if element.labels:
                axis = _axis(fit, function, element)
                chances = np.take(chances, element.label_index, axis=axis)
            crossings.append(_crossings(line, chances.reshape(-1, chances.shape[-1])))
    demands = np.concatenate(crossings)
    demands = demands[demands > line[0]]
    _, first = np.unique(np.round((demands - low) / width, _ALIKE), return_index=True)
    distinct: np.ndarray = demands[first]
    return distinct


def _opposing(fit: Fit, element: Element) -> list[Expr]:
    """Find the functions that make a chance of a margin with the capability, the inmost ones."""
    margins, functions = dict[int, bool](), list[Expr]()
    for node in (node for outcome in fit.layout.outcomes for node in ancestry(outcome)):
        if id(node) in margins:
            continue
        inputs = [parent for parent in node.parents if margins.get(id(parent))]
        margins[id(node)] = bool(inputs) or node.name == element.latent.name
        if inputs and isinstance(node, Call) and node.range in _CHANCE:
            margins[id(node)] = False
            if not all(parent.range in _CHANCE for parent in inputs):
                functions.append(node)
    return functions


def _alone(fit: Fit, function: Expr, element: Element) -> bool:
    """Whether a function opposes meta-features to this capability, and no other makes up for it."""
    names = {node.name for node in ancestry(function)}
    abilities = [one for one in fit.layout.latents if one.kind in ("capability", "propensity")]
    return (
        any(feature.name in names for feature in fit.layout.meta_features)
        and not any(one.name in names - {element.latent.name} for one in abilities)
        and set(element.latent.dims) <= set(function.dims)
    )


def _profile(draws: Draws, element: Element, line: np.ndarray) -> dict[str, np.ndarray]:
    """Return values of the capability along a line, and the means of other latents."""
    profile = {name: values.mean(axis=-1, keepdims=True) for name, values in draws.items()}
    capability = profile[element.latent.name]
    profile[element.latent.name] = np.broadcast_to(line, (*capability.shape[:-1], len(line)))
    return profile


def _axis(fit: Fit, function: Expr, element: Element) -> int:
    """Find the axis of the capability's labels among those of a function's values."""
    (labels,) = element.latent.dims
    return 1 + [dim for dim in fit.layout.dims if dim in function.dims].index(labels)


def _crossings(line: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """Find where chances, (cells, line), come to one half; infinite where they never do."""
    above = np.nan_to_num(chances, nan=0.0) >= 0.5
    first = above.argmax(axis=1)
    rows = np.arange(len(chances))
    before = np.maximum(first - 1, 0)
    low, high = chances[rows, before], chances[rows, first]
    share = np.where(high > low, (0.5 - low) / (high - low), 1.0)
    values = line[before] + np.nan_to_num(share, nan=1.0) * (line[first] - line[before])
    return np.where(above.any(axis=1), np.where(first == 0, -np.inf, values), np.inf)
