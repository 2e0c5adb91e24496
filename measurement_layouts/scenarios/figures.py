"""Comparison of published and obtained figures, each with its goal."""

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

type Relation = Literal[">=", "<=", "==", "<", ">"]

_RELATIONS: dict[str, tuple[Callable[[float, float], bool], str]] = {
    ">=": (operator.ge, "at least"),
    "<=": (operator.le, "at most"),
    "==": (operator.eq, "exactly"),
    "<": (operator.lt, "below"),
    ">": (operator.gt, "above"),
}


@dataclass(frozen=True)
class Figure:
    """One number of a study, with its goal.

    Parameters
    ----------
    name : str
        Description of the number.
    obtained : float
        Obtained number, unrounded; NaN or infinite if there is none.
    relation, bound : {">=", "<=", "==", "<", ">"}, float
        Goal: the relation of the obtained number to the bound.
    goal : str, optional
        Description of the goal (default: relation and bound, such as "at most 0.05").
    published : float, optional
        Published number, if there is one.

    Examples
    --------
    >>> figure = Figure("share of false alarms", 0.02, "<=", 0.05)
    >>> figure.goal, figure.holds
    ('at most 0.05', True)
    """

    name: str
    obtained: float
    relation: Relation
    bound: float
    goal: str = ""
    published: float | None = None

    def __post_init__(self) -> None:
        if not self.goal:
            object.__setattr__(self, "goal", f"{_RELATIONS[self.relation][1]} {self.bound:g}")

    @property
    def holds(self) -> bool:
        """Whether the obtained number meets the goal; NaN and infinity never do."""
        meets, _ = _RELATIONS[self.relation]
        return math.isfinite(self.obtained) and bool(meets(self.obtained, self.bound))

    def to_dict(self) -> dict[str, Any]:
        """Write the figure for a JSON report, which has neither NaN nor infinity."""
        return {
            "name": self.name,
            "published": _finite(self.published),
            "obtained": _finite(self.obtained),
            "goal": self.goal,
            "holds": self.holds,
        }


@dataclass(frozen=True, eq=False)
class Reproduction:
    """Figures of a study with their goals, and the tables behind them.

    Attributes
    ----------
    figures : list of Figure
        Numbers with their goals.
    tables : dict of str to DataFrame
        Tables of published and obtained numbers.
    """

    figures: list[Figure]
    tables: "Mapping[str, pd.DataFrame]" = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Write both for a JSON report; a missing number becomes None."""
        return {
            "figures": [figure.to_dict() for figure in self.figures],
            "tables": {
                name: json.loads(table.reset_index().to_json(orient="records", double_precision=6))
                for name, table in self.tables.items()
            },
        }


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
