"""Published figures beside obtained ones, each with its goal."""

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

type Relation = Literal[">=", "<=", "==", "<", ">"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}
_WORDS = {">=": "at least", "<=": "at most", "==": "exactly", "<": "below", ">": "above"}


@dataclass(frozen=True)
class Figure:
    """One number that a study is held to.

    Parameters
    ----------
    name : str
        What it is.
    obtained : float
        What came out, unrounded; NaN or infinite where nothing did.
    relation, bound : {">=", "<=", "==", "<", ">"}, float
        The goal.
    goal : str, optional
        The goal in words; by default the relation and the bound, such as "at most 0.05".
    published : float, optional
        What the paper gives, where it gives one.

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
            object.__setattr__(self, "goal", f"{_WORDS[self.relation]} {self.bound:g}")

    @property
    def holds(self) -> bool:
        """Whether the obtained number meets the goal; NaN and infinity never do."""
        meets = _HOLDS[self.relation](self.obtained, self.bound)
        return math.isfinite(self.obtained) and bool(meets)

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
    """Published figures beside obtained ones, and the tables behind them.

    Attributes
    ----------
    figures : list of Figure
        What the study is held to.
    tables : dict of str to DataFrame
        Published and obtained numbers side by side, for reading.
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
