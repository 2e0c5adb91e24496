"""Ranking of layouts by leave-one-out, and weights of their mixture, by ArviZ."""

import dataclasses
from collections.abc import Iterable, Mapping

import pandas as pd

from ...common.errors import DataError
from ...common.given import refuse_other
from ...common.messages import many
from ...inference.fit import Fit
from ...inference.posterior.diagnostics import verdicts
from .loo import Unit, loo, refuse_unreliable


def compare_layouts(
    fits: Mapping[str, Fit],
    *,
    subjects: Iterable[object] | None = None,
    unit: Unit = "cell",
    progressbar: bool = True,
) -> pd.DataFrame:
    r"""Compare layouts that were fitted to the same outcomes, by leave-one-out.

    .. math:: \mathrm{dse} = \sqrt{n \, \mathrm{var}_i(\mathrm{elpd}_{i} -
        \mathrm{elpd}_{i}^{\mathrm{best}})}

    over the n cells, items or subjects that are left out (`unit`, see `loo`). With fewer than 100
    of them, or a difference below 4, a difference is less certain than its standard error
    indicates. Layouts are ranked and weighted by `arviz_stats.compare`. The weights are those of
    the mixture of predictions with the highest predictive density (stacking),

    .. math:: \max_w \sum_i \log \sum_l w_l \exp \mathrm{elpd}_{il}, \qquad w_l \ge 0, \;
        \sum_l w_l = 1.

    Ranks by cell and by item may differ: a layout with item effects may be ahead by cell, where
    each effect is estimated from other subjects, and behind on new items.

    Parameters
    ----------
    fits : mapping of str to Fit
        Fits by name of the layout.
    subjects : iterable, optional
        Subjects (default: all). Not allowed by item.
    unit : {"cell", "item", "subject"}
        Unit that is left out at a time.
    progressbar : bool
        Whether to show progress.

    Returns
    -------
    DataFrame
        One row per layout, the best first, with the columns of `arviz_stats.compare`: ``rank`` from
        0; ``elpd_diff``, the elpd minus the best layout's, at most 0, its standard error ``dse``,
        and ``p_worse``; ``elpd``, ``se`` and ``p`` as in `loo`; the stacking ``weight``;
        ``diag_diff`` and ``diag_elpd``, reasons to read the row with care, empty where there are
        none. A number of large Pareto k in ``diag_elpd`` means that the estimate is biased, mostly
        in favour of the layout. `arviz_plots.plot_compare` draws the table.

    Raises
    ------
    DataError
        When the fits have no names, there is no fit or no subject, or the fits' outcomes differ.
    FitError
        When a subject is not in a fit, a fit has fewer than 25 draws, the unit is refused as in
        `loo`, or Pareto k is too large nearly everywhere, so that there is no ranking. The message
        has the call of `cross_validate` that gives one.

    References
    ----------
    Vehtari, Gelman and Gabry (2017), Statistics and Computing 27, equation 24; Yao, Vehtari,
    Simpson and Gelman (2018), Using stacking to average Bayesian predictive distributions, Bayesian
    Analysis 13(3), section 3; Sivula, Magnusson, Matamoros and Vehtari, Uncertainty in Bayesian
    leave-one-out cross-validation based model comparison, arXiv:2008.10296.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> layouts = {"published": aaio.published_layout(), "recommended": aaio.recommended_layout()}
    >>> fits = {name: fit(layout, cohort.evaluation, subjects=["sim-01", "sim-02"], draws=200,
    ...                   tune=200, chains=2, seed=1, progressbar=False)
    ...         for name, layout in layouts.items()}
    >>> compared = compare_layouts(fits, progressbar=False)
    >>> compared[["rank", "elpd_diff", "weight"]].round(1)
                 rank  elpd_diff  weight
    ...
    """
    import arviz_stats  # slow to import

    remedy = "give the fits by name, as in {'one layout': fit, 'another': other}"
    refuse_other("fits", fits, Mapping, "a mapping", remedy)
    fits = {str(name): fit for name, fit in fits.items()}
    if subjects is not None and not isinstance(subjects, str):
        subjects = list(subjects)
    if not fits or subjects == []:
        raise DataError(
            f"{many(len(fits), 'fit')} of no subject to compare; give at least two fits, by name "
            "of the layout, and at least one subject"
        )
    _refuse_other_outcomes(fits, subjects)
    results = {
        name: loo(fit, subjects=subjects, unit=unit, progressbar=progressbar)
        for name, fit in fits.items()
    }
    for name, elpd in results.items():
        refuse_unreliable(elpd, unit, name)
    index = next(iter(results.values())).elpd_i.indexes[unit]
    pointwise = pd.DataFrame(
        {name: elpd.elpd_i.to_series().reindex(index) for name, elpd in results.items()}
    )
    # ArviZ weights exp(elpd), which is 0 for an item of a thousand outcomes under every layout
    behind = pointwise.sub(pointwise.max(axis=1), axis=0)
    aligned = {
        name: dataclasses.replace(elpd, elpd_i=elpd.elpd_i.copy(data=behind[name]))
        for name, elpd in results.items()
    }
    table: pd.DataFrame = arviz_stats.compare(aligned, round_to="none")
    reasons = []
    for layout, reason in table["diag_elpd"].items():
        lost = int((verdicts(fits[str(layout)], subjects)["status"] == "not converged").sum())
        not_converged = f"{many(lost, 'subject')} not converged" * (lost > 0)
        reasons.append("; ".join(filter(None, [str(reason), not_converged])))
    table["diag_elpd"] = reasons
    return table


def _refuse_other_outcomes(
    fits: Mapping[str, Fit], subjects: Iterable[object] | str | None
) -> None:
    """Refuse fits whose subjects, items or outcomes differ."""
    tables = []
    for fit in fits.values():
        rows = fit.places(subjects)
        cells = fit.coded.select(rows).frame(pd.Index(fit.names(rows)), fit.item_names)
        tables.append(cells.set_index(["subject", "item"]))
    first = next(iter(fits))
    for name, table in zip(fits, tables, strict=True):
        index = tables[0].index.union(table.index)
        differs = (tables[0].reindex(index) != table.reindex(index)).any(axis=1)
        if differs.any():
            subject, item, *_ = index[int(differs.to_numpy().argmax())]
            raise DataError(
                f"the fits of {first!r} and {name!r} have other outcomes, such as {subject}'s on "
                f"{item}; fit both to the same outcomes, or name subjects with the same (subjects=)"
            )
