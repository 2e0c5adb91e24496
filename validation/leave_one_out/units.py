"""Leave-one-out of whole items or subjects of a joint fit."""

import numpy as np

from ...inference.fit import Fit
from ...inference.population.left_out import LeftOut
from .smoothing import left_out

_MOST_DRAWS = 1000


def left_out_units(
    fit: Fit, plate: str, places: np.ndarray
) -> tuple[np.ndarray, np.ndarray, float]:
    """Predict all outcomes of an item or of a subject together from all other outcomes.

    Parameters
    ----------
    fit : Fit
        A joint fit, of which at most about 1,000 draws are used.
    plate : {"item", "subject"}
        Unit that is left out at a time.
    places : ndarray of int
        Positions of the items or subjects to leave out.

    Returns
    -------
    numbers : ndarray, shape (3, places)
        The elpd, Pareto k and p_loo of each item or subject.
    counts : ndarray of int, shape (places,)
        Number of cells that are left out together.
    limit : float
        Largest Pareto k of a reliable estimate, given the number of draws used.
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
    """Compute effective draws per draw of a likelihood, given its logarithms (chains, draws)."""
    from arviz_stats.base import array_stats  # slow to import

    if len(values) == 1:
        return 1.0
    likelihood = np.exp(values - values.max())
    return (
        float(array_stats.ess(likelihood, chain_axis=0, draw_axis=1, method="mean")) / values.size
    )
