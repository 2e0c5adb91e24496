"""What the operands of a formula must agree in: the labels of a dimension, and the unit."""

from typing import TYPE_CHECKING

from . import units
from .errors import LayoutError

if TYPE_CHECKING:
    from .expression import Expr

type Dims = dict[str, tuple[str, ...]]
"""Label dimensions and their labels."""


def merge_dims(operands: "tuple[Expr, ...]") -> Dims:
    """Join the label dimensions of several expressions.

    Raises
    ------
    LayoutError
        When two of them share a dimension but not its labels.
    """
    merged: Dims = {}
    owner: dict[str, Expr] = {}
    for operand in operands:
        for dim, labels in operand.dims.items():
            if merged.setdefault(dim, labels) != labels:
                raise LayoutError(
                    f"{operand} has labels {_some(labels)} on dimension {dim!r}, but {owner[dim]} "
                    f"has {_some(merged[dim])}; give both the same labels in the same order, or "
                    "one of them another dim="
                )
            owner.setdefault(dim, operand)
    return merged


def same_unit(operands: "tuple[Expr, ...]", doing: str) -> units.Unit:
    """Return the unit that all the expressions share; numbers and unit-less biases join any.

    Raises
    ------
    LayoutError
        When two of them have different units.
    """
    found: units.Unit = None
    first: Expr | None = None
    for operand in operands:
        unit = operand.unit
        if unit is None:
            continue
        if first is None:
            found, first = unit, operand
        elif unit != found:
            raise LayoutError(
                f"{operand} has {units.text(unit)} and is {doing} {first}, which has "
                f"{units.text(found)}; declare both in one unit (convert the values too), or "
                "multiply one by a quantity that carries the missing unit"
            )
    return found


def _some(labels: tuple[str, ...]) -> str:
    shown = ", ".join(labels[:6])
    return f"({shown})" if len(labels) <= 6 else f"({shown}, ... {len(labels)} in all)"
