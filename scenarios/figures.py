"""Published figures beside obtained ones, each with its goal."""

import json
import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import pandas as pd

    from ..inference.prediction.result import CrossValidation

type Relation = Literal[">=", "<=", "==", "<", ">"]

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    "==": operator.eq,
    "<": operator.lt,
    ">": operator.gt,
}


@dataclass(frozen=True)
class Figure:
    """One number that a study is held to.

    Parameters
    ----------
    name : str
        What it is.
    published : float or None
        What the paper gives, where it gives one.
    obtained : float
        What came out, unrounded; NaN or infinite where nothing did.
    relation, bound : {">=", "<=", "==", "<", ">"}, float
        The goal.
    goal : str
        The goal in words.
    """

    name: str
    published: float | None
    obtained: float
    relation: Relation
    bound: float
    goal: str

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


def beaten(scores: "CrossValidation", ours: str) -> list[Figure]:
    """Hold every other method's mean Brier score on held-out items against that of a layout.

    Parameters
    ----------
    scores : CrossValidation
        Of all methods.
    ours : str
        The layout, whose score is to be below each.

    Returns
    -------
    list of Figure
        One per other method.
    """
    table = scores.summary()["mean"]
    goal = f"above {table[ours]:.4f}, that of the {ours}"
    return [
        Figure(
            f"{method}: mean Brier on held-out items",
            None,
            float(value),
            ">",
            float(table[ours]),
            goal,
        )
        for method, value in table.drop(ours).items()
    ]
