"""Leave-one-out of cells, items or subjects by Pareto-smoothed importance sampling."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import logsumexp

from ...common.errors import FitError
from ...common.progress import track
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood
from ...inference.forecasts.training import names_of_items
from ...inference.given import refuse_few_draws, refuse_no_fit
from ...inference.population.left_out import LeftOut

if TYPE_CHECKING:
    from arviz_stats.utils import ELPDData

type Unit = Literal["cell", "item", "subject"]
"""Unit that is left out: a subject's item, an item of all subjects, or a subject."""

REFITS = {
    "cell": "validation.cross_validate([layout], evaluation, split=ml.validation.Cells(folds=10))",
    "item": "validation.cross_validate([layout], evaluation, split=ml.validation.Items(folds=10))",
    "subject": "validation.cross_validate([layout], evaluation, split=ml.validation.Subjects())",
}
"""Functions of the package that score by further fits what leave-one-out by a unit forecasts."""

_FEWEST_DRAWS = 25  # least draws for which the tail can be smoothed
_MOST_DRAWS = 1000  # draws with which whole items or subjects are left out, about
_TRIED = 6  # whole items or subjects that are left out first, to see whether others can be
_NUMBERS = ["elpd", "k", "p_loo"]  # of each cell, item or subject that is left out
_NEARLY_ALL = 0.9  # share of units with a large Pareto k above which no elpd is reliable


def loo(
    fit: Fit,
    *,
    subjects: Iterable[object] | None = None,
    unit: Unit = "cell",
    progressbar: bool = True,
) -> "ELPDData":
    r"""Estimate how well a layout predicts left-out cells, items or subjects.

    .. math:: \mathrm{elpd} = \sum_i \log p(y_i \mid y_{-i}), \qquad
        p(y_i \mid y_{-i}) \approx \frac{\sum_s w_{is} \, p(y_i \mid \theta_s)}{\sum_s w_{is}}

    with the draws :math:`\theta_s` of the fit to all items and weights
    :math:`w_{is} \propto 1 / p(y_i \mid \theta_s)`, the largest of which are smoothed by a
    generalised Pareto distribution. By cell, one subject's item is left out with all its
    trials.

    The shape k of that distribution shows whether the draws can replace a fit without the item.
    Above the limit they cannot, because the item determines the profile almost alone. In that case,
    fit without such items (mask their outcomes) and score the forecasts of them, or use
    `cross_validate`, which refits. With more draws, the k of a few items may fall below the limit.

    With several outcomes, grades or scores, an item is left out with all of them.

    In a joint fit, a cell is predicted from the other subjects' outcomes as well. The result does
    not apply to items that no subject has attempted, or to new subjects; for these, leave out whole
    items or subjects. Then y contains all outcomes of one item or subject, :math:`\theta` contains
    the values that are not its own, and its own values e are integrated over,

    .. math:: p(y_j \mid \theta_s) = \int \prod_i p(y_{ij} \mid \theta_s, e)\,
        p(e \mid \theta_s)\, de,

    a single value on a grid of at least 29 points, several values by importance sampling (see
    `log_marginal`). Draws are thinned to 1,000. If effects sum to zero over n items, the effect of
    the left-out item is distributed about the mean of the others, with the standard deviation
    :math:`s \sqrt{1 + 1/(n - 1)}`; the other effects then sum to zero by themselves, which changes
    all subjects by about :math:`s / n` and is neglected. If each subject was fitted separately, the
    result of an item is exactly the sum of its cells. Six items or subjects are left out first; if
    k is too large for all of them, the others are not tried.

    A constant of the fit, such as the mean failure towards which `mixture` pulls, is not changed,
    although it was computed with the left-out item.

    Parameters
    ----------
    fit : Fit
        The fit; its draws are read one subject at a time.
    subjects : iterable, optional
        Subjects whose items, or which themselves, are left out (default: all). Not allowed by item.
    unit : {"cell", "item", "subject"}
        Unit that is left out at a time.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    arviz_stats.ELPDData
        ``elpd``, in nats, its standard error ``se``, and the effective number of parameters ``p``;
        the pointwise ``elpd_i``, ``pareto_k`` and ``p_loo_i``; and the largest reliable k,
        ``good_k``. By cell, the pointwise values are those of the attempted cells, (cell,), indexed
        by subject and item: ``elpd_i.sel(subject="Ann")`` selects a subject,
        ``elpd_i.groupby("subject").sum()`` adds up each subject's, and ``elpd_i.unstack("cell")``
        makes a table. By item or subject, they have a value for each. `arviz_plots.plot_khat` draws
        the k, and `arviz_stats.compare` takes the results of several layouts.

    Raises
    ------
    FitError
        When `fit` is something else, a subject is not in the fit, or there are fewer than 25 draws;
        when the unit is unknown, subjects are left out of a fit that is not joint, `subjects` is
        given by item, or there are too many own values to integrate over; when k is too large for
        each of the items or subjects that are left out first.
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
    >>> elpd = loo(result, progressbar=False)
    >>> elpd.n_samples, elpd.n_data_points, round(elpd.good_k, 2), elpd.elpd < 0
    (400, 69, 0.62, True)
    """
    refuse_no_fit(fit)
    _refuse_unit(fit, unit, subjects)
    rows = fit.places(subjects)
    draws = refuse_few_draws(fit, "leave-one-out", _FEWEST_DRAWS)
    if unit != "cell" and fit.layout.joint:
        return _of_units(fit, unit, rows, progressbar)
    tracked = track(rows.tolist(), len(rows), progressbar)
    cells = pd.DataFrame(_of_cells(fit, tracked), columns=["subject", "item", *_NUMBERS])
    if unit == "cell":
        return _elpd_data("cell", cells.set_index(["subject", "item"]), draws)
    items = cells.groupby("item").agg({"elpd": "sum", "k": "max", "p_loo": "sum"})
    return _elpd_data("item", items.reindex(names_of_items(fit)).dropna(how="all"), draws)


def refuse_unreliable(elpd: "ELPDData", unit: Unit, layout: str) -> None:
    """Refuse an elpd of which nearly all parts have too large a Pareto k, and say what to call."""
    bad = int((~(elpd.pareto_k <= elpd.good_k)).sum())
    if bad > _NEARLY_ALL * elpd.n_data_points:
        raise FitError(
            f"leave-one-out by {unit} under layout {layout!r}: Pareto k is above {elpd.good_k:.2f} "
            f"for {bad} of {elpd.n_data_points} {unit}s tried, so that draws of one fit cannot "
            f"replace fits without them; fit without them: ml.{REFITS[unit]}"
        )


def _refuse_unit(fit: Fit, unit: str, subjects: object) -> None:
    """Refuse an unknown unit, or one that cannot be left out of a fit."""
    if unit not in REFITS:
        raise FitError(f"unit={unit!r}; give the unit to leave out: 'cell', 'item' or 'subject'")
    if unit == "item" and subjects is not None:
        raise FitError(
            "unit='item' leaves out an item of all subjects, but subjects= selects some; omit "
            "subjects=, or pass unit='cell' for the items of some subjects"
        )
    if unit == "subject" and not fit.shared:
        raise FitError(
            f"unit='subject': under layout {fit.layout.name!r} subjects share no value, so that "
            "the others carry no information about one that is left out; pass unit='cell' "
            "or 'item', or use a layout with a population"
        )


def _of_cells(fit: Fit, rows: Iterable[int]) -> Iterator[tuple[object, ...]]:
    """Leave out the cells of some subjects: subject, item, elpd, k and p_loo of each."""
    posterior, subjects = fit.posterior, fit.subjects
    efficiency = _efficiency(fit, posterior) if fit.layout.joint else np.nan
    for row in rows:
        if not fit.layout.joint:
            efficiency = _efficiency(fit, posterior.isel(subject=row))
        attempted = Attempted.of(fit, row)
        for items, logs in log_likelihood(fit, row, attempted):
            for item, values in zip(attempted.items[items], logs, strict=True):
                yield subjects[row], item, *_left_out(values, efficiency)


def _of_units(fit: Fit, unit: Unit, subjects: np.ndarray, progressbar: bool) -> "ELPDData":
    """Predict all outcomes of each item, or of each of some subjects, from all other outcomes."""
    chains, size = (fit.posterior.sizes[dim] for dim in ("chain", "draw"))
    thinned = np.arange(0, size, -(-chains * size // _MOST_DRAWS))
    draws = (np.arange(chains)[:, None] * size + thinned).ravel()
    cohort = LeftOut.of(fit, draws)
    names, seed = np.array(cohort.cohort.levels[unit]), int(fit.data.attrs["seed"])
    units = subjects if unit == "subject" else np.arange(len(names))
    tried = _TRIED if len(units) > 2 * _TRIED else 0
    first = np.linspace(0, len(units) - 1, tried).astype(int)
    order = [*units[first], *np.delete(units, first)]
    table = pd.DataFrame(index=pd.Index(names[units], name=unit), columns=_NUMBERS, dtype=float)
    for number, chosen in enumerate(track(order, len(order), progressbar, f"{unit}s")):
        if number == tried > 0:
            refuse_unreliable(
                _elpd_data(unit, table.dropna(how="all"), len(draws)), unit, fit.layout.name
            )
        values = cohort.marginal(unit, int(chosen), seed).values.reshape(chains, -1)
        likelihood = np.exp(values - values.max())
        table.loc[names[chosen]] = _left_out(values, _relative_efficiency(likelihood[..., None]))
    return _elpd_data(unit, table, len(draws))


def _efficiency(fit: Fit, posterior: xr.Dataset) -> float:
    """Compute effective draws per draw, averaged over the values of one posterior."""
    variables = [posterior[latent.name] for latent in fit.layout.latents]
    draws = [one.transpose("chain", "draw", ...).to_numpy() for one in variables]
    return _relative_efficiency(
        np.concatenate([values.reshape(*values.shape[:2], -1) for values in draws], axis=2)
    )


def _relative_efficiency(draws: np.ndarray) -> float:
    """Compute effective draws per draw, (chains, draws, quantities), averaged over quantities."""
    from arviz_stats.base import array_stats  # slow to import

    if len(draws) == 1:
        return 1.0
    sizes = array_stats.ess(draws, chain_axis=0, draw_axis=1, method="mean")
    return float(np.mean(sizes) / (draws.shape[0] * draws.shape[1]))


def _left_out(values: np.ndarray, efficiency: float) -> tuple[float, float, float]:
    """Compute elpd, k and p_loo of a point from its log-likelihoods, (chains, draws)."""
    from arviz_stats.base import array_stats  # slow to import

    try:
        with np.errstate(all="ignore"):  # for tails with almost equal values
            elpd, k, p_loo = array_stats.loo(values, r_eff=efficiency)
    except ValueError:  # the largest weights are equal, so that smoothing is not needed
        size = np.log(values.size)
        elpd, k = size - logsumexp(-values), 0.0
        p_loo = logsumexp(values) - size - elpd
    return float(elpd), float(k), float(p_loo)


def _elpd_data(dim: str, table: pd.DataFrame, draws: int) -> "ELPDData":
    """Make ArviZ's result of a table of elpd, k and p_loo by cell, item or subject."""
    from arviz_stats.utils import ELPDDataLOO  # slow to import

    if isinstance(table.index, pd.MultiIndex):
        coords = xr.Coordinates.from_pandas_multiindex(table.index, dim)
    else:
        coords = xr.Coordinates({dim: table.index.to_numpy(dtype=str)})
    elpd, pareto_k, p_loo = (xr.DataArray(table[name], coords, dim) for name in _NUMBERS)
    limit = float(min(1 - 1 / np.log10(draws), 0.7))
    return ELPDDataLOO(
        elpd=float(elpd.sum()),
        se=float(np.sqrt(len(table) * table["elpd"].var())),
        p=float(p_loo.sum()),
        n_samples=draws,
        n_data_points=len(table),
        scale="log",
        warning=bool((~(pareto_k <= limit)).any()),
        good_k=limit,
        elpd_i=elpd,
        pareto_k=pareto_k,
        p_loo_i=p_loo,
    )
