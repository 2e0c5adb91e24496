"""Comparison of layouts by leave-one-out, and weights of their mixture."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import LinearConstraint, minimize

from ...common.digits import beside, fixed
from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import many, some
from ...evaluations.tables import refuse_repeats, same_names, texts
from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.posterior.diagnostics import verdicts
from .loo import LeaveOneOut, Unit, check_unit, loo
from .smoothing import standard_error

_LOST = "not converged"
_FAR_BEHIND = -50.0  # nats behind the best layout on one point; more would move no weight


@dataclass(frozen=True, eq=False)
class LayoutComparison:
    """Layouts ranked by the accuracy of their predictions of left-out cells, items or subjects.

    Made by `compare_layouts`.

    Attributes
    ----------
    table : DataFrame
        One row per ``subject`` and ``layout``, each subject's best layout first: ``rank`` from 1;
        ``elpd``, ``se``, ``p_loo`` and ``items`` of `LeaveOneOut`; ``elpd_diff``, the elpd
        minus the best layout's, at most 0; its standard error ``dse``, from the differences item by
        item; the stacking ``weight``; ``bad_k``, the number of items whose Pareto k is too large;
        and ``warning``, empty if there is none. If items or subjects are left out, there is one row
        per item or subject and layout, with ``outcomes`` instead of ``items``, and standard errors
        are NaN.
    total : DataFrame
        The same columns over all subjects or items together, one row per layout.
    unit : {"cell", "item", "subject"}
        Unit that was left out at a time.

    Examples
    --------
    >>> total = pd.DataFrame({"layout": ["bold", "plain"], "elpd_diff": [0.0, -3.1],
    ...                       "dse": [0.0, 1.2]})
    >>> LayoutComparison(pd.DataFrame({"subject": ["Ann", "Ann"]}), total)
    <LayoutComparison by cell: 2 layouts, 1 subject; best in total: bold, ahead of plain by 3.1
    (se 1.2)>
    """

    table: pd.DataFrame
    total: pd.DataFrame
    unit: Unit = "cell"

    @property
    def rows(self) -> str:
        """Column of the table that identifies a row: ``subject``, or ``item`` by item."""
        return "item" if self.unit == "item" else "subject"

    def __repr__(self) -> str:
        digits = min(beside(float(self.total["dse"].iloc[1:2].max())), 1)
        best, *others = self.total[["layout", "elpd_diff", "dse"]].to_numpy().tolist()
        ahead = [
            f", ahead of {name} by {fixed(-difference, digits)} (se {fixed(error, digits)})"
            for name, difference, error in others[:1]
        ]
        return (
            f"<LayoutComparison by {self.unit}: {many(len(self.total), 'layout')}, "
            f"{many(self.table[self.rows].nunique(), self.rows)}; best in total: {best[0]}"
            f"{''.join(ahead)}>"
        )


def compare_layouts(
    fits: Mapping[str, Fit], *, subjects: Iterable[object] | None = None, unit: Unit = "cell"
) -> LayoutComparison:
    r"""Compare layouts that were fitted to the same outcomes, by leave-one-out.

    .. math:: \mathrm{dse} = \sqrt{n \, \mathrm{var}_i(\mathrm{elpd}_{i} -
        \mathrm{elpd}_{i}^{\mathrm{best}})}

    over the n items of a subject. Over subjects, differences and squared standard errors add up.
    A standard error is NaN if a subject attempted a single item. With fewer than 100 items, or a
    difference below 4, a difference is less certain than its standard error indicates. Weights are
    those of `stacking_weights`.

    If whole items or subjects are left out (`unit`, see `loo`), these are the points of the sum, of
    standard errors and of weights. The ranks may differ: a layout with item effects may be ahead by
    cell, where each effect is estimated from other subjects, and behind on new items.

    A warning counts items whose Pareto k is too large: their estimates are biased, mostly in favour
    of the layout. Fit without those items and score the forecasts of them, or compare by
    `cross_validate`.

    Parameters
    ----------
    fits : mapping of str to Fit
        Fits by name of the layout.
    subjects : iterable, optional
        Subjects (default: all). Not allowed by item.
    unit : {"cell", "item", "subject"}
        Unit that is left out at a time.

    Returns
    -------
    LayoutComparison
        Tables by subject, or by item, and in total.

    Raises
    ------
    DataError
        When the fits have no names, there is no fit or no subject, a subject is missing in one of
        the fits, or the fits' outcomes differ.
    FitError
        When a fit has fewer than 25 draws, or the unit is refused as in `loo`.

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
    remedy = "give the fits by name, as in {'one layout': fit, 'another': other}"
    refuse_other("fits", fits, Mapping, "a mapping", remedy)
    fits = {str(name): fit for name, fit in fits.items()}
    for fit in fits.values():
        check_unit(fit, unit, subjects)
    who = _subjects(fits, subjects)
    if not who:
        raise DataError(
            f"{many(len(fits), 'fit')} of no subject to compare; give at least two fits, by name "
            "of the layout, and at least one subject"
        )
    items = {subject: _same_items(fits, subject) for subject in who}
    statuses = {name: verdicts(fit, who)["status"] for name, fit in fits.items()}
    if unit != "cell":
        chosen = who if unit == "subject" else None
        found = {name: loo(fit, subjects=chosen, unit=unit) for name, fit in fits.items()}
        lost = [name for name in fits if (statuses[name] == _LOST).any()]
        return of_units(found, unit, lost)
    found = {name: loo(fit, subjects=who) for name, fit in fits.items()}
    points, tables = [], []
    for subject in who:
        elpds = [one.pointwise["elpd"].sel(subject=subject) for one in found.values()]
        columns = [elpd.sel(item=items[subject]).to_numpy() for elpd in elpds]
        points.append(np.stack(columns, axis=1))
        warnings = [
            _warning(found[name], subject, statuses[name][subject] == _LOST) for name in fits
        ]
        tables.append(_ranked(found, [subject], points[-1:], warnings).assign(subject=subject))
    table = pd.concat(tables, ignore_index=True)
    total = _ranked(found, who, points, _counted(table, "subject", fits))
    return LayoutComparison(table[["subject", *total.columns]], total)


def of_units(
    found: Mapping[str, LeaveOneOut], unit: Unit, not_converged: Sequence[str]
) -> LayoutComparison:
    """Rank layouts on whole items or subjects that are left out."""
    names = list(next(iter(found.values())).table.index)
    columns = [one.table["elpd"].loc[names].to_numpy() for one in found.values()]
    points, tables = np.stack(columns, axis=1), []
    for place, name in enumerate(names):
        warnings = [_warning(one, name, layout in not_converged) for layout, one in found.items()]
        own = points[place : place + 1]
        tables.append(_ranked(found, [name], [own], warnings).assign(**{unit: name}))
    table = pd.concat(tables, ignore_index=True)
    total = _ranked(found, names, [points], _counted(table, unit, found))
    return LayoutComparison(table[[unit, *total.columns]], total, unit)


def _counted(table: pd.DataFrame, what: str, layouts: Iterable[str]) -> list[str]:
    """Count the subjects or items with a warning, of each layout."""
    warned = table.loc[table["warning"] != "", "layout"].tolist()
    return [
        f"{many(warned.count(name), what)} with a warning" if name in warned else ""
        for name in layouts
    ]


def _subjects(fits: Mapping[str, Fit], subjects: Iterable[object] | None) -> list[str]:
    """Choose the subjects to compare, and refuse those that a fit does not have."""
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
    """List the items that a subject attempted, and refuse fits to other outcomes."""
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
    """State why the numbers of a subject or item are not reliable, with a remedy."""
    bad = int(found.table["bad_k"].loc[subject])
    faults = []
    if bad and found.unit != "cell":
        faults.append(
            f"Pareto k {found.table['worst_k'].loc[subject]:.2f} above {found.limit:.2f}: fit "
            f"without this {found.unit} and score its forecasts"
        )
    elif bad:
        items = int(found.table["items"].loc[subject])
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
    """Rank layouts on the points of some subjects, an array (items, layouts) for each.

    If whole items or subjects are left out, they are the points, in a single array.
    """
    cells = next(iter(found.values())).unit == "cell"
    count = "items" if cells else "outcomes"
    tables = [one.table.loc[list(who)] for one in found.values()]
    if cells:
        sizes = [np.linalg.norm(table["se"]) for table in tables]
    else:
        sizes = [standard_error(column) for column in points[0].T]
    best = int(np.argmax([table["elpd"].sum() for table in tables]))
    behind = [values - values[:, [best]] for values in points]
    errors = [[standard_error(column) for column in values.T] for values in behind]
    table = pd.DataFrame(
        {
            "layout": list(found),
            "elpd": [table["elpd"].sum() for table in tables],
            "se": sizes,
            "p_loo": [table["p_loo"].sum() for table in tables],
            count: [table[count].sum() for table in tables],
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
    r"""Find the weights of the mixture of layouts' predictions with the highest predictive density.

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
