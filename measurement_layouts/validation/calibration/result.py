"""Result of simulation-based calibration: ranks, and a verdict on every quantity."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import xarray as xr

from ...common.messages import many, some
from ...layouts import Layout
from ...linking import mean_failure

LOG_LIKELIHOOD = "log-likelihood"
"""The quantity that depends on the outcomes as well as on the profile."""

UNCONVERGED = 0.05
"""Largest share of unconverged or failed simulations at which the ranks of all are judged."""

_TAIL = 0.05  # probability on either side of the interval whose coverage is counted
_TOO_SMALL = 4 / 3  # ArviZ's p values of uniform positions are too small by a quarter to a third


@dataclass(frozen=True, eq=False)
class SimulationBasedCalibration:
    """Result of simulation-based calibration of a layout.

    Made by `sbc`. A calibrated layout has intervals that contain known profiles as often as stated.
    There are three verdicts. If at most 5 % of the simulations did not converge or failed, the
    verdict is by the ranks of all simulations: "calibrated" or "not calibrated". If more did not,
    their draws are not draws of the posterior, and uniform ranks are no evidence: the verdict is
    "inconclusive", or "not calibrated" if the ranks of the converged simulations alone are not
    uniform. (Whether chains converge depends on the outcomes and not on the truth, so that these
    ranks are uniform as well.) A simulation that failed has no rank; if any failed, the verdict is
    never "calibrated".

    Attributes
    ----------
    layout : Layout
        The layout that was simulated and fitted.
    ranks : DataFrame
        One row per simulation and quantity (labels of latents, then ``log-likelihood``, that of all
        outcomes): ``simulation``, ``quantity``, ``truth``, the number of ``draws``, the ``rank``
        (the number of draws below the truth) and the ``position`` (rank + U) / (draws + 1) with U
        uniform in [0, 1), which is uniform if the posterior is right. Simulations that did not
        converge are included; failed ones have no draws and so no ranks.
    status : DataFrame
        By simulation: ``status`` (``ok``, ``not converged`` or ``failed``) and ``reason``.
    alpha : float
        Probability that a calibrated layout is judged not calibrated, over all its quantities.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.validation.calibration.run import sbc
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> items = pd.DataFrame(index=[f"toss {number}" for number in range(10)])
    >>> found = sbc(layout, items, simulations=50, method="grid", progressbar=False)
    >>> found.calibrated, found.inconclusive, found.not_converged, found.failed
    (True, False, 0, 0)
    >>> found.table()["uniform"]
    quantity
    p                 True
    log-likelihood    True
    Name: uniform, dtype: bool
    """

    layout: Layout
    ranks: pd.DataFrame
    status: pd.DataFrame
    alpha: float

    @property
    def quantities(self) -> list[str]:
        """Names of the quantities: profile elements, then the log-likelihood."""
        return list(self.ranks["quantity"].unique())

    @property
    def data(self) -> xr.DataTree:
        """Positions of the true values, in the group that `arviz_plots.plot_ecdf_pit` draws."""
        groups = self.ranks.groupby("quantity", sort=False)["position"]
        positions = {name: (("chain", "draw"), [values]) for name, values in groups}
        return xr.DataTree.from_dict({"prior_sbc": xr.Dataset(positions)})

    @property
    def simulations(self) -> int:
        """Number of simulations, including failed ones."""
        return len(self.status)

    @property
    def not_converged(self) -> int:
        """Number of simulations whose draws did not converge."""
        return int((self.status["status"] == "not converged").sum())

    @property
    def failed(self) -> int:
        """Number of simulations without draws."""
        return int((self.status["status"] == "failed").sum())

    @property
    def calibrated(self) -> bool:
        """Whether all ranks are uniform, at least 95 % converged, and none failed."""
        return not self._wrong and not self.inconclusive

    @property
    def inconclusive(self) -> bool:
        """Whether too many simulations did not converge, or some failed, for a verdict.

        A layout that other ranks show to be not calibrated is not inconclusive.
        """
        return not self._wrong and (self.failed > 0 or self._too_many)

    @property
    def uses_outcomes_twice(self) -> bool:
        """Whether the noise pulls towards the subject's own mean failure.

        That constant is computed from the outcomes that the layout explains, so such a layout is
        not calibrated. The same layout with a noise that pulls towards a number is calibrated.
        """
        return mean_failure in self.layout.constants

    def table(self) -> pd.DataFrame:
        """Judge every quantity.

        Returns
        -------
        DataFrame
            By ``quantity``.

            - ``simulations``: number of ranks.
            - ``p``: probability that the ranks of a calibrated quantity are as far from uniform, by
              the pointwise test on order statistics of ArviZ (``"pot_c"``), which combines
              departures at all ranks. Its p values of uniform positions are too small by up to a
              third, and are multiplied by 4/3.
            - ``uniform``: whether p is above `alpha` divided by the number of quantities
              (Bonferroni). ``uniform_converged``: the same for the simulations that converged; True
              where there are none.
            - ``coverage``: share of central 90 % intervals that contain the truth.

        References
        ----------
        Tesso et al. (2026), LOO-PIT predictive model checking, arXiv:2603.02928.
        """
        return self._table.copy()

    @cached_property
    def _table(self) -> pd.DataFrame:
        level = self.alpha / len(self.quantities)
        converged = self.ranks["simulation"].map(self.status["status"]) == "ok"
        rows = {}
        for quantity, ranked in self.ranks.groupby("quantity", sort=False):
            positions = ranked["position"].to_numpy()
            p = _p_value(positions)
            rows[quantity] = {
                "simulations": len(ranked),
                "p": p,
                "uniform": p > level,
                "uniform_converged": _p_value(positions[converged[ranked.index]]) > level,
                "coverage": ((positions >= _TAIL) & (positions < 1 - _TAIL)).mean(),
            }
        return pd.DataFrame.from_dict(rows, orient="index").rename_axis("quantity")

    @property
    def _too_many(self) -> bool:
        """Whether more simulations did not converge than the ranks of all may contain."""
        return self.not_converged + self.failed > UNCONVERGED * self.simulations

    @property
    def _wrong(self) -> list[str]:
        """Quantities whose ranks are not uniform, in the simulations that are judged."""
        uniform = self._table["uniform_converged" if self._too_many else "uniform"]
        return [str(name) for name in uniform.index[~uniform]]

    def verdict(self) -> str:
        """State in one line whether the layout is calibrated, with the reason if it is not.

        Returns
        -------
        str
            A text that begins with "calibrated", "not calibrated" or "inconclusive".
        """
        simulations, text = many(self.simulations, "simulation"), "calibrated"
        if self._wrong:
            converged = many(self.simulations - self.not_converged - self.failed, "simulation")
            text = f"not calibrated ({some(self._wrong)})"
            text += f", by {converged} that converged" * self._too_many
        elif self.inconclusive:
            lost = {"did not converge": self.not_converged, "failed": self.failed}
            counts = ", ".join(f"{count} {what}" for what, count in lost.items() if count)
            text = f"inconclusive (of {simulations} {counts})"
        if self.uses_outcomes_twice:
            text += "; its noise pulls towards the subject's own mean failure, so that outcomes"
            text += " count twice: not calibrated by design"
        return text

    def __repr__(self) -> str:
        text, *twice = self.verdict().split("; ")
        return (
            f"<SimulationBasedCalibration of {self.layout.name!r}: {text} in "
            f"{many(self.simulations, 'simulation')}, {self.not_converged} not converged, "
            f"{self.failed} failed{'; outcomes count twice' * bool(twice)}>"
        )


def _p_value(positions: np.ndarray) -> float:
    """Compute the probability that uniform positions are as far from uniform; 1 without any."""
    from arviz_stats.base import array_stats  # slow to import

    if not len(positions):
        return 1.0
    return min(1.0, _TOO_SMALL * float(array_stats.uniformity_test(positions)[0]))
