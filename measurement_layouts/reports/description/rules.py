"""Thresholds that decide the findings of a description."""

from dataclasses import dataclass, fields

from ...common import options
from ...common.errors import FitError

_SCALES = ("demands", "range")
_POSITIVE = ("evidence", "tilt", "gain")  # the others lie between 0 and 1
_ORDERED = (
    ("weak", "strong"),
    ("weak_demands", "strong_demands"),
    ("nearly_nothing", "nearly_all"),
)


@dataclass(frozen=True)
class Rules:
    """Thresholds of a description; every statement in it follows from these.

    Parameters
    ----------
    certainty : float, default 0.9
        Posterior probability that a statement needs, above 0.5.
    evidence : float, default 3
        Least factor by which the data raise the prior odds of a strength or weakness, so that none
        is stated that follows from the prior alone.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.
    strong, weak : float, default 0.8 and 0.7
        Shares of a capability's range, for the scale "range": it is a strength from `strong` on
        and a weakness up to `weak`, which may not exceed `strong`.
    vague : float, default 0.5
        Share of the scale: a capability whose interval is wider is unknown, unless it is a strength
        or a weakness; one beyond all levels of demand is a strength or a weakness only if its
        interval is narrower than this share of the span of the levels.
    tilt : float, default 0.5
        Number of prior standard deviations: a bias at least so far from its prior mean is stated.
    noisy : float, default 0.15
        Weight of noise above which a subject is noisy.
    nearly_all, nearly_nothing : float, default 0.97 and 0.15
        Success rates from which, and up to which, a subject solves nearly all or nearly nothing.
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
    >>> Rules(certainty=0.95).certainty
    0.95
    """

    certainty: float = 0.9
    evidence: float = 3.0
    prob: float = 0.9
    strong: float = 0.8
    weak: float = 0.7
    vague: float = 0.5
    tilt: float = 0.5
    noisy: float = 0.15
    nearly_all: float = 0.97
    nearly_nothing: float = 0.15
    spread: float = 0.05
    gain: float = 4.0
    scale: str = "demands"
    strong_demands: float = 0.75
    weak_demands: float = 0.25

    def __post_init__(self) -> None:
        if self.scale not in _SCALES:
            raise FitError(f"scale={self.scale!r}; give one of {', '.join(map(repr, _SCALES))}")
        for field in fields(self):
            if field.name != "scale":
                check = options.positive if field.name in _POSITIVE else options.inside
                value = check(
                    field.name, getattr(self, field.name), getattr(type(self), field.name)
                )
                object.__setattr__(self, field.name, value)
        if self.certainty <= 0.5:
            raise FitError(
                f"certainty={self.certainty}; give a probability above 0.5, or a statement and its "
                "opposite could both be made"
            )
        for low, high in _ORDERED:
            if getattr(self, low) > getattr(self, high):
                raise FitError(
                    f"{low}={getattr(self, low)} above {high}={getattr(self, high)}; give {low} at "
                    f"most as large as {high}"
                )
