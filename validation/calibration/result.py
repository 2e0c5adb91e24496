"""What simulation-based calibration found: ranks, and a verdict on every quantity."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...common.messages import many, some
from ...layouts import Layout
from ...linking import mean_failure
from .bands import PLACES, chance, counted, limits, surprise
from .ranks import LOG_LIKELIHOOD

UNCONVERGED = 0.05
"""Largest share of simulations without converged draws where the ranks of all decide."""

_TAIL = 0.05  # on either side of the interval whose coverage is counted


@dataclass(frozen=True, eq=False)
class SimulationBasedCalibration:
    """Whether a layout's posteriors hold known profiles as often as they say.

    Made by `sbc`. There are three verdicts. Where at most 5 % of the simulations did not converge
    or failed, the ranks of all decide: "calibrated" or "not calibrated". Where more did not, draws
    are not the posterior's, and uniform ranks prove nothing: "inconclusive", unless the ranks of
    the simulations that converged leave their bands, by themselves: then "not calibrated". (Whether
    chains converge depends on the outcomes and not on the truth, so that the ranks of those which
    do are uniform, too.) A simulation that failed has no rank: with any, the verdict is never
    "calibrated".

    Attributes
    ----------
    layout : Layout
        What was simulated and fitted.
    ranks : DataFrame
        One row per simulation and quantity; see `ranks.ranks`. Simulations that did not
        converge are among them, failed ones have no draws to be ranked among.
    status : DataFrame
        By simulation: ``status`` (``ok``, ``not converged`` or ``failed``) and ``reason``.
    alpha : float
        Chance that a calibrated layout is found wanting, over all its quantities.

    Notes
    -----
    Why 5 % (`UNCONVERGED`): so many ranks, wherever they lie, move their distribution function by
    0.05 at most, which is less than half the width of the bands of 1,000 simulations (0.06 for
    three quantities), and coverage by five points.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.validation.calibration.run import sbc
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame(index=[f"toss {number}" for number in range(10)])
    >>> found = sbc(layout, items, simulations=50, method="grid", progressbar=False)
    >>> found.calibrated, found.inconclusive, found.not_converged, found.failed
    (True, False, 0, 0)
    >>> found.table()["inside"]
    quantity
    p                 True
    log-likelihood    True
    Name: inside, dtype: bool
    """

    layout: Layout
    ranks: pd.DataFrame
    status: pd.DataFrame
    alpha: float

    @cached_property
    def quantities(self) -> list[str]:
        """Profile elements, then the log-likelihood."""
        return list(self.ranks["quantity"].unique())

    @property
    def simulations(self) -> int:
        """How many there were, failed ones too."""
        return len(self.status)

    @property
    def not_converged(self) -> int:
        """How many simulations have draws that did not converge."""
        return int((self.status["status"] == "not converged").sum())

    @property
    def failed(self) -> int:
        """How many simulations have no draws."""
        return int((self.status["status"] == "failed").sum())

    @property
    def unconverged(self) -> float:
        """Share of the simulations that did not converge or failed."""
        return (self.not_converged + self.failed) / self.simulations

    @property
    def calibrated(self) -> bool:
        """Whether all ranks are inside the bands, nearly all simulations converged, none failed."""
        return not self._outside and not self.inconclusive

    @property
    def inconclusive(self) -> bool:
        """Whether too many simulations did not converge, or some failed, to call it calibrated.

        And nothing else shows that it is not.
        """
        return not self._outside and (self.failed > 0 or self._too_many)

    @property
    def uses_outcomes_twice(self) -> bool:
        """Whether the noise pulls towards the subject's own mean failure.

        That constant is computed from the outcomes which are then explained, so such a layout is
        not calibrated; pulling towards a number it is.
        """
        return mean_failure in self.layout.constants

    def table(self) -> pd.DataFrame:
        """Judge every quantity.

        Returns
        -------
        DataFrame
            By ``quantity``.

            - ``simulations``: how many ranks.
            - ``deviation``: distribution function of the ranks minus the uniform one, at the place
              where it is least likely by chance; ``low`` and ``high`` are the band's ends there.
            - ``p``: chance that ranks of a calibrated quantity are as surprising at any place.
            - ``inside``: whether the ranks stay in the band everywhere. The bands of all
              quantities together are left by a calibrated layout with a chance of at most `alpha`
              (Bonferroni). ``inside_converged``: the same of the simulations that converged, and
              bands as wide as their number wants; True where there are none.
            - ``coverage``: share of central 90 % intervals that hold the truth; ``z``: mean of
              (truth - posterior mean) / posterior sd; ``contraction``: one minus mean posterior
              over prior variance (NaN for the log-likelihood).
        """
        return self._table.copy()

    @cached_property
    def _table(self) -> pd.DataFrame:
        level = self.alpha / len(self.quantities)
        rows = {}
        converged = self.ranks["simulation"].map(self.status["status"]) == "ok"
        for quantity, own in self.ranks.groupby("quantity", sort=False):
            total, positions = len(own), own["position"].to_numpy()
            trusted = positions[converged[own.index].to_numpy()]
            counts = counted(positions)
            surprises = surprise(counts, total)
            low, high = limits(level, total)
            place = surprises.argmin()
            at = PLACES[place]
            sd = own["sd"].to_numpy()
            moved = (own["truth"] - own["mean"]).to_numpy()
            prior = own["truth"].var()
            rows[quantity] = {
                "simulations": total,
                "deviation": counts[place] / total - at,
                "low": low[place] / total - at,
                "high": high[place] / total - at,
                "p": chance(float(surprises[place]), total),
                "inside": _inside(positions, level),
                "inside_converged": _inside(trusted, level),
                "coverage": ((positions >= _TAIL) & (positions < 1 - _TAIL)).mean(),
                "z": np.divide(moved, sd, out=np.zeros_like(sd), where=sd > 0).mean(),
                "contraction": np.nan if quantity == LOG_LIKELIHOOD else 1 - (sd**2).mean() / prior,
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")

    def differences(self) -> pd.DataFrame:
        """Compute what `plots.rank_ecdf` draws.

        Returns
        -------
        DataFrame
            One row per quantity and place: ``quantity``, ``place`` (a rank's, as part of all
            ranks), ``difference`` of the ranks' distribution function and the uniform one, and
            the band's ends ``low`` and ``high``.
        """
        level = self.alpha / len(self.quantities)
        parts = []
        for quantity, own in self.ranks.groupby("quantity", sort=False):
            total = len(own)
            low, high = limits(level, total)
            columns = {"difference": counted(own["position"].to_numpy()), "low": low, "high": high}
            parts.append(
                pd.DataFrame(
                    {"quantity": quantity, "place": PLACES}
                    | {name: counts / total - PLACES for name, counts in columns.items()}
                )
            )
        return pd.concat(parts, ignore_index=True)

    @property
    def _too_many(self) -> bool:
        """Whether more simulations did not converge than may be judged with the others."""
        return self.unconverged > UNCONVERGED

    @cached_property
    def _outside(self) -> list[str]:
        """Quantities whose ranks, of the simulations that decide, leave the bands."""
        inside = self._table["inside_converged" if self._too_many else "inside"]
        return [str(name) for name in inside.index[~inside]]

    def verdict(self) -> str:
        """Say in one line whether it is calibrated, and what is known of it if not.

        Returns
        -------
        str
            Begins with "calibrated", "not calibrated" or "inconclusive".
        """
        said = "calibrated"
        if self._outside:
            said = f"not calibrated ({some(self._outside)})"
            if self._too_many:
                counted = self.simulations - self.not_converged - self.failed
                said += f", by {many(counted, 'simulation')} that converged"
        elif self.inconclusive:
            lost = [f"{self.not_converged} did not converge"] if self.not_converged else []
            lost += [f"{self.failed} failed"] if self.failed else []
            said = f"inconclusive (of {many(self.simulations, 'simulation')} {', '.join(lost)})"
        if self.uses_outcomes_twice:
            said += "; its noise pulls towards the subject's own mean failure, so that outcomes"
            said += " count twice: not calibrated by design"
        return said

    def __repr__(self) -> str:
        said = self.verdict().split("; ")
        return (
            f"<SimulationBasedCalibration of {self.layout.name!r}: {said[0]} in "
            f"{many(self.simulations, 'simulation')}, {self.not_converged} not converged, "
            f"{self.failed} failed{'; outcomes count twice' if len(said) > 1 else ''}>"
        )


def _inside(positions: np.ndarray, level: float) -> bool:
    """Whether ranks stay in their band everywhere; those of no simulation do."""
    if not len(positions):
        return True
    counts = counted(positions)
    low, high = limits(level, len(positions))
    return bool(((low <= counts) & (counts <= high)).all())
