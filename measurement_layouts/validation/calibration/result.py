"""Results of simulation-based calibration: ranks, a verdict on every quantity, a report."""

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
from scipy.stats import binom, poisson

from ...common.markdown import escaped, table
from ...common.messages import many, some
from ...layouts import Layout
from ...linking import mean_failure

LOG_LIKELIHOOD = "log-likelihood"
"""The quantity that depends on the outcomes as well as on the profile."""

PLACES = np.arange(1, 100) / 100
"""Points at which distribution functions are compared: the steps of the ranks of 99 draws."""

_BISECTIONS = 60
_LEAST = 1e-15


@functools.lru_cache(maxsize=8)
def _tails(total: int) -> np.ndarray:
    """Compute two-sided tail probabilities of each count below each point: (points, 0 to total)."""
    counts = np.arange(total + 1)
    below = binom.cdf(counts, total, PLACES[:, None])
    above = binom.sf(counts - 1, total, PLACES[:, None])
    found = np.asarray(np.minimum(1.0, 2 * np.minimum(below, above)))
    found.setflags(write=False)
    return found


def counted(positions: np.ndarray) -> np.ndarray:
    """Count positions in [0, 1) below each point."""
    return np.searchsorted(np.sort(positions), PLACES)


def surprise(counts: np.ndarray, total: int) -> np.ndarray:
    """Compute the two-sided tail probability of each point's count if positions are uniform."""
    return np.asarray(_tails(total)[np.arange(len(PLACES)), counts])


def chance(level: float, total: int) -> float:
    r"""Compute the probability that uniform positions are at least so surprising at some point.

    .. math:: P\left(\min_k s_k \le g\right), \quad
        s_k = 2 \min(P(X_k \le x_k), P(X_k \ge x_k)), \quad X_k \sim \mathrm{Binomial}(n, k / 100)

    The probability is exact: counts between points are Poisson given their sum, so that the counts
    which stay within all limits are a walk of independent steps.

    Parameters
    ----------
    level : float
        Tail probability, g.
    total : int
        Number of positions, n.

    Returns
    -------
    float
        The probability; where g is the smallest `surprise` of some ranks, their p value.

    References
    ----------
    Säilynoja, Bürkner and Vehtari (2022), Graphical test for discrete uniformity and its
    applications in goodness-of-fit evaluation and multiple sample comparison, Statistics and
    Computing 32.

    Examples
    --------
    >>> round(chance(0.01, 1000), 3), round(chance(0.001, 1000), 3)
    (0.153, 0.021)
    """
    low, high = _within(level, total)
    if (low > high).any():
        return 1.0
    mean = total / (len(PLACES) + 1)
    step = poisson.pmf(np.arange(total + 1), mean)
    walk, start = np.ones(1), 0
    for least, most in zip(low.tolist(), high.tolist(), strict=True):
        walk = np.convolve(walk, step)[least - start : most + 1 - start]
        start = least
    stayed = walk @ step[total - start - np.arange(len(walk))] / poisson.pmf(total, total)
    return float(np.clip(1 - stayed, 0.0, 1.0))


@functools.lru_cache(maxsize=64)
def limits(alpha: float, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the least and largest counts below each point that uniform positions reach.

    Parameters
    ----------
    alpha : float
        Largest probability that uniform positions leave the limits at some point.
    total : int
        Number of positions.

    Returns
    -------
    (ndarray, ndarray)
        Least and largest counts, each of shape (points,).
    """
    low, high = np.log(_LEAST), 0.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if chance(np.exp(middle), total) <= alpha else (low, middle)
    return _within(float(np.exp(low)), total)


def _within(level: float, total: int) -> tuple[np.ndarray, np.ndarray]:
    """Find the least and largest counts with a tail probability above a level; reversed if none."""
    above = _tails(total) > level
    least = np.where(above.any(axis=1), above.argmax(axis=1), total + 1)
    return least, total - above[:, ::-1].argmax(axis=1)


UNCONVERGED = 0.05
"""Largest share of unconverged or failed simulations at which the ranks of all are judged."""

_TAIL = 0.05  # probability on either side of the interval whose coverage is counted


@dataclass(frozen=True, eq=False)
class SimulationBasedCalibration:
    """Result of simulation-based calibration of a layout.

    Made by `sbc`. A calibrated layout has intervals that contain known profiles as often as stated.
    There are three verdicts. If at most 5 % of the simulations did not converge or failed, the
    verdict is by the ranks of all simulations: "calibrated" or "not calibrated". If more did not,
    their draws are not draws of the posterior, and uniform ranks are no evidence: the verdict is
    "inconclusive", or "not calibrated" if the ranks of the converged simulations alone leave their
    bands. (Whether chains converge depends on the outcomes and not on the truth, so that the ranks
    of converged simulations are uniform as well.) A simulation that failed has no rank; if any
    failed, the verdict is never "calibrated".

    Attributes
    ----------
    layout : Layout
        The layout that was simulated and fitted.
    ranks : DataFrame
        One row per simulation and quantity; see `run.ranks`. Simulations that did not converge are
        included; failed ones have no draws and so no ranks.
    status : DataFrame
        By simulation: ``status`` (``ok``, ``not converged`` or ``failed``) and ``reason``.
    alpha : float
        Probability that a calibrated layout is judged not calibrated, over all its quantities.

    Notes
    -----
    The limit is 5 % (`UNCONVERGED`) because so many ranks, wherever they lie, move the distribution
    function by at most 0.05, which is less than half the width of the bands of 1,000 simulations
    (0.06 for three quantities), and the coverage by at most five points.

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
        """Names of the quantities: profile elements, then the log-likelihood."""
        return list(self.ranks["quantity"].unique())

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
    def unconverged(self) -> float:
        """Share of the simulations that did not converge or failed."""
        return (self.not_converged + self.failed) / self.simulations

    @property
    def calibrated(self) -> bool:
        """Whether all ranks are inside the bands, at least 95 % converged, and none failed."""
        return not self._outside and not self.inconclusive

    @property
    def inconclusive(self) -> bool:
        """Whether too many simulations did not converge, or some failed, for a verdict.

        A layout that other ranks show to be not calibrated is not inconclusive.
        """
        return not self._outside and (self.failed > 0 or self._too_many)

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
            - ``deviation``: distribution function of the ranks minus the uniform one, at the point
              where it is least likely by chance; ``low`` and ``high`` are the band's ends there.
            - ``p``: probability that the ranks of a calibrated quantity are as surprising at some
              point.
            - ``inside``: whether the ranks stay in the band everywhere. A calibrated layout leaves
              some of the bands of its quantities with a probability of at most `alpha`
              (Bonferroni). ``inside_converged``: the same for the simulations that converged, with
              bands for their number; True where there are none.
            - ``coverage``: share of central 90 % intervals that contain the truth; ``z``: mean of
              (truth - posterior mean) / posterior sd; ``contraction``: one minus mean posterior
              variance over prior variance (NaN for the log-likelihood).
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
        """Compute the differences of distribution functions that `plots.rank_ecdf` draws.

        Returns
        -------
        DataFrame
            One row per quantity and point: ``quantity``, ``place`` (a rank as a fraction of all
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
        """Whether more simulations did not converge than the ranks of all may contain."""
        return self.unconverged > UNCONVERGED

    @cached_property
    def _outside(self) -> list[str]:
        """Quantities whose ranks leave the bands, in the simulations that are judged."""
        inside = self._table["inside_converged" if self._too_many else "inside"]
        return [str(name) for name in inside.index[~inside]]

    def verdict(self) -> str:
        """State in one line whether the layout is calibrated, with the reason if it is not.

        Returns
        -------
        str
            A text that begins with "calibrated", "not calibrated" or "inconclusive".
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
    """Whether ranks stay in their band everywhere; True without any simulation."""
    if not len(positions):
        return True
    counts = counted(positions)
    low, high = limits(level, len(positions))
    return bool(((low <= counts) & (counts <= high)).all())


_LEAST_P = 1e-4
_CELLS = {"calibrated": "yes", "not calibrated": "**no**", "inconclusive": "**inconclusive**"}


def summary(found: "Mapping[str, SimulationBasedCalibration]") -> pd.DataFrame:
    """Summarise each layout in a row.

    Parameters
    ----------
    found : mapping of str to SimulationBasedCalibration
        Results by name of the layout.

    Returns
    -------
    DataFrame
        By ``layout``: ``simulations``, ``not_converged``, ``failed``, ``quantities``, the smallest
        ``p`` of these and its ``least`` likely quantity, the smallest and largest ``coverage`` of
        90 % intervals, and the ``verdict``: ``calibrated``, ``not calibrated`` or ``inconclusive``.
    """
    rows = {}
    for name, one in found.items():
        table = one.table()
        rows[name] = {
            "simulations": one.simulations,
            "not_converged": one.not_converged,
            "failed": one.failed,
            "quantities": len(table),
            "p": table["p"].min(),
            "least": table["p"].idxmin(),
            "coverage_low": table["coverage"].min(),
            "coverage_high": table["coverage"].max(),
            "verdict": _verdict(one),
        }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("layout")


def report(found: "Mapping[str, SimulationBasedCalibration]", picture: str) -> str:
    """Write the report of several layouts.

    Parameters
    ----------
    found : mapping of str to SimulationBasedCalibration
        Results by name of the layout.
    picture : str
        Path of the figure, relative to the report.

    Returns
    -------
    str
        The report in Markdown.
    """
    alpha = next(iter(found.values())).alpha
    lines = [
        "# Simulation-based calibration",
        "",
        "Profiles drawn from each layout's prior, outcomes from the profiles, and a fit of each. "
        "If all is right, true values have uniform ranks among posterior draws. A calibrated "
        f"layout is found wanting with a chance of at most {alpha:g}. Where more than "
        f"{UNCONVERGED:.0%} of the simulations did not converge or failed, uniform ranks prove "
        "nothing: the verdict is inconclusive.",
        "",
        _table(summary(found)),
        "",
        *_remarks(found),
        f"![Ranks of true values]({picture})",
        "",
    ]
    return "\n".join(lines)


def _table(rows: pd.DataFrame) -> str:
    """Write a summary as a table in Markdown."""
    head = (
        "layout",
        "simulations",
        "not_converged",
        "quantities",
        "smallest p × quantities",
        "coverage of 90 % intervals",
        "calibrated",
    )
    lines = []
    for name, row in rows.iterrows():
        adjusted = min(1.0, row["quantities"] * row["p"])
        least = f"{adjusted:.2g}" if adjusted >= _LEAST_P else f"< {_LEAST_P:g}"
        lines.append(
            (
                escaped(name),
                row["simulations"],
                row["not_converged"],
                row["quantities"],
                f"{escaped(least)} ({escaped(row['least'])})",
                f"{100 * row['coverage_low']:.0f} to {100 * row['coverage_high']:.0f} %",
                _CELLS[row["verdict"]],
            )
        )
    return table(head, lines, numbers=len(head) - 1)


def _verdict(one: SimulationBasedCalibration) -> str:
    if one.calibrated:
        return "calibrated"
    return "inconclusive" if one.inconclusive else "not calibrated"


def _remarks(found: "Mapping[str, SimulationBasedCalibration]") -> list[str]:
    twice = [name for name, one in found.items() if one.uses_outcomes_twice]
    failed = {name: one.failed for name, one in found.items() if one.failed}
    lines = [
        f"- {name}: noise pulls towards the subject's own mean failure, so that outcomes count "
        "twice. It is not calibrated by design; pulling towards a number it is."
        for name in twice
    ]
    lines += [f"- {name}: {many(count, 'simulation')} failed." for name, count in failed.items()]
    lines += [f"- {name}: {one.verdict()}." for name, one in found.items() if one.inconclusive]
    return [*lines, ""] if lines else []
