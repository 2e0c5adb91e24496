"""Errors of forecasts on new groups of items, estimated by leaving groups out."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from ...common import options
from ...common.progress import track
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import refuse_steps
from ...inference.fit import Fit
from ...inference.forecasts.asked import Asked
from ...inference.forecasts.elsewhere import Transfer as Transfer
from ...inference.forecasts.elsewhere import believed, log_odds
from ...inference.forecasts.forecasting import Forecast
from ...inference.population.group_means import Grouping, groups_of
from ...layouts import Layout
from .assessor import Fitter
from .layouts import ChosenLayout, FittedLayout, asked
from .misfit import LeftOut, parted, posterior_of_misfit
from .splits import Groups, drawn

_MEMORY_MIB = 64.0
_FURTHEST = 40.0  # log-odds
_GROUP = "[group left out]"  # columns do not have this name


def transfer(
    layout: Layout | FittedLayout,
    evaluation: Evaluation,
    groups: Grouping,
    *,
    folds: int = 10,
    seed: int = 1,
    progressbar: bool = True,
) -> Transfer:
    r"""Estimate the errors of a layout's forecasts on groups of items that were not fitted.

    Each group of the training items is left out in turn, and forecast from the others. Given the
    forecast's log-odds :math:`\lambda`, the log-odds of the outcomes are

    .. math:: \operatorname{logit} P(y_{si} = 1) = k\,(c + b\,(\lambda_{si} - c))
        + u_g + w_{sg} + v_i, \quad
        u_g \sim N(0, \tau^2), \quad w_{sg} \sim N(0, \rho^2), \quad v_i \sim N(0, \omega^2)

    for subject s, item i and its group g. Here b is a slope about the population's log-odds c, and
    errors are shared by a group, by a subject's items in a group, and by an item. The posterior
    uncertainty of :math:`\lambda` is included. The result is the posterior of :math:`\tau, \rho,
    \omega`, as computed by `posterior_of_misfit`: with few groups their priors widen forecasts, and
    with many groups the data determine them. The slope b has a point estimate: the value whose mean
    forecasts score best on the left-out groups, with its logarithm multiplied by n / (n + 3) for n
    groups, so that few groups hardly change means.

    Parameters
    ----------
    layout : Layout or FittedLayout
        The layout to fit; a `FittedLayout` also has the options of the fit.
    evaluation : Evaluation
        Training items and outcomes, of a single `Success`; items without outcomes are ignored.
    groups : str, Series or mapping
        A column of the items, or the group of each item by its name, which may include further
        items.
    folds : int
        Number of parts into which `Groups` divides the groups that are left out.
    seed : int
        Seed of fits and draws.
    progressbar : bool
        Whether to show the number of folds done and the time left.

    Returns
    -------
    Transfer
        Estimates for ``fit.forecast(items, trust=...)``.

    Raises
    ------
    DataError
        When `evaluation` is something else, there are fewer than two groups, an item with outcomes
        has none, rows are steps of outcomes, or no subject can be forecast.
    FitError
        When an option is out of range, or no subject could be sampled.

    Notes
    -----
    The mean of the groups' offsets is assumed to be 0, because the fitted layout already contains
    what the groups have in common. The variance is assumed not to depend on the distance of a group
    from the others. With two or three groups the result is close to the prior; in that case give
    the standard deviation, such as ``trust=1.0``.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression, Biometrika 45, for
    recalibration on the log-odds scale; Riley et al. (2016), BMJ 353:i3140, for leaving groups out
    to learn how predictions vary between them.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill, size = Capability("skill", low=0, high=5), MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.uniform(0, 5, 80), "kind": np.repeat(list("abcd"), 20)})
    >>> harder = items["kind"].map(dict(zip("abcd", (-2, -1, 1, 2))))
    >>> chance = expit(np.array([[2.0], [3.0]]) - (items["size"] + harder).to_numpy())
    >>> outcomes = pd.DataFrame(rng.binomial(1, chance), ["Ann", "Bob"])
    >>> found = transfer(FittedLayout(layout, method="grid"), Evaluation.from_wide(outcomes, items),
    ...                  "kind", progressbar=False)
    >>> found.table["offset"].round(0).to_dict()
    {'a': 3.0, 'b': 1.0, 'c': -2.0, 'd': -3.0}
    """
    refuse_no_evaluation(evaluation)
    refuse_steps(evaluation.rows, "transfer")
    how = fitted_layout(layout)
    seed = options.whole("seed", seed)
    tried = evaluation.trials.any().to_numpy()
    known = evaluation.select(evaluation.items.index[tried])
    own = groups_of(known.item_table, groups)
    table = known.item_table.assign(**{_GROUP: own})
    grouped = Evaluation(table, known.successes, known.trials, subjects=known.subject_table)
    (parts,) = drawn(Groups(_GROUP, folds), grouped, repeats=1, seed=seed)
    found: list[LeftOut] = []
    for fold in track(parts, len(parts), progressbar, what="groups left out"):
        names = fold.items(known)
        result = how.fit(fold.training(known), seed=seed)
        for name, items in own[names].groupby(own[names], sort=False):
            found.append(left_out(result, known, str(name), items.index))
    won, count = known.successes.to_numpy().sum(), known.trials.to_numpy().sum()
    centre = float(logit((won + 1) / (count + 2)))
    draws = posterior_of_misfit(found, centre=centre, seed=seed)
    column = groups if isinstance(groups, str) else None
    every = own if column is not None else pd.Series(groups).rename(index=str).map(str)
    return Transfer(draws, centre, _table(found), column, every)


def left_out(fit: Fit, evaluation: Evaluation, group: str, items: pd.Index) -> LeftOut:
    """Forecast a group that was left out, and collect its outcomes.

    Parameters
    ----------
    fit : Fit
        Fit to the other groups.
    evaluation : Evaluation
        Outcomes, including those of the group.
    group : str
        Name of the group.
    items : Index
        Names of the items of the group.
    """
    tries = evaluation.trials.loc[:, items].any(axis=1)
    names = [name for name in fit.subjects if tries[name]]
    won, tried = (
        part.loc[names, items].to_numpy(dtype=float)
        for part in (evaluation.successes, evaluation.trials)
    )
    every = Asked.of(fit, evaluation.item_table.loc[items], names).chances(memory_mib=_MEMORY_MIB)
    return parted(group, won, tried, (believed(log_odds(chances)) for chances in every))


def _table(groups: Sequence[LeftOut]) -> pd.DataFrame:
    """Return a table of forecasts and outcomes by left-out group."""
    rows = []
    for left in groups:
        tried = left.trials > 0
        count, won = left.trials.sum(), left.successes.sum()
        chance = expit(left.log_odds / np.sqrt(1 + np.pi * left.variance / 8))
        rows.append(
            {
                "group": left.group,
                "subjects": int(tried.any(axis=1).sum()),
                "items": int(tried.any(axis=0).sum()),
                "trials": int(count),
                "success": won / count,
                "forecast": (chance * left.trials).sum() / count,
                "offset": _offset(left),
            }
        )
    return pd.DataFrame(rows).set_index("group")


def _offset(left: LeftOut) -> float:
    """Find the shift of log-odds for which the expected successes are those observed.

    The number of observed successes is at least 0.5, and at most 0.5 below the number of trials.
    """
    count, won = left.trials.sum(), left.successes.sum()
    goal = np.clip(won, 0.5, count - 0.5)

    def excess(offset: float) -> float:
        return float((left.trials * expit(left.log_odds + offset)).sum() - goal)

    return float(brentq(excess, -_FURTHEST, _FURTHEST, xtol=1e-6))


@dataclass(frozen=True)
class Elsewhere(Fitter):
    """Predictions by a layout, with errors on new groups that are estimated by leaving groups out.

    The errors are estimated from the training outcomes only: groups are left out within each
    training set.

    Parameters
    ----------
    layout : Layout, FittedLayout or ChosenLayout
        The layout to fit; a `FittedLayout` also has the options of the fit. Of a `ChosenLayout`,
        the best on all training items is taken.
    groups : str
        Column of the items that names the groups.
    folds : int
        Number of parts into which `Groups` divides the training groups, as in `transfer`.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> skill, size = Capability("skill", low=0, high=5), MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> rng = np.random.default_rng(1)
    >>> items = pd.DataFrame({"size": rng.uniform(0, 5, 60), "kind": np.repeat(list("abc"), 20)})
    >>> margin = 2 - items["size"] + items["kind"].map({"a": 2, "b": -2, "c": 1})
    >>> outcomes = pd.DataFrame([rng.binomial(1, expit(margin))], ["Ann"])
    >>> items.loc[60] = [0.3, "new"]
    >>> training = Evaluation.from_wide(outcomes.reindex(columns=items.index), items)
    >>> exact = FittedLayout(layout, method="grid")
    >>> for way in (exact, Elsewhere(exact, "kind")):
    ...     print(f"{way.predict(training, [60], seed=1).item():.1f}")
    0.9
    0.8
    """

    layout: Layout | FittedLayout | ChosenLayout
    groups: str
    folds: int = 10

    def check(self, items: pd.DataFrame) -> None:
        """Refuse items that do not fit the layout or have no group.

        Raises
        ------
        DataError
            When a meta-feature or the groups' column is missing.
        """
        how = self.layout
        (how if isinstance(how, ChosenLayout) else fitted_layout(how)).check(items)
        groups_of(items, self.groups)

    def fitted(
        self, training: Evaluation, items: Sequence[str], *, seed: int
    ) -> tuple[Forecast, pd.DataFrame]:
        """Forecast success, and return the diagnostics of the fit.

        Returns
        -------
        Forecast
            Forecast of the items.
        DataFrame
            Diagnostics as returned by `Fit.diagnostics`.

        Raises
        ------
        DataError, FitError
            When the errors cannot be estimated; see `transfer`.
        """
        how = self.layout
        if isinstance(how, ChosenLayout):
            how = how.best(training, seed=seed)
        how = fitted_layout(how)
        told = transfer(how, training, self.groups, folds=self.folds, seed=seed, progressbar=False)
        result = how.fit(training, seed=seed)
        return result.forecast(asked(training, items), trust=told), result.diagnostics()


def fitted_layout(layout: Layout | FittedLayout) -> FittedLayout:
    """Return a layout as a `FittedLayout`, with the default options unless it is one."""
    return layout if isinstance(layout, FittedLayout) else FittedLayout(layout)
