"""Whole items and subjects left out of a joint fit."""

import numpy as np

from ...inference.fit import Fit
from ...inference.population.left_out import LeftOut
from .smoothing import left_out

_MOST_DRAWS = 1000


def left_out_units(
    fit: Fit, plate: str, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Foresee all outcomes of an item, or of a subject, from all the others.

    Parameters
    ----------
    fit : Fit
        A joint fit.
    plate : {"item", "subject"}
        What is left out.
    places : ndarray of int
        Which of them.

    Returns
    -------
    numbers : ndarray, shape (3, places)
        The elpd, Pareto k and p_loo of each.
    counts : ndarray of int, shape (places,)
        Cells that are left out together.
    limit : float
        Largest k that can be trusted, given the draws that were used.
    """
    sizes = fit.posterior.sizes
    chains, each = sizes["chain"], sizes["draw"]
    kept = np.arange(0, each, -(-chains * each // _MOST_DRAWS))
    draws = (np.arange(chains)[:, None] * each + kept).ravel()
    cohort = LeftOut.of(fit, draws)
    seed = int(fit.data.attrs["seed"])
    numbers = np.empty((3, len(places)))
    for at, place in enumerate(places):
        values = cohort.marginal(plate, int(place), seed).values.reshape(chains, -1)
        numbers[:, at] = left_out(values, _relative_efficiency(values))
    codes = cohort.cohort.item if plate == "item" else cohort.cohort.subject
    counts = np.bincount(codes, minlength=int(places.max()) + 1)[places]
    return numbers, counts, min(1 - 1 / np.log10(len(draws)), 0.7)


def _relative_efficiency(values: np.ndarray) -> float:
    """Effective draws per draw of a likelihood whose logarithms are (chains, draws)."""
    from arviz_stats.base import array_stats  # takes a while to import

    if len(values) == 1:
        return 1.0
    likelihood = np.exp(values - values.max())
    return (
        float(array_stats.ess(likelihood, chain_axis=0, draw_axis=1, method="mean")) / values.size
    )
