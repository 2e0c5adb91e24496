"""The order of a computation: loops over one space each, and sums between spaces."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .values import Space, Value

LEAVES = ("constant", "data", "point", "own", "outcome")


@dataclass
class Step:
    """What one pass over a space computes.

    Attributes
    ----------
    space : Space
        Gone through entry by entry.
    values : list of Value
        Elementwise operations in that space, in order.
    totals : list of Value
        Sums of the whole space, taken on the way.
    fold : Value or None
        A sum into another space, or the products of fellows; then it is all that the step does.
    stored : list of Value
        Those of `values` that other steps read.
    """

    space: Space
    values: list[Value] = field(default_factory=list)
    totals: list[Value] = field(default_factory=list)
    fold: Value | None = None
    stored: list[Value] = field(default_factory=list)


def schedule(outputs: Iterable[Value]) -> list[Step]:
    """Order what the outputs need.

    Parameters
    ----------
    outputs : iterable of Value
        What is wanted in the end.

    Returns
    -------
    list of Step
        Every step after those that it reads.
    """
    outputs = list(outputs)
    needed = _needed(outputs)
    stage: dict[int, int] = {}
    steps: dict[tuple[int, int, Space | int], Step] = {}
    home: dict[int, Step] = {}
    for value in needed:
        if value.op in LEAVES:
            continue
        alone = value.op in ("fold", "others") and not _is_total(value)
        space = value.space if value.op not in ("fold", "others") else _through(value)
        at = 0
        for arg in value.args:
            if arg.op in LEAVES:
                continue
            together = not alone and arg.space == space and arg.op not in ("fold", "others")
            at = max(at, stage[arg.number] + (not together))
        stage[value.number] = at
        key = (at, 1, value.number) if alone else (at, 0, space)
        step = home[value.number] = steps.setdefault(key, Step(space))
        if alone:
            step.fold = value
        elif value.op == "fold":
            step.totals.append(value)
        else:
            step.values.append(value)
    wanted = {value.number for value in outputs}
    for value in needed:
        for arg in value.args:
            if arg.number in home and home[arg.number] is not home[value.number]:
                wanted.add(arg.number)
    for step in steps.values():
        step.stored = [
            value for value in step.values if value.number in wanted and value.space != Space()
        ]
    return [steps[key] for key in sorted(steps, key=lambda key: key[0])]


def is_array(value: Value) -> bool:
    """Tell whether a value lies in memory, rather than being one number."""
    return value.space != Space() or (value.op == "fold" and not _is_total(value))


def _through(value: Value) -> Space:
    return value.folded[1] if value.op == "fold" else value.space


def _is_total(value: Value) -> bool:
    """Tell whether a fold adds up everything, so that it can be done on the way."""
    return value.op == "fold" and value.space == Space() and value.folded[0] == "sum"


def _needed(outputs: Iterable[Value]) -> list[Value]:
    met: dict[int, Value] = {}
    pending = list(outputs)
    while pending:
        value = pending.pop()
        if value.number not in met:
            met[value.number] = value
            pending += value.args
    return [met[number] for number in sorted(met)]
