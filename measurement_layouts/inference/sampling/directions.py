"""Few directions along which a posterior is long, and coordinates that are stretched along them."""

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from threadpoolctl import threadpool_limits

from ..kernel.inputs import DIRECTIONS
from .unbounded import LogDensity

_MOST, _LONG = 8, 4.0  # directions; smallest variance along one, if that of coordinates is 1
_POINTS, _FEWEST = 40, 8  # most and fewest points at which second derivatives are computed
_GRADIENTS, _STEP = 16_000, 1e-4  # gradients for more points; distance in standard deviations
_FLAT, _CLOSE = 2e-3, 0.05  # smallest eigenvalues of all shared and of a subject's coordinates


@dataclass(frozen=True, eq=False)
class Directions:
    r"""Linear change of coordinates, from the sampler's point u to the point x of a log-density.

    .. math:: x = u + \sum_j a_j (b_j \cdot u)

    Each :math:`b_i \cdot a_j` with i unlike j is 0. The Jacobian is constant and is left out.

    Attributes
    ----------
    out, into : ndarray, shape (directions, length)
        The vectors a and b.
    """

    out: np.ndarray
    into: np.ndarray

    @property
    def longest(self) -> float:
        """Return the largest factor by which coordinates are stretched."""
        return float(1 + (self.out * self.into).sum(axis=1).max(initial=0))

    def inverse(self, point: np.ndarray) -> np.ndarray:
        """Return the sampler's point at which the log-density is computed at this point."""
        stretch = 1 + (self.out * self.into).sum(axis=1)
        moved: np.ndarray = point - ((self.into @ point) / stretch) @ self.out
        return moved

    def stretched(self, model: Any) -> Any:
        """Return nutpie's compiled model in the sampler's coordinates."""
        start, table = model.initial_point_func, model.user_data.copy()
        arrays = [np.ascontiguousarray(array) for array in (self.into, self.out)]
        addresses = (array.ctypes.data for array in arrays)
        table[: len(DIRECTIONS)] = len(self.out), *addresses
        return dataclasses.replace(
            model,
            initial_point_func=lambda seed: self.inverse(start(seed)),
            user_data=table,
            logp_func=(model, arrays),  # keeps them in memory
        )


def find_directions(
    density: LogDensity, points: np.ndarray, shared: np.ndarray, local: np.ndarray
) -> Directions | None:
    r"""Find directions of shared values along which a posterior is long; None if there are none.

    With the mean A of the negative second derivatives of the log-density, in which values of
    different subjects do not occur together, the precision of the shared values s is

    .. math:: P = A_{ss} - \sum_j A_{sj} A_{jj}^{-1} A_{js}

    where j are the values of a subject. Along a direction, the variance in units in which the
    diagonal of :math:`A_{ss}` is 1, which is the variance if nothing else varies, is at least 4.
    Coordinates are stretched along the directions, and values of subjects are moved to their means
    given the shared values, by :math:`-A_{jj}^{-1} A_{js}`.

    Parameters
    ----------
    density : LogDensity
        The log-density.
    points : ndarray, shape (draws, length)
        Points of a short chain.
    shared : ndarray of int, shape (values,)
        Coordinates of shared values.
    local : ndarray of int, shape (subjects, values)
        Coordinates of each subject's values that vary with shared values.

    Returns
    -------
    Directions or None
        At most eight directions.
    """
    scale, varied = points.std(axis=0), len(shared) + local.shape[1]
    count = min(_POINTS, max(_FEWEST, _GRADIENTS // (2 * varied)), len(points))
    if not len(shared) or count < _FEWEST or not (scale > 0).all():
        return None
    chosen = points[np.linspace(0, len(points) - 1, count).astype(int)]
    with threadpool_limits(1, user_api="blas"):  # the same bits for any number of threads
        among, across, within = _curvature(density, chosen, scale, shared, local)
        moved = np.einsum("jab,sjb->sja", _inverse(within), across)
        np.negative(moved, out=moved)
        precision = among + np.einsum("sja,tja->st", across, moved)
        width = np.sqrt(np.maximum(np.diag(among), _FLAT))
        del among, across  # as large as the values of all subjects times the shared ones
        precision /= width
        precision /= width[:, None]
        least, vectors = eigh(precision, overwrite_a=True)
    long = np.flatnonzero((least >= _FLAT) & (least <= 1 / _LONG))[:_MOST]
    if not len(long):
        return None
    vectors, root = vectors[:, long].T, least[long, None] ** -0.5
    along = vectors / width
    out, into = np.zeros((2, len(vectors), points.shape[1]))
    out[:, shared] = along * (root - 1) * scale[shared]
    flat = local.ravel()
    out[:, flat] = (along * root) @ moved.reshape(len(shared), -1) * scale[flat]
    into[:, shared] = vectors * width / scale[shared]
    return Directions(out, into)


def _curvature(
    density: LogDensity, draws: np.ndarray, scale: np.ndarray, shared: np.ndarray, local: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Average the negative second derivatives of shared values, across, and of each subject's."""
    count, (subjects, values) = len(shared), local.shape
    among, across = np.zeros((count, count)), np.zeros((count, subjects, values))
    within = np.zeros((values, subjects, values))
    for point in draws:
        for at, coordinates in enumerate([*shared[:, None], *local.T]):  # of all subjects at a time
            step = np.zeros(len(point))
            step[coordinates] = _STEP * scale[coordinates]
            above, below = density.at_all(np.stack([point + step, point - step]))[1]
            change = below - above
            if at < count:
                among[at] += change[shared]
                across[at] += change[local]
            else:
                within[at - count] += change[local]
    unit = scale / (2 * _STEP * len(draws))
    among *= unit[shared]
    across *= unit[local]
    within = (within * unit[local]).transpose(1, 0, 2)
    return (among + among.T) / 2, across, (within + within.transpose(0, 2, 1)) / 2


def _inverse(matrices: np.ndarray) -> np.ndarray:
    """Invert symmetric matrices, in which no variance may be much larger than the diagonal's."""
    width = np.sqrt(np.maximum(np.einsum("...aa->...a", matrices), _FLAT))
    width = width[..., None] * width[..., None, :]
    values, vectors = np.linalg.eigh(matrices / width)
    inverse = (vectors / np.maximum(values, _CLOSE)[..., None, :]) @ np.swapaxes(vectors, -1, -2)
    return np.asarray(inverse / width)
