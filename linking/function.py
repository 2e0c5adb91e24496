"""Linking functions: formulas of arrays that nodes can be put into."""

import functools
import hashlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from . import units
from .arrays import Array
from .errors import LayoutError
from .expression import Constant, Dims, Expr, as_expr, merge_dims
from .expression import same_unit as shared_unit
from .interval import Interval

type RangeRule = tuple[float, float] | Callable[..., Interval]


class LinkingFunction:
    """A formula that takes nodes and builds an expression, or takes arrays and computes.

    Made by the decorator `linking_function`. Parameters before the ``*`` are operands (nodes,
    expressions or numbers); those after it are options, fixed at declaration.
    """

    def __init__(
        self,
        formula: Callable[..., Array],
        *,
        range: RangeRule,
        latex: str | Callable[..., str] | None = None,
        domain: Mapping[str, tuple[float, float]] | None = None,
        same_unit: tuple[str, ...] = (),
        keeps_unit: bool = False,
    ) -> None:
        functools.update_wrapper(self, formula)
        self.formula = formula
        self.name: str = formula.__name__
        self.range_rule = range
        self.latex = latex
        self.domain = domain or {}
        self.same_unit = same_unit
        self.keeps_unit = keeps_unit
        self.signature = inspect.signature(formula)

    def __repr__(self) -> str:
        return f"<linking function {self.name}{self.signature}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Build an expression when an operand is one; compute when all are numbers or arrays."""
        names, operands, options = self._bind(args, kwargs)
        if any(isinstance(operand, Expr) for operand in [*args, *kwargs.values()]):
            return self.rebuild(names, [as_expr(operand) for operand in operands], options)
        for name, operand in zip(names, operands, strict=True):
            if isinstance(operand, Expr):
                raise LayoutError(f"{self.name}: give {name}= a number or an array of its own here")
        return self.formula(*operands, **options)

    def _bind(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[list[str], list[Any], dict[str, Any]]:
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        names: list[str] = []
        operands: list[Any] = []
        options: dict[str, Any] = {}
        for name, parameter in self.signature.parameters.items():
            value = bound.arguments[name]
            if parameter.kind is parameter.KEYWORD_ONLY:
                options[name] = tuple(value) if isinstance(value, list | np.ndarray) else value
            elif parameter.kind is parameter.VAR_POSITIONAL:
                names += [name] * len(value)
                operands += value
            else:
                names.append(name)
                operands.append(value)
        return names, operands, options

    def rebuild(self, names: list[str], operands: list[Expr], options: dict[str, Any]) -> "Call":
        for name, operand in zip(names, operands, strict=True):
            if name in self.domain and operand.range not in (need := Interval(*self.domain[name])):
                raise LayoutError(
                    f"{self.name}: {name} = {operand} ranges over {operand.range}, but must stay "
                    f"in {need}; pass it through logistic, or narrow its range"
                )
        if not operands:
            raise LayoutError(
                f"{self.name}: no operand given; pass at least one node or expression"
            )
        return Call(self, tuple(operands), tuple(options.items()), tuple(names))

    @cached_property
    def digest(self) -> str:
        """Hash of the formula's source, so that a saved layout can tell another formula apart."""
        try:
            source = textwrap.dedent(inspect.getsource(self.formula))
        except (OSError, TypeError):  # typed at a prompt: no file to read
            source = self.formula.__code__.co_code.hex()
        return hashlib.sha256(source.encode()).hexdigest()[:16]


@dataclass(frozen=True)
class Call(Expr):
    """A linking function applied to expressions."""

    function: LinkingFunction
    arguments: tuple[Expr, ...]
    options: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    name: None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.over is not None and self.over not in merge_dims(self.arguments):
            have = sorted(merge_dims(self.arguments)) or "none"
            raise LayoutError(
                f"{self.function.name}: over={self.over!r}, but the label dimensions of "
                f"{', '.join(map(str, self.arguments))} are {have}; name one of those, or give the "
                "nodes labels="
            )
        _ = self.unit

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
            return rule(*(argument.range for argument in self.arguments), **dict(self.options))
        return Interval(*rule)

    @cached_property
    def unit(self) -> units.Unit:
        named = zip(self.names, self.arguments, strict=True)
        alike = tuple(argument for name, argument in named if name in self.function.same_unit)
        unit = shared_unit(alike, doing=f"in one {self.function.name} with")
        return unit if self.function.keeps_unit else units.dimensionless()

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        options = dict(self.options)
        if self.over is not None:
            options["over"] = dims.index(self.over) - len(dims)
        return self.function.formula(*values, **options)

    def is_default(self, index: int) -> bool:
        """Whether an argument is the number that the formula would have taken by itself."""
        parameter = self.function.signature.parameters[self.names[index]]
        argument = self.arguments[index]
        return isinstance(argument, Constant) and argument.value == parameter.default

    __str__ = Expr.__str__


def linking_function(
    *,
    range: RangeRule,
    latex: str | Callable[..., str] | None = None,
    domain: Mapping[str, tuple[float, float]] | None = None,
    same_unit: tuple[str, ...] = (),
    keeps_unit: bool = False,
) -> Callable[[Callable[..., Array]], LinkingFunction]:
    r"""Make a formula of arrays a linking function.

    The formula is written once, with the operations of `measurement_layouts.linking.arrays` and
    ordinary arithmetic, and serves NumPy (simulation, forecasts) and PyTensor (the model).

    Parameters
    ----------
    range : (float, float) or callable
        Range of the result; a callable gets the operands' intervals and the options.
    latex : str or callable, optional
        How the equation shows it: a text in which ``<parameter>`` stands for an operand, or a
        callable of the operands' LaTeX.
    domain : mapping of str to (float, float), optional
        Interval in which an operand must stay.
    same_unit : tuple of str, optional
        Operands that must have one unit.
    keeps_unit : bool
        Whether the result has the operands' unit; otherwise it is a pure number.

    Returns
    -------
    callable
        Decorator that gives a `LinkingFunction`.

    Raises
    ------
    LayoutError
        When the made function is given operands outside their domain or of different units.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import arrays
    >>> @ml.linking_function(range=(0, 1), latex=r"e^{-<demand>/<ability>}")
    ... def survival(ability, demand):
    ...     return arrays.exp(-demand / ability)
    >>> round(float(survival(2.0, 1.0)), 4)
    0.6065
    """
    return functools.partial(
        LinkingFunction,
        range=range,
        latex=latex,
        domain=domain,
        same_unit=same_unit,
        keeps_unit=keeps_unit,
    )
