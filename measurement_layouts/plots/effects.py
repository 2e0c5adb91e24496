"""Effects, importances and differences as rows with intervals."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import inside
from ..evaluations.tables import need_columns
from ..layouts import Layout
from ..linking import units
from ..validation.criticism.criticise import Criticism, row_name
from ..validation.criticism.fit_tables import LEVEL, SLOPE
from . import style
from .rows import rows

_SHOWN = 30  # largest number of misfits of a panel


def effects_plot(
    table: pd.DataFrame,
    *,
    nodes: str | Sequence[str] | None = None,
    layout: Layout | None = None,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw shared values, or effects of items, categories and levels, with their intervals.

    Nodes with several values have a panel each, from the largest value to the smallest; single
    values, such as means, weights and spreads, share a panel for each unit. Values whose interval
    contains 0 are pale; intervals of spreads do not contain 0.

    Parameters
    ----------
    table : DataFrame
        Result of ``fit.items()`` or ``fit.population()``.
    nodes : str or sequence of str, optional
        Nodes of the table, or elements ``node[label]`` (default: all).
    layout : Layout, optional
        Layout that declares the units of the nodes.
    prob : float, default 0.9
        Mass of the intervals, as given to that function; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each panel (default: a new figure).

    Returns
    -------
    ndarray of Axes
        Panels in the order of the table. If one has more than 100 rows, only some are named.

    Raises
    ------
    DataError
        When a node is not in the table, or the table lacks a column or has no rows.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    Examples
    --------
    >>> items = pd.DataFrame({"node": "ease", "label": "", "item": ["a", "b"],
    ...                       "mean": [-0.4, 0.4], "low": [-0.9, 0.1], "high": [0.1, 0.7]})
    >>> (panel,) = effects_plot(items)
    >>> [tick.get_text() for tick in panel.get_yticklabels()]
    ['b', 'a']
    """
    words = f"mean and {style.percent(inside('prob', prob, such_as=0.9))} interval"
    advice = "give the result of fit.items() or fit.population()"
    need_columns(table.columns, ["node", "label", "mean", "low", "high"], "the table has", advice)
    names = list(table.columns)
    plates = table[names[names.index("label") + 1 : names.index("mean")]].astype(str)
    levels = [", ".join(filter(None, row)) for row in plates.to_numpy()]
    labels = table["label"].map(lambda label: f"[{label}]" if label else "")
    marks = table.assign(element=table["node"] + labels, level=levels)
    if nodes is not None:
        wanted = [nodes] if isinstance(nodes, str) else list(nodes)
        unknown = set(wanted) - set(marks["element"]) - set(marks["node"])
        if unknown:
            have = some(dict.fromkeys(marks["element"]), 20)
            raise DataError(f"no effects of {some(unknown)} in the table; it has {have}")
        marks = marks[marks["element"].isin(wanted) | marks["node"].isin(wanted)]
    if marks.empty:
        raise DataError(f"the table has no rows; {advice}")
    panels, single = [], []
    for element, values in marks.groupby("element", sort=False):
        unit = _unit(values["node"].iloc[0], layout)
        if len(values) > 1:
            ordered = values.sort_values("mean", ascending=False, kind="stable")
            panels.append(ordered.assign(panel=f"{element}{unit}", row=ordered["level"]))
        else:
            level = values["level"].iloc[0]
            row = f"{element}: {level}" if level else element
            single.append(values.assign(panel=f"value{unit}", row=row))
    marks = pd.concat([*single, *panels])
    marks["pale"] = (marks["low"] <= 0) & (marks["high"] >= 0)
    return rows(
        marks,
        {"mean": words, "pale": f"{words} that contains 0"},
        ax=ax,
        width=3.0,
        title="Posterior means and intervals",
        zero=True,
    )


def _unit(node: str, layout: Layout | None) -> str:
    """Return the unit that a layout declares for a node, in brackets, or an empty text."""
    latent = layout.nodes.get(node) if layout is not None else None
    name = units.name(latent.unit) if latent is not None else None
    return f" ({name})" if name else ""


def misfit_plot(
    criticism: Criticism,
    *,
    tables: str | Sequence[str] | None = None,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw effects of subjects, items, groups and pairs that the layout lacks.

    Each row is an effect with its interval, from the largest to the smallest; those that are not
    flagged are pale. If a table is longer than 30 rows, those with the smallest p are drawn.

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
    panels = _misfits(criticism)
    wanted = (
        list(panels) if tables is None else [tables] if isinstance(tables, str) else list(tables)
    )
    unknown = [name for name in wanted if name not in panels]
    if unknown:
        raise DataError(f"tables: no {some(unknown)}; there are {some(panels)}")
    marks, labels, titles = [], {}, {}
    for title, label, table, names in (panel for name in wanted for panel in panels[name]):
        tested = table.assign(row=names, panel=title)[table["p"].notna()]
        if len(tested):
            few = tested.nsmallest(_SHOWN, "p") if len(tested) > _SHOWN else tested
            marks.append(few.sort_values("effect", ascending=False, kind="stable"))
            labels[title] = label
            titles[title] = f"{title}: {int(tested['flagged'].sum())} flagged" + (
                f" (of {len(tested)}, the {_SHOWN} with the smallest p)" * (len(few) < len(tested))
            )
    if not marks:
        raise DataError(f"there is nothing to draw: no rows in {some(wanted)}")
    table = pd.concat(marks).rename(columns={"effect": "mean"})
    mass = style.percent(criticism.prob)
    return rows(
        table.assign(pale=~table["flagged"].astype(bool)),
        {"mean": f"flagged: effect and {mass} interval", "pale": "not flagged"},
        ax=ax,
        columns=2,
        width=3.8,
        title="" if criticism.fit is None else f"What {criticism.fit.layout.name} misses",
        labels=labels,
        titles=titles,
        zero=True,
    )


def _misfits(criticism: Criticism) -> dict[str, list[tuple[str, str, pd.DataFrame, list[str]]]]:
    """Return titles, labels, tables and names of rows of the panels, by table of a criticism."""
    items, pairs = criticism.items, criticism.pairs
    slopes, levels = items[items["what"] == SLOPE], items[items["what"] == LEVEL]
    groups = []
    changed = criticism.groups[criticism.groups["what"] == LEVEL]
    for by, table in changed.groupby("by", sort=False):
        several = table["level"].nunique() > 1
        whose = (
            "a level" if several else f"{table['level'].iloc[0]} against {table['against'].iloc[0]}"
        )
        names = table["item"] + (", " + table["level"] if several else "")
        groups.append((f"Items by {by}", f"easier for {whose} (log-odds)", table, names.tolist()))
    shared = "covariance in common (squared log-odds)"
    together = "Testlets" if criticism.testlets else "Pairs"
    subjects = criticism.subjects["subject"].tolist()
    return {
        "subjects": [("Subjects", "pattern (below 0: flatter)", criticism.subjects, subjects)],
        "items": [
            ("Slopes of items", "slope (below 0: flatter)", slopes, list(slopes.get("item", []))),
            ("Levels of items", "level (log-odds)", levels, list(levels.get("item", []))),
        ],
        "groups": groups,
        "pairs": [(together, shared, pairs, list(map(row_name, pairs.to_dict("records"))))],
    }


def residual_plot(
    criticism: Criticism,
    subject: object,
    property: str,
    by: str | None = None,
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw success by level of a property, and the interval in which the layout expects it.

    Filled points are outside their interval. The number at the right is the number of items.

    Parameters
    ----------
    criticism : Criticism
        Result of `criticise`.
    subject : object
        Subject to draw.
    property : str
        Column of the items.
    by : str, optional
        Another column, whose levels are drawn side by side in different colours.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: success rate, in [0, 1]; one row per level.

    Raises
    ------
    DataError
        When there is no such column.
    FitError
        When the subject is not in the fit.

    Examples
    --------
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> criticism = criticise(result, cohort.evaluation, candidates=["size"])
    >>> residual_plot(criticism, "sim-30", "size", "rewardBehind").get_xlabel()
    'success rate'
    """
    table = criticism.residuals(subject, *[property, *([] if by is None else [by])]).reset_index()
    items = table.groupby(property)["items"].transform("sum")
    marks = table.assign(
        row=table[property].astype(str),
        series="" if by is None else f"{by}: " + table[by].astype(str),
        mean=table["observed"],
        hollow=~table["surprising"],
        note=items.astype(str),
    )
    mass = style.percent(criticism.prob)
    (panel,) = rows(
        marks,
        {"mean": f"observed; line: {mass} interval of the layout", "hollow": "hollow: inside it"},
        ax=ax,
        width=4.2,
        labels={"": "success rate"},
        titles={"": f"{style.words(subject, 30)}: success by {style.words(property, 30)}"},
        limits={"": (-0.03, 1.03)},
        notes=["right: items"],
    )
    return panel  # type: ignore[no-any-return]
