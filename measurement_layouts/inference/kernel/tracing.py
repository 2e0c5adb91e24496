"""Formulas as quantities of a plan: arrays that record the operations made with them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from ...linking import Expr, LayoutError, evaluate
from .values import NUMPY, Space, Value, Values

_UFUNCS: dict[Any, str] = {function: name for name, function in NUMPY.items()} | {
    np.float_power: "pow",
    np.fabs: "abs",
    np.bitwise_and: "and",
    np.bitwise_or: "or",
    np.invert: "not",
    expit: "sigmoid",
}
_PAIRWISE = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}


class UntraceableError(LayoutError):
    """A formula uses an operation that a plan has no quantity for."""


class Traced(np.lib.mixins.NDArrayOperatorsMixin):
    """A quantity of a plan, with which formulas compute as with a NumPy array.

    Its shape is (rows, *label dimensions), with length one along what it does not vary with, and
    a first axis of entries if it is a stack.

    Parameters
    ----------
    values : Values
        Quantities, to which those of the formula are added.
    content : Value or tuple of Value
        The quantity, or the entries of a stack.

    Raises
    ------
    UntraceableError
        When a formula uses an operation that a plan has no quantity for.

    Examples
    --------
    >>> from .domains import Domains
    >>> rows = Domains({}, {"size": np.array([1.0, 2.0, 1.0])}, 3, ["size"])
    >>> values = Values(rows, {})
    >>> size = Traced(values, values.data(rows.features["size"], Space(rows.rows), ["size"]))
    >>> (2 * size - 1).content.payload
    array([1., 3.])
    """

    def __init__(self, values: Values, content: Value | tuple[Value, ...]) -> None:
        self.values, self.content = values, content

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the array that it stands for."""
        entries = self._entries
        spaces = [entry.space for entry in entries]
        rows = max(1 if space.domain is None else self.values.domains.rows.size for space in spaces)
        labels = (
            count if any(dim in space.labels for space in spaces) else 1
            for dim, count in self.values.sizes.items()
        )
        return (*[len(entries)] * self._stacked, rows, *labels)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return self._stacked + 1 + len(self.values.sizes)

    @property
    def dtype(self) -> "np.dtype[Any]":
        """Type of the numbers."""
        return np.dtype(float)

    def astype(self, _dtype: object) -> "Traced":
        """Return the same quantity: all numbers have double precision."""
        return self

    def __getitem__(self, key: Any) -> "Traced":
        if not self._stacked or not isinstance(key, int | slice):
            raise UntraceableError(f"the index {key}")
        return Traced(self.values, self._entries[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise UntraceableError(f"the attribute {name}")

    def __bool__(self) -> bool:
        raise UntraceableError("a truth value")

    def __len__(self) -> int:
        raise UntraceableError("a length")

    def __float__(self) -> float:
        raise UntraceableError("a single number")

    def __array__(self, *_arguments: object, **_options: object) -> np.ndarray:
        raise UntraceableError("an operation on arrays that are written out")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        is_plain = method == "__call__" and not options
        if is_plain and ufunc is np.logaddexp and _is_number(inputs[0], 0.0):
            return self._each("softplus", inputs[1:])
        if is_plain and ufunc in (np.log2, np.log10):
            return np.log(inputs[0]) / np.log(2.0 if ufunc is np.log2 else 10.0)
        if not is_plain or ufunc not in _UFUNCS:
            raise UntraceableError(f"{ufunc.__name__}.{method}")
        return self._each(_UFUNCS[ufunc], inputs)

    def __array_function__(
        self, function: Any, _types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        if function not in _FUNCTIONS:
            raise UntraceableError(function.__name__)
        return _FUNCTIONS[function](self, *args, **options)

    def entry(self, value: Any) -> Value:
        """Return the quantity of a traced array, or of numbers."""
        (entry,) = self._lifted(value)._entries
        return entry

    @property
    def _stacked(self) -> bool:
        return isinstance(self.content, tuple)

    @property
    def _entries(self) -> tuple[Value, ...]:
        return self.content if isinstance(self.content, tuple) else (self.content,)

    def _each(self, op: str, inputs: Sequence[Any]) -> "Traced":
        """Compute an elementwise operation, for each entry of stacks."""
        traced = [self._lifted(value) for value in inputs]
        heights = {len(value._entries) for value in traced}
        if len(heights - {1}) > 1:
            raise UntraceableError("stacks of different heights")
        entries = tuple(
            self._compute(op, *(value._entries[at % len(value._entries)] for value in traced))
            for at in range(max(heights))
        )
        return Traced(self.values, entries if any(v._stacked for v in traced) else entries[0])

    def _compute(self, op: str, *args: Value) -> Value:
        """Add an operation; logarithms of exponentials and logistics do not underflow."""
        make, inner = self.values, args[0]
        if op == "mul":
            if any(arg.is_zero for arg in args):
                return make.zero
            return make(op, *(factor for arg in args for factor in _factors(arg)))
        if op in ("add", "sub"):
            terms = [*_terms(make, inner), *_terms(make, args[1], op == "sub")]
            if len(terms) > 2:
                return make("add", *terms)
        if op == "log" and inner.op == "exp":
            return inner.args[0]
        if op == "log" and inner.op == "sigmoid":
            return make("neg", make("softplus", make("neg", inner.args[0])))
        if op == "log1p" and inner.op == "neg" and inner.args[0].op == "sigmoid":
            return make("neg", make("softplus", inner.args[0].args[0]))
        return make(op, *args)

    def _lifted(self, value: Any) -> "Traced":
        """Convert numbers, whose last axes are those of the labels."""
        if isinstance(value, Traced):
            return value
        numbers, dims = np.asarray(value, dtype=float), list(self.values.sizes)
        if numbers.size == 1:
            return Traced(self.values, self.values.constant(float(numbers.reshape(()))))
        if numbers.ndim > 1 + len(dims):
            return Traced(self.values, tuple(self._lifted(one)._entries[0] for one in numbers))
        axes = dict(zip(reversed(dims), reversed(numbers.shape), strict=False))
        labels = tuple(dim for dim in dims if axes.get(dim, 1) > 1)
        shape = tuple(self.values.sizes[dim] for dim in labels)
        if numbers.size != np.prod(shape):
            raise UntraceableError(f"numbers of shape {numbers.shape}")
        return Traced(self.values, self.values.data(numbers.reshape(shape), Space(None, labels)))

    def _reduced(self, kind: str, axis: object, keepdims: bool) -> "Traced":
        """Reduce along the entries of a stack or along labels."""
        if not isinstance(axis, int):
            raise UntraceableError(f"a reduction along {axis}")
        at = axis % self.ndim
        if self._stacked and at == 0:
            total, *further = self._entries
            if kind == "prod":
                factors = (one for entry in self._entries for one in _factors(entry))
                total, further = self.values("mul", *factors), []
            elif kind == "sum":
                total, further = self.values("add", total, *further), []
            for entry in further:
                total = self.values(_PAIRWISE[kind], total, entry)
            return Traced(self.values, (total,) if keepdims else total)
        at -= self._stacked
        if at == 0 or not keepdims:
            raise UntraceableError(f"a reduction along axis {axis}")
        dim = list(self.values.sizes)[at - 1]
        entries = tuple(
            self.values.reduce(kind, entry, dim) if dim in entry.space.labels else entry
            for entry in self._entries
        )
        return Traced(self.values, entries if self._stacked else entries[0])


def _factors(value: Value) -> list[Value]:
    """List the factors of a product, of which those on the smallest tables are multiplied first."""
    if value.op != "mul" or not value.moving:
        return [value]
    return [factor for arg in value.args for factor in _factors(arg)]


def _terms(make: Values, value: Value, negated: bool = False) -> list[Value]:
    """List the terms of a sum on a larger table than each, to add those on the smallest first."""
    grown = all(arg.space != value.space for arg in value.args)
    if value.op not in ("add", "sub") or not grown:
        return [make("neg", value) if negated else value]
    first, second = value.args
    return [*_terms(make, first, negated), *_terms(make, second, negated != (value.op == "sub"))]


def trace(formula: Expr, known: Mapping[str, Any], dims: tuple[str, ...]) -> Any:
    """Compute an expression of traced values; see `linking.evaluate`.

    Raises
    ------
    UntraceableError
        When a formula uses an operation that a plan has no quantity for, or of another library.
    """
    try:
        return evaluate(formula, known, dims)
    except (LayoutError, NotImplementedError, TypeError) as error:  # such as one of PyTensor
        raise UntraceableError(str(error)) from error


def column(values: Values, name: str, labels: tuple[str, ...]) -> Traced:
    """Return a meta-feature of the rows, at the distinct combinations of what it depends on."""
    domains, names = values.domains, frozenset({name})
    numbers, domain = domains.features[name], domains.of(names, labels)
    if domain is not None:
        labelled = () if domain.dim is None else (np.arange(numbers.shape[1]),)
        numbers = numbers[(domain.origin, *labelled)]
    return Traced(values, values.data(numbers, Space(domain, labels), names))


def _is_number(value: object, number: float) -> bool:
    return isinstance(value, int | float) and value == number


def _reduction(kind: str) -> Callable[..., Traced]:
    def reduce(
        _like: Traced, array: Traced, axis: object = None, keepdims: bool = False, **others: Any
    ) -> Traced:
        if others or not isinstance(array, Traced):
            raise UntraceableError(f"{kind} with {sorted(others)}")
        return array._reduced(kind, axis, keepdims)

    return reduce


def _stack(like: Traced, arrays: Sequence[Any], axis: int = 0) -> Traced:
    lifted = [like._lifted(array) for array in arrays]
    if axis != 0 or any(array._stacked for array in lifted):
        raise UntraceableError("a stack of stacks")
    return Traced(like.values, tuple(array._entries[0] for array in lifted))


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: lambda like, *operands: like._each("where", operands),
    np.sum: _reduction("sum"),
    np.prod: _reduction("prod"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    np.broadcast_arrays: lambda like, *arrays: tuple(map(like._lifted, arrays)),
    np.stack: _stack,
    np.ndim: lambda _like, array: array.ndim,
    np.clip: lambda _like, array, low, high: np.minimum(np.maximum(array, low), high),
}
