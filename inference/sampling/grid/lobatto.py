"""Gauss-Lobatto quadrature on [-1, 1], and the distribution function of what it integrates."""

import functools
from dataclasses import dataclass

import numpy as np

_STEPS = 64  # parts of the interval in which the distribution function is inverted


@dataclass(frozen=True)
class Rule:
    """Nodes and weights of an interval. Both ends are nodes, so that no step hides beside one.

    Attributes
    ----------
    nodes, weights : ndarray, shape (nodes,)
        In [-1, 1]; the weights add up to 2.
    to_series : ndarray, shape (nodes, nodes)
        Values at the nodes times this are the Legendre coefficients of their interpolant.
    to_integral : ndarray, shape (nodes, nodes + 1)
        And those of its integral from -1.
    areas : ndarray, shape (nodes, steps + 1)
        And that integral at ends of equal steps.
    """

    nodes: np.ndarray
    weights: np.ndarray
    to_series: np.ndarray
    to_integral: np.ndarray
    areas: np.ndarray

    def basis(self, places: np.ndarray) -> np.ndarray:
        """Give the nodes' weights in the interpolant, shape (places, nodes)."""
        series = np.polynomial.legendre.legvander(places, len(self.nodes) - 1)
        return np.asarray(series @ self.to_series.T)

    def quantile(self, density: np.ndarray, level: np.ndarray) -> np.ndarray:
        """Find the places below which lie given parts of the mass.

        Parameters
        ----------
        density : ndarray, shape (rows, nodes)
            At the nodes.
        level : ndarray, shape (rows,)
            Parts of each row's mass.

        Returns
        -------
        ndarray, shape (rows,)
            In [-1, 1].

        Examples
        --------
        >>> rising = rule(5).nodes + 1
        >>> rule(5).quantile(rising[None], np.array([0.5625])).round(9)
        array([0.5])
        """
        area = np.maximum.accumulate(density @ self.areas, axis=1)
        wanted = level * area[:, -1]
        row = np.arange(len(area))
        step = ((area <= wanted[:, None]).sum(axis=1) - 1).clip(0, _STEPS - 1)
        below, above = area[row, step], area[row, step + 1]
        inside = (wanted - below) / np.where(above > below, above - below, 1)
        place = (step + inside) * 2 / _STEPS - 1
        # one step of Newton's method, at most to the middle of the next step
        series = np.polynomial.legendre.legvander(place, len(self.nodes))
        missing = wanted - np.vecdot(series, density @ self.to_integral)
        height = np.vecdot(series[:, :-1], density @ self.to_series)
        more = missing / np.where(height > 0, height, np.inf)
        return np.asarray((place + more.clip(-1 / _STEPS, 1 / _STEPS)).clip(-1, 1))


@functools.cache
def rule(count: int) -> Rule:
    """Make the rule of that many nodes, exact for polynomials of degree 2 count - 3.

    References
    ----------
    Abramowitz and Stegun (1972), Handbook of Mathematical Functions: 25.4.32.

    Examples
    --------
    >>> rule(3).nodes.tolist(), rule(3).weights.round(3).tolist()
    ([-1.0, 0.0, 1.0], [0.333, 1.333, 0.333])
    """
    legendre = np.polynomial.legendre
    last = legendre.Legendre.basis(count - 1)
    nodes = np.concatenate([[-1.0], np.sort(last.deriv().roots().real), [1.0]])
    weights = 2 / (count * (count - 1) * last(nodes) ** 2)
    to_series = np.linalg.inv(legendre.legvander(nodes, count - 1)).T
    to_integral = to_series @ [legendre.legint(row, lbnd=-1) for row in np.eye(count)]
    areas = to_integral @ legendre.legvander(np.linspace(-1, 1, _STEPS + 1), count).T
    return Rule(nodes, weights, to_series, to_integral, areas)
