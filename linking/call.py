"""A linking function applied to nodes: an expression."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from . import units
from .agreement import Dims, merge_dims, same_unit
from .arrays import Array
from .errors import LayoutError
from .expression import Constant, Expr, Formula
from .interval import Interval

if TYPE_CHECKING:
    from .function import LinkingFunction


@dataclass(frozen=True, eq=False, repr=False)
class Call(Formula):
    """A linking function applied to expressions."""

    function: "LinkingFunction"
    arguments: tuple[Expr, ...]
    options: tuple[tuple[str, Any], ...]
    names: tuple[str, ...]
    name: None = field(default=None, init=False)

    def __post_init__(self) -> None:
        have = merge_dims(self.arguments)
        if self.over is not None and self.over not in have:
            raise LayoutError(
                f"{self.function.name}: over={self.over!r}, but the label dimensions of "
                f"{', '.join(map(str, self.arguments))} are {sorted(have) or 'none'}; name one of "
                "those, or give the nodes labels="
            )
        self.settle()

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
        unit = same_unit(alike, doing=f"in one {self.function.name} with")
        return unit if self.function.keeps_unit else units.parse(None)

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        options = dict(self.options)
        if self.over is not None:
            if self.over not in dims:
                raise LayoutError(
                    f"{self.function.name}: reduces the label dimension {self.over!r}, which is "
                    f"not among the array axes {dims}; name them all as dims="
                )
            options["over"] = dims.index(self.over) - len(dims)
        try:
            return self.function.formula(*values, **options)
        except (LayoutError, MemoryError):
            raise
        except Exception as error:  # a formula of one's own may raise anything
            raise LayoutError(
                f"{self}: the formula of {self.function.name} raised {type(error).__name__}: "
                f"{error}; correct it, and write it with the operations of linking.arrays, which "
                "take NumPy's arrays and PyTensor's variables alike"
            ) from error

    def is_default(self, index: int) -> bool:
        """Whether an argument is the number that the formula would have taken by itself."""
        parameter = self.function.signature.parameters[self.names[index]]
        argument = self.arguments[index]
        return isinstance(argument, Constant) and argument.value == parameter.default
