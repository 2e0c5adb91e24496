"""Computing an expression from arrays."""

from collections.abc import Mapping, MutableMapping

from .arrays import Array
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
        Of NumPy or PyTensor, in the same alignment.

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
    memo: dict[int, Array] = {}

    def value(of: Expr) -> Array:
        if of.name is not None and of.name in known:
            return known[of.name]
        if id(of) not in memo:
            memo[id(of)] = of.compute(tuple(value(parent) for parent in of.parents), dims)
            if of.name is not None and named is not None:
                named[of.name] = memo[id(of)]
        return memo[id(of)]

    return value(expr)
