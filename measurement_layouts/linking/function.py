"""Linking functions (formulas of arrays that also accept nodes), and their calls."""

import ast
import copyreg
import functools
import hashlib
import inspect
import math
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import errors, notation, units
from .arrays import Array, as_float
from .errors import LayoutError
from .expression import Constant, Dims, Expr, Formula, as_expr, merge_dims, same_unit
from .interval import Interval, read_ends
from .real import holds_numbers


def _source(formula: Callable[..., Any]) -> str:
    """Source of a function without comments."""
    try:
        if formula.__code__.co_filename == "<string>":  # its lines may be those of another text
            raise OSError
        source = textwrap.dedent(inspect.getsource(formula))
    except (OSError, TypeError):
        advice = "define it in a file or in a notebook"
        errors.refuse(formula.__name__, "its source cannot be read", advice)
    try:
        definition = ast.parse(source).body[0]
    except SyntaxError:  # a part of a longer statement
        return source
    if isinstance(definition, ast.FunctionDef):
        definition.decorator_list = []
        if ast.get_docstring(definition) is not None and len(definition.body) > 1:
            del definition.body[0]
    return ast.unparse(definition)


def _is_plain(value: object) -> bool:
    """Whether a value looks the same in every process."""
    if isinstance(value, tuple | list):
        return all(map(_is_plain, value))
    return isinstance(value, bool | int | float | str | None)


type RangeRule = tuple[float, float] | Callable[..., Interval]


@dataclass(frozen=True, eq=False, repr=False)
class Call(Formula):
    """A linking function applied to expressions."""

    function: "LinkingFunction"
    arguments: tuple[Expr, ...]
    options: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    name: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        dims = sorted(merge_dims(self.arguments))
        operands, advice = ", ".join(map(str, self.arguments)), "name one, or give nodes labels="
        problem = f"over={self.over!r}, but the label dimensions of {operands} are {dims or 'none'}"
        errors.check(self.function.name, self.over in (None, *dims), problem, advice)
        super().__post_init__()

    @property
    def over(self) -> str | None:
        """Label dimension that the function reduces, if any."""
        return dict(self.options).get("over")

    @property
    def parents(self) -> tuple[Expr, ...]:
        return self.arguments

    @cached_property
    def dims(self) -> Dims:
        merged = merge_dims(self.arguments)
        return {dim: labels for dim, labels in merged.items() if dim != self.over}

    @cached_property
    def range(self) -> Interval:
        rule = self.function.range_rule
        if callable(rule):
            spans, named = self.split([argument.range for argument in self.arguments])
            if self.over is not None and self.function.many:
                spans *= len(self.arguments[0].dims[self.over])
            return rule(*spans, **named)
        return Interval(*rule)

    @cached_property
    def unit(self) -> units.Unit:
        pairs = zip(self.names, self.arguments, strict=True)
        united = tuple(argument for name, argument in pairs if name in self.function.same_unit)
        unit = same_unit(united, doing=f"in one {self.function.name} with")
        return unit if self.function.keeps_unit else units.parse(None)

    def split[T](self, values: Sequence[T]) -> tuple[list[T], dict[str, Any]]:
        """Split values of the operands into positional arguments and, with the options, named."""
        pairs = list(zip(self.names, values, strict=False))  # defaults at the end are not written
        positional = [value for name, value in pairs if name not in self.function.nodes]
        named = {name: value for name, value in pairs if name in self.function.nodes}
        return positional, {**dict(self.options), **named}

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        operands, options = self.split(values)
        if self.over is not None:
            problem = f"its dimension {self.over!r} is not among the array axes {dims}"
            advice = "give all label dimensions as dims="
            errors.check(self.function.name, self.over in dims, problem, advice)
            options["over"] = dims.index(self.over) - len(dims)
        try:
            return self.function.formula(*operands, **options)
        except (LayoutError, MemoryError):
            raise
        except Exception as error:  # a user's formula can raise any exception
            problem = f"the formula of {self.function.name} raised {type(error).__name__}: {error}"
            advice = "correct it, and write it with the operations of linking.arrays"
            raise LayoutError(f"{self}: {problem}; {advice}") from error

    def text(self) -> str:
        shown, parameters = list[str](), self.function.signature.parameters
        for index, argument in enumerate(self.arguments):
            default = parameters[self.names[index]].default
            if not (isinstance(argument, Constant) and argument.value == default):
                named = len(shown) < index or self.names[index] in self.function.nodes
                label = f"{self.names[index]}=" if named else ""
                shown.append(f"{label}{argument.text()}")
        changed = [(key, value) for key, value in self.options if value != parameters[key].default]
        shown += [f"{key}={notation.option(value)}" for key, value in changed]
        return f"{self.function.name}({', '.join(shown)})"


class LinkingFunction:
    """A formula that builds an expression from nodes, or computes its value from arrays.

    Linking functions are made by the decorator `linking_function`. Parameters before the ``*`` are
    operands (nodes, expressions or numbers); those after it are options, fixed at declaration.
    """

    nodes: tuple[str, ...] = ()
    """Options that may also be nodes; a node that is given for one is an operand."""

    def __init__(
        self,
        formula: Callable[..., Array],
        *,
        range: RangeRule,
        domain: Mapping[str, tuple[float, float]] | None = None,
        same_unit: tuple[str, ...] = (),
        keeps_unit: bool = False,
        check: Callable[..., None] | None = None,
    ) -> None:
        functools.update_wrapper(self, formula)
        self.formula = formula
        self.name: str = formula.__name__
        self.range_rule = range if callable(range) else read_ends(self.name, "range", range)
        self.domain = {key: read_ends(self.name, key, ends) for key, ends in (domain or {}).items()}
        self.same_unit = same_unit
        self.keeps_unit = keeps_unit
        self.check = check
        self.signature = inspect.signature(formula)
        parameters = self.signature.parameters
        every_named = all(one.kind is not one.VAR_KEYWORD for one in parameters.values())
        self.many = any(one.kind is one.VAR_POSITIONAL for one in parameters.values())
        problem = "a formula cannot have a ** parameter"
        errors.check(self.name, every_named, problem, "name its parameters")
        unknown = ", ".join(sorted({*self.domain, *same_unit} - set(parameters)))
        problem, advice = f"domain= or same_unit= name {unknown}", f"name {', '.join(parameters)}"
        errors.check(self.name, not unknown, problem, advice)

    def __repr__(self) -> str:
        return f"<linking function {self.name}{self.signature}>"

    def __eq__(self, other: object) -> bool:
        same_name = isinstance(other, LinkingFunction) and self.name == other.name
        return self is other or (same_name and self.digest == other.digest)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.name)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Pickle by name if importing the name gives this function, else by value (cloudpickle).

        A formula pickled by value may lose its source, so its digest is pickled with it.
        """
        home = sys.modules.get(self.__module__)
        if self.__module__ != "__main__" and getattr(home, self.name, None) is self:
            return str(self.name)
        return copyreg.__newobj__, (type(self),), {**vars(self), "digest": self.digest}  # type: ignore[attr-defined]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build an expression if an operand is one; compute if all are numbers or arrays."""
        names, operands, options = self._bind(args, kwargs)
        values, over = [*args, *kwargs.values()], options.get("over")
        problem = f"over={over!r} joins the labels of one operand, but {len(args)} operands were "
        one_operand, advice = over is None or len(args) == 1, "join the operands first"
        errors.check(self.name, one_operand or not self.many, f"{problem}given", advice)
        if any(isinstance(value, Expr) for value in values):
            return self.build(names, [as_expr(operand) for operand in operands], options)
        for name, operand in zip(names, operands, strict=True):
            problem = f"{name} is {operand!r} ({type(operand).__name__})"
            advice = "give a node, a number or an array of numbers; several nodes as in "
            errors.check(self.name, holds_numbers(operand), problem, f"{advice}{self.name}(*nodes)")
        problem = f"over={over!r} names a label dimension, but plain arrays have no labels"
        advice = "give the number of the axis, such as -1"
        errors.check(self.name, not isinstance(over, str), problem, advice)
        return self.formula(*map(as_float, operands), **options)

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[str], list[Any], dict[str, Any]]:
        """Sort arguments into operands with their names, and options."""
        try:
            bound = self.signature.bind(*args, **kwargs)
        except TypeError as error:
            form = f"{self.name}({', '.join(self.signature.parameters)})"
            raise TypeError(f"{form}: {error}") from None
        bound.apply_defaults()
        names, operands, options = list[str](), list[Any](), dict[str, Any]()
        for name, parameter in self.signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind is parameter.KEYWORD_ONLY:
                options[name] = value
                continue
            several = value if parameter.kind is parameter.VAR_POSITIONAL else (value,)
            names += [name] * len(several)
            operands += several
        return names, operands, options

    def build(
        self, names: Sequence[str], operands: Sequence[Expr], options: Mapping[str, Any]
    ) -> Call:
        """Make the expression from operands, their parameters' names and options.

        Raises
        ------
        LayoutError
            When an operand can leave its domain, or names, units, dimensions or options do not fit.
        """
        advice = "pass at least one node or expression"
        errors.check(self.name, operands, "no operand given", advice)
        as_nodes = [name for name in self.nodes if isinstance(options.get(name), Expr)]
        names, operands = [*names, *as_nodes], [*operands, *(options[name] for name in as_nodes)]
        options = {name: value for name, value in options.items() if name not in as_nodes}
        for name, operand in zip(names, operands, strict=True):
            span = operand.range  # raises the error of operands that have no range
            need = Interval(*self.domain.get(name, (-math.inf, math.inf)))
            if span not in need:
                problem = f"{name} = {operand} ranges over {span}, but must be within {need}"
                advice = "pass it through logistic, or narrow its range"
                errors.refuse(self.name, problem, advice)
            free = name not in self.domain or name in self.same_unit
            if not (free or units.is_pure(operand.unit)):
                problem = f"{name} = {operand} has {units.text(operand.unit)}, but must be a pure "
                advice = "divide it by a node in its unit, or leave unit= out of its nodes"
                errors.refuse(self.name, f"{problem}number", advice)
        plain = {name: self._plain(name, value) for name, value in options.items()}
        fixed = tuple((name, plain[name]) for name in self.signature.parameters if name in plain)
        call = Call(self, tuple(operands), fixed, tuple(names))
        if self.check is not None:
            positional, named = call.split(operands)
            self.check(*positional, **named)
        return call

    def _plain(self, name: str, value: Any) -> Any:
        """Convert the value of an option to a type that a layout can be saved with."""
        if isinstance(value, np.generic | np.ndarray):
            value = value.tolist()
        if isinstance(value, list | tuple):
            return tuple(self._plain(name, element) for element in value)
        is_nan = isinstance(value, float) and math.isnan(value)
        errors.check(self.name, not is_nan, f"{name} is NaN (not a number)", "give a number")
        problem = f"{name}={value} is an option, fixed when the layout is declared"
        advice = "give a number, a text or a sequence of those, not a node or an object"
        errors.check(self.name, _is_plain(value), problem, advice)
        return value

    @cached_property
    def digest(self) -> str:
        """Hash of the formula's source and the plain values it refers to, in 16 hexadecimal digits.

        A saved layout recognises by it that a formula has changed. Comments, docstrings, decorators
        and the formatting of the source do not change the hash. Functions that it calls enter by
        their names only. A function without source, as one that was made by ``exec``, is refused.
        """
        captured = inspect.getclosurevars(self.formula)
        defaults = {
            f"default of {name}": parameter.default
            for name, parameter in self.signature.parameters.items()
        }
        values = {**captured.globals, **captured.nonlocals, **defaults}
        bare = {
            name: value.tolist() if isinstance(value, np.ndarray | np.generic) else value
            for name, value in sorted(values.items())
        }
        plain = [(name, repr(value)) for name, value in bare.items() if _is_plain(value)]
        return hashlib.sha256(f"{_source(self.formula)}\n{plain}".encode()).hexdigest()[:16]


def linking_function(
    *,
    range: RangeRule,
    domain: Mapping[str, tuple[float, float]] | None = None,
    same_unit: tuple[str, ...] = (),
    keeps_unit: bool = False,
    check: Callable[..., None] | None = None,
) -> Callable[[Callable[..., Array]], LinkingFunction]:
    r"""Make a linking function of a formula of arrays.

    The formula is written once, with the operations of `measurement_layouts.linking.arrays` and
    ordinary arithmetic. It is used both with NumPy (simulation, forecasts) and with PyTensor (the
    model).

    Parameters
    ----------
    range : (float, float) or callable
        Range of the result, or a function that computes it from the operands' intervals and the
        options.
    domain : mapping of str to (float, float), optional
        Interval within which an operand must be, by its parameter. An operand that has a domain
        and is not in `same_unit` must be a pure number.
    same_unit : tuple of str, optional
        Operands that must have the same unit.
    keeps_unit : bool, default False
        Whether the result has the operands' unit; otherwise it is a pure number.
    check : callable, optional
        Function that is called with the operands' expressions and the options when a layout is
        declared. It raises `LayoutError` when they do not make sense.

    Returns
    -------
    callable
        Decorator that turns the formula into a `LinkingFunction`.

    Raises
    ------
    LayoutError
        Raised by the linking function when operands are outside their domain or differ in unit.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import arrays
    >>> @ml.linking.linking_function(range=(0, 1))
    ... def survival(ability, demand):
    ...     return arrays.exp(-demand / ability)
    >>> round(float(survival(2.0, 1.0)), 4)
    0.6065
    """
    return functools.partial(
        LinkingFunction,
        range=range,
        domain=domain,
        same_unit=same_unit,
        keeps_unit=keeps_unit,
        check=check,
    )
