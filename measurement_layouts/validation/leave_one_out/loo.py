"""Leave-one-out of cells, items or subjects by Pareto-smoothed importance sampling."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import many
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood
from ...inference.forecasts.training import names_of_items
from ...inference.given import refuse_few_draws, refuse_no_fit
from ...inference.population.left_out import LeftOut
from .smoothing import left_out, relative_efficiency, standard_error

type Unit = Literal["cell", "item", "subject"]
"""Unit that is left out: a subject's item, an item of all subjects, or a subject."""

UNITS = ("cell", "item", "subject")
_FEWEST_DRAWS = 25  # least draws for which the tail can be smoothed


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    r"""Accuracy of a layout's predictions of left-out cells, items or subjects.

    Made by `loo`.

    Attributes
    ----------
    table : DataFrame
        By cell, indexed by subject: ``elpd``, the sum over items of the log predictive density of
        an item given the others, in nats; its standard error ``se`` (NaN for a single item);
        ``p_loo``, the effective number of parameters; ``items`` attempted; ``bad_k``, the number
        of them with a Pareto k above the limit; and ``worst_k``, the largest k. By item or by
        subject, indexed by item or subject: the same columns, but with ``outcomes``, the number of
        cells that are left out together, instead of ``items``, and without ``se``.
    pointwise : xarray.Dataset
        ``elpd`` and Pareto ``k`` of each attempted cell, (cell,), with the names of its subject and
        item as an index: ``pointwise.sel(subject="Ann")`` selects a subject, and
        ``pointwise.unstack("cell")`` makes a table of all pairs. By item or subject, of each of
        them.
    limit : float
        Largest Pareto k of a reliable estimate: with S draws :math:`\min(1 - 1/\log_{10} S, 0.7)`.
    unit : {"cell", "item", "subject"}
        Unit that is left out.

    Examples
    --------
    >>> table = pd.DataFrame({"items": [9, 8], "bad_k": [2, 0]}, index=["Ann", "Bob"])
    >>> LeaveOneOut(table, xr.Dataset(), limit=0.7)
    <LeaveOneOut by cell: 2 subjects, 17 outcomes, 2 of them with a Pareto k above 0.70>
    >>> table = pd.DataFrame({"outcomes": [9, 8], "bad_k": [1, 0]}, index=["sum", "product"])
    >>> LeaveOneOut(table, xr.Dataset(), limit=0.7, unit="item")
    <LeaveOneOut by item: 2 items, 17 outcomes, 1 of the items with a Pareto k above 0.70>
    """

    table: pd.DataFrame
    pointwise: xr.Dataset
    limit: float
    unit: Unit = "cell"

    def __repr__(self) -> str:
        cells = self.unit == "cell"
        count, bad = (
            int(self.table[name].sum()) for name in ("items" if cells else "outcomes", "bad_k")
        )
        rows, those = ("subject", "them") if cells else (self.unit, f"the {self.unit}s")
        return (
            f"<LeaveOneOut by {self.unit}: {many(len(self.table), rows)}, "
            f"{many(count, 'outcome')}, {bad} of {those} with a Pareto k above {self.limit:.2f}>"
        )


def loo(fit: Fit, *, subjects: Iterable[object] | None = None, unit: Unit = "cell") -> LeaveOneOut:
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
    result of an item is exactly the sum of its cells.

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

    Returns
    -------
    LeaveOneOut
        A table by subject or item, and the pointwise values.

    Raises
    ------
    FitError
        When `fit` is something else, a subject is not in the fit, or there are fewer than 25 draws;
        when the unit is unknown, subjects are left out of a fit that is not joint, `subjects` is
        given by item, or there are too many own values to integrate over.
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
    refuse_no_fit(fit)
    check_unit(fit, unit, subjects)
    rows = fit.places(subjects)
    draws = refuse_few_draws(fit, "leave-one-out", _FEWEST_DRAWS)
    if unit != "cell" and fit.layout.joint:
        return _of_units(fit, unit, rows)
    limit = min(1 - 1 / np.log10(draws), 0.7)
    cells = [_by_item(fit, row, Attempted.of(fit, row)) for row in rows]
    if unit == "item":
        return _whole_items(pd.concat(cells), names_of_items(fit), limit)
    summaries = [
        (
            cell["elpd"].sum(),
            standard_error(cell["elpd"].to_numpy()),
            cell["p_loo"].sum(),
            len(cell),
            int((~(cell["k"] <= limit)).sum()),
            cell["k"].max(),
        )
        for cell in cells
    ]
    people = pd.Index(fit.names(rows), name="subject", dtype="str")
    columns = ["elpd", "se", "p_loo", "items", "bad_k", "worst_k"]
    table = pd.DataFrame(summaries, people, columns)
    by_cell = pd.concat(cells)
    codes = people.repeat([len(cell) for cell in cells])
    index = pd.MultiIndex.from_arrays([codes, by_cell.index], names=["subject", "item"])
    pointwise = xr.Dataset(
        {name: ("cell", by_cell[name].to_numpy()) for name in ("elpd", "k")},
        xr.Coordinates.from_pandas_multiindex(index, "cell"),
    )
    return LeaveOneOut(table, pointwise, limit)


def _by_item(fit: Fit, row: int, items: Attempted) -> pd.DataFrame:
    """Compute elpd, k and p_loo of a subject's items."""
    posterior = fit.posterior.isel(subject=row)
    profile = [posterior[latent.name].to_numpy() for latent in fit.layout.latents]
    each = [draws.reshape(*draws.shape[:2], -1) for draws in profile]
    r_eff = relative_efficiency(np.concatenate(each, axis=2))
    numbers = [
        left_out(logs, r_eff) for _, values in log_likelihood(fit, row, items) for logs in values
    ]
    return pd.DataFrame(numbers, pd.Index(items.items), ["elpd", "k", "p_loo"])


def check_unit(fit: Fit, unit: str, subjects: object) -> None:
    """Refuse an unknown unit, or one that cannot be left out of a fit."""
    if unit not in UNITS:
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


_MOST_DRAWS = 1000  # draws with which whole items or subjects are left out, about


def _of_units(fit: Fit, unit: Unit, subjects: np.ndarray) -> LeaveOneOut:
    """Predict all outcomes of each item, or of each of some subjects, from all other outcomes."""
    sizes = fit.posterior.sizes
    chains, each = sizes["chain"], sizes["draw"]
    kept = np.arange(0, each, -(-chains * each // _MOST_DRAWS))
    draws = (np.arange(chains)[:, None] * each + kept).ravel()
    cohort = LeftOut.of(fit, draws)
    levels = cohort.cohort.levels[unit]
    places = subjects if unit == "subject" else np.arange(len(levels))
    seed = int(fit.data.attrs["seed"])
    numbers = np.empty((3, len(places)))
    for at, place in enumerate(places):
        values = cohort.marginal(unit, int(place), seed).values.reshape(chains, -1)
        numbers[:, at] = left_out(values, relative_efficiency(np.exp(values - values.max())))
    codes = cohort.cohort.item if unit == "item" else cohort.cohort.subject
    counts = np.bincount(codes, minlength=int(places.max()) + 1)[places]
    names = [levels[place] for place in places]
    return _by_name(unit, names, numbers, counts, min(1 - 1 / np.log10(len(draws)), 0.7))


def _whole_items(cells: pd.DataFrame, items: pd.Index, limit: float) -> LeaveOneOut:
    """Join the cells of each item."""
    groups = cells.groupby(level=0)
    table = groups.agg({"elpd": "sum", "k": "max", "p_loo": "sum"}).assign(count=groups.size())
    table = table.loc[items[items.isin(table.index)]]
    *numbers, counts = table.to_numpy().T
    return _by_name("item", list(table.index), np.stack(numbers), counts.astype(int), limit)


def _by_name(
    unit: Unit, names: list[str], numbers: np.ndarray, counts: np.ndarray, limit: float
) -> LeaveOneOut:
    """Make the tables of elpd, k and p_loo of items or subjects, of shape (3, names)."""
    elpd, k, p_loo = numbers
    table = pd.DataFrame(
        {
            "elpd": elpd,
            "p_loo": p_loo,
            "outcomes": counts,
            "bad_k": (~(k <= limit)).astype(int),
            "worst_k": k,
        },
        pd.Index(names, name=unit, dtype="str"),
    )
    found = xr.Dataset({"elpd": ((unit,), elpd), "k": ((unit,), k)}, {unit: names})
    return LeaveOneOut(table, found, limit, unit)
