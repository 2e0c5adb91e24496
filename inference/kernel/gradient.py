"""The derivative of a quantity, as quantities of the same kind."""

from collections.abc import Iterator

from .operations import derivatives
from .values import Value, Values


def gradient(values: Values, total: Value) -> dict[int, Value]:
    """Derive a total by the sampler's point, backwards from the total.

    Parameters
    ----------
    values : Values
        Makes quantities.
    total : Value
        One number.

    Returns
    -------
    dict of int to Value
        By offset into the point; what the total does not depend on is left out.
    """
    pending = {total.number: (total, values.one)}
    found: dict[int, Value] = {}
    while pending:
        value, g = pending.pop(max(pending))  # all that is computed from it has come before
        if value.op == "point":
            found[int(value.payload)] = g  # type: ignore[call-overload]
            continue
        for arg, part in _passed_on(values, value, g):
            before = pending.get(arg.number)
            pending[arg.number] = (arg, part if before is None else values("add", before[1], part))
    return found


def _passed_on(values: Values, value: Value, g: Value) -> Iterator[tuple[Value, Value]]:
    """Derive by each moving argument, in the argument's space."""
    if value.op == "fold":
        kind, through = value.folded
        (arg,) = value.args
        part = g
        if kind in ("max", "min"):
            part = values("where", values("eq", arg, value), g, values.zero)
        elif kind == "prod":
            part = values("mul", g, values.fellows(arg, through, value.space))
        yield arg, values.fold("sum", part, through, arg.space, arg.features)
        return
    parts = derivatives(value.op, value, value.args, g, values)
    for arg, local in zip(value.args, parts, strict=True):
        if local is not None and arg.moving and not local.is_zero:
            yield arg, values.fold("sum", local, value.space, arg.space, arg.features)
