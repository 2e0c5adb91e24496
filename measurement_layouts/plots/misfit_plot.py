"""Misfits of a layout: subjects, items, groups and pairs."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..validation.criticism.criticise import Criticism, row_name
from ..validation.criticism.fit_tables import LEVEL, SLOPE
from . import style
from .effects import effect_rows

_SHOWN = 30  # largest number of rows of a panel
_COLUMNS = 2
TABLES = ("subjects", "items", "groups", "pairs")


class _Panel(NamedTuple):
    """A part of a table, with the names of its effects."""

    title: str
    effect: str
    rows: pd.DataFrame
    table: str


def misfit_plot(
    criticism: Criticism,
    *,
    tables: str | Sequence[str] | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw effects of subjects, items, groups and pairs that the layout lacks.

    Each row is an effect with its interval, from the smallest to the largest; flagged effects are
    dark. If a table is longer than 30 rows, those with the smallest p are drawn.

    Parameters
    ----------
    criticism : Criticism
        Result of `criticise`.
    tables : str or sequence of str, optional
        Tables to draw: "subjects", "items", "groups" and "pairs" (default: all).
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes for subjects; one for slopes of items, and one for their levels if the layout has
        no effects of items; one for each column of the subjects; one for pairs or testlets.
        Horizontal axis: the effect, with its unit.

    Raises
    ------
    DataError
        When a table is unknown, or there is nothing to draw.
    FitError
        When the number of axes is wrong.

    Examples
    --------
    >>> subjects = pd.DataFrame({"subject": ["Ann", "Bob"], "effect": [-0.6, 0.1],
    ...                          "low": [-0.9, -0.2], "high": [-0.3, 0.4], "p": [0.001, 0.6],
    ...                          "flagged": [True, False]})
    >>> none = pd.DataFrame(columns=["what", "by", "testlet", "flagged", "p"])
    >>> made = Criticism(none, subjects, none, none, none, none, none, none, None, None,
    ...                  alpha=0.05, prob=0.9, seed=1)
    >>> import matplotlib.pyplot as plt
    >>> (panel,) = misfit_plot(made, ax=plt.figure().subplots())
    >>> panel.get_title()
    'Subjects: 1 flagged'
    """
    wanted = TABLES if tables is None else [tables] if isinstance(tables, str) else list(tables)
    unknown = [name for name in wanted if name not in TABLES]
    if unknown:
        raise DataError(f"tables: no {some(unknown)}; there are {some(TABLES)}")
    panels = [each for each in _panels(criticism) if each.table in wanted]
    tested = [
        each._replace(rows=each.rows[each.rows["p"].notna()].sort_values("p", kind="stable"))
        for each in panels
    ]
    drawn = [each for each in tested if len(each.rows)]
    if not drawn:
        raise DataError(f"there is nothing to draw: no rows in {some(wanted)}")
    longest = max(min(len(each.rows), _SHOWN) for each in drawn)
    size = 4.6, longest * 0.17 + 1.1
    axes, figure, _ = style.grid(ax, len(drawn), _COLUMNS, size, (0, 0.9))
    mass = style.percent(criticism.prob)
    words = f"flagged: effect and {mass} interval", f"not flagged: effect and {mass} interval"
    for each, panel in zip(drawn, axes, strict=True):
        rows = each.rows.head(_SHOWN).sort_values("effect", kind="stable")
        rows = rows.rename(columns={"effect": "mean"})
        names = [style.words(name, 34) for name in _names(each.table, rows)]
        dark = rows["flagged"].to_numpy(dtype=bool)
        effect_rows(panel, rows, names, _SHOWN, marked=dark, words=words)
        panel.set_xlabel(each.effect)
        if len(each.rows) > _SHOWN:
            panel.set_ylabel(f"the {_SHOWN} with the smallest p")
        style.title(panel, f"{each.title}: {int(each.rows['flagged'].sum())} flagged")
    if figure is not None:
        style.heading(figure, f"What {criticism.fit.layout.name} misses")
    style.legend(axes, figure, 2)
    return axes


def _panels(criticism: Criticism) -> list[_Panel]:
    """Split the tables by kind of effect."""
    items, groups = criticism.items, criticism.groups
    found = [
        _Panel("Subjects", "pattern (below 0: flatter)", criticism.subjects, "subjects"),
        _Panel("Items", "slope (below 0: flatter)", items[items["what"] == SLOPE], "items"),
        _Panel("Items", "level (log-odds)", items[items["what"] == LEVEL], "items"),
    ]
    for by, rows in groups[groups["what"] == LEVEL].groupby("by", sort=False):
        levels = rows["level"].unique()
        whose = f"{levels[0]} against {rows['against'].iloc[0]}" if len(levels) == 1 else "a level"
        found.append(_Panel(f"Items by {by}", f"easier for {whose} (log-odds)", rows, "groups"))
    together = "Testlets" if criticism.testlets else "Pairs"
    shared = "covariance in common (squared log-odds)"
    return [*found, _Panel(together, shared, criticism.pairs, "pairs")]


def _names(table: str, rows: pd.DataFrame) -> list[str]:
    """Name rows by the parts that the panel's title does not have."""
    if table == "subjects":
        return rows["subject"].tolist()
    if table == "pairs":
        return [row_name(row) for row in rows.to_dict("records")]
    if table == "groups" and rows["level"].nunique() > 1:
        return (rows["item"] + ", " + rows["level"]).tolist()
    return rows["item"].tolist()
