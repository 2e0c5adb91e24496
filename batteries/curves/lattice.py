"""A curve's posterior, integrated over its ability and its slope."""

from dataclasses import dataclass

import numpy as np
from scipy.special import log_expit

from .shape import offset
from .slices import ANCHOR

ABILITY_SPREAD = 5.0  # of the half-normal prior, in levels
LOG_SLOPE_SPREAD = 1.0  # of the log-normal prior about one logit per level

_STEEP = 6.0  # prior spreads of the log-slope that are looked at
_CELLS = ((80, 48), (60, 40), (300, 60))  # of ability and log-slope, round by round
_DEEP = 25.0  # nats below the highest cell at which nothing is left


@dataclass(frozen=True, eq=False)
class Lattice:
    """Posterior mass of cells around the curves that the outcomes allow.

    Attributes
    ----------
    ability, slope : ndarray, shape (cells,)
        Their middles.
    mass : ndarray, shape (abilities, slopes)
        Sums to 1.
    ends : ndarray, shape (abilities + 1,)
        Where cells of ability end, ascending.
    """

    ability: np.ndarray
    slope: np.ndarray
    mass: np.ndarray
    ends: np.ndarray

    @property
    def means(self) -> tuple[float, float]:
        """Posterior means of ability and slope."""
        return (
            float(self.mass.sum(axis=1) @ self.ability),
            float(self.mass.sum(axis=0) @ self.slope),
        )

    def interval(self, prob: float) -> np.ndarray:
        """Find the ends of the ability's equal-tailed interval."""
        below = np.append(0.0, np.cumsum(self.mass.sum(axis=1)))
        return np.asarray(np.interp([(1 - prob) / 2, (1 + prob) / 2], below, self.ends))

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw abilities and slopes."""
        cells = rng.choice(self.mass.size, size=count, p=self.mass.ravel())
        row, column = np.unravel_index(cells, self.mass.shape)
        return self.ability[row], self.slope[column]


def lattice(levels: np.ndarray, successes: np.ndarray, trials: np.ndarray) -> Lattice:
    r"""Integrate one curve's posterior.

    .. math:: s_l \sim \mathrm{Binomial}(n_l, f(l)), \quad A \sim \mathrm{HalfNormal}(5), \quad
       \log k \sim \mathrm{Normal}(0, 1)

    with :math:`f(x) = 1/(1 + e^{kx - c})` and :math:`c = \log(e^{kA} - 1)`, so that `A` is the area
    under the curve. Cells that hold no mass are dropped and the others made smaller, twice.

    Parameters
    ----------
    levels : ndarray, shape (levels,)
        Of demand.
    successes, trials : ndarray, shape (levels,)
        Counts.

    Returns
    -------
    Lattice
        Of ability up to level 20.

    Examples
    --------
    >>> counts = np.array([95, 90, 70, 40, 20])
    >>> found = lattice(np.arange(1, 6), counts, np.full(5, 100))
    >>> round(found.means[0], 1), found.interval(0.9).round(1)
    (3.7, array([3.6, 3.9]))
    """
    reach = _STEEP * LOG_SLOPE_SPREAD
    box = np.array([[0.0, float(ANCHOR)], [-reach, reach]])
    for cells in _CELLS:
        ends = [
            np.linspace(low, high, count + 1) for (low, high), count in zip(box, cells, strict=True)
        ]
        ability, log_slope = ((side[1:] + side[:-1]) / 2 for side in ends)
        density = _log_posterior(ability[:, None], log_slope, levels, successes, trials)
        density -= density.max()
        held = density > -_DEEP
        box = np.array([_around(side, held.any(axis=1 - axis)) for axis, side in enumerate(ends)])
    mass = np.exp(density)
    return Lattice(ability, np.exp(log_slope), mass / mass.sum(), ends[0])


def _around(ends: np.ndarray, held: np.ndarray) -> tuple[float, float]:
    """Range of the cells held, and one more on each side."""
    places = np.flatnonzero(held)
    return float(ends[max(places[0] - 1, 0)]), float(ends[min(places[-1] + 2, len(ends) - 1)])


def _log_posterior(
    ability: np.ndarray,
    log_slope: np.ndarray,
    levels: np.ndarray,
    successes: np.ndarray,
    trials: np.ndarray,
) -> np.ndarray:
    """Density of ability and log-slope, up to a constant, in nats."""
    slope = np.exp(log_slope)
    start = offset(ability, slope)
    prior = (ability / ABILITY_SPREAD) ** 2 + (log_slope / LOG_SLOPE_SPREAD) ** 2
    found = np.asarray(-prior / 2)
    for level, right, all_ in zip(levels, successes, trials, strict=True):
        if all_:
            odds = start - slope * level
            # log P(wrong) = log P(right) - odds
            found = found + all_ * log_expit(odds) - (all_ - right) * odds
    return found
