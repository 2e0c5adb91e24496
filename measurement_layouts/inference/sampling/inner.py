"""Latents per subject that are integrated out during sampling: their places and draws."""

import ctypes
import math
from collections.abc import Iterator, Mapping

import numpy as np

from ...layouts import Latent, Layout
from ...layouts.plates import SUBJECT
from ..model.cohort import Cohort
from ..model.joint_terms import Places
from .joint import JointKernel
from .stopping import stop_if_told

_MOST, _STEP = 64, 8  # largest number of places, and of what it is a multiple: code depends on it
_APART = 1.2  # distance in posterior standard deviations; the integral of a normal is 2e-6 off
_BEYOND = 3.0  # places beyond the extreme draws, in standard deviations
_POINTERS = [ctypes.c_void_p] * 3
_PROFILE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, *_POINTERS)


def single_latent(layout: Layout) -> Latent | None:
    """Find the only latent per subject, if normal, unlabelled and with an sd that is a latent."""
    own = [
        latent for latent in layout.latents if SUBJECT in [str(plate) for plate in latent.plates]
    ]
    if len(own) != 1 or not own[0].is_profile or own[0].dims:
        return None
    (prior,) = own[0].priors
    return own[0] if prior.family == "Normal" and spread_of(own[0]) is not None else None


def spread_of(latent: Latent) -> Latent | None:
    """Find the latent of the population that is the standard deviation of a normal latent."""
    spread = dict(latent.priors[0].parameters).get("sigma")
    return spread if isinstance(spread, Latent) and not spread.plates and not spread.dims else None


def find_places(latent: Latent, draws: np.ndarray, spread: np.ndarray) -> Places | None:
    """Choose the places of a latent; None if more than 64 would be needed.

    Their number is rounded up to 16, 24, ..., 64, because each number is compiled separately.

    Parameters
    ----------
    latent : Latent
        The latent to integrate out.
    draws : ndarray, shape (draws, subjects)
        Draws of the latent from a short run.
    spread : ndarray, shape (draws,)
        Draws of its standard deviation among subjects, which limits the distance of places.
    """
    spreads = draws.std(axis=0)
    beyond = _BEYOND * spreads.max()
    low, high = draws.min() - beyond, draws.max() + beyond
    apart = _APART * min(np.quantile(spreads, 0.05), spread.min())
    count = int(np.ceil((high - low) / max(apart, 1e-12))) + 1
    if count > _MOST:
        return None
    count = _STEP * max(2, math.ceil(count / _STEP))
    return Places(latent.name, np.linspace(low, high, count))


class Inner:
    """Sampler of a latent per subject, given draws of all other latents.

    Parameters
    ----------
    cohort : Cohort
        Layout and outcomes.
    latent : Latent
        The latent that was integrated out.
    places : Places
        Places at which its density is computed.
    """

    def __init__(self, cohort: Cohort, latent: Latent, places: Places) -> None:
        others = frozenset(one.name for one in cohort.layout.latents if one is not latent)
        self.latent, self._places = latent, places
        self._kernel = JointKernel(cohort, given=others, places=places)
        self._order = self._kernel.order([SUBJECT])
        self._kernel.compiled()  # once, and not in each chain's thread

    def draw(self, shared: Mapping[str, np.ndarray], seed: int) -> np.ndarray:
        """Draw the latent, once for each draw of the other latents.

        All places are shifted by the same random part of their distance, and one of them is drawn
        with a probability proportional to the density there. The draws are as exact as the
        integral.

        Parameters
        ----------
        shared : mapping of str to ndarray
            Draws of the other latents, shape (chains, draws, levels..., labels...).
        seed : int
            Seed of the draws.

        Returns
        -------
        ndarray, shape (chains, draws, subjects)
            Draws of the latent.
        """
        rng = np.random.default_rng([seed, 1])
        count, at = len(self._order), self._places.at
        return draw_places(self._kernel, count, at, shared, rng)[:, :, self._order]


def draw_places(
    kernel: JointKernel,
    count: int,
    at: np.ndarray,
    shared: Mapping[str, np.ndarray],
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw values of a latent, once for each draw of the other latents.

    Parameters
    ----------
    kernel : JointKernel
        Kernel that computes log densities, (count, places), as its profile, and whose point ends
        with the shift of the places.
    count : int
        Number of subjects or cells.
    at : ndarray, shape (places,)
        Places, evenly spaced.
    shared : mapping of str to ndarray
        Draws of the other latents, shape (chains, draws, levels..., labels...).
    rng : Generator
        Generator of random numbers.

    Returns
    -------
    ndarray, shape (chains, draws, count)
        Draws of the latent, in the kernel's order.
    """
    apart = at[1] - at[0]
    chains, draws = next(iter(shared.values())).shape[:2]
    shifts = rng.uniform(-0.5, 0.5, (chains, draws)) * apart
    found = list[np.ndarray]()
    shape = count, len(at)
    for shift, table in zip(shifts.ravel(), tables(kernel, shape, shared, shifts), strict=True):
        summed = np.cumsum(np.exp(table - table.max(axis=1, keepdims=True)), axis=1)
        drawn = rng.random(count) * summed[:, -1]
        found.append(at[(summed < drawn[:, None]).sum(axis=1)] + shift)
    return np.reshape(found, (chains, draws, -1))


def tables(
    kernel: JointKernel,
    shape: tuple[int, int],
    shared: Mapping[str, np.ndarray],
    shifts: np.ndarray,
) -> Iterator[np.ndarray]:
    """Compute log densities of each subject or cell at the shifted places, for each draw."""
    code, length = kernel.code, len(kernel.start)
    call = _PROFILE(code.machine.profile)
    points = np.empty((*shifts.shape, length))
    for part in kernel.parts:
        values = shared[part.latent.name].reshape(*shifts.shape, *kernel.shape(part))
        if part.plates:
            values = values[:, :, np.argsort(kernel.order(part.latent.plates).ravel())]
        size = int(np.prod(values.shape[2:], dtype=int))
        points[:, :, part.offset : part.offset + size] = values.reshape(*shifts.shape, -1)
    points[:, :, -1] = shifts
    for point in points.reshape(-1, length):
        stop_if_told()
        table = np.empty(shape)
        call(length, table.size, point.ctypes.data, table.ctypes.data, code.inputs.ctypes.data)
        yield table
