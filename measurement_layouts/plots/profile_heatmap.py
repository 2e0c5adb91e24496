"""Profiles of many subjects as a table of coloured numbers."""

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import FitError
from ..common.messages import many, some
from ..inference.fit import Fit
from ..inference.posterior.diagnostics import profiles, verdicts
from ..inference.posterior.posterior import rows_of, span, success_rates
from ..layouts.elements import find_elements
from . import style
from .cells import Scale, cells

_SIGNED = "PuOr"  # orange below 0, white, purple above
_DIGITS, _DECIMALS = 2, 2  # significant digits, and digits after the point


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
    if statistic not in ("mean", "sd"):
        raise FitError(f"statistic={statistic!r}; give one of 'mean', 'sd'")
    elements = find_elements(fit.elements, nodes)
    subjects = fit.subjects if subjects is None else fit.named(subjects)
    if not subjects:
        raise FitError("there is no subject to draw; give at least one, or leave subjects= out")
    table, status = profiles(fit, subjects=subjects), verdicts(fit, subjects)["status"]
    heads = [f"{name}{' †' * (status[name] == 'not converged')}" for name in subjects]
    signed: dict[str, float] = {}
    frames = []
    for element in elements:
        profile = rows_of(table, element, subjects)
        low, high = span(fit, element)
        low, high = min(low, profile["mean"].min()), max(high, profile["mean"].max())
        endless = not np.isfinite([element.latent.range.low, element.latent.range.high]).any()
        value, scale = (profile["mean"] - low) / (high - low), "place"
        if statistic == "sd":
            value, scale = np.sqrt(1 - profile["shrinkage"]), "sd"
        elif endless and low < 0 < high:
            value, scale = profile["mean"], "signed"
            signed[element.name] = max(-low, high)
        numbers = _written(profile[statistic], high - low)
        modes = ["‡" * bool(several) for several in profile["modes"]]
        columns: dict[str, Any] = {"row": style.element_label(element), "column": heads}
        columns["scale"] = scale
        columns |= {"value": value.to_numpy(), "hatched": profile["prior_dominated"].to_numpy()}
        columns["text"] = [f"{number}{mark}" for number, mark in zip(numbers, modes, strict=True)]
        frames.append(pd.DataFrame(columns))
    rates = success_rates(fit)[subjects]
    last: dict[str, Any] = {"row": "success rate", "value": rates.to_numpy(), "scale": "place"}
    ticks = {0.0: "low end", 1.0: "high end"}
    label = "posterior mean: position in the row's range"
    if statistic == "sd":
        rates = (rates * (1 - rates)) ** 0.5
        last = {"row": "sd of an outcome", "value": np.nan, "scale": "sd"}
        ticks = {0.0: "0", 0.5: "0.5", 1.0: "1: as the prior"}
        label = "posterior sd as a share of the prior's"
    scales = {str(last["scale"]): Scale(label, style.amount_map(), ticks=ticks)}
    last |= {"text": _written(rates, 1), "column": heads, "row_block": " "}
    shown = pd.concat([*frames, pd.DataFrame(last)]).fillna({"row_block": "", "hatched": False})
    if signed:
        most = max(signed.values())
        (end,) = _written([most], most)
        label = style.words(f"posterior mean of {some(signed, 2)}", 50)
        ticks = {-most: f"\u2212{end}", 0.0: "0", most: end}
        scales["signed"] = Scale(label, _SIGNED, -most, most, ticks)
    notes = ["hatched: prior-dominated"] * bool(shown["hatched"].any())
    notes += ["‡ separate modes"] * bool(shown["text"].str.endswith("‡").any())
    notes += ["† not converged"] * bool((status == "not converged").any())
    if len(subjects) == len(fit.subjects) and fit.failures:
        notes.append(f"{len(fit.failures)} failed, not shown")
    title = f"Cognitive profiles of {many(len(subjects), 'subject')}: posterior {statistic}"
    return cells(shown, scales, ax=ax, title=title, notes=notes)


def _written(numbers: Sequence[float] | pd.Series, width: float) -> list[str]:
    """Write numbers with two digits, but none below 0.01 or a hundredth of a narrow range."""
    finest = max(_DECIMALS, _DECIMALS - math.floor(math.log10(width)))
    decimals = [min(finest, _decimals(abs(number))) for number in numbers]
    rounded = [round(float(x), at) + 0.0 for x, at in zip(numbers, decimals, strict=True)]
    return [f"{number:g}".replace("-", "\u2212") for number in rounded]


def _decimals(size: float) -> int:
    """Count the decimals that two digits need; negative if they end before the point."""
    return _DIGITS - 1 - math.floor(math.log10(size)) if size > 0 else 0
