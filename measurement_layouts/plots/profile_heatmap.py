"""Profiles of many subjects as a table of coloured numbers."""

import math
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import Colormap

from ..common.errors import FitError
from ..common.messages import many, some
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of, span, success_rates
from ..layouts.elements import Element, find_elements
from . import cells, style

_STATISTICS = ("mean", "sd")
_SIGNED = "PuOr"  # orange below 0, white, purple above
_LEAST = 4.0  # width of a table, in inches
_THICK = 0.13  # of a colour bar, in inches
_DIGITS, _DECIMALS = 2, 2  # significant digits, and digits after the point


class _Paint(NamedTuple):
    """Values that determine the colours of some cells; the others are NaN."""

    values: np.ndarray
    colours: Colormap | str
    ends: tuple[float, float]
    ticks: dict[float, str]
    meaning: str


def profile_heatmap(
    fit: Fit,
    *,
    statistic: Literal["mean", "sd"] = "mean",
    subjects: Sequence[object] | None = None,
    nodes: str | Sequence[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw profiles as a table: one row per profile element, one column per subject.

    Numbers have two significant digits, but no digits below 0.01 (or a hundredth of a range
    narrower than 1), and none that the Monte Carlo error does not support (see `digits`).
    Prior-dominated cells (see `profiles`) are hatched and have no colour. A double dagger follows
    the number of an element with separate modes, between which its mean may lie.

    The last row is the success rate p on the training items or, with ``statistic="sd"``, the
    standard deviation of one outcome, :math:`\sqrt{p (1 - p)}`. A dagger marks a subject that did
    not converge, whose results cannot be trusted (see `diagnose`).

    The colour of a mean is its position in the element's range, dark at the low end. An infinite
    end is replaced by the end of the prior's central 99 %, widened to include the means. Elements
    without ends whose prior has mass on both sides of 0, such as a bias, are orange below 0 and
    purple above. They share one scale, which ends at the largest mean or at the end of the prior's
    central 99 %, whichever is farther from 0. The colour of a standard deviation is its share of
    the prior's standard deviation.

    Parameters
    ----------
    fit : Fit
        Fit whose profiles are drawn.
    statistic : {"mean", "sd"}
        Posterior mean or standard deviation, in the nodes' units.
    subjects : sequence, optional
        Subjects to draw, in this order (default: all).
    nodes : str or sequence of str, optional
        Nodes, or elements ``node[label]`` (default: all).
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a subject is one unit wide and a row one unit high.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        When the statistic, a node or a subject is unknown, or there is no subject.

    References
    ----------
    Burden et al. (2023), figures 13 and 14.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-02"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> profile_heatmap(result).get_title()
    'Cognitive profiles of 2 subjects: posterior mean'
    """
    if statistic not in _STATISTICS:
        raise FitError(f"statistic={statistic!r}; give one of {', '.join(map(repr, _STATISTICS))}")
    found = find_elements(fit.elements, nodes)
    who = fit.subjects if subjects is None else fit.named(subjects)
    if not who:
        raise FitError("there is no subject to draw; give at least one, or leave subjects= out")
    table = profiles(fit, subjects=who)
    parts = [rows_of(table, element, who) for element in found]
    rates = success_rates(fit)[who].to_numpy()
    spread = statistic == "sd"
    last = np.sqrt(rates * (1 - rates)) if spread else rates
    numbers = np.array([*(part[statistic].to_numpy() for part in parts), last])
    spans = np.array([*(span(fit, element) for element in found), (0.0, 1.0)])
    paints = [_shares_of_prior(parts)] if spread else _places(found, spans, numbers)
    names = [style.element_label(element) for element in found]
    names.append("sd of an outcome" if spread else "success rate")
    status = verdicts(fit, who)["status"]
    heads = [style.words(n, 40) + " †" * (status[n] == "not converged") for n in who]
    ranges = np.ptp(spans, axis=1)
    written = [_written(*row) for row in zip(numbers, ranges, strict=True)]
    vague = np.zeros(numbers.shape, dtype=bool)
    vague[:-1] = [part["prior_dominated"].to_numpy() for part in parts]
    split = np.array([*(part["modes"] for part in parts), np.zeros(len(who), dtype=bool)])
    written = [
        [text + "‡" * bool(there) for text, there in zip(*row, strict=True)]
        for row in zip(written, split, strict=True)
    ]
    width, upright = _width(names, heads, written)
    ax = style.single(ax, (width, _height(names, heads if upright else [""], len(paints))))
    inks = np.full(numbers.shape, style.INK, dtype=object)
    for paint in paints:
        _colour(ax, paint, inks)
    inks[vague] = style.QUIET
    cells.hatch(ax, vague)
    for (row, column), ink in np.ndenumerate(inks):
        cells.write(ax, column + 0.5, row + 0.5, written[row][column], ink)
    ax.axhline(len(found), color=style.INK, linewidth=1.5)
    cells.name_cells(ax, names, heads, upright=upright)
    notes = ["hatched: prior-dominated"] if vague.any() else []
    notes += ["‡ separate modes"] if split.any() else []
    notes += ["† not converged"] if "not converged" in set(status) else []
    if subjects is None and fit.failures:
        notes.append(f"{len(fit.failures)} failed, not shown")
    ax.set_xlabel("; ".join(notes), fontsize=cells.LETTERS + 1)
    style.title(ax, f"Cognitive profiles of {many(len(who), 'subject')}: posterior {statistic}")
    return ax


def _shares_of_prior(parts: list[pd.DataFrame]) -> _Paint:
    """Colour standard deviations by their share of the prior's."""
    shares = np.sqrt([1 - part["shrinkage"].to_numpy() for part in parts])
    values = np.vstack([shares, np.full(shares.shape[1], np.nan)])
    ticks = {0.0: "0", 0.5: "0.5", 1.0: "1: as the prior"}
    return _Paint(
        values, style.amount_map(), (0, 1), ticks, "posterior sd as a share of the prior's"
    )


def _places(found: list[Element], spans: np.ndarray, means: np.ndarray) -> list[_Paint]:
    """Colour means by their position in the range, or by their distance from 0."""
    low, high = spans.T[:, :, None]
    endless = [not np.isfinite([e.latent.range.low, e.latent.range.high]).any() for e in found]
    signed = np.append(endless, False)[:, None] & (low < 0) & (high > 0)
    low = np.minimum(low, means.min(axis=1, keepdims=True))
    high = np.maximum(high, means.max(axis=1, keepdims=True))
    places = np.where(signed, np.nan, (means - low) / (high - low))
    ticks = {0.0: "low end", 1.0: "high end"}
    paints = [
        _Paint(
            places, style.amount_map(), (0, 1), ticks, "posterior mean: position in the row's range"
        )
    ]
    if signed.any():
        most = float(np.where(signed, np.maximum(-low, high), 0).max())
        (end,) = _written(np.array([most]), most)
        ticks = {-most: f"\u2212{end}", 0.0: "0", most: end}
        names = [element.name for element, row in zip(found, signed[:-1], strict=True) if row[0]]
        values = np.where(signed, means, np.nan)
        meaning = style.words(f"posterior mean of {some(names, 2)}", 50)
        paints.append(_Paint(values, _SIGNED, (-most, most), ticks, meaning))
    return paints


def _written(row: np.ndarray, width: float) -> list[str]:
    """Write numbers with two digits, but none below 0.01 or a hundredth of a narrow range."""
    finest = max(_DECIMALS, _DECIMALS - math.floor(math.log10(width)))
    decimals = [min(finest, _decimals(abs(x))) for x in row]
    rounded = [round(float(x), at) + 0.0 for x, at in zip(row, decimals, strict=True)]
    return [f"{number:g}".replace("-", "\u2212") for number in rounded]


def _decimals(size: float) -> int:
    """Count the decimals that two digits need; negative if they end before the point."""
    return _DIGITS - 1 - math.floor(math.log10(size)) if size > 0 else 0


def _width(names: list[str], heads: list[str], written: list[list[str]]) -> tuple[float, bool]:
    """Return the figure's width, and whether the subjects' names are written vertically."""
    left = max(map(len, names)) * cells.LETTER + 0.3
    numbers = (max(len(text) for row in written for text in row) + 1) * cells.LETTER
    cell = max(numbers, _LEAST / len(heads))
    return left + len(heads) * cell, max(map(len, heads)) * cells.LETTER > cell


def _height(names: list[str], heads: list[str], bars: int) -> float:
    return len(names) * cells.ROW + max(map(len, heads)) * cells.LETTER + 0.65 * bars + 0.8


def _colour(ax: Axes, paint: _Paint, inks: np.ndarray) -> None:
    """Fill cells, add a colour bar, and choose readable colours of numbers."""
    low, high = paint.ends
    mesh = cells.fill(ax, paint.values, cmap=paint.colours, vmin=low, vmax=high)
    filled = np.isfinite(paint.values)
    inks[filled] = cells.inks(mesh, paint.values)[filled]
    sheet = ax.get_figure(root=True)
    if sheet is None:
        return
    width = ax.get_position().width * sheet.get_figwidth()
    beyond = bool((paint.values[filled] > high).any())
    shape = {"aspect": min(cells.BAR, width) / _THICK, "extend": "max" if beyond else "neither"}
    bar = cells.bar_below(ax, mesh, paint.meaning, width, cells.LETTERS + 1, **shape)
    bar.set_ticks(list(paint.ticks), labels=list(paint.ticks.values()))
