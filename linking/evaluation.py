"""Computing an expression from arrays."""

from collections.abc import Mapping, MutableMapping

from .ancestry import ancestry
from .arrays import Array, as_float
from .expression import Expr


def evaluate(
    expr: Expr,
    known: Mapping[str, Array],
    dims: tuple[str, ...] = (),
    *,
    named: MutableMapping[str, Array] | None = None,
) -> Array:
    """Compute an expression, by NumPy or PyTensor as the known values are.

    Parameters
    ----------
    expr : Expr
        What to compute.
    known : mapping of str to array
        Values by node name, aligned from the right as ``(..., item, *dims)``.
    dims : tuple of str
        Names of the label axes, in order.
    named : mutable mapping, optional
        Filled with the value of every named expression met on the way.

    Returns
    -------
    array
        Of NumPy or PyTensor, in the same alignment; a part used twice is computed once.

    Raises
    ------
    LayoutError
        When a node without a value of its own is not among the known.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature
    >>> size, sight = MetaFeature("size", low=0, high=2), Capability("sight", low=0, high=2)
    >>> evaluate(sight - 0.5 * size, {"sight": 1.5, "size": 1.0})
    1.0
    """
    computed: dict[int, Array] = {}
    for part in ancestry(expr, stop_at=lambda of: of.name in known):
        name = part.name
        if name is not None and name in known:
            computed[id(part)] = as_float(known[name])
            continue
        value = part.compute(tuple(computed[id(parent)] for parent in part.parents), dims)
        computed[id(part)] = value
        if name is not None and named is not None:
            named[name] = value
    return computed[id(expr)]
