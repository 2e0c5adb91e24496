"""Telling compiled layouts apart."""

import inspect
from types import CodeType, FunctionType

from ...layouts import Layout
from ...linking.evaluation import ancestry
from ...linking.function import Call


def compile_key(layout: Layout) -> tuple[object, ...]:
    """Make a key that two layouts share only when they compile to the same.

    A fingerprint knows the formulas of linking functions, but not the functions that those call,
    which may be defined anew in a notebook.

    Parameters
    ----------
    layout : Layout
        What is to be compiled.

    Returns
    -------
    tuple
        Hashable: the fingerprint, and all code that the layout's formulas reach.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> compile_key(coin) == (coin.fingerprint, frozenset())
    True
    """
    reached: dict[CodeType, str] = {}
    for part in ancestry(layout.outcome):
        if isinstance(part, Call):
            _reach(part.function.formula, reached)
    return layout.fingerprint, frozenset(reached.items())


def _reach(function: object, reached: dict[CodeType, str]) -> None:
    """Collect a function's code with the plain values it refers to, and what it calls."""
    function = getattr(function, "formula", function)  # a linking function inside another
    if not isinstance(function, FunctionType) or function.__code__ in reached:
        return
    captured = inspect.getclosurevars(function)
    values = {**captured.globals, **captured.nonlocals}
    plain = {n: v for n, v in values.items() if isinstance(v, bool | int | float | str | tuple)}
    reached[function.__code__] = repr(sorted(plain.items()))
    for value in values.values():
        _reach(value, reached)
