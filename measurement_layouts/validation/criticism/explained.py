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
from ...layouts import Latent, Spread
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
        When `fit` is something else, has no own effects of items, a single item or outcomes of
        several steps, `prob` is not between 0 and 1, or new levels cannot be
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
    prob, layout = inside("prob", prob, such_as=0.9), fit.layout
    if layout.steps is not None:
        raise FitError(
            f"explained: layout {layout.name!r} has outcomes of several steps, but difficulty is "
            "defined for a single Success; fit a layout with one"
        )
    effects = [
        latent
        for latent in layout.latents
        if {root(plate) for plate in latent.plates} == {ITEM} and not isinstance(latent, Spread)
    ]
    if not effects:
        raise FitError(
            f"layout {layout.name!r} has no own effects of items, so that demands explain all "
            "by declaration; add a node per='item' to the final log-odds to compute the share"
        )
    cohort = cohort_of(fit)
    subjects, items = (len(cohort.levels[plate]) for plate in (SUBJECT, ITEM))
    if items < 2:
        raise FitError(
            f"explained: the fit has only the item {cohort.levels[ITEM][0]}, but the share of a "
            "variance needs several; fit more items"
        )
    cells = np.divmod(np.arange(subjects * items), items)
    cohort = replace(cohort, subject=cells[0], row=cells[1])
    demands, *of_items = _variances(fit, cohort, effects)
    rows = []
    for variances in of_items:
        shares = demands / (demands + variances)
        low, high = np.quantile(shares, [(1 - prob) / 2, (1 + prob) / 2])
        sds = np.sqrt(demands).mean(), np.sqrt(variances).mean()
        rows.append([shares.mean(), low, high, *sds])
    columns = ["share", "low", "high", "demands_sd", "own_sd"]
    return pd.DataFrame(rows, [THESE, NEW], columns)


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
    demands, effects = table[["demands_sd", "own_sd"]].to_numpy(dtype=float)[0].tolist()
    digits = beside(max(demands, effects) / 10)
    return (
        f"The declared demands explain {here[0]} of the variance of these items' difficulty "
        f"({prob:.0%} interval {here[1]} to {here[2]}), and {there[0]} ({there[1]} to "
        f"{there[2]}) of that of new items with the same demands. The standard deviation "
        f"is {fixed(demands, digits)} log-odds for the demands' part, and "
        f"{fixed(effects, digits)} for the items' own effects."
    )


def _variances(fit: Fit, cohort: Cohort, effects: list[Latent]) -> np.ndarray:
    """Compute variances over items by draw: of the demands' part, of fitted and of new effects."""
    copies = math.ceil(_VALUES / min(math.prod(cohort.size(latent.plates)) for latent in effects))
    cells, items = len(cohort.subject), len(cohort.levels[ITEM])
    most = np.clip(_CELLS // (cells * (2 + copies)), _FEWEST_DRAWS, _MOST_DRAWS)
    draws = some_draws(fit, int(most))
    evaluator, rng = CellEvaluator(cohort), np.random.default_rng(_SEED)

    def difficulties(values: dict[str, np.ndarray]) -> np.ndarray:
        """Average each item's log-odds over the subjects; shape (draws, items)."""
        chances = evaluator.chances(evaluator.draws_by_level(values)).clip(EDGE, 1 - EDGE)
        return np.asarray(logit(chances).reshape(-1, items, chances.shape[-1]).mean(axis=0).T)

    blocks = []
    for block in np.array_split(draws, math.ceil(len(draws) * cells * copies / _BLOCK)):
        values = {latent.name: stacked(fit, latent, block) for latent in fit.layout.latents}
        centre = difficulties(values | _of_prior(cohort, effects, values))
        several = {name: np.repeat(of, copies, axis=0) for name, of in values.items()}
        new = difficulties(several | _of_prior(cohort, effects, several, rng, copies))
        new -= np.repeat(centre, copies, axis=0)
        parts = centre, difficulties(values) - centre, new.reshape(len(block), -1)
        blocks.append([part.var(axis=1) for part in parts])
    return np.concatenate(blocks, axis=1)


def _of_prior(
    cohort: Cohort,
    effects: list[Latent],
    values: dict[str, np.ndarray],
    rng: np.random.Generator | None = None,
    copies: int = 1,
) -> dict[str, np.ndarray]:
    """Draw own effects of items from their distribution; without `rng`, return the medians.

    The standard scores of each draw are evenly spaced quantiles, so that their mean and variance
    are those of the distribution.
    """
    fitted = {plate_name(plate): math.inf for latent in effects for plate in latent.plates}
    values = values | {name: of[None] for name, of in cohort.covariates.items()}
    for latent in effects:
        shape = values[latent.name].shape
        scores = np.zeros(shape)
        if rng is not None:
            count = math.prod(shape[1:]) * copies
            even = ndtri((np.arange(count) + 0.5) / count)
            rows = np.tile(even / even.std(), (shape[0] // copies, 1))
            scores = rng.permuted(rows, axis=1).reshape(shape)
        values[latent.name] = new_values(latent, scores, values, cohort, fitted, set(fitted))
    return {latent.name: values[latent.name] for latent in effects}
