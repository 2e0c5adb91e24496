"""What simulation-based calibration found: ranks, and a verdict on every quantity."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...layouts import Layout
from ...linking import mean_failure
from ..wording import many, some
from .bands import PLACES, chance, counted, limits, surprise
from .ranks import LOG_LIKELIHOOD

_TAIL = 0.05  # on either side of the interval whose coverage is counted


@dataclass(frozen=True, eq=False)
class SimulationBasedCalibration:
    """Whether a layout's posteriors hold known profiles as often as they say.

    Made by `sbc`.

    Attributes
    ----------
    layout : Layout
        What was simulated and fitted.
    ranks : DataFrame
        One row per simulation and quantity; see `ranks.ranks`. Quarantined simulations are among
        them, failed ones have no draws to be ranked among.
    status : DataFrame
        By simulation: ``status`` (``ok``, ``quarantined`` or ``failed``) and ``reason``.
    alpha : float
        Chance that a calibrated layout is found wanting, over all its quantities.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.inference.sbc.run import sbc
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame(index=[f"toss {number}" for number in range(10)])
    >>> found = sbc(layout, items, simulations=50, method="grid", progressbar=False)
    >>> found.calibrated, found.quarantined, found.failed
    (True, 0, 0)
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
    def quarantined(self) -> int:
        """How many simulations did not converge; their ranks count."""
        return int((self.status["status"] == "quarantined").sum())

    @property
    def failed(self) -> int:
        """How many simulations have no draws."""
        return int((self.status["status"] == "failed").sum())

    @property
    def calibrated(self) -> bool:
        """Whether every quantity's ranks are uniform within the bands, and no simulation failed."""
        return not self.failed and bool(self.table()["inside"].all())

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
              (Bonferroni).
            - ``coverage``: share of central 90 % intervals that hold the truth; ``z``: mean of
              (truth - posterior mean) / posterior sd; ``contraction``: one minus mean posterior
              over prior variance (NaN for the log-likelihood).
        """
        return self._table.copy()

    @cached_property
    def _table(self) -> pd.DataFrame:
        level = self.alpha / len(self.quantities)
        rows = {}
        for quantity, own in self.ranks.groupby("quantity", sort=False):
            total, positions = len(own), own["position"].to_numpy()
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
                "inside": bool(((low <= counts) & (counts <= high)).all()),
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

    def verdict(self) -> str:
        """Say in one line whether it is calibrated, and what is known of it if not."""
        outside = [str(name) for name in self._table.index[~self._table["inside"]]]
        said = f"not calibrated ({some(outside)})" if outside else "calibrated"
        if self.failed and not outside:
            said = "not calibrated (simulations failed)"
        if self.uses_outcomes_twice:
            said += "; its noise pulls towards the subject's own mean failure, so that outcomes"
            said += " count twice: not calibrated by design"
        return said

    def __repr__(self) -> str:
        said = self.verdict().split("; ")
        return (
            f"<SimulationBasedCalibration of {self.layout.name!r}: {said[0]} in "
            f"{many(self.simulations, 'simulation')}, {self.quarantined} quarantined, "
            f"{self.failed} failed{'; outcomes count twice' if len(said) > 1 else ''}>"
        )
