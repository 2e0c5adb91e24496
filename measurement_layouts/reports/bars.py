"""Profile elements as bars: the posterior's and the prior's interval on the element's range."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.digits import fixed, in_brackets, short, significant
from ..inference.posterior.posterior import prior_draws, span
from ..layouts.elements import Element
from ..layouts.latents import Latent
from ..linking import units
from .contents import PROB, Contents
from .geometry import Scale

_INSET = 6  # pixels, so that a point at the end of the range is drawn completely


@dataclass(frozen=True, eq=False)
class Axis:
    """Axis of a profile element, the same for all subjects.

    Attributes
    ----------
    element : Element
        The element.
    low, high : float
        Range of the element; without a declared range, the prior's central 99 %, widened to contain
        the intervals of all subjects.
    prior : (float, float)
        Central interval of the prior.
    """

    element: Element
    low: float
    high: float
    prior: tuple[float, float]

    @property
    def name(self) -> str:
        """Name of the element, ``node`` or ``node[label]``."""
        return self.element.name

    @property
    def kind(self) -> str:
        """Kind of the node."""
        return self.element.latent.kind

    @property
    def unit(self) -> str:
        """Unit of the node, abbreviated."""
        return units.name(self.element.latent.unit)

    @property
    def ends(self) -> tuple[str, str]:
        """Ends of the range, as texts."""
        return short(self.low), short(self.high)

    def scale(self, start: float, stop: float) -> Scale:
        """Map the range to the places between two ends."""
        return Scale(self.low, self.high, start, stop)

    @property
    def centre(self) -> float | None:
        """Value at which a bias or an effect changes nothing; None for other elements."""
        return 0.0 if self.kind in ("bias", "effect") and self.low < 0 < self.high else None


@dataclass(frozen=True, eq=False)
class Bar:
    """One subject's value of one element.

    Attributes
    ----------
    axis : Axis
        Axis of the element.
    row : mapping of str to object
        Row of the table of profiles.
    """

    axis: Axis
    row: dict[str, float]

    @property
    def vague(self) -> bool:
        """Whether the element is prior-dominated."""
        return bool(self.row["prior_dominated"])

    @property
    def split(self) -> bool:
        """Whether the posterior has separate modes."""
        return bool(self.row["modes"])

    @property
    def marks(self) -> str:
        """Marks of the mean: a star if prior-dominated, a double dagger at separate modes."""
        return "*" * self.vague + "‡" * self.split

    @property
    def mean(self) -> str:
        """Mean, as text."""
        return significant(self.row["mean"], self.row["high"] - self.row["low"])

    @property
    def interval(self) -> str:
        """Interval, as text."""
        return in_brackets(self.row["low"], self.row["high"])

    @property
    def learnt(self) -> str:
        """Share of the prior's variance that the outcomes removed."""
        return f"{max(0.0, self.row['shrinkage']):.0%}"

    @property
    def rhat(self) -> str:
        """R-hat, as text."""
        return fixed(self.row["rhat"], 3)

    @property
    def ess(self) -> str:
        """Smaller effective sample size of bulk and tail, as text."""
        return fixed(min(self.row["ess_bulk"], self.row["ess_tail"]), 0)

    @property
    def told(self) -> str:
        """Description of the drawing, for readers who cannot see it."""
        low, high = self.axis.ends
        doubt = ", prior-dominated" if self.vague else ""
        doubt += ", separate modes" * self.split
        unit = f" {self.axis.unit}" if self.axis.unit else ""
        return f"{self.axis.name} {self.mean}{unit} {self.interval}, from {low} to {high}{doubt}"

    def drawn(self, width: float) -> dict[str, str]:
        """Places of the interval, the mean and the prior."""
        across = self.axis.scale(_INSET, width - _INSET)
        parts = {name: across(self.row[name]) for name in ("low", "high", "mean")}
        parts["prior_low"], parts["prior_high"] = (across(end) for end in self.axis.prior)
        return parts


def axes(contents: Contents) -> list[Axis]:
    """Find the range of each element."""
    ends = {latent.name: _ends(contents, latent) for latent in contents.fit.layout.profile}
    tail = (1 - PROB) / 2
    found = []
    for element in contents.elements:
        low, high = np.quantile(prior_draws(contents.fit, element), [tail, 1 - tail])
        found.append(Axis(element, *ends[element.latent.name], (float(low), float(high))))
    return found


def _ends(contents: Contents, latent: Latent) -> tuple[float, float]:
    """Find the range of all labels of a node; ends that are not declared are rounded outwards."""
    table = contents.profiles
    own = table[table["node"] == latent.name]
    shown = [span(contents.fit, one) for one in contents.elements if one.latent is latent]
    low = min(*(low for low, _ in shown), float(own["low"].min()))
    high = max(*(high for _, high in shown), float(own["high"].max()))
    step = 10.0 ** math.floor(math.log10((high - low) / 5))
    known = latent.range
    return (
        low if math.isfinite(known.low) else step * math.floor(low / step),
        high if math.isfinite(known.high) else step * math.ceil(high / step),
    )


def bars(table: pd.DataFrame, ranges: list[Axis]) -> dict[str, list[Bar]]:
    """List each subject's bars, in the order of the elements."""
    found = dict[str, list[Bar]]()
    for place, row in enumerate(table.to_dict("records")):
        numbers = {str(name): value for name, value in row.items()}
        found.setdefault(str(row["subject"]), []).append(Bar(ranges[place % len(ranges)], numbers))
    return found
