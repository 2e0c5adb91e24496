"""Profiles of a few subjects side by side, with each element on its own range."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D

from ..common.errors import DataError, FitError
from ..common.messages import many, some
from ..evaluations.tables import name_cells, named, read_numbers, refuse_repeats
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of
from ..layouts.elements import Element, find_elements
from . import style

_PROB = 0.9
_MOST = len(style.METHODS) ** 2  # largest number of subjects, by colours and markers
_FADED = 0.3  # opacity of prior-dominated elements
_GAP = 1.2  # distance between two elements, in rows
_LETTER = 0.068  # width of a letter in inches
_WIDTH = 4.4  # width of the axes, in inches


class _Shares(NamedTuple):
    """Shares of the range, shape (elements, subjects)."""

    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    truth: np.ndarray
    vague: np.ndarray
    split: np.ndarray


def profile_bars(
    fit: Fit,
    subjects: Sequence[object],
    *,
    nodes: str | Sequence[str] | None = None,
    truth: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw posterior means and 90 % intervals of a few subjects, grouped by profile element.

    Each element is drawn on its own range, which is written below its name. Prior-dominated values
    are faded, and values with separate modes are crossed (see `profiles`). A dagger marks a subject
    that did not converge, whose results cannot be trusted (see `diagnose`).

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    subjects : sequence
        Subjects to draw, in this order, 36 at most.
    nodes : str or sequence of str, optional
        Nodes with a finite range, or their elements ``node[label]`` (default: all of them).
    truth : DataFrame, optional
        Known profiles, drawn as open markers: one row for each subject and one column for each
        profile element, in the nodes' units; NaN where a value is unknown.
    ax : Axes, optional
        Axes to draw on, with room on the right for the legend (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: the share of the range, 0 at its low end and 1 at its high end.

    Raises
    ------
    FitError
        When a node or subject is unknown, a node has no finite range, or there are no subjects or
        too many.
    DataError
        When a subject is given twice or missing from `truth`, or `truth`
        has a column that is not a profile element or a cell that is not a number.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> ax = profile_bars(result, ["sim-01"], nodes="navigationAbility", truth=cohort.profiles)
    >>> ax.get_xlabel()
    'share of the range'
    """
    who = fit.named(subjects)
    if not 1 <= len(who) <= _MOST:
        raise FitError(
            f"there are {many(len(who), 'subject')} to draw; name 1 to {_MOST}, or draw a "
            "profile_heatmap"
        )
    found, left_out = _bounded(fit, nodes)
    known = None if truth is None else _known(fit, truth, who)
    shares = _shares(profiles(fit, prob=_PROB, subjects=who), found, who, known)
    status = verdicts(fit, who)["status"]
    names = [style.legend_words(n) + " †" * (status[n] == "not converged") for n in who]
    labels = [_label(element) for element in found]
    ax = style.single(ax, _size(labels, names))
    pitch = len(who) - 1 + _GAP
    middles = np.arange(len(found)) * pitch
    for middle in middles[::2]:
        ax.axhspan(middle - pitch / 2, middle + pitch / 2, color=style.RULE, alpha=0.4, linewidth=0)
    for place in range(len(who)):
        _draw(ax, middles + place - (len(who) - 1) / 2, shares, place)
    for end in (0, 1):
        ax.axvline(end, color=style.QUIET, linestyle=":", linewidth=0.9, zorder=0)
    drawn = np.concatenate([shares.mean.ravel(), shares.truth[np.isfinite(shares.truth)]])
    ax.set_xlim(min(0.0, drawn.min()) - 0.03, max(1.0, drawn.max()) + 0.03)
    ax.set_ylim(middles[-1] + pitch / 2, -pitch / 2)
    ax.set_yticks(middles, labels, fontsize=8)
    ax.tick_params(axis="y", length=0)
    ax.set_xlabel(f"share of the range{left_out}")
    handles = [style.entry(name, *_look(place), markersize=5) for place, name in enumerate(names)]
    ax.legend(
        handles=handles + _meanings(shares, not_converged="not converged" in set(status)),
        loc="upper left",
        bbox_to_anchor=(1.01, 1),
        borderaxespad=0,
        fontsize=8,
        frameon=False,
    )
    style.title(ax, f"Cognitive profiles of {many(len(who), 'subject')}")
    style.quiet_frame(ax, "bottom")
    return ax


def _bounded(fit: Fit, nodes: str | Sequence[str] | None) -> tuple[list[Element], str]:
    """Find the elements with a finite range, and list those that are left out."""
    asked = find_elements(fit.elements, nodes)
    found = [element for element in asked if element.latent.range.is_finite]
    others = [element.name for element in asked if element not in found]
    if others and (nodes is not None or not found):
        raise FitError(
            f"{some(others)}: there is no finite range to draw it on; leave it out, or draw a "
            "profile_forest"
        )
    without = style.words(some(others, 2), 45)
    return found, f"\nnot shown, without a finite range:\n{without}" if others else ""


def _known(fit: Fit, truth: pd.DataFrame, who: list[str]) -> pd.DataFrame:
    """Read known profiles of these subjects: numbers, NaN where unknown."""
    table = named(truth, "truth", "subject")
    have = [element.name for element in fit.elements]
    columns = [str(column) for column in table.columns]
    refuse_repeats(columns, "profile element", "truth")
    unknown = [column for column in columns if column not in have]
    if unknown:
        raise DataError(
            f"truth: no profile element {some(unknown)}; the layout has {some(have, 20)}; rename "
            "or drop the column"
        )
    missing = [name for name in who if name not in table.index]
    if missing:
        raise DataError(
            f"truth: no row for {some(missing)}; it has {some(table.index)}; add one, of NaN where "
            "the truth is unknown"
        )
    part = table.loc[who].set_axis(columns, axis=1)
    values, foreign = read_numbers(part)
    wrong = foreign | np.isinf(values)
    if wrong.any():
        raise DataError(f"truth: {name_cells(part, wrong)}; give finite numbers, NaN where unknown")
    return pd.DataFrame(values, part.index, part.columns)


def _shares(
    table: pd.DataFrame, found: list[Element], who: list[str], known: pd.DataFrame | None
) -> _Shares:
    parts = [rows_of(table, element, who) for element in found]
    low, high = np.array([(e.latent.range.low, e.latent.range.high) for e in found]).T[:, :, None]
    mean, start, stop = (
        (np.array([part[name] for part in parts]) - low) / (high - low)
        for name in ("mean", "low", "high")
    )
    truth = np.full(mean.shape, np.nan)
    if known is not None:
        wide = known.reindex(columns=[element.name for element in found])
        truth = (wide.to_numpy().T - low) / (high - low)
    vague = np.array([part["prior_dominated"] for part in parts])
    split = np.array([part["modes"] for part in parts])
    return _Shares(mean, start, stop, truth, vague, split)


def _label(element: Element) -> str:
    support = element.latent.range
    return f"{style.element_label(element)}\n{support.low:g} to {support.high:g}"


def _look(place: int) -> tuple[str, str]:
    """Return a subject's colour and marker; after six subjects colours repeat, markers differ."""
    count = len(style.METHODS)
    return style.METHODS[place % count][0], style.METHODS[(place + place // count) % count][1]


def _draw(ax: Axes, rows: np.ndarray, shares: _Shares, place: int) -> None:
    """Draw one subject's intervals, means and known values."""
    colour, marker = _look(place)
    shades = [to_rgba(colour, _FADED if vague else 1) for vague in shares.vague[:, place]]
    ax.hlines(rows, shares.low[:, place], shares.high[:, place], colors=shades, linewidth=1.4)
    ax.scatter(
        shares.mean[:, place], rows, s=30, marker=marker, color=shades, linewidths=0.8, zorder=3
    )
    style.cross(ax, shares.mean[:, place], rows, shares.split[:, place], 30)
    known = np.isfinite(shares.truth[:, place])
    ax.scatter(
        shares.truth[known, place],
        rows[known],
        s=70,
        marker=marker,
        facecolors="none",
        edgecolors=style.INK,
        linewidths=0.9,
        zorder=4,
        clip_on=False,
    )


def _meanings(shares: _Shares, *, not_converged: bool) -> list[Line2D]:
    mark: dict[str, Any] = {"marker": "o", "markersize": 5}
    entries = [style.entry(f"posterior mean, {style.percent(_PROB)} interval", **mark)]
    if shares.vague.any():
        entries.append(style.entry("faded: prior-dominated", alpha=_FADED, **mark))
    if shares.split.any():
        entries.append(style.cross_entry())
    if np.isfinite(shares.truth).any():
        opened = {"linestyle": "none", "markerfacecolor": "none", "markersize": 7.5}
        entries.append(style.entry("open: truth", style.INK, "o", **opened))
    if not_converged:
        entries.append(style.entry("† not converged", linestyle="none"))
    return entries


def _size(labels: list[str], names: list[str]) -> tuple[float, float]:
    letters = max(len(line) for label in labels for line in label.split("\n"))
    beside = max(24, *map(len, names)) + 6
    row = 0.19 if len(names) <= len(style.METHODS) else 0.135
    groups = len(labels) * max(row * (len(names) - 1 + _GAP), 0.36)
    return _WIDTH + (letters + beside) * _LETTER, max(groups, (len(names) + 4) * 0.19) + 1.0
