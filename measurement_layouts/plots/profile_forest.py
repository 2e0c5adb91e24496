"""Profiles of many subjects, with one row per subject."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from ..common.messages import many
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of, span, success_rates
from ..layouts.elements import find_elements
from . import style

_MANY = 20  # number of rows from which they are closer together, in smaller letters
_COLUMNS = 5


def profile_forest(
    fit: Fit,
    *,
    nodes: str | Sequence[str] | None = None,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw posterior mean and interval of every subject, one panel per profile element.

    Subjects are in the order of their success rate, which is written beside the name, the best at
    the top. A hollow point is prior-dominated, and a crossed one has separate modes, between which
    the mean may lie (see `profiles`). A dagger marks a subject that did not converge, whose results
    cannot be trusted (see `diagnose`).

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all).
    subjects : iterable, optional
        Subjects (default: all).
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
        When a subject is named twice.
    FitError
        When a node or subject is unknown, `prob` out of range, or the number of axes wrong.

    References
    ----------
    Burden et al. (2023), figure 9, as a table of means and standard deviations.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> len(profile_forest(result))
    4
    """
    found = find_elements(fit.elements, nodes)
    who = fit.subjects if subjects is None else fit.named(subjects)
    rates = success_rates(fit).loc[list(dict.fromkeys(who))].sort_values(kind="stable")
    who = list(rates.index)
    table = profiles(fit, prob=prob, subjects=who)
    status = verdicts(fit, who)["status"]
    names = [
        f"{style.words(name)}{' †' if status[name] == 'not converged' else ''}  {rates[name]:.2f}"
        for name in who
    ]
    close = len(who) > _MANY
    panel_size = 2.3, len(who) * (0.165 if close else 0.3) + 0.75
    around = max(map(len, names)) * (0.062 if close else 0.07), 1.1
    axes, figure, columns = style.grid(
        ax, len(found), _COLUMNS, panel_size, around, 5.0, sharey=True
    )
    for place, (element, panel) in enumerate(zip(found, axes, strict=True)):
        part = rows_of(table, element, who)
        colour = style.colour(element)
        hollow = part["prior_dominated"].to_numpy()
        split, area = part["modes"], 22 if close else 38
        style.forest_rows(panel, part["mean"], part, hollow, split, colour, size=area, alpha=0.55)
        low, high = span(fit, element)
        low, high = min(low, part["low"].min()), max(high, part["high"].max())
        panel.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        panel.set_xlabel(style.element_label(element))
        style.range_ends(panel, element, "x")
        if element.latent.kind in ("bias", "effect"):
            panel.axvline(0, color=style.QUIET, linewidth=0.8, zorder=0)
        first = place % columns == 0 if figure is not None else place == 0
        style.row_names(panel, names, 8 if close else 9, shown=first)
        if close:
            panel.set_title(style.element_label(element), fontsize=10)
            panel.tick_params(axis="x", top=True, labeltop=True)
        style.quiet_frame(panel, "bottom", *["top"] * close)
    if figure is not None:
        whose = who[0] if len(who) == 1 else f"{many(len(who), 'subject')} by success rate"
        style.heading(figure, f"Cognitive profile{'s' * (len(who) > 1)}: {whose}")
        shown = pd.concat([rows_of(table, element, who) for element in found])
        entries = [style.entry(f"posterior mean, {style.percent(prob)} interval", marker="o")]
        if shown["prior_dominated"].any():
            entries.append(style.entry("prior-dominated", marker="o", markerfacecolor="white"))
        if shown["modes"].any():
            entries.append(style.cross_entry())
        if (status == "not converged").any():
            entries.append(style.entry("† not converged", linestyle="none"))
        if fit.failures:
            failed = f"{len(fit.failures)} failed, not shown"
            entries.append(style.entry(failed, linestyle="none"))
        style.legend(axes, figure, 2, entries, fontsize=10)
    return axes
