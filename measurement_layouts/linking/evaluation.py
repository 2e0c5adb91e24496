"""Traversal of an expression, and its computation from arrays."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields, replace

from .arrays import Array, as_float
from .expression import Expr


def _nowhere(_expr: Expr) -> bool:
    """Return False for every expression."""
    return False


def ancestry(expr: Expr, stop_at: Callable[[Expr], bool] = _nowhere) -> Iterator[Expr]:
    """Yield an expression's ancestors and then itself, parents before their children.

    A shared part is yielded once, however often it is used. The walk is not recursive, so the depth
    of an expression is not limited.

    Parameters
    ----------
    expr : Expr
        The expression to walk.
    stop_at : callable, optional
        Called with an expression; the expression's parents are left out when it returns True.

    Yields
    ------
    Expr
        Each distinct object, once.

    Examples
    --------
    >>> from measurement_layouts import Capability, Derived
    >>> sight = Capability("sight", low=0, high=2)
    >>> [part.name for part in ancestry(Derived("twice", sight + sight)) if part.name]
    ['sight', 'twice']
    """
    visited: set[int] = set()
    pending: list[tuple[Expr, bool]] = [(expr, False)]
    while pending:
        current, parents_visited = pending.pop()
        if id(current) in visited:
            continue
        if parents_visited or stop_at(current):
            visited.add(id(current))
            yield current
        else:
            pending.append((current, True))
            pending += ((parent, False) for parent in reversed(current.parents))


def evaluate(
    expr: Expr,
    known: Mapping[str, Array],
    dims: tuple[str, ...] = (),
    *,
    named: MutableMapping[str, Array] | None = None,
) -> Array:
    """Compute an expression, with NumPy or with PyTensor according to the known values.

    Parameters
    ----------
    expr : Expr
        The expression to compute.
    known : mapping of str to array
        Values by node name, aligned from the right as ``(..., item, *dims)``.
    dims : tuple of str
        Names of the label axes, in order.
    named : mutable mapping, optional
        Mapping to which the value of every named expression that is computed is added.

    Returns
    -------
    array
        The value, a NumPy array or a PyTensor variable in the same alignment. A part that is used
        twice is computed once.

    Raises
    ------
    LayoutError
        When a node that cannot be computed from others is missing in `known`.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature
    >>> size, sight = MetaFeature("size", low=0, high=2), Capability("sight", low=0, high=2)
    >>> evaluate(sight - 0.5 * size, {"sight": 1.5, "size": 1.0})
    1.0
    """
    computed: dict[int, Array] = {}
    for node in ancestry(expr, stop_at=lambda of: of.name in known):
        name = node.name
        if name is not None and name in known:
            computed[id(node)] = as_float(known[name])
            continue
        value = node.compute(tuple(computed[id(parent)] for parent in node.parents), dims)
        computed[id(node)] = value
        if name is not None and named is not None:
            named[name] = value
    return computed[id(expr)]


def rewritten(
    expr: Expr,
    wraps: Mapping[int, Callable[[Expr], Expr]],
    stop_at: Callable[[Expr], bool] = _nowhere,
) -> Expr:
    """Copy an expression with some of its parts wrapped.

    Parameters
    ----------
    expr : Expr
        The expression to copy; it is not changed.
    wraps : mapping of int to callable
        For the ``id`` of a part, the function that wraps it.
    stop_at : callable, optional
        Called with an expression; the expression's parents are not changed when it returns True.

    Returns
    -------
    Expr
        The copy. It shares with `expr` the parts in which nothing is wrapped.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> sight = Capability("sight", low=0, high=2)
    >>> rewritten(1 - sight / 2, {id(sight): lambda of: of + 1})
    <1 − (sight + 1) / 2>
    """
    made: dict[int, Expr] = {}
    for node in ancestry(expr, stop_at=stop_at):
        changed = {}
        for one in fields(node) if not stop_at(node) else ():  # type: ignore[arg-type]
            value = getattr(node, one.name)
            elements = value if isinstance(value, tuple) else (value,)
            if any(made.get(id(element), element) is not element for element in elements):
                copies = tuple(made.get(id(element), element) for element in elements)
                changed[one.name] = copies if isinstance(value, tuple) else copies[0]
        again: Expr = replace(node, **changed) if changed else node  # type: ignore[type-var]
        made[id(node)] = wraps[id(node)](again) if id(node) in wraps else again
    return made[id(expr)]
