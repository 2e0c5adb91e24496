"""Walking an expression: everything it is computed from, each once, parents first."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .expression import Expr


def _nowhere(_expr: "Expr") -> bool:
    return False


def ancestry(expr: "Expr", stop_at: Callable[["Expr"], bool] = _nowhere) -> Iterator["Expr"]:
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
