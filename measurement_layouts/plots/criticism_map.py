"""Expected gains of properties that a layout lacks, for many subjects and candidates."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.patches import Rectangle

from ..common.digits import fixed
from ..common.errors import DataError
from ..validation.criticism.criticise import Criticism
from . import cells, style

_COLOURS = "Blues"  # pale to dark, in grey too
_COLUMN = 0.55  # inches


def criticism_map(criticism: Criticism, *, ax: Axes | None = None) -> Axes:
    """Draw expected gains as a table: one row per subject, one column per candidate property.

    Properties that the layout uses are left out; see `Criticism.forms`.

    A cell is darker the more elpd the effects of the property would gain, on a logarithmic scale
    from 1 nat; a white cell gains less. Flagged cells are framed and have the gain in nats; a star
    marks the first of a subject. A dash means that there is no test (see ``remark`` in the table).

    Parameters
    ----------
    criticism : Criticism
        Result of `criticise`.
    ax : Axes, optional
        Axes to draw on (default: a new figure that grows with the table).

    Returns
    -------
    Axes
        Axes in which a candidate is one unit wide and a subject one unit high.

    Raises
    ------
    DataError
        When the criticism has no candidates.

    Examples
    --------
    >>> from measurement_layouts.validation.criticism.criticise import criticise
    >>> from measurement_layouts.evaluations.evaluation import Evaluation
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01", "sim-30"],
    ...              draws=200, tune=300, chains=2, seed=1, progressbar=False)
    >>> items = cohort.evaluation.items.assign(day=np.arange(69) % 5)
    >>> known = Evaluation(items, cohort.evaluation.successes, cohort.evaluation.trials)
    >>> criticism = criticise(result, known, candidates=["day"])
    >>> criticism_map(criticism).get_title()
    'Missed by the layout: 0 of 2 flagged, 5% over all'
    """
    table = criticism.candidates
    if table.empty:
        raise DataError(f"there is nothing to draw: {criticism.untried()}, and criticise again")
    who = list(dict.fromkeys(table["subject"]))
    names = sorted(dict.fromkeys(table["property"]))
    wide = table.pivot_table(index="subject", columns="property", values="gain", dropna=False)
    gains = wide.reindex(index=who, columns=names).to_numpy(dtype=float)
    rows = [style.words(name, 40) for name in who]
    heads = [style.words(name, 40) for name in names]
    width = 1.2 + max(map(len, rows)) * cells.LETTER + max(len(names) * _COLUMN, 3.6)
    height = 1.8 + len(rows) * cells.ROW + max(map(len, heads)) * cells.LETTER
    ax = style.single(ax, (width, height))
    most = max(10.0, float(np.nanmax(gains, initial=0)))
    colours = colormaps[_COLOURS].with_extremes(bad="white", under="white")
    look: dict[str, Any] = {"edgecolors": style.RULE, "linewidth": 0.6}
    mesh = cells.fill(ax, gains, cmap=colours, norm=LogNorm(1, most), **look)
    inks = cells.inks(mesh, gains)
    frame: dict[str, Any] = {"fill": False, "edgecolor": style.INK, "linewidth": 1.3}
    frame |= {"zorder": 3, "clip_on": False}
    first = criticism.first()
    flagged = table[table["flagged"]]
    for subject, name, gain in zip(
        flagged["subject"], flagged["property"], flagged["gain"], strict=True
    ):
        row, column = who.index(subject), names.index(name)
        ax.add_patch(Rectangle((column, row), 1, 1, **frame))
        text = fixed(gain, 0) + " *" * (first[subject] == name)
        cells.write(ax, column + 0.5, row + 0.5, text, inks[row, column])
    for row, column in np.argwhere(np.isnan(gains)):
        cells.write(ax, column + 0.5, row + 0.5, "\u2013", style.QUIET)
    cells.name_cells(ax, rows, heads, upright=True)
    told = "framed: flagged;  * first of the subject;  \u2013 no test"
    ax.set_xlabel(told, fontsize=cells.LETTERS)
    label = "expected gain in elpd (nats); white: less than 1"
    bar = cells.bar_below(ax, mesh, label, width, extend="min")
    ticks = [10.0**power for power in range(int(np.log10(most)) + 1)]
    bar.set_ticks(ticks, labels=[f"{tick:g}" for tick in ticks])
    bar.minorticks_off()
    tested, level = int(table["p"].notna().sum()), style.percent(criticism.alpha)
    style.title(ax, f"Missed by the layout: {len(flagged)} of {tested} flagged, {level} over all")
    return ax
