"""Profiles of many subjects, with one row per subject."""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D

from ..common.messages import many
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import diagnose, profiles
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
    found = find_elements(fit.layout, nodes)
    who = fit.subjects if subjects is None else fit.named(subjects)
    rates = success_rates(fit).loc[list(dict.fromkeys(who))].sort_values(kind="stable")
    who = list(rates.index)
    table = profiles(fit, prob, who)
    status = diagnose(fit, who)["status"]
    names = [
        f"{style.words(name)}{' †' if status[name] == 'not converged' else ''}  {rates[name]:.2f}"
        for name in who
    ]
    columns = min(len(found), _COLUMNS)
    axes, figure = style.panels(
        ax, len(found), columns, _size(len(found), columns, names), sharey=True
    )
    rows = np.arange(len(who))
    for place, (element, panel) in enumerate(zip(found, axes, strict=True)):
        part = rows_of(table, element, who)
        colour = style.colour(element)
        hollow = part["prior_dominated"].to_numpy()
        split, area = part["modes"] != "", 22 if len(who) > _MANY else 38
        style.forest_rows(panel, part["mean"], part, hollow, split, colour, size=area, alpha=0.55)
        low, high = span(fit, element)
        low, high = min(low, part["low"].min()), max(high, part["high"].max())
        panel.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))
        panel.set_xlabel(style.element_label(element))
        style.range_ends(panel, element, "x")
        if element.latent.kind == "bias":
            panel.axvline(0, color=style.QUIET, linewidth=0.8, zorder=0)
        panel.set_yticks(rows, names, fontsize=8 if len(who) > _MANY else 9)
        first = place % columns == 0 if figure is not None else place == 0
        panel.tick_params(axis="y", length=0, labelleft=first)
        if len(who) > _MANY:
            panel.set_title(style.element_label(element), fontsize=10)
            panel.tick_params(axis="x", top=True, labeltop=True)
        style.quiet_frame(panel, "bottom", *["top"] * (len(who) > _MANY))
    if figure is not None:
        whose = who[0] if len(who) == 1 else f"{many(len(who), 'subject')} by success rate"
        style.heading(figure, f"Cognitive profile{'s' * (len(who) > 1)}: {whose}")
        shown = pd.concat([rows_of(table, element, who) for element in found])
        entries = [_entry("o", f"posterior mean, {style.percent(prob)} interval")]
        if shown["prior_dominated"].any():
            entries.append(_entry("o", "prior-dominated", hollow=True))
        if (shown["modes"] != "").any():
            entries.append(style.cross_entry())
        if (status == "not converged").any():
            entries.append(_entry("", "† not converged"))
        if fit.failures:
            entries.append(_entry("", f"{len(fit.failures)} failed, not shown"))
        figure.legend(handles=entries, loc="outside lower center", ncols=2, frameon=False)
    return axes


def _size(count: int, columns: int, names: list[str]) -> tuple[float, float]:
    rows = -(-count // columns)
    many = len(names) > _MANY
    margin = max(map(len, names)) * (0.062 if many else 0.07)
    height = len(names) * (0.165 if many else 0.3) + 0.75
    return max(columns * 2.3 + margin, 5.0), rows * height + 1.1


def _entry(marker: str, text: str, *, hollow: bool = False) -> Line2D:
    return Line2D(
        [],
        [],
        color=style.QUIET,
        linestyle="-" if marker else "none",
        marker=marker,
        markerfacecolor="white" if hollow else style.QUIET,
        label=text,
    )
