"""Leave-one-out by Pareto-smoothed importance sampling: every item foreseen from the others."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from ...common.errors import FitError
from ...common.messages import many
from ...evaluations.steps import Rows
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood, whole_items

_FEWEST_DRAWS = 25  # with fewer there is no tail to smooth


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""How well one layout foresees each item from a subject's other items.

    Made by `loo`.

    Attributes
    ----------
    table : DataFrame
        Indexed by subject: ``elpd``, the sum over items of the log predictive density of an item
        given the others, in nats; its standard error ``se`` (NaN for a single item); ``p_loo``, the
        effective number of parameters; ``items`` attempted; ``bad_k``, how many of them have a
        Pareto k above the limit; and ``worst_k``.
    pointwise : xarray.Dataset
        ``elpd`` and Pareto ``k`` (subject, item); NaN where the item was not attempted.
    limit : float
        Largest Pareto k that can be trusted: with S draws :math:`\min(1 - 1/\log_{10} S, 0.7)`.

    Examples
    --------
    >>> table = pd.DataFrame({"items": [9, 8], "bad_k": [2, 0]}, index=["Ann", "Bob"])
    >>> LeaveOneOut(table, xr.Dataset(), limit=0.7)
    <LeaveOneOut: 2 subjects, 17 outcomes, 2 of them with a Pareto k above 0.70>
    """

    table: pd.DataFrame
    pointwise: xr.Dataset
    limit: float

    def __repr__(self) -> str:
        items, bad = (int(self.table[name].sum()) for name in ("items", "bad_k"))
        return (
            f"<LeaveOneOut: {many(len(self.table), 'subject')}, {many(items, 'outcome')}, {bad} of "
            f"them with a Pareto k above {self.limit:.2f}>"
        )


def loo(fit: Fit, *, subjects: Iterable[object] | None = None) -> LeaveOneOut:
    r"""Estimate how well a layout foresees each item from the subject's other items.

    .. math:: \mathrm{elpd} = \sum_i \log p(y_i \mid y_{-i}), \qquad
        p(y_i \mid y_{-i}) \approx \frac{\sum_s w_{is} \, p(y_i \mid \theta_s)}{\sum_s w_{is}}

    with the draws :math:`\theta_s` of the fit to all items and weights
    :math:`w_{is} \propto 1 / p(y_i \mid \theta_s)`, the largest of which are smoothed by a
    generalised Pareto distribution. The unit that is left out is an item with all its trials.

    The shape k of that distribution tells whether the draws can stand for a fit without the item.
    Above the limit they cannot: the item decides the profile almost alone. Then fit without such
    items (mask their outcomes) and score the forecasts of them, or use `cross_validate`, which
    refits; a few items may also come below the limit with more draws.

    Where outcomes are several, graded or scores, an item is left out with all of them.

    A constant of the fit, such as the mean failure that `mixture` pulls towards, stays what it was:
    it has seen the item that is left out.

    Parameters
    ----------
    fit : Fit
        The fit; its draws are read one subject at a time.
    subjects : iterable, optional
        Whose items; everybody's by default.

    Returns
    -------
    LeaveOneOut
        A table by subject, and the numbers of every item.

    Raises
    ------
    FitError
        When a subject is not in the fit, or has fewer than 25 draws.
    DataError
        When a subject is named twice.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Practical Bayesian model evaluation using leave-one-out
    cross-validation and WAIC, Statistics and Computing 27, equations 4 and 23; Vehtari,
    Simpson, Gelman, Yao and Gabry (2024), Pareto smoothed importance sampling, JMLR 25(72).

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=200, tune=200, chains=2, seed=1, progressbar=False)
    >>> loo(result).table[["elpd", "se", "p_loo", "items", "bad_k"]].round(0)
             elpd   se  p_loo  items  bad_k
    subject
    sim-01    ...
    """
    rows, names = fit.places(subjects), fit.subjects
    draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    if draws < _FEWEST_DRAWS:
        raise FitError(
            f"the fit has {many(draws, 'draw')} of each profile; leave-one-out needs at least "
            f"{_FEWEST_DRAWS}, and should have 1000: fit with more"
        )
    limit = min(1 - 1 / np.log10(draws), 0.7)
    items = fit.observed.indexes["item"].map(str)
    if fit.layout.steps is not None:
        items = Rows.read(items).items
    pointwise = np.full((2, len(rows), len(items)), np.nan)
    summaries = []
    for place, row in enumerate(rows):
        attempted = Attempted.of(fit, row)
        elpd, k, p_loo = _by_item(fit, row, attempted)
        pointwise[:, place, items.get_indexer(attempted.items)] = elpd, k
        bad = int((~(k <= limit)).sum())
        summaries.append((elpd.sum(), standard_error(elpd), p_loo.sum(), len(elpd), bad, k.max()))
    who = pd.Index([names[row] for row in rows], name="subject", dtype="str")
    columns = ["elpd", "se", "p_loo", "items", "bad_k", "worst_k"]
    cells = ("subject", "item")
    found = xr.Dataset(
        {"elpd": (cells, pointwise[0]), "k": (cells, pointwise[1])},
        {"subject": list(who), "item": list(items)},
    )
    return LeaveOneOut(pd.DataFrame(summaries, who, columns), found, limit)


def standard_error(values: np.ndarray) -> float:
    """Give the standard error of the sum of independent values; NaN for a single one."""
    if len(values) < 2:
        return np.nan
    return float(np.sqrt(len(values) * values.var(ddof=1)))


def _by_item(fit: Fit, row: int, items: Attempted) -> np.ndarray:
    """Compute elpd, k and p_loo of a subject's items; shape (3, items)."""
    r_eff = _relative_efficiency(fit, row)
    if items.steps is not None:
        parts = whole_items(fit, row, items, items.steps)
        return np.stack([_left_out(own, r_eff) for own in parts], axis=1)
    different, which = items.different()
    found = np.empty((3, len(different.names)))
    for places, values in log_likelihood(fit, row, different):
        for place, own in zip(places, values, strict=True):
            found[:, place] = _left_out(own, r_eff)
    return found[:, which]


def _relative_efficiency(fit: Fit, row: int) -> float:
    """Effective draws per draw, averaged over the profile's elements, as ArviZ has it."""
    from arviz_stats.base import array_stats  # takes a while to import

    posterior = fit.posterior.isel(subject=row)
    if posterior.sizes["chain"] == 1:
        return 1.0
    sizes = []
    for latent in fit.layout.latents:
        draws = posterior[latent.name].to_numpy()
        draws = draws.reshape(*draws.shape[:2], -1)
        sizes.append(np.ravel(array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")))
    return float(np.concatenate(sizes).mean() / (draws.shape[0] * draws.shape[1]))


def _left_out(values: np.ndarray, r_eff: float) -> tuple[float, float, float]:
    """Compute elpd, k and p_loo of one item from its log-likelihood, (chains, draws)."""
    from arviz_stats.base import array_stats  # takes a while to import

    try:
        with np.errstate(all="ignore"):  # of a tail whose values are almost alike
            elpd, k, p_loo = array_stats.loo(values, r_eff=r_eff)
    except ValueError:  # the largest weights are all alike: bounded, and nothing to smooth
        size = np.log(values.size)
        elpd, k = size - logsumexp(-values), 0.0
        p_loo = logsumexp(values) - size - elpd
    return float(elpd), float(k), float(p_loo)
