"""Quantities of which a log-density and its gradient are computed on one battery."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .domains import Domain, Domains

REDUCE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}
"""Operations of two numbers that reductions repeat."""


def _sigmoid(x: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


NUMPY: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "pow": np.power,
    "neg": np.negative,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "sigmoid": _sigmoid,
    "softplus": lambda x: np.logaddexp(0, x),
    "sqr": np.square,
    "sqrt": np.sqrt,
    "abs": np.abs,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "where": np.where,
    "lt": np.less,
    "gt": np.greater,
    "le": np.less_equal,
    "ge": np.greater_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "isinf": np.isinf,
    "isnan": np.isnan,
}

TRUTHS = frozenset({"lt", "gt", "le", "ge", "eq", "ne", "and", "or", "not", "isinf", "isnan"})
"""Operations whose result is true or false."""


class Space(NamedTuple):
    """Entries of a quantity: those of a domain, for each label of some dimensions."""

    domain: Domain | None = None
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Value:
    """One quantity.

    Attributes
    ----------
    number : int
        Number of the quantity, which is larger than the numbers of its arguments.
    op : str
        ``constant``, ``data`` (numbers of the battery), ``point``, ``own`` (a subject's number),
        ``outcome`` (a subject's outcomes, per row), an elementwise operation, ``fold``, or
        ``others`` (for each label, the product over all other labels).
    args : tuple of Value
        Quantities that it is computed from, broadcast to `space`.
    space : Space
        Space of its entries.
    features : frozenset of str
        Meta-features that it depends on.
    payload : object
        The number, the numbers, the offset or the name; for a fold, its kind and the folded space.
    moving : bool
        Whether it depends on the sampler's point.
    """

    number: int
    op: str
    args: tuple["Value", ...]
    space: Space
    features: frozenset[str]
    payload: object
    moving: bool

    @property
    def folded(self) -> tuple[str, Space]:
        """Kind of a fold, and the folded space."""
        kind, through = self.payload  # type: ignore[misc]
        return kind, through  # type: ignore[has-type]

    @property
    def is_zero(self) -> bool:
        """Whether it is the constant 0."""
        return _is(self, 0.0)

    @property
    def is_truth(self) -> bool:
        """Whether it is true or false."""
        return self.op in TRUTHS


@dataclass
class Values:
    """Quantities of a log-density, to which new ones are added; equal ones occur once.

    Attributes
    ----------
    domains : Domains
        Domains of the battery.
    sizes : dict of str to int
        Number of labels per dimension.
    """

    domains: Domains
    sizes: dict[str, int]
    listed: list[Value] = field(default_factory=list)
    _known: dict[tuple[object, ...], Value] = field(default_factory=dict)

    @property
    def zero(self) -> Value:
        """The constant 0."""
        return self.constant(0.0)

    @property
    def one(self) -> Value:
        """The constant 1."""
        return self.constant(1.0)

    def constant(self, number: float) -> Value:
        """Make a constant number."""
        return self._add("constant", (), Space(), frozenset(), float(number), key=float(number))

    def data(
        self, numbers: np.ndarray, space: Space, features: Iterable[str] = (), truth: bool = False
    ) -> Value:
        """Make an array of the battery, with an axis of the domain and one per label dimension."""
        array = np.ascontiguousarray(numbers, dtype=float)
        if array.size and (array == array.flat[0]).all():
            return self.constant(float(array.flat[0]))
        key = (array.tobytes(), truth)
        data = self._add("data", (), space, frozenset(features), array, key=key)
        return self("ne", data, self.zero, compute=False) if truth else data

    def leaf(self, op: str, payload: object, space: Space, features: Iterable[str] = ()) -> Value:
        """Make the point, a subject's number or a subject's outcomes."""
        moving = op == "point"
        return self._add(op, (), space, frozenset(features), payload, payload, moving)

    def __call__(self, op: str, *args: Value, compute: bool = True) -> Value:
        """Make an elementwise operation."""
        if op in ("add", "mul"):
            args = tuple(arg for arg in args if not _is(arg, 0.0 if op == "add" else 1.0))
            if len(args) < 2:
                return args[0] if args else self.constant(0.0 if op == "add" else 1.0)
            if len(args) > 2:
                return self._combine(op, list(args))
        if op == "pow" and _is(args[1], 2.0):
            return self("sqr", args[0])
        if op == "where" and args[0].op == "constant":
            return args[1] if args[0].payload else args[2]
        if compute and all(arg.op == "constant" for arg in args):
            with np.errstate(all="ignore"):
                return self.constant(float(NUMPY[op](*(arg.payload for arg in args))))
        space = self._space(args)
        features = frozenset().union(*(arg.features for arg in args))
        if compute and all(_is_data(arg) for arg in args):
            with np.errstate(all="ignore"):
                numbers = NUMPY[op](*(self._spread(arg, space) for arg in args))
            numbers = np.broadcast_to(numbers, self._shape(space))
            return self.data(numbers, space, features, truth=op in TRUTHS)
        args = tuple(self._align(arg, space) for arg in args)
        moving = any(arg.moving for arg in args)
        return self._add(op, args, space, features, None, None, moving)

    def fold(
        self,
        kind: str,
        arg: Value,
        through: Space,
        target: Space,
        features: frozenset[str] = frozenset(),
    ) -> Value:
        """Make a reduction of the entries of a space by entry of a coarser one.

        The kind is ``sum``, ``max``, ``min`` or ``prod``; the quantity is broadcast to `through`,
        which is reduced to `target`, and the result depends on the features.
        """
        if through == target:
            return arg
        payload, key = (kind, through), (kind, _key(through))
        return self._add("fold", (arg,), target, features, payload, key, arg.moving)

    def fellows(self, arg: Value, through: Space, kept: Space) -> Value:
        """Make, for each label, the product over all other labels."""
        return self._add("others", (arg,), through, arg.features, kept, _key(kept), arg.moving)

    def reduce(self, kind: str, arg: Value, dim: str) -> Value:
        """Make a reduction of a label dimension; a product of logistics is exp of a sum of logs.

        The slopes of that sum need no products of all but one factor.
        """
        if kind == "prod" and arg.op == "sigmoid":
            logarithms = self("neg", self("softplus", self("neg", arg.args[0])))
            return self("exp", self.reduce("sum", logarithms, dim))
        labels = tuple(label for label in arg.space.labels if label != dim)
        domain = arg.space.domain
        if domain is not None and domain.dim is not None:
            domain = self.domains.of(arg.features, labels)
        through, target = Space(domain, arg.space.labels), Space(domain, labels)
        if _is_data(arg) and not arg.is_truth:
            axis = (domain is not None) + through.labels.index(dim)
            numbers = np.broadcast_to(self._spread(arg, through), self._shape(through))
            return self.data(REDUCE[kind].reduce(numbers, axis=axis), target, arg.features)
        return self.fold(kind, arg, through, target, arg.features)

    def _combine(self, op: str, args: list[Value]) -> Value:
        """Combine operands in pairs, beginning with those of the smallest space."""
        while len(args) > 1:
            i, j = self._cheapest(args)
            joined = self(op, args[i], args[j])
            args = [arg for at, arg in enumerate(args) if at not in (i, j)]
            args.insert(i, joined)
        return args[0]

    def _cheapest(self, args: Sequence[Value]) -> tuple[int, int]:
        """Return the positions of the two operands that have the smallest common space."""
        pairs = [(i, j) for j in range(len(args)) for i in range(j)]
        cost = [self.volume(self._space((args[i], args[j]))) for i, j in pairs]
        moving = [args[i].moving + args[j].moving for i, j in pairs]
        return pairs[min(range(len(pairs)), key=lambda at: (cost[at], moving[at]))]

    def _space(self, args: Sequence[Value]) -> Space:
        present = {label for arg in args for label in arg.space.labels}
        labels = tuple(dim for dim in self.sizes if dim in present)
        if any(arg.space.domain is self.domains.rows for arg in args):
            return Space(self.domains.rows, labels)
        features = frozenset().union(*(arg.features for arg in args if arg.space.domain))
        domain = self.domains.of(features, labels)
        if domain is not None and domain.dim is not None:
            dim = domain.dim
            if any(self.domains.joins(arg.space.domain, arg.features, dim) for arg in args):
                domain = self.domains.of(features, tuple(name for name in labels if name != dim))
        return Space(domain, labels)

    def _shape(self, space: Space) -> tuple[int, ...]:
        rows = () if space.domain is None else (space.domain.size,)
        return rows + tuple(self.sizes[label] for label in space.labels)

    def volume(self, space: Space) -> int:
        """Return the number of entries of a space."""
        return int(np.prod(self._shape(space), dtype=int))

    def _align(self, arg: Value, space: Space) -> Value:
        """Broadcast an array of the battery to the domain of a space; others are returned."""
        same = arg.space.domain is space.domain or arg.space.domain is None
        if same or not _is_data(arg) or arg.op == "constant":
            return arg
        truth = arg.is_truth
        domain = space.domain
        assert domain is not None  # noqa: S101
        labels = arg.space.labels
        if domain.dim is not None and domain.dim not in labels:
            labels = tuple(dim for dim in self.sizes if dim in (*labels, domain.dim))
        target = Space(domain, labels)
        numbers = np.broadcast_to(self._spread(arg, target), self._shape(target))
        return self.data(numbers, target, arg.features, truth)

    def _spread(self, arg: Value, space: Space) -> np.ndarray | float:
        """Return an array of the battery with the axes of a space."""
        if arg.op == "constant":
            return arg.payload  # type: ignore[return-value]
        numbers = arg.args[0].payload if arg.is_truth else arg.payload
        assert isinstance(numbers, np.ndarray)  # noqa: S101
        shown = self.spread(numbers, arg.space, space)
        return shown != 0 if arg.is_truth else shown

    def spread(self, numbers: np.ndarray, source: Space, target: Space) -> np.ndarray:
        """Give numbers, (entries, *labels) and further axes, the axes of a finer space."""
        coarse, fine, labels = source.domain, target.domain, source.labels
        if coarse is not None and fine is not None and coarse is not fine:
            entries = self.domains.map(fine, coarse)
            if entries.ndim == 1:
                numbers = numbers[entries]
            else:
                dim = coarse.dim or fine.dim
                assert dim is not None  # noqa: S101
                if dim in labels:
                    at = 1 + labels.index(dim)
                    numbers = np.moveaxis(numbers, at, 1)
                    numbers = numbers[entries, np.arange(entries.shape[1])]
                    numbers = np.moveaxis(numbers, 1, at)
                else:
                    labels = tuple(name for name in self.sizes if name in (*labels, dim))
                    numbers = np.moveaxis(numbers[entries], 1, 1 + labels.index(dim))
        elif coarse is None and fine is not None:
            numbers = numbers[None]
        lay: list[slice | None] = [slice(None)] if fine is not None else []
        lay += [slice(None) if label in labels else None for label in target.labels]
        return numbers[tuple(lay)]

    def _add(
        self,
        op: str,
        args: tuple[Value, ...],
        space: Space,
        features: frozenset[str],
        payload: object,
        key: object,
        moving: bool = False,
    ) -> Value:
        full = (op, tuple(arg.number for arg in args), _key(space), key)
        if full not in self._known:
            made = Value(len(self.listed), op, args, space, features, payload, moving)
            self.listed.append(made)
            self._known[full] = made
        return self._known[full]


def ancestors(outputs: Iterable[Value]) -> list[Value]:
    """List quantities and those that they are computed from, arguments first."""
    needed, pending = dict[int, Value](), list(outputs)
    while pending:
        value = pending.pop()
        if value.number not in needed:
            needed[value.number] = value
            pending += value.args
    return [needed[number] for number in sorted(needed)]


def _key(space: Space) -> tuple[str | None, tuple[str, ...]]:
    return (space.domain.name if space.domain else None, space.labels)


def _is(value: Value, number: float) -> bool:
    return value.op == "constant" and value.payload == number


def _is_data(value: Value) -> bool:
    shown = value.args[0] if value.op == "ne" else value  # true is stored as a number other than 0
    return shown.op in ("constant", "data") and all(arg.op == "constant" for arg in value.args[1:])
