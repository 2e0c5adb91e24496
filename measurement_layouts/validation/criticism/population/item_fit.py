"""Item fit: items that discriminate more or less than the layout implies, or are easier."""

import numpy as np
import pandas as pd

from ....layouts import Layout
from ....layouts.plates import ITEM as ITEM_PLATE
from .louis import ITEM, Direction, Tested, adjusted, intervals, louis, of_cells
from .residuals import Block, Residuals

SLOPE, LEVEL = "slope", "level"


def item_fit(residuals: Residuals, layout: Layout, *, alpha: float, prob: float) -> pd.DataFrame:
    r"""Test whether each item is as steep, and as easy, as the layout expects.

    The alternative is that the log-odds of an item's cells change by :math:`\beta` times their
    centred values, relative to the subjects' other items; see `louis.Direction`. If :math:`\beta`
    is negative, the item discriminates between subjects less than the layout implies (not at all at
    -1), and if it is positive, more. If the layout has no own effects of items, a change of level
    is also tested, in log-odds, which is positive if the item is easier.

    Parameters
    ----------
    residuals : Residuals
        Residuals of a joint fit.
    layout : Layout
        The layout that was fitted.
    alpha : float
        Probability of any false alarm in the table.
    prob : float
        Mass of the intervals.

    Returns
    -------
    DataFrame
        One row per item and ``what``: ``"slope"``, and ``"level"`` if there is no latent
        ``per="item"``.

        - ``subjects``: number of subjects that attempted the item; ``observed`` and ``expected``:
          its success rates.
        - ``effect``, ``low``, ``high``: :math:`\beta`, with an approximate interval.
        - ``z``, ``p``, ``p_adjusted``, ``flagged``; p from the saddlepoint approximation.

    References
    ----------
    Glas, C. A. W. (1999), Modification indices for the 2-PL and the nominal response model,
    Psychometrika 64.
    """
    slope = Direction(_log_odds, ITEM)
    tested = slope.test(residuals)
    tables = [_table(residuals, SLOPE, tested, slope.chances(residuals, tested), prob)]
    if not any(latent.plates == (ITEM_PLATE,) for latent in layout.latents):
        tested = louis(residuals, _level)
        effect, error = tested.alone()
        ones = np.ones(residuals.trials.shape)
        p = of_cells(residuals, (effect / error)[:, 0], ones, ITEM)
        tables.append(_table(residuals, LEVEL, tested, p, prob))
    return adjusted(pd.concat(tables, ignore_index=True), alpha)


def _table(
    residuals: Residuals, what: str, tested: Tested, p: np.ndarray, prob: float
) -> pd.DataFrame:
    trials = residuals.trials.sum(axis=0)
    return pd.DataFrame(
        {
            "item": residuals.items,
            "what": what,
            "subjects": (residuals.trials > 0).sum(axis=0),
            "observed": residuals.successes.sum(axis=0) / trials,
            "expected": (residuals.trials * residuals.mean).sum(axis=0) / trials,
            **intervals(tested, prob),
            "p": p,
        }
    )


def _log_odds(block: Block) -> list[np.ndarray]:
    """Return the direction of an item's slope: the log-odds of its cells."""
    return [block.log_odds]


def _level(block: Block) -> tuple[np.ndarray, np.ndarray]:
    """Compute scores and information of items' levels."""
    left, weights = block.beside(np.ones(block.weights.shape[2], dtype=bool))
    return left.sum(axis=1), weights.sum(axis=1)
