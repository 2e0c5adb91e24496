"""Draws of success probabilities on items, subject by subject."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.tables import named
from ..inference.fit import Fit
from ..inference.forecasts.asked import Asked
from ..inference.given import refuse_few_draws

_MOST = 2**24  # chances of a subject, 128 MiB; of more items, fewer draws are read
_MEMORY_MIB = 64.0


def read_items(items: object, fit: Fit, verb: str) -> pd.DataFrame:
    """Check the items, and that there are enough draws.

    Raises
    ------
    DataError
        When there is no item, a name occurs twice, or outcomes have several steps.
    FitError
        When there are fewer than 100 draws.
    """
    if fit.layout.steps is not None:
        raise DataError(
            f"{verb}: layout {fit.layout.name!r} has outcomes of several steps "
            f"({some(each.name for each in fit.layout.outcomes)}); give a fit whose layout has a "
            "single Success"
        )
    refuse_few_draws(fit, verb)
    table = named(items, "items", "item")
    if table.empty and not len(table):
        raise DataError(f"{verb}: there is no item; give a table with at least one")
    return table


def chances(fit: Fit, items: pd.DataFrame, subjects: Sequence[str]) -> Iterator[np.ndarray]:
    """Return a stream of chances of success, one subject after the other.

    Parameters
    ----------
    fit : Fit
        Joint fit, or fit of subjects one by one.
    items : DataFrame
        Meta-features, indexed by item, attempted or not; with a joint fit, also its categories.
    subjects : sequence of str
        Subjects of the fit.

    Returns
    -------
    iterator of ndarray, shape (items, draws)
        Probabilities of one subject; the same draws for all subjects. With very many items, only
        every second draw or fewer.
    """
    drawn = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    step = -(-drawn * len(items) // _MOST)
    return Asked.of(fit, items, subjects).chances(memory_mib=_MEMORY_MIB, step=step)
