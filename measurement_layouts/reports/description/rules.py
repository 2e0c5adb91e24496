"""Thresholds that decide the findings of a description, each with its unit and meaning."""

from dataclasses import dataclass, field, fields
from typing import Any

import pandas as pd

from ...common import options
from ...common.errors import FitError

SCALES = ("demands", "range")
_UNBOUNDED = ("evidence", "tilt", "gain")  # positive; the others lie between 0 and 1


def _rule(value: float | str, unit: str, meaning: str) -> Any:
    return field(default=value, metadata={"default": value, "unit": unit, "meaning": meaning})


@dataclass(frozen=True, repr=False)
class Rules:
    """Thresholds of a description; every statement in it follows from these.

    Parameters
    ----------
    certainty : float, default 0.9
        Posterior probability that a statement needs, above 0.5.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.
    evidence : float, default 3
        Least factor by which the data raise the prior odds of a strength or weakness, so that none
        is stated that follows from the prior alone.
    strong, weak : float, default 0.8 and 0.7
        Shares of a capability's range, for the scale "range": it is a strength from `strong` on
        and a weakness up to `weak`, which may not exceed `strong`.
    vague : float, default 0.5
        Share of the scale: a capability whose interval is wider is unknown, unless it is a strength
        or a weakness.
    tilt : float, default 0.5
        Number of prior standard deviations: a bias at least so far from its prior mean is stated.
    noisy : float, default 0.15
        Weight of noise above which a subject is noisy.
    nearly_all, nearly_nothing : float, default 0.97 and 0.15
        Success rates from which, and up to which, a subject passes nearly all or nearly nothing.
    spread : float, default 0.05
        Standard deviation of the forecast over the training items: below it, success hardly depends
        on the items.
    gain : float, default 4
        Least gain in elpd, in nats, of a property that is stated as missing.
    scale : {"demands", "range"}
        Scale by which capabilities are judged: "demands" is the number of levels of demand in the
        subject's items that the capability surpasses, "range" its position in the declared range. A
        capability that is a chance, from 0 to 1, is always judged by its range.
    strong_demands, weak_demands : float, default 0.75 and 0.25
        Shares of the levels of demand, for the scale "demands": a capability that surpasses at
        least the share `strong_demands` is a strength, one that surpasses at most the share
        `weak_demands` a weakness.

    Raises
    ------
    FitError
        When a threshold is out of range, or a lower threshold exceeds its upper one.

    Examples
    --------
    >>> Rules(certainty=0.95).to_frame().loc[["certainty", "scale"], ["value", "unit"]]
                 value             unit
    rule
    certainty     0.95      probability
    scale      demands  demands or range
    """

    certainty: float = _rule(0.9, "probability", "posterior probability that a statement needs")
    evidence: float = _rule(
        3.0, "odds ratio", "least factor by which data raise the odds of a strength or weakness"
    )
    prob: float = _rule(0.9, "probability", "mass of the equal-tailed intervals")
    strong: float = _rule(0.8, "share of the range", "a capability at or above it is a strength")
    weak: float = _rule(0.7, "share of the range", "a capability at or below it is a weakness")
    vague: float = _rule(0.5, "share of the scale", "a capability with a wider interval is unknown")
    tilt: float = _rule(
        0.5, "prior standard deviations", "a bias at least so far from its prior mean is stated"
    )
    noisy: float = _rule(0.15, "weight", "a subject with more noise is noisy")
    nearly_all: float = _rule(0.97, "success rate", "at or above it, nearly all items are passed")
    nearly_nothing: float = _rule(
        0.15, "success rate", "at or below it, nearly no items are passed"
    )
    spread: float = _rule(
        0.05, "success probability", "if the forecast varies less over items, they hardly matter"
    )
    gain: float = _rule(
        4.0, "nats of elpd", "a property with at least this gain seems to be missing"
    )
    scale: str = _rule("demands", "demands or range", "scale by which capabilities are judged")
    strong_demands: float = _rule(
        0.75, "share of the levels", "a capability that surpasses at least so many is a strength"
    )
    weak_demands: float = _rule(
        0.25, "share of the levels", "a capability that surpasses at most so many is a weakness"
    )

    def __post_init__(self) -> None:
        if self.scale not in SCALES:
            raise FitError(f"scale={self.scale!r}; give one of {', '.join(map(repr, SCALES))}")
        for each in fields(self):
            if each.name == "scale":
                continue
            value = getattr(self, each.name)
            check = options.inside if each.name not in _UNBOUNDED else options.positive
            object.__setattr__(self, each.name, check(each.name, value, each.metadata["default"]))
        if self.certainty <= 0.5:
            raise FitError(
                f"certainty={self.certainty}; give a probability above 0.5, or a statement and its "
                "opposite could both be made"
            )
        pairs = (("weak", "strong"), ("weak_demands", "strong_demands"))
        for low, high in (*pairs, ("nearly_nothing", "nearly_all")):
            if getattr(self, low) > getattr(self, high):
                raise FitError(
                    f"{low}={getattr(self, low)} above {high}={getattr(self, high)}; give {low} at "
                    f"most as large as {high}"
                )

    def to_frame(self) -> pd.DataFrame:
        """List the rules.

        Returns
        -------
        DataFrame
            Indexed by rule: ``value``, ``unit`` and ``meaning``.
        """
        rows = {
            each.name: {
                "value": getattr(self, each.name),
                "unit": each.metadata["unit"],
                "meaning": each.metadata["meaning"],
            }
            for each in fields(self)
        }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("rule")

    def __repr__(self) -> str:
        lines = [
            f"  {rule:<15}{_value(row['value']):<8}{row['unit']}: {row['meaning']}"
            for rule, row in self.to_frame().iterrows()
        ]
        return "\n".join(["Rules of a description", *lines])


def _value(value: object) -> str:
    return value if isinstance(value, str) else f"{value:g}"
