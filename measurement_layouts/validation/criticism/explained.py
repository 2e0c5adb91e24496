"""The share of the items' difficulty that the declared demands explain."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
from scipy.special import logit, ndtri

from ...common.digits import beside, fixed
from ...common.errors import FitError
from ...common.options import inside
from ...evaluations.subject_data import EDGE
from ...inference.cells import CellEvaluator
from ...inference.fit import Fit
from ...inference.given import refuse_no_fit
from ...inference.model.cohort import Cohort
from ...inference.model.new_levels import new_values
from ...inference.posterior.cohort import cohort_of
from ...inference.posterior.posterior import some_draws, stacked
from ...layouts import Latent, Layout, Spread
from ...layouts.plates import ITEM, SUBJECT, plate_name, root

THESE, NEW = "these items", "new items"
_MOST_DRAWS = 1000
_FEWEST_DRAWS = 100
_CELLS = 40_000_000  # number of computed probabilities; with more cells, fewer draws are used
_BLOCK = 2**18  # number of probabilities computed at a time
_VALUES = 100  # smallest number of values of a latent of new items for each draw
_SEED = 20261


def explained(fit: Fit, *, prob: float = 0.9) -> pd.DataFrame:
    r"""Compute the share of the items' difficulty that the declared demands explain.

    In each posterior draw, the difficulty :math:`T_j` of item j is its log-odds, averaged over the
    subjects of the fit. The part :math:`D_j` that its demands explain is the same average if all
    own effects of items, or of their categories, are at the medians of their priors, and
    :math:`E_j = T_j - D_j` is the remainder. The share

    .. math:: \frac{\mathrm{var}_j D_j}{\mathrm{var}_j D_j + \mathrm{var}_j E_j}

    is computed for each draw, so that it has a posterior. The denominator is not the variance of T,
    because the two parts may be correlated within a draw, and :math:`1 - \mathrm{var} E /
    \mathrm{var} T` may then be outside [0, 1].

    For new items, own effects are drawn from their distribution given the draw's spreads, and
    :math:`\mathrm{var}_j E_j` is replaced by the variance of these; the demands are those of the
    items of the fit. The variance of the own effects of the fitted items may be larger or smaller
    by chance.

    Effects of a subject, or of a group of subjects, on an item belong to neither part. If subjects
    differ in the weight of a demand, the mean weight counts.

    Parameters
    ----------
    fit : Fit
        A joint fit.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    DataFrame
        Rows ``these items``, for the items of the fit, and ``new items``, for other items with the
        same demands: ``share``, its posterior mean, in [0, 1], and the ends ``low`` and ``high`` of
        its interval; ``demands_sd`` and ``own_sd``, posterior means of the standard deviations of
        the demands' part and of the items' own effects, in log-odds. At most 1,000 posterior draws
        are used, and fewer for large cohorts.

    Raises
    ------
    FitError
        When `fit` is something else, the fit is not joint, has no own effects of items, a single
        item or outcomes of several steps, `prob` is not between 0 and 1, or new levels cannot be
        drawn of the prior of the items' own effects.

    References
    ----------
    Gelman, Goodrich, Gabry and Vehtari (2019), R-squared for Bayesian regression models, The
    American Statistician 73(3).

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> effort = ml.Effect("weight") * ml.MetaFeature("length", low=-2, high=2)
    >>> prior = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    >>> margin = ml.Effect("ease", per="item", prior=prior) - effort
    >>> layout = ml.Layout("quiz", ml.Success("solved", logistic(margin)))
    >>> items = pd.DataFrame({"length": [-1.0, 0.0, 1.0]}, index=["a", "b", "c"])
    >>> solved = pd.DataFrame(np.tri(8, 3, dtype=int), columns=items.index).rename("s{}".format)
    >>> result = ml.fit(layout, ml.Evaluation.from_wide(solved, items), draws=200, tune=300,
    ...                 chains=2, seed=1, progressbar=False)
    >>> explained(result)["share"].between(0, 1).all()
    np.True_
    """
    refuse_no_fit(fit)
    prob = inside("prob", prob, such_as=0.9)
    layout = fit.layout
    if not layout.joint:
        raise FitError(
            f"explained: layout {layout.name!r} is fitted to each subject alone, so that items "
            "have no effects of their own; fit a layout with a node per='item'"
        )
    if layout.steps is not None:
        raise FitError(
            f"explained: layout {layout.name!r} has outcomes of several steps, but difficulty is "
            "defined for a single Success; fit a layout with one"
        )
    own = _own(layout)
    if not own:
        raise FitError(
            f"layout {layout.name!r} has no own effects of items, so that demands explain all "
            "by declaration; add a node per='item' to the final log-odds to compute the share"
        )
    known = cohort_of(fit)
    if len(known.levels[ITEM]) < 2:
        raise FitError(
            f"explained: the fit has only the item {known.levels[ITEM][0]}, but the share of a "
            "variance needs several; fit more items"
        )
    shares, spreads = _by_draw(fit, _every_cell(known), own)
    tail = (1 - prob) / 2
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    return pd.DataFrame(
        {
            "share": shares.mean(axis=0),
            "low": low,
            "high": high,
            "demands_sd": spreads[0].mean(axis=0),
            "own_sd": spreads[1].mean(axis=0),
        },
        [THESE, NEW],
    )


def _own(layout: Layout) -> list[Latent]:
    """List the latents of own effects of items or of their categories, without spreads."""
    return [
        latent
        for latent in layout.latents
        if latent.plates
        and all(root(plate) == ITEM for plate in latent.plates)
        and not isinstance(latent, Spread)
    ]


def in_words(table: pd.DataFrame, prob: float) -> str:
    """Describe a table of `explained` in sentences.

    Examples
    --------
    >>> table = pd.DataFrame({"share": [0.52, 0.5], "low": [0.4, 0.36], "high": [0.64, 0.63],
    ...                       "demands_sd": 1.04, "own_sd": 1.0},
    ...                      index=["these items", "new items"])
    >>> print(in_words(table, 0.9))
    The declared demands explain 52% of the variance of these items' difficulty (90% interval
    40% to 64%), and 50% (36% to 63%) of that of new items with the same demands. The standard
    deviation is 1.04 log-odds for the demands' part, and 1.00 for the items' own effects.
    """
    here, there = (
        [f"{row[name]:.0%}" for name in ("share", "low", "high")]
        for row in table.loc[[THESE, NEW]].to_dict("records")
    )
    demands, own = table[["demands_sd", "own_sd"]].to_numpy(dtype=float)[0].tolist()
    digits = beside(max(demands, own) / 10)
    return (
        f"The declared demands explain {here[0]} of the variance of these items' difficulty "
        f"({prob:.0%} interval {here[1]} to {here[2]}), and {there[0]} ({there[1]} to "
        f"{there[2]}) of that of new items with the same demands. The standard deviation "
        f"is {fixed(demands, digits)} log-odds for the demands' part, and "
        f"{fixed(own, digits)} for the items' own effects."
    )


def _every_cell(known: Cohort) -> Cohort:
    """Return the cohort with a cell for each subject on each item."""
    subjects, items = len(known.levels[SUBJECT]), len(known.levels[ITEM])
    cells = np.divmod(np.arange(subjects * items), items)
    return replace(known, subject=cells[0], row=cells[1])


def _by_draw(
    fit: Fit, cohort: Cohort, own: list[Latent]
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Compute shares, (draws, 2), and the standard deviations of both parts, each (draws, 2)."""
    copies = math.ceil(_VALUES / min(math.prod(cohort.size(latent.plates)) for latent in own))
    cells = len(cohort.subject)
    most = np.clip(_CELLS // (cells * (2 + copies)), _FEWEST_DRAWS, _MOST_DRAWS)
    draws = some_draws(fit, int(most))
    together = max(1, _BLOCK // (cells * copies))
    rng = np.random.default_rng(_SEED)
    evaluator, items = CellEvaluator(cohort), len(cohort.levels[ITEM])
    demands, these, new = [], [], []
    for start in range(0, len(draws), together):
        block = draws[start : start + together]
        values = {one.name: stacked(fit, one, block) for one in fit.layout.latents}
        centre = _difficulties(evaluator, items, values | _from_prior(cohort, own, values, None))
        demands.append(centre.var(axis=1))
        these.append((_difficulties(evaluator, items, values) - centre).var(axis=1))
        several = {name: np.repeat(each, copies, axis=0) for name, each in values.items()}
        fresh = several | _from_prior(cohort, own, several, rng, copies)
        parts = _difficulties(evaluator, items, fresh) - np.repeat(centre, copies, axis=0)
        new.append(parts.reshape(len(block), -1).var(axis=1))
    of_demands = np.concatenate(demands)[:, None]
    of_own = np.stack([np.concatenate(these), np.concatenate(new)], axis=1)
    both = np.broadcast_to(np.sqrt(of_demands), of_own.shape), np.sqrt(of_own)
    return of_demands / (of_demands + of_own), both


def _difficulties(cells: CellEvaluator, items: int, values: dict[str, np.ndarray]) -> np.ndarray:
    """Average each item's log-odds over the subjects; shape (draws, items)."""
    chances = cells.chances(cells.draws_by_level(values)).clip(EDGE, 1 - EDGE)
    of_items = logit(chances).reshape(-1, items, chances.shape[-1]).mean(axis=0)
    return np.asarray(of_items.T)


def _from_prior(
    cohort: Cohort,
    own: list[Latent],
    values: dict[str, np.ndarray],
    rng: np.random.Generator | None,
    copies: int = 1,
) -> dict[str, np.ndarray]:
    """Draw own effects of items from their distribution; without `rng`, return the medians.

    The standard scores of each draw are evenly spaced quantiles, so that their mean and variance
    are those of the distribution.
    """
    fitted = {plate_name(plate): math.inf for latent in own for plate in latent.plates}
    known, found = dict(values), dict[str, np.ndarray]()
    known |= {name: each[None] for name, each in cohort.covariates.items()}
    for latent in own:
        shape = values[latent.name].shape
        if rng is None:
            scores = np.zeros(shape)
        else:
            count = math.prod(shape[1:]) * copies
            even = ndtri((np.arange(count) + 0.5) / count)
            rows = np.tile(even / even.std(), (shape[0] // copies, 1))
            scores = rng.permuted(rows, axis=1).reshape(shape)
        known[latent.name] = new_values(latent, scores, known, cohort, fitted, set(fitted))
        found[latent.name] = known[latent.name]
    return found
