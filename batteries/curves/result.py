"""Characteristic curves of subjects, and what they say of their abilities."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import many, some
from .shape import success

_POINTS = 201


@dataclass(frozen=True, eq=False)
class Curves:
    """Characteristic curves of subjects, one per dimension.

    Made by `characteristic_curves`.

    Attributes
    ----------
    bins : DataFrame
        One row per subject, dimension and level: ``items`` in the dominant slice that the subject
        attempted, ``trials``, ``successes``, their ``rate`` (NaN without items) with the ends
        ``rate_low`` and ``rate_high`` of Wilson's interval, and the bin's ``weight`` in least
        squares, 1 from 100 items on.
    table : DataFrame
        One row per subject and dimension: ``ability`` (area under the curve, in levels), ``slope``
        (per level; infinite for a step), ``low`` and ``high`` (the ability's interval), ``items``
        and ``reason``: why there is no curve, and which levels have no or less than 100 items.
    draws : Dataset
        ``ability`` and ``slope``, (subject, dimension, draw): of the bootstrap, or the posterior.
    method : str
        ``"least_squares"`` or ``"bayes"``.
    prob : float
        Mass of the intervals.
    """

    bins: pd.DataFrame
    table: pd.DataFrame
    draws: xr.Dataset
    method: str
    prob: float

    @property
    def subjects(self) -> list[str]:
        """Whose curves there are."""
        return [str(name) for name in self.draws["subject"].to_numpy()]

    @property
    def dimensions(self) -> list[str]:
        """Over which demands."""
        return [str(name) for name in self.draws["dimension"].to_numpy()]

    @property
    def abilities(self) -> pd.DataFrame:
        """Ability profiles: a row per subject, a column per dimension, in levels."""
        wide = self.table.pivot_table("ability", "subject", "dimension", dropna=False)
        return wide.loc[self.subjects, self.dimensions]

    def row(self, subject: object, dimension: str) -> pd.Series:
        """Find one curve's row of `table`.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        who, which = self.place(subject, dimension)
        return self.table.iloc[who * len(self.dimensions) + which]

    def bins_of(self, subject: object, dimension: str) -> pd.DataFrame:
        """Find one curve's rows of `bins`.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        who, which = self.place(subject, dimension)
        size = len(self.bins) // len(self.table)
        first = (who * len(self.dimensions) + which) * size
        return self.bins.iloc[first : first + size]

    def curve(
        self, subject: object, dimension: str, levels: np.ndarray | None = None
    ) -> pd.DataFrame:
        """Compute one curve, with a band.

        Parameters
        ----------
        subject : object
            Whose.
        dimension : str
            Over which demand.
        levels : ndarray, optional
            Where; by default 201 places from 0 to one level above the highest.

        Returns
        -------
        DataFrame
            ``level``, ``success`` (the fitted curve, or the posterior mean), and ``low`` and
            ``high``, of mass `prob` at each level. NaN where there is no curve, or no
            interval of its ability.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        row = self.row(subject, dimension)
        if levels is None:
            levels = np.linspace(0, self.bins["level"].max() + 1, _POINTS)
        drawn = self.draws.sel(subject=row["subject"], dimension=dimension)
        ability, slope = (drawn[name].to_numpy()[:, None] for name in ("ability", "slope"))
        tail = (1 - self.prob) / 2
        band = np.full((2, len(levels)), np.nan)
        known = np.isfinite(ability[:, 0])
        every = success(ability[known], slope[known], levels)
        if known.any() and np.isfinite(row["low"]):
            band = np.quantile(every, [tail, 1 - tail], axis=0)
        if self.method == "bayes" and known.any():
            middle = every.mean(axis=0)
        else:
            middle = success(row["ability"], row["slope"], levels)
        return pd.DataFrame({"level": levels, "success": middle, "low": band[0], "high": band[1]})

    def place(self, subject: object, dimension: str) -> tuple[int, int]:
        """Find which subject and dimension are meant.

        Raises
        ------
        FitError
            When one is unknown.
        """
        found = []
        wanted = (str(subject), self.subjects, "subject"), (dimension, self.dimensions, "dimension")
        for name, known, kind in wanted:
            if name not in known:
                raise FitError(f"no curves of the {kind} {name}; there are {some(known, 20)}")
            found.append(known.index(name))
        return found[0], found[1]

    def __repr__(self) -> str:
        missing = int(self.table["ability"].isna().sum())
        return (
            f"<Curves by {self.method!r}: {many(len(self.subjects), 'subject')}, "
            f"{many(len(self.dimensions), 'dimension')}, {missing} without a curve, "
            f"{self.prob:.0%} intervals>"
        )
