"""Walking an expression and computing it from arrays."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import fields, replace
from typing import Any

from .arrays import Array, as_float
from .expression import Expr


def _nowhere(_expr: Expr) -> bool:
    """Stop at no expression."""
    return False


def ancestry(expr: Expr, stop_at: Callable[[Expr], bool] = _nowhere) -> Iterator[Expr]:
    """Walk an expression's ancestors and then itself, parents before what is computed from them.

    A shared part is met once, however often it is used, and no depth is too deep.

    Parameters
    ----------
    expr : Expr
        Where to begin.
    stop_at : callable, optional
        Says of which expressions the parents are left out.

    Yields
    ------
    Expr
        Each distinct object once.

    Examples
    --------
    >>> from measurement_layouts import Capability, Derived
    >>> sight = Capability("sight", low=0, high=2)
    >>> [part.name for part in ancestry(Derived("twice", sight + sight)) if part.name]
    ['sight', 'twice']
    """
    met: set[int] = set()
    pending: list[tuple[Expr, bool]] = [(expr, False)]
    while pending:
        current, parents_met = pending.pop()
        if id(current) in met:
            continue
        if parents_met or stop_at(current):
            met.add(id(current))
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


def rewritten(
    expr: Expr,
    wraps: Mapping[int, Callable[[Expr], Expr]],
    stop_at: Callable[[Expr], bool] = _nowhere,
) -> Expr:
    """Build an expression anew, with some of its parts wrapped.

    Parameters
    ----------
    expr : Expr
        It stays as it is.
    wraps : mapping of int to callable
        By ``id`` of a part, what to build of it.
    stop_at : callable, optional
        Says of which expressions the parents are left as they are.

    Returns
    -------
    Expr
        Parts without anything wrapped inside are those of `expr`.

    Examples
    --------
    >>> from measurement_layouts import Capability
    >>> sight = Capability("sight", low=0, high=2)
    >>> rewritten(1 - sight / 2, {id(sight): lambda of: of + 1})
    <1 − (sight + 1) / 2>
    """
    made: dict[int, Expr] = {}
    for part in ancestry(expr, stop_at=stop_at):
        changed = {}
        for one in fields(part) if not stop_at(part) else ():  # type: ignore[arg-type]
            value = getattr(part, one.name)
            if isinstance(value, Expr):
                new: Any = made.get(id(value), value)
            elif isinstance(value, tuple) and value and all(isinstance(x, Expr) for x in value):
                new = tuple(made.get(id(x), x) for x in value)
                new = value if all(a is b for a, b in zip(new, value, strict=True)) else new
            else:
                continue
            if new is not value:
                changed[one.name] = new
        again: Expr = replace(part, **changed) if changed else part  # type: ignore[type-var]
        made[id(part)] = wraps[id(part)](again) if id(part) in wraps else again
    return made[id(expr)]
