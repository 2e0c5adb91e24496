"""Brier scores of several methods against the subjects' success."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import DataError
from ..common.messages import many, some
from ..evaluations.tables import need_columns
from . import style

_ENOUGH = 10  # subjects from which on a line of local means replaces that between points
_NEIGHBOURS = 8  # part of the subjects over which a local mean is taken


def brier_against_success(
    scores: pd.DataFrame | Mapping[str, pd.DataFrame],
    *,
    success: pd.Series | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw each subject's Brier score against its success rate, one marker and line per method.

    With 10 subjects or more the line is a mean over neighbouring subjects, an eighth of all; with
    fewer it joins the points. The dotted curve is p(1 - p), the score of a forecast that is always
    the subject's own success rate p. The scores of the aggregate are close to it.

    Parameters
    ----------
    scores : DataFrame or mapping of str to DataFrame
        Results of `score_forecast`, by name of the method; or one frame with a column ``method``,
        such as ``cross_validate(...).scores``, whose repeats are averaged for each subject.
    success : Series, optional
        Success rate by subject, such as ``cross_validate(...).success`` (default: that of the
        scored items).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Axes without units; success rates are in [0, 1].

    Raises
    ------
    DataError
        When a column is missing, a method has no score, or a subject no success rate.

    References
    ----------
    Burden et al. (2023), figure 6.

    Examples
    --------
    >>> scores = pd.DataFrame({"success": [0.8, 0.4], "brier": [0.1, 0.2]}, index=["Ann", "Bob"])
    >>> brier_against_success({"layout": scores}).get_ylabel()
    'Brier score (lower is better)'
    """
    if isinstance(scores, pd.DataFrame):
        by_method = scores.groupby("method", sort=False) if "method" in scores else [("", scores)]
        scores = {str(method): table for method, table in by_method}
    tables = {method: _by_subject(table, success) for method, table in scores.items()}
    looks = style.method_styles(list(tables))
    ax = style.single(ax, (7.0, 4.6))
    for method, table in tables.items():
        x, y = table["success"].to_numpy(), table["brier"].to_numpy()
        colour, marker = looks[method]
        ax.scatter(x, y, s=22, marker=marker, color=colour, alpha=0.45, linewidths=0, zorder=2)
        wide = max(1, len(table) // _NEIGHBOURS) if len(table) >= _ENOUGH else 1
        means = table.rolling(wide, center=True, min_periods=1).mean()
        ax.plot(means["success"], means["brier"], color=colour, linewidth=2, zorder=3)
        name = style.legend_words(method or "forecast")
        ax.plot([], [], color=colour, marker=marker, markersize=5, linewidth=2, label=name)
    rates = np.linspace(0, 1, 201)
    dotted: dict[str, Any] = {"color": style.QUIET, "linestyle": ":", "linewidth": 1.3}
    name = "p(1 − p): constant forecast of the success rate"
    ax.plot(rates, rates * (1 - rates), label=name, zorder=1.9, **dotted)
    ax.legend(fontsize=8, frameon=False)
    ax.set_xlim(-0.02, 1.02)
    ax.set_ylim(bottom=0)
    ax.set(xlabel="success rate of the subject", ylabel="Brier score (lower is better)")
    count = max(map(len, tables.values()))
    lines = "; lines: means of neighbours" if count >= _ENOUGH else ""
    style.title(ax, f"Brier score per subject ({many(count, 'subject')}{lines})")
    style.quiet_frame(ax, "left", "bottom")
    return ax


def _by_subject(scores: pd.DataFrame, success: pd.Series | None) -> pd.DataFrame:
    """Average the scores of each subject, in ascending order of success."""
    columns = ["brier"] if success is not None else ["success", "brier"]
    need_columns(scores.columns, columns, "the scores have", "give the result of score_forecast")
    keys = scores["subject"] if "subject" in scores.columns else scores.index
    table = scores[columns].groupby(np.asarray(keys, dtype=str), sort=False).mean()
    if success is not None:
        rates = success.rename(index=str).reindex(table.index)
        if rates.isna().any():
            raise DataError(f"success= has no rate for {some(table.index[rates.isna()])}; add them")
        table = table.assign(success=rates)
    table = table.dropna().sort_values("success", kind="stable")
    if table.empty:
        raise DataError("a method has no Brier score; give the result of score_forecast")
    return table
