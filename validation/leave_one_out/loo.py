"""Leave-one-out by Pareto-smoothed importance sampling, and layouts compared by it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import LinearConstraint, minimize
from scipy.special import logsumexp

from ...common.digits import beside, fixed
from ...common.errors import DataError, FitError
from ...common.messages import many, some
from ...evaluations.steps import Rows
from ...evaluations.tables import refuse_repeats, same_names, texts
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted, log_likelihood, whole_items
from ...inference.posterior.diagnostics import diagnose

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

    Where subjects share something, what is left out is one subject's item, and it is foreseen from
    the other subjects' outcomes, too. That says nothing of items which nobody has attempted.

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


_FAR_BEHIND = -50.0  # nats behind the best layout on one point; more would move no weight


@dataclass(frozen=True, eq=False)
class LayoutComparison:
    """Layouts ranked by how well they foresee each item from the others.

    Made by `compare_layouts`.

    Attributes
    ----------
    table : DataFrame
        One row per ``subject`` and ``layout``, each subject's best layout first: ``rank`` from 1;
        ``elpd``, ``se``, ``p_loo`` and ``items`` of `LeaveOneOut`; ``elpd_diff``, how far the elpd
        lies below the best, at most 0; its standard error ``dse``, from the differences item by
        item; the stacking ``weight``; ``bad_k``, the number of items whose Pareto k is too large;
        and ``warning``, empty where there is none.
    total : DataFrame
        The same over all subjects together, one row per layout.

    Examples
    --------
    >>> total = pd.DataFrame({"layout": ["bold", "plain"], "elpd_diff": [0.0, -3.1],
    ...                       "dse": [0.0, 1.2]})
    >>> LayoutComparison(pd.DataFrame({"subject": ["Ann", "Ann"]}), total)
    <LayoutComparison: 2 layouts, 1 subject; best in total: bold, ahead of plain by 3.1 (se 1.2)>
    """

    table: pd.DataFrame
    total: pd.DataFrame

    def __repr__(self) -> str:
        digits = min(beside(float(self.total["dse"].iloc[1:2].max())), 1)
        best, *others = self.total[["layout", "elpd_diff", "dse"]].to_numpy().tolist()
        ahead = [
            f", ahead of {name} by {fixed(-difference, digits)} (se {fixed(error, digits)})"
            for name, difference, error in others[:1]
        ]
        return (
            f"<LayoutComparison: {many(len(self.total), 'layout')}, "
            f"{many(self.table['subject'].nunique(), 'subject')}; best in total: {best[0]}"
            f"{''.join(ahead)}>"
        )


def compare_layouts(
    fits: Mapping[str, Fit], *, subjects: Iterable[object] | None = None
) -> LayoutComparison:
    r"""Compare layouts that were fitted to the same outcomes, by leave-one-out.

    .. math:: \mathrm{dse} = \sqrt{n \, \mathrm{var}_i(\mathrm{elpd}_{i} -
        \mathrm{elpd}_{i}^{\mathrm{best}})}

    over the n items of a subject. Over subjects, differences and squared standard errors add up.
    A standard error is NaN where a subject attempted a single item. With fewer than 100 items, or a
    difference below 4, a difference is less certain than its standard error says. Weights are those
    of `stacking_weights`.

    A warning counts items whose Pareto k is too large: there the estimate is biased, mostly in
    favour of the layout. Fit without those items and score the forecasts of them, or compare by
    `cross_validate`.

    Parameters
    ----------
    fits : mapping of str to Fit
        By name of the layout.
    subjects : iterable, optional
        Whose outcomes; everybody's by default.

    Returns
    -------
    LayoutComparison
        Tables by subject and in total.

    Raises
    ------
    DataError
        When there is no fit or no subject, a subject is missing in one of the fits, or the fits'
        outcomes differ.
    FitError
        When a fit has fewer than 25 draws.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Statistics and Computing 27, equation 24; Sivula, Magnusson,
    Matamoros and Vehtari, Uncertainty in Bayesian leave-one-out cross-validation based model
    comparison, arXiv:2008.10296.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> layouts = {"published": aaio.published_layout(), "recommended": aaio.recommended_layout()}
    >>> fits = {name: fit(layout, cohort.evaluation, subjects=["sim-01", "sim-02"], draws=200,
    ...                   tune=200, chains=2, seed=1, progressbar=False)
    ...         for name, layout in layouts.items()}
    >>> compared = compare_layouts(fits)
    >>> compared.table[["subject", "layout", "rank", "elpd", "elpd_diff", "dse"]].round(1)
      subject       layout  rank  elpd  elpd_diff  dse
    0  sim-01 ...
    >>> compared.total[["layout", "rank", "weight"]].round(1)
            layout  rank  weight
    0 ...
    """
    fits = {str(name): fit for name, fit in fits.items()}
    who = _subjects(fits, subjects)
    if not who:
        raise DataError(
            f"{many(len(fits), 'fit')} of no subject to compare; give at least two fits, by name "
            "of the layout, and at least one subject"
        )
    items = {subject: _same_items(fits, subject) for subject in who}
    found = {name: loo(fit, subjects=who) for name, fit in fits.items()}
    statuses = {name: diagnose(fit, who)["status"] for name, fit in fits.items()}
    points, tables = [], []
    for subject in who:
        cells = {"subject": subject, "item": items[subject]}
        columns = [one.pointwise["elpd"].sel(cells).to_numpy() for one in found.values()]
        points.append(np.stack(columns, axis=1))
        warnings = [
            _warning(found[name], subject, statuses[name][subject] == "not converged")
            for name in fits
        ]
        tables.append(_ranked(found, [subject], points[-1:], warnings).assign(subject=subject))
    table = pd.concat(tables, ignore_index=True)
    warned = table.loc[table["warning"] != "", "layout"].tolist()
    warnings = [
        f"{many(warned.count(name), 'subject')} with a warning" if name in warned else ""
        for name in fits
    ]
    total = _ranked(found, who, points, warnings)
    return LayoutComparison(table[["subject", *total.columns]], total)


def _subjects(fits: Mapping[str, Fit], subjects: Iterable[object] | None) -> list[str]:
    """Say whom to compare, and refuse those that a fit does not hold."""
    if subjects is None:
        who = list(dict.fromkeys(subject for fit in fits.values() for subject in fit.subjects))
    else:
        who = [subjects] if isinstance(subjects, str) else texts(subjects, "the subjects asked for")
        refuse_repeats(who, "subject", "the subjects asked for")
    for name, fit in fits.items():
        missing = [
            f"{subject} ({fit.failures[subject]})" if subject in fit.failures else subject
            for subject in sorted(set(who) - set(fit.subjects))
        ]
        if missing:
            raise DataError(
                f"the fit of {name!r} does not hold {some(missing)}; fit all layouts to the same "
                "subjects, or name those to compare (subjects=)"
            )
    return who


def _same_items(fits: Mapping[str, Fit], subject: str) -> list[str]:
    """Name the items that a subject attempted, and refuse fits that saw something else."""
    seen = {name: Attempted.of(fit, int(fit.places([subject])[0])) for name, fit in fits.items()}
    known = [
        (name, pd.DataFrame({"y": own.successes, "n": own.trials}, own.names))
        for name, own in seen.items()
    ]
    first, reference = known[0]
    for name, table in known[1:]:
        there, here = f"the fit of {first!r}", f"the fit of {name!r}"
        same_names(table.index, reference.index, f"{subject}'s items in {here}", there)
        differing = (table.loc[reference.index] != reference).any(axis=1)
        if differing.any():
            raise DataError(
                f"{subject}'s outcomes in {here} are not those of {there} on "
                f"{some(reference.index[differing])}; fit both to the same outcomes"
            )
    return list(seen[first].items)


def _warning(found: LeaveOneOut, subject: str, not_converged: bool) -> str:
    """Say why one subject's numbers are not to be trusted, and what to do."""
    bad, items = (int(found.table[name].loc[subject]) for name in ("bad_k", "items"))
    faults = []
    if bad:
        faults.append(
            f"{bad} of {many(items, 'item')} have Pareto k above "
            f"{found.limit:.2f}: fit without them and score their forecasts, or use cross_validate"
        )
    if not_converged:
        faults.append("not converged, see Fit.diagnostics: sample it again, with more draws")
    return "; ".join(faults)


def _ranked(
    found: Mapping[str, LeaveOneOut],
    who: Sequence[str],
    points: Sequence[np.ndarray],
    warnings: Sequence[str],
) -> pd.DataFrame:
    """Rank layouts on the points of some subjects, an array (items, layouts) for each."""
    tables = [one.table.loc[list(who)] for one in found.values()]
    best = int(np.argmax([table["elpd"].sum() for table in tables]))
    behind = [values - values[:, [best]] for values in points]
    errors = [[standard_error(column) for column in values.T] for values in behind]
    table = pd.DataFrame(
        {
            "layout": list(found),
            "elpd": [table["elpd"].sum() for table in tables],
            "se": [np.linalg.norm(table["se"]) for table in tables],
            "p_loo": [table["p_loo"].sum() for table in tables],
            "items": [table["items"].sum() for table in tables],
            "elpd_diff": np.sum([values.sum(axis=0) for values in behind], axis=0),
            "dse": np.linalg.norm(errors, axis=0),
            "weight": stacking_weights(np.concatenate(points)),
            "bad_k": [table["bad_k"].sum() for table in tables],
            "warning": list(warnings),
        }
    )
    table = table.sort_values("elpd", ascending=False, kind="stable", ignore_index=True)
    table.insert(1, "rank", np.arange(1, len(table) + 1))
    return table


def stacking_weights(elpd: np.ndarray) -> np.ndarray:
    r"""Find the mixture of layouts' predictions that foresees all points best.

    .. math:: \max_w \sum_i \log \sum_l w_l \exp \mathrm{elpd}_{il}, \qquad w_l \ge 0, \;
        \sum_l w_l = 1

    Parameters
    ----------
    elpd : ndarray, shape (points, layouts)
        Log predictive densities of points that were left out, in nats.

    Returns
    -------
    ndarray, shape (layouts,)
        Weights, which add up to 1.

    References
    ----------
    Yao, Vehtari, Simpson and Gelman (2018), Using stacking to average Bayesian predictive
    distributions, Bayesian Analysis 13(3), section 3.

    Examples
    --------
    >>> stacking_weights(np.log([[0.9, 0.1], [0.8, 0.2], [0.2, 0.9]])).round(2)
    array([0.78, 0.22])
    """
    layouts = elpd.shape[1]
    behind = elpd - elpd.max(axis=1, keepdims=True)
    likelihood = np.exp(np.maximum(behind, _FAR_BEHIND))

    def loss(weights: np.ndarray) -> tuple[float, np.ndarray]:
        mixed = likelihood @ weights
        return -np.log(mixed).mean(), -(likelihood / mixed[:, None]).mean(axis=0)

    found = minimize(
        loss,
        np.full(layouts, 1 / layouts),
        jac=True,
        method="SLSQP",
        bounds=[(0, 1)] * layouts,
        constraints=LinearConstraint(np.ones(layouts), 1, 1),
        tol=1e-9,
    )
    weights = np.clip(found.x, 0, 1)
    return np.asarray(weights / weights.sum())
