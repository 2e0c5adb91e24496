"""What-if changes: amounts added to demands or to elements of a profile, and values replaced."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.digits import short
from ...common.errors import FitError
from ...common.messages import some
from ...layouts import Latent
from ...layouts.elements import find_elements
from ...linking import units
from .cell import Cell, columns_of
from .opened import move

type Change = Mapping[str, float]
"""The values of an item's columns and of hidden meta-features that a change replaces."""


@dataclass(frozen=True, eq=False)
class Changes:
    """What-if changes: values of columns, and amounts added to latents."""

    texts: tuple[str, ...]
    each: tuple[Change, ...]
    moved: tuple[tuple[Latent, str], ...]

    @classmethod
    def of(
        cls, cell: Cell, amounts: Mapping[str, float], instead: Mapping[str, float]
    ) -> "Changes":
        """Read the amounts to add and the values to set, by name.

        Raises
        ------
        FitError
            When a name is neither a demand's column nor an element of the profile, is in both
            mappings, or has no finite number.
        """
        columns = columns_of(cell.layout)
        values = dict(zip(columns, map(float, cell.own_values()), strict=True))
        unknown = [name for name in instead if name not in values or name in amounts]
        if unknown:
            raise FitError(
                f"explain: instead names {some(unknown)}; it takes values of the item's columns "
                f"{some(columns, 20)}, and each column takes either a value or an amount in changes"
            )
        amounts = {**amounts, **{name: _less(instead[name], values[name]) for name in instead}}
        measured = {name: node for node in cell.layout.meta_features for name in node.columns}
        texts, each, moved, new = [], list[dict[str, float]](), [], dict[str, float]()
        for name, amount in amounts.items():
            if isinstance(amount, bool) or not _is_finite(amount):
                raise FitError(f"explain: changes has {name}: {amount!r}; give an amount to add")
            if name in values:
                if math.isnan(values[name]):
                    raise FitError(
                        f"explain: {name} is undefined on item {cell.item!r}, so no amount can be "
                        "added to it; give an item on which it is defined"
                    )
                new[name] = instead[name] if name in instead else values[name] + amount
                each.append(cell.with_values({name: new[name]}))
                unit, then = measured[name].unit, f" ({short(new[name])})"
            else:
                for element in find_elements(cell.layout, name):
                    moved.append((element.latent, element.label))
                own = moved[-1][0]
                hidden = [move(*one) for one in moved if one[0].name == own.name]
                each.append({one: float(amount) for one in hidden})
                unit, then = own.unit, ""
            texts.append(_amount_in_words(name, float(amount), units.name(unit)) + then)
        if len(each) > 1:
            together = {key: value for one in each for key, value in one.items()}
            each.append(together | (cell.with_values(new) if new else {}))
            texts.append("all of these")
        return cls(tuple(texts), tuple(each), tuple(moved))


def _less(value: Any, before: float) -> Any:
    """Subtract from a number; other values are returned, and refused later with their name."""
    return value - before if _is_finite(value) and not math.isnan(before) else value


def _is_finite(amount: object) -> bool:
    return isinstance(amount, int | float | np.integer | np.floating) and math.isfinite(amount)


def _amount_in_words(name: str, amount: float, unit: str) -> str:
    """Describe an added amount in words."""
    of = f"{short(abs(amount))}{' ' * bool(unit)}{unit}"
    return f"{name} {of} {'more' if amount > 0 else 'less'}"
