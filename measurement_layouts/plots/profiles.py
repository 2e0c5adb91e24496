"""Profiles of subjects as rows: posterior means and intervals, alone or over their population."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import many, some
from ..evaluations.tables import name_cells, named, read_numbers
from ..inference.fit import Fit
from ..inference.population.standing import populated, standing
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of, span, success_rates
from ..layouts.elements import Element, find_elements
from . import style
from .rows import rows

_ROOM = 0.04  # share of a view that is left free on both sides


def profile_forest(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    truth: pd.DataFrame | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw posterior mean and interval of every subject, one panel per profile element.

    Subjects are in the order of their success rate, which is written beside the name, the best at
    the top. A hollow point is prior-dominated, and a crossed one has separate modes, between which
    the mean may lie (see `profiles`). A dagger marks a subject that did not converge, whose results
    cannot be trusted (see `diagnose`). If there are more than 100 subjects, only some are named.

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all).
    subjects : iterable, optional
        Subjects (default: all).
    truth : DataFrame, optional
        Known profiles, drawn as open diamonds: one row for each subject and one column for each
        profile element, in the nodes' units; NaN where a value is unknown.
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure, with a row per subject).

    Returns
    -------
    ndarray of Axes
        One Axes per element. Horizontal axis: the node's range in its unit (for an unbounded node,
        the prior's central 99 %).

    Raises
    ------
    DataError
        When a subject is named twice, or `truth` has a column that is not a profile element or a
        cell that is not a number.
    FitError
        When a node or subject is unknown, `prob` out of range, or the number of axes wrong.

    References
    ----------
    Burden et al. (2023), figure 9, as a table of means and standard deviations, and figure 15.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> len(profile_forest(result, truth=cohort.profiles))
    4
    """
    elements = find_elements(fit.elements, nodes)
    subjects = fit.subjects if subjects is None else fit.named(subjects)
    rates = success_rates(fit)[list(dict.fromkeys(subjects))].sort_values(kind="stable")[::-1]
    status = verdicts(fit, rates.index)["status"]
    failed = {name: " †" * (status[name] == "not converged") for name in rates.index}
    names = {name: f"{style.words(name)}{failed[name]}  {rates[name]:.2f}" for name in rates.index}
    marks = _marks(profiles(fit, prob=prob, subjects=rates.index), elements, names)
    marks = marks.rename(columns={"prior_dominated": "hollow", "modes": "cross"})
    if truth is not None:
        truths = _known(truth, [element.name for element in fit.elements])
        pairs = zip(marks["subject"], marks["panel"], strict=True)
        marks["other"] = [truths.get(pair, np.nan) for pair in pairs]
    title = names[rates.index[0]].split("  ")[0] if len(names) == 1 else ""
    title = title or f"{many(len(names), 'subject')} by success rate"
    panels = dict(list(marks.groupby("panel")))
    limits = {one.name: _view(span(fit, one), panels[one.name]) for one in elements}
    notes = ["† not converged"] * any(failed.values())
    notes += [f"{len(fit.failures)} failed, not shown"] * bool(fit.failures)
    axes = rows(
        marks,
        {"mean": f"posterior mean, {style.percent(prob)} interval", "other": "open: truth"},
        ax=ax,
        columns=5,
        title=f"Cognitive profile{'s' * (len(names) > 1)}: {title}",
        labels=_labels(elements),
        limits=limits,
        notes=notes,
    )
    for element, panel in zip(elements, axes, strict=True):
        style.range_ends(panel, element, "x")
        if element.latent.kind in ("bias", "effect"):
            panel.axvline(0, color=style.QUIET, linewidth=0.8, zorder=0)
    return axes


def population_forest(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw every subject's profile over its population's distribution, one panel per element.

    A pale bar is the population's prediction for a new subject with the same covariates and
    categories, and the tick is its mean. The coloured interval is the profile given the subject's
    own outcomes. A small diamond is the estimate from these outcomes alone: the further the point
    is from the diamond towards the tick, the more the profile depends on the population (see
    `standing`). Subjects are in the order of their success rate, which is written beside the name,
    the best at the top; subjects with the same rate are in the order of the first panel's means.

    Parameters
    ----------
    fit : Fit
        Fit of subjects that were fitted together.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]``, of the profile (default: all whose prior depends on
        shared values).
    subjects : iterable, optional
        Subjects (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per element. Horizontal axis: the node, in its unit. If there are more than 100
        subjects, only some are named.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        As in `standing`, and when the number of axes is wrong.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> mean = ml.Effect("mean")
    >>> ability = ml.Capability("ability", prior=ml.Prior("Normal", mu=mean, sigma=1))
    >>> layout = ml.Layout("coins", ml.Success("heads", logistic(ability)))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 1], [0, 1, 0, 0], [1, 1, 1, 1]], list("abc"))
    >>> evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=range(4)))
    >>> result = ml.fit(layout, evaluation, draws=200, tune=200, chains=2, seed=1,
    ...                 progressbar=False)
    >>> len(population_forest(result))
    1
    """
    subjects = fit.subjects if subjects is None else fit.named(subjects)
    table = standing(fit, nodes, subjects, prob)
    elements = populated(fit.layout, nodes, fit.levels)
    rates = success_rates(fit, fit.places(subjects))
    order = pd.DataFrame({"rate": rates, "mean": rows_of(table, elements[0], subjects)["mean"]})
    order = order.sort_values(["rate", "mean"], ascending=False)
    names = {name: f"{style.words(name)}  {rates[name]:.2f}" for name in order.index}
    marks = _marks(table, elements, names)
    marks = marks.rename(columns=lambda column: column.replace("population_", "back_"))
    limits, titles = {}, {}
    for name, subset in marks.groupby("panel"):
        low, high = (
            subset[["low", "back_low"]].min().min(),
            subset[["high", "back_high"]].max().max(),
        )
        limits[str(name)] = _view((low, high), subset)
        titles[str(name)] = (
            f"population's share of a mean: {round(100 * subset['back_weight'].median())}% (median)"
        )
    ends = pd.DataFrame(limits, ["low", "high"]).T.loc[marks["panel"]]
    shown = marks["alone"].between(ends["low"].to_numpy(), ends["high"].to_numpy())
    mass = style.percent(prob)
    axes = rows(
        marks.assign(other=marks["alone"].where(shown)),
        {
            "mean": f"profile: posterior mean, {mass} interval",
            "back_low": f"population: mean, {mass} interval",
            "other": "own outcomes alone (normal approximation)",
        },
        ax=ax,
        width=2.9,
        title=f"{many(len(names), 'subject')}: profiles and their population",
        labels=_labels(elements),
        titles=titles,
        limits=limits,
    )
    for element, panel in zip(elements, axes, strict=True):
        style.range_ends(panel, element, "x")
    return axes


def _marks(
    table: pd.DataFrame, elements: Sequence[Element], names: Mapping[str, str]
) -> pd.DataFrame:
    """Make a panel of each element, with a row for each subject."""
    panels = []
    for element in elements:
        subset = rows_of(table, element, list(names)).rename_axis("subject").reset_index()
        subset = subset.assign(panel=element.name, row=list(names.values()))
        panels.append(subset.assign(colour=style.colour(element)))
    return pd.concat(panels, ignore_index=True)


def _labels(elements: Sequence[Element]) -> dict[str, str]:
    return {element.name: style.element_label(element) for element in elements}


def _view(ends: tuple[float, float], marks: pd.DataFrame) -> tuple[float, float]:
    """Widen a range to include all marks, with some room."""
    values = [*ends, *marks["low"], *marks["high"], *marks.get("other", [])]
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = _ROOM * (high - low)
    return low - room, high + room


def _known(truth: pd.DataFrame, elements: Sequence[str]) -> dict[tuple[str, str], float]:
    """Read known profiles as numbers by subject and element."""
    table = named(truth, "truth", "subject")
    unknown = [str(column) for column in table.columns if str(column) not in elements]
    if unknown:
        raise DataError(
            f"truth: no profile element {some(unknown)}; the layout has {some(elements, 20)}; "
            "rename or drop the column"
        )
    values, foreign = read_numbers(table)
    if foreign.any():
        raise DataError(f"truth: {name_cells(table, foreign)}; give numbers, NaN where unknown")
    columns = table.columns.astype(str)
    return pd.DataFrame(values, table.index, columns).stack().to_dict()  # type: ignore[return-value]
