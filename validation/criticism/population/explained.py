"""How much of what makes items hard the declared demands explain."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import logit, ndtri

from ....common.digits import beside, fixed
from ....common.errors import FitError
from ....common.options import inside
from ....evaluations.subject_data import EDGE
from ....inference.fit import Fit
from ....inference.model.cohort import Cohort
from ....inference.model.new_levels import new_values
from ....inference.population.roster import cohort_of
from ....inference.population.stacked import some_draws, stacked
from ....inference.population.truth import evaluate_cells, laid_out
from ....layouts import Latent, Layout, Spread
from ....layouts.plates import ITEM, SUBJECT, plate_name, root

THESE, NEW = "these items", "new items"
_MOST_DRAWS = 1000
_FEWEST_DRAWS = 100
_CELLS = 40_000_000  # chances computed: with more cells there are fewer draws
_BLOCK = 2**18  # chances computed at a time
_VALUES = 100  # of each latent of new items, beside each draw
_SEED = 20261


@dataclass(frozen=True, eq=False)
class Explained:
    """How much of what makes items hard the declared demands explain.

    Made by `explained`.

    Attributes
    ----------
    table : DataFrame
        Indexed by ``these items``, those of the fit, and ``new items``, others that ask the same:
        ``share`` in [0, 1], its posterior mean, and the ends ``low`` and ``high`` of its interval;
        ``demands_sd`` and ``own_sd``, posterior means of the standard deviations of the demands'
        part and of the items' own, in log-odds; ``remark``, why there is no share, where it is NaN.
    draws : DataFrame
        A column for each row of the table, the share under each posterior draw; no rows where there
        is no share.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> table = pd.DataFrame({"share": [0.52, 0.5], "low": [0.4, 0.36], "high": [0.64, 0.63],
    ...                       "remark": ""}, index=["these items", "new items"])
    >>> Explained(table, pd.DataFrame(), 0.9)
    <Explained: demands explain 0.52 (90% interval 0.40 to 0.64) of what makes these items hard,
    0.50 (0.36 to 0.63) of new items>
    """

    table: pd.DataFrame
    draws: pd.DataFrame
    prob: float

    def __repr__(self) -> str:
        if self.table["share"].isna().any():
            return f"<Explained: {self.table['remark'].iloc[0]}>"
        here, there = (
            (fixed(row["share"], 2), f"{fixed(row['low'], 2)} to {fixed(row['high'], 2)}")
            for row in self.table.loc[[THESE, NEW]].to_dict("records")
        )
        return (
            f"<Explained: demands explain {here[0]} ({self.prob:.0%} interval {here[1]}) of what "
            f"makes these items hard, {there[0]} ({there[1]}) of new items>"
        )

    def in_words(self) -> str:
        """Say in one or two sentences what was found, for a report.

        Examples
        --------
        >>> table = pd.DataFrame({"share": [0.52, 0.5], "low": [0.4, 0.36], "high": [0.64, 0.63],
        ...                       "demands_sd": 1.04, "own_sd": 1.0, "remark": ""},
        ...                      index=["these items", "new items"])
        >>> print(Explained(table, pd.DataFrame(), 0.9).in_words())
        The declared demands explain 52% of the variance of these items' difficulty (90% interval
        40% to 64%), and 50% (36% to 63%) of that of new items with the same demands. The demands'
        part has a standard deviation of 1.04 log-odds, what items have of their own one of 1.00.
        """
        if self.table["share"].isna().any():
            return f"{self.table['remark'].iloc[0]}."
        here, there = (
            [f"{row[name]:.0%}" for name in ("share", "low", "high")]
            for row in self.table.loc[[THESE, NEW]].to_dict("records")
        )
        demands, own = self.table[["demands_sd", "own_sd"]].to_numpy()[0].tolist()
        digits = beside(max(demands, own) / 10)
        return (
            f"The declared demands explain {here[0]} of the variance of these items' difficulty "
            f"({self.prob:.0%} interval {here[1]} to {here[2]}), and {there[0]} ({there[1]} to "
            f"{there[2]}) of that of new items with the same demands. The demands' part has a "
            f"standard deviation of {fixed(demands, digits)} log-odds, what items have "
            f"of their own one of {fixed(own, digits)}."
        )


def explained(fit: Fit, *, prob: float = 0.9) -> Explained:
    r"""Find the share of the items' difficulty that the declared demands explain.

    Under each posterior draw, item j has the difficulty :math:`T_j`, its final log-odds averaged
    over the subjects of the fit. What the layout says of its demands alone is :math:`D_j`, the same
    with all that items or their categories have of their own at the medians of their priors, and
    :math:`E_j = T_j - D_j` is the rest. The share

    .. math:: \frac{\mathrm{var}_j D_j}{\mathrm{var}_j D_j + \mathrm{var}_j E_j}

    is computed draw by draw, so that it has a posterior. Its denominator is not the variance of T:
    in a draw the two parts need not be uncorrelated, and then :math:`1 - \mathrm{var} E /
    \mathrm{var} T` leaves [0, 1].

    For new items the own parts are drawn from their distribution given the draw's spreads, which
    replaces :math:`\mathrm{var}_j E_j` by that of the items there may be; the demands stay those of
    the fit's items. Of these items an own part may by chance go further, or less far, than that.

    What a subject, or a group of subjects, has on an item belongs to neither part; nor does it
    matter which demand contributes. A weight that subjects differ in counts by its mean.

    Parameters
    ----------
    fit : Fit
        A joint fit.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    Explained
        A table of two rows, and the draws. From at most 1,000 posterior draws, fewer of large
        cohorts. Where items have nothing of their own, shares are NaN, with the reason.

    Raises
    ------
    FitError
        When the fit is not joint, has a single item or outcomes of several steps, `prob` is not
        between 0 and 1, or PyMC has no quantiles of the prior of what items have of their own.

    References
    ----------
    Gelman, Goodrich, Gabry and Vehtari (2019), R-squared for Bayesian regression models, The
    American Statistician 73(3).

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> effort = ml.Bias("weight", per="population") * ml.MetaFeature("length", low=-2, high=2)
    >>> prior = ml.Prior("ZeroSumNormal", sigma=ml.Spread("easeSpread"))
    >>> margin = ml.Bias("ease", per="item", prior=prior) - effort
    >>> layout = ml.Layout("quiz", ml.Success("solved", logistic(margin)))
    >>> items = pd.DataFrame({"length": [-1.0, 0.0, 1.0]}, index=["a", "b", "c"])
    >>> solved = pd.DataFrame(np.tri(8, 3, dtype=int), columns=items.index).rename("s{}".format)
    >>> result = ml.fit(layout, ml.Evaluation.from_wide(solved, items), draws=200, tune=300,
    ...                 chains=2, seed=1, progressbar=False)
    >>> found = explained(result)
    >>> found.table["share"].between(0, 1).all()
    np.True_
    """
    prob = inside("prob", prob, such_as=0.9)
    layout = fit.layout
    if not layout.joint:
        raise FitError(
            f"explained: under layout {layout.name!r} each subject was fitted alone, and items "
            "have nothing of their own beside the demands; fit a layout with a node per='item'"
        )
    if layout.steps is not None:
        raise FitError(
            f"explained: layout {layout.name!r} has outcomes of several steps, and difficulty is "
            "that of one success; fit a layout of one Success"
        )
    own = _own(layout)
    if not own:
        return no_share(
            f"layout {layout.name!r} gives items nothing of their own, so that demands explain all "
            "by declaration; to find the share, add a node per='item' to the final log-odds",
            prob,
        )
    known = cohort_of(fit)
    if len(known.levels[ITEM]) < 2:
        raise FitError(
            f"explained: the fit has the item {known.levels[ITEM][0]} alone, and shares of a "
            "variance need several; fit more items"
        )
    shares, spreads = _by_draw(fit, _every_cell(known), own)
    tail = (1 - prob) / 2
    low, high = np.quantile(shares, [tail, 1 - tail], axis=0)
    table = pd.DataFrame(
        {
            "share": shares.mean(axis=0),
            "low": low,
            "high": high,
            "demands_sd": spreads[0].mean(axis=0),
            "own_sd": spreads[1].mean(axis=0),
            "remark": "",
        },
        [THESE, NEW],
    )
    return Explained(table, pd.DataFrame(shares, columns=[THESE, NEW]), prob)


def _own(layout: Layout) -> list[Latent]:
    """List what items, or categories of them, have of their own; spreads only say how far apart."""
    return [
        latent
        for latent in layout.latents
        if latent.plates
        and all(root(plate) == ITEM for plate in latent.plates)
        and not isinstance(latent, Spread)
    ]


def no_share(remark: str, prob: float) -> Explained:
    """Say why there is no share."""
    columns = ["share", "low", "high", "demands_sd", "own_sd"]
    table = pd.DataFrame(np.nan, [THESE, NEW], columns).assign(remark=remark)
    return Explained(table, pd.DataFrame(columns=[THESE, NEW], dtype=float), prob)


def _every_cell(known: Cohort) -> Cohort:
    """Lay out every subject on every item."""
    subjects, items = len(known.levels[SUBJECT]), len(known.levels[ITEM])
    cells = np.divmod(np.arange(subjects * items), items)
    return replace(known, subject=cells[0], item=cells[1])


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
    demands, these, new = [], [], []
    for start in range(0, len(draws), together):
        block = draws[start : start + together]
        values = {one.name: stacked(fit, one, block) for one in fit.layout.latents}
        centre = _difficulties(cohort, values | _from_prior(cohort, own, values, None))
        demands.append(centre.var(axis=1))
        these.append((_difficulties(cohort, values) - centre).var(axis=1))
        several = {name: np.repeat(each, copies, axis=0) for name, each in values.items()}
        fresh = several | _from_prior(cohort, own, several, rng, copies)
        parts = _difficulties(cohort, fresh) - np.repeat(centre, copies, axis=0)
        new.append(parts.reshape(len(block), -1).var(axis=1))
    of_demands = np.concatenate(demands)[:, None]
    of_own = np.stack([np.concatenate(these), np.concatenate(new)], axis=1)
    both = np.broadcast_to(np.sqrt(of_demands), of_own.shape), np.sqrt(of_own)
    return of_demands / (of_demands + of_own), both


def _difficulties(cohort: Cohort, values: dict[str, np.ndarray]) -> np.ndarray:
    """Average every item's log-odds over the subjects; shape (draws, items)."""
    draws = len(next(iter(values.values())))
    chances = evaluate_cells(cohort, laid_out(cohort, values, draws=True)).clip(EDGE, 1 - EDGE)
    found = np.broadcast_to(logit(chances), (draws, len(cohort.subject)))
    return np.asarray(found.reshape(draws, -1, len(cohort.levels[ITEM])).mean(axis=1))


def _from_prior(
    cohort: Cohort,
    own: list[Latent],
    values: dict[str, np.ndarray],
    rng: np.random.Generator | None,
    copies: int = 1,
) -> dict[str, np.ndarray]:
    """Draw what items have of their own from its distribution, or take the median without `rng`.

    Scores are even: those of each draw have the mean and the variance of the distribution.
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
