"""Few directions along which a posterior is long, and coordinates that are stretched along them."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from ..kernel.emit import build
from ..kernel.stretched import emit_stretched
from .bent_pairs import BentPairs
from .engine import Function

_MOST, _LONG = 8, 4.0  # directions; smallest variance along one, in standardised coordinates
_REST = 0.05  # smallest part of a coordinate's variance that directions do not explain


@dataclass(frozen=True, eq=False)
class Directions:
    r"""Linear change of coordinates, from the sampler's point u to the point x of a log-density.

    .. math:: x = u + \sum_j a_j (b_j \cdot u)

    Each :math:`b_i \cdot a_j` with i unlike j is 0. Pairs of coordinates of x are then bent. The
    Jacobian is constant and is left out.

    Attributes
    ----------
    out, into : ndarray, shape (directions, length)
        The vectors a and b.
    bent : BentPairs
        Pairs of coordinates that are bent.
    """

    out: np.ndarray
    into: np.ndarray
    bent: BentPairs = field(default_factory=BentPairs)

    @classmethod
    def none(cls, length: int) -> "Directions":
        """Return no directions of points of this length."""
        return cls(np.zeros((0, length)), np.zeros((0, length)))

    def inverse(self, point: np.ndarray) -> np.ndarray:
        """Return the sampler's point at which the log-density is computed at this point."""
        point = self.bent.straight(point)
        stretch = 1 + (self.out * self.into).sum(axis=1)
        moved: np.ndarray = point - ((self.into @ point) / stretch) @ self.out
        return moved

    def stretched(self, model: Any) -> Any:
        """Return nutpie's compiled model in the sampler's coordinates."""
        machine, start = build(emit_stretched()), model.initial_point_func
        functions = model.compiled_logp_func.address, model.compiled_expand_func.address
        parts = self.into, self.out, self.bent.at, self.bent.numbers
        arrays = [np.ascontiguousarray(array) for array in parts]
        known, into, out, *pairs = (array.ctypes.data for array in (model.user_data, *arrays))
        counts = len(self.out), len(self.bent.at)
        inputs = np.array([*functions, known, counts[0], into, out, counts[1], *pairs])
        return dataclasses.replace(
            model,
            compiled_logp_func=Function(machine.density),
            compiled_expand_func=Function(machine.profile),
            initial_point_func=lambda seed: self.inverse(start(seed)),
            user_data=inputs,
            logp_func=(model, machine, arrays),  # keeps them in memory
        )


def find_directions(points: np.ndarray, free: np.ndarray) -> Directions | None:
    """Find directions from the draws of a chain; None if there are none.

    Along a direction, the standardised coordinates have a variance of at least 4; the direction
    that the first half of the draws shows has one of at least 2 in the second half, where it would
    be 1 if the draws were only slow. Coordinates are then
    scaled to what the directions do not explain of their variances, and the directions are found
    again, so that the stretched coordinates are hardly correlated.

    Parameters
    ----------
    points : ndarray, shape (draws, length)
        Points of the sampler.
    free : ndarray of bool, shape (length,)
        Coordinates that the directions may consist of.

    Returns
    -------
    Directions or None
        At most eight directions.
    """
    scale = points.std(axis=0)
    at = np.flatnonzero(free & (scale > 0))
    if not len(at):
        return None
    standard = points[:, at] / scale[at]
    halves = np.array_split(standard, 2)
    with threadpool_limits(1, user_api="blas"):  # the same bits for any number of threads
        _, found = _longest(halves[0])
        kept = (halves[1] @ found.T).var(axis=0) >= _LONG / 2
        count = int(np.logical_and.accumulate(kept).sum())
        variances, vectors = _longest(standard)
        count = min(count, int((variances >= _LONG).sum()))
        if not count:
            return None
        explained = (variances[:count, None] * vectors[:count] ** 2).sum(axis=0)
        rest = np.sqrt(np.maximum(1 - explained, _REST))
        variances, vectors = _longest(standard / rest)
        scale[at] *= rest
    out, into = np.zeros((2, count, points.shape[1]))
    out[:, at] = vectors[:count] * scale[at] * (np.sqrt(variances[:count, None]) - 1)
    into[:, at] = vectors[:count] / scale[at]
    return Directions(out, into)


def _longest(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the directions of the largest variances, in descending order, and these."""
    apart = points - points.mean(axis=0)
    count = len(points)
    most = count - min(_MOST, *points.shape), count - 1
    variances, mixed = eigh(apart @ apart.T / count, subset_by_index=most)
    vectors = mixed.T @ apart
    lengths = np.sqrt((vectors**2).sum(axis=1, keepdims=True))
    return variances[::-1], (vectors / np.maximum(lengths, 1e-300))[::-1]
