"""Leaves of formulas, and their values as arrays: where they are defined, and their axes."""

from collections.abc import Iterator, Mapping

import numpy as np

from ...layouts import Latent, MetaFeature, Node
from ...linking import Expr
from ...linking.arrays import Array
from ...linking.evaluation import ancestry

type Features = dict[str, np.ndarray]
"""Values by meta-feature, shape (items,) or (items, labels)."""


def defined(feature: MetaFeature, features: Mapping[str, np.ndarray], items: int) -> np.ndarray:
    """Return on which items a meta-feature is defined: those whose presence flag is not 0."""
    if feature.given is None:
        return np.ones(items, dtype=bool)
    return np.asarray(features[feature.given.name] != 0)


def is_leaf(part: Expr) -> bool:
    """Return whether an expression is a latent or a meta-feature."""
    return isinstance(part, Latent | MetaFeature)


def leaves(expr: Expr) -> Iterator[Latent | MetaFeature]:
    """Yield the latents and meta-features from which an expression is computed, without priors."""
    for node in ancestry(expr, stop_at=is_leaf):
        if isinstance(node, Latent | MetaFeature):
            yield node


def align(
    value: Array, node: Node, dims: tuple[str, ...], *, leading: int = 0, per_item: bool
) -> Array:
    """Arrange a node's value as ``(leading..., item, *dims)`` for `linking.evaluate`.

    The value is a NumPy array or a PyTensor variable.

    Parameters
    ----------
    value : array or variable
        Shape (leading..., items, labels), without the axes that the node does not have.
    node : Node
        The node that has this value.
    dims : tuple of str
        The layout's label dimensions, in order.
    leading : int
        Number of axes before the items, such as draws.
    per_item : bool
        Whether the value has an axis of items.

    Returns
    -------
    array or variable
        The value with all axes; an axis that the node does not have is of length one.

    Examples
    --------
    >>> from measurement_layouts import Noise
    >>> align(np.zeros(7), Noise("noise"), ("demand",), leading=1, per_item=False).shape
    (7, 1, 1)
    """
    has = [True] * leading + [per_item] + [dim in node.label_dims for dim in dims]
    return value[tuple(slice(None) if present else None for present in has)]


def lay_out(
    value: Array, node: Node, at: tuple[np.ndarray, ...], plates: int, dims: tuple[str, ...]
) -> Array:
    """Select the levels of a value, and add an axis for each plate and label dimension."""
    taken = value[at] if at else value[(None,) * plates]
    labels = tuple(slice(None) if dim in node.label_dims else None for dim in dims)
    return taken[(*[slice(None)] * plates, *labels)]
