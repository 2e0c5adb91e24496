"""The plane of bands: one point per band, at its ends or at its centre and width."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from . import style

_ROOM = 0.05  # share of the range that is left free around the largest points
_BEYOND = 0.5  # share of the range by which the plane grows to include estimates outside it
_AREAS = (12.0, 330.0)  # least and greatest area of the largest point, in square points
_CROWD = 40.0  # area below which a border would hide a point's colour


@dataclass(frozen=True)
class BandPlane:
    """Position of bands, and the part of the plane that is shown.

    Attributes
    ----------
    first, last : float
        Range of the propensity that is shown.
    narrowest, widest : float
        Range of the widths that is shown.
    area : float
        Area of the largest point, in square points, so that neighbours do not overlap.
    rotated : bool
        Whether the axes are centre and width instead of lower and upper end.
    """

    first: float
    last: float
    narrowest: float
    widest: float
    area: float
    rotated: bool

    @classmethod
    def around(
        cls, bands: pd.DataFrame, estimates: Sequence[float], rotated: bool, wide: float
    ) -> "BandPlane":
        """Make a plane with all bands and the estimates near them, given its width in points."""
        ends = bands.to_numpy()
        first, last = float(ends.min()), float(ends.max())
        span = (last - first) or 1.0
        widest = float((bands["high"] - bands["low"]).max()) or span
        seen = [min(max(at, first - _BEYOND * span), last + _BEYOND * span) for at in estimates]
        steps = np.diff(np.unique(ends))
        shown = max([last, *seen]) - min([first, *seen]) or 1.0
        apart = 0.9 * wide * float(steps.min() if len(steps) else span) / shown
        area = float(np.clip(apart**2, *_AREAS))
        room = (_ROOM + area**0.5 / 2 / wide) * shown
        first, last = min([first, *seen]) - room, max([last, *seen]) + room
        return cls(first, last, -room, widest + room, area, rotated)

    def places(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return horizontal and vertical positions of bands."""
        return ((low + high) / 2, high - low) if self.rotated else (low, high)

    @property
    def edge(self) -> float:
        """Width of the line around points."""
        return 0.4 if self.area > _CROWD else 0.0

    def frame(self, ax: Axes) -> None:
        """Set the limits, and mark where bands have no width."""
        ax.set_xlim(self.first, self.last)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(MaxNLocator(9, steps=[1, 2, 5, 10]))
        if self.rotated:
            ax.set_ylim(self.narrowest, self.widest)
            ax.axhline(0, color=style.FAINT, linewidth=0.9, zorder=0)
        else:
            ax.set_ylim(self.first, self.last)
            ax.set_box_aspect(1)
            ax.plot(
                [self.first, self.last],
                [self.first, self.last],
                color=style.FAINT,
                linewidth=0.9,
                zorder=0,
            )

    def border(self, ax: Axes, at: float) -> None:
        """Draw the border of the bands that contain a value: they begin below and end above it."""
        far = self.last - self.first + 2 * self.widest
        low = np.array([at, at, at - far])
        high = np.array([at + far, at, at])
        ax.plot(
            *self.places(low, high),
            color=style.INK,
            linewidth=1.6,
            solid_joinstyle="miter",
            zorder=4,
            label="estimate",
        )

    def shade(self, ax: Axes, first: float, last: float, name: str) -> None:
        """Shade the borders of all values between two."""
        far = self.last - self.first + 2 * self.widest
        for low, high in (
            ((first, last, last, first), (first, last, last + far, first + far)),
            ((first, last, last - far, first - far), (first, last, last, first)),
        ):
            corners = self.places(np.array(low, dtype=float), np.array(high, dtype=float))
            ax.fill(*corners, color=style.INK, alpha=0.16, linewidth=0, zorder=1, label=name)
