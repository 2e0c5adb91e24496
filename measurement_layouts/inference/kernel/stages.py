"""Order of the computation of a log-density: which quantities one loop computes together."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .domains import Domain
from .values import Space, Value, ancestors

_LEAVES = ("constant", "data", "point", "own", "outcome")
_REDUCTIONS = ("fold", "others")


@dataclass
class Step:
    """Computation in one loop over a space.

    Attributes
    ----------
    space : Space
        Space of the loop.
    turn : int
        Steps of an odd turn have the rows as their domain, and follow each other for one block of
        rows after another. Steps of an even turn have other domains.
    values : list of Value
        Elementwise operations in that space, in order.
    totals : list of Value
        Sums over the whole space, computed in the same loop.
    fold : Value or None
        A fold into another space, or the products of other labels. A step with a fold computes
        nothing else.
    stored : list of Value
        Those of `values` that are outputs or are read by other steps.
    """

    space: Space
    turn: int = 0
    values: list[Value] = field(default_factory=list)
    totals: list[Value] = field(default_factory=list)
    fold: Value | None = None
    stored: list[Value] = field(default_factory=list)

    @property
    def computed(self) -> list[Value]:
        """All quantities that the step computes."""
        return [*self.values, *self.reduced]

    @property
    def reduced(self) -> list[Value]:
        """Results of reductions, and products of other labels."""
        return self.totals if self.fold is None else [self.fold]

    @property
    def arrays(self) -> list[Value]:
        """Quantities that the step writes into memory."""
        return [*self.stored, *self.reduced]

    @property
    def inputs(self) -> list[Value]:
        """Quantities that the step reads from memory."""
        numbers = {value.number for value in self.values}
        arguments = {arg.number: arg for value in self.computed for arg in value.args}
        return [
            arg
            for number, arg in arguments.items()
            if number not in numbers and arg.op != "constant"
        ]


def schedule(outputs: Iterable[Value], rows: Domain) -> list[Step]:
    """Arrange the computation of outputs in steps.

    Parameters
    ----------
    outputs : iterable of Value
        The quantities to compute.
    rows : Domain
        The domain of all rows.

    Returns
    -------
    list of Step
        Steps, each after those whose results it reads. Steps of one turn read no reduction of the
        rows that another step of that turn computes.
    """
    outputs = list(outputs)
    needed = [value for value in ancestors(outputs) if value.op not in _LEAVES]
    times = _times(needed, rows)
    steps: dict[tuple[tuple[int, int], Space | int], Step] = {}
    for value in needed:
        key = (times[value.number], value.number if _is_alone(value) else _loop_space(value))
        step = steps.setdefault(key, Step(_loop_space(value), times[value.number][0]))
        if _is_alone(value):
            step.fold = value
        else:
            (step.totals if value.op == "fold" else step.values).append(value)
    ordered = [steps[key] for key in sorted(steps, key=lambda key: key[0])]
    numbers = {value.number for value in outputs}
    numbers |= {arg.number for step in ordered for arg in step.inputs}
    for step in ordered:
        step.stored = [value for value in step.values if value.number in numbers]
    return ordered


def _times(needed: list[Value], rows: Domain) -> dict[int, tuple[int, int]]:
    """Find the turn in which each quantity is computed, and the position of its loop in it."""
    times: dict[int, tuple[int, int]] = {}
    for value in needed:
        arguments = [arg for arg in value.args if arg.number in times]
        turn = max((_available(arg, times[arg.number][0], rows) for arg in arguments), default=0)
        turn += turn % 2 != (_loop_space(value).domain is rows)
        in_turn = [arg for arg in arguments if times[arg.number][0] == turn]
        orders = (times[arg.number][1] + (not _same_loop(arg, value)) for arg in in_turn)
        times[value.number] = turn, max(orders, default=0)
    return times


def _is_alone(value: Value) -> bool:
    """Return whether a value has a loop of its own."""
    return value.op in _REDUCTIONS and not _is_total(value)


def _loop_space(value: Value) -> Space:
    return value.folded[1] if value.op == "fold" else value.space


def _same_loop(arg: Value, value: Value) -> bool:
    """Return whether a value can be computed in the loop in which an argument is computed."""
    computed = not _is_alone(value) and arg.op not in _REDUCTIONS
    return computed and arg.space == _loop_space(value)


def _available(value: Value, turn: int, rows: Domain) -> int:
    """Return the first turn in which a quantity can be read that is computed in a turn."""
    return turn + (turn % 2 == 1 and value.space.domain is not rows)


def local_values(steps: Iterable[Step], outputs: Iterable[Value], rows: Domain) -> set[int]:
    """Return the numbers of quantities of which only a block of rows is stored."""
    steps = list(steps)
    kept = {value.number for value in outputs}
    turns = {value.number: step.turn for step in steps for value in step.arrays}
    for step in steps:
        kept |= {arg.number for arg in step.inputs if turns.get(arg.number) != step.turn}
    stored = (value for step in steps for value in step.arrays if value.space.domain is rows)
    return {value.number for value in stored} - kept


def _is_total(value: Value) -> bool:
    """Return whether a value is a sum over a whole space, which another loop can compute."""
    return value.op == "fold" and value.space == Space() and value.folded[0] == "sum"
