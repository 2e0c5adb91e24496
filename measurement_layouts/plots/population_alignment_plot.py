"""Distances and dispositions of models relative to several populations."""

import numpy as np

from ..common.errors import DataError
from ..common.messages import some
from ..dispositions.populations import PopulationAlignment
from . import style
from .disposition_lines import explain

_PANELS = {
    "distance": "distance from the population\n(percentage points)",
    "disposition": "disposition: model minus population\n(percentage points)",
}
_MARK, _GAP, _LETTER = 0.14, 0.16, 0.066  # inches: a population's mark, between models, a letter
_MOST = 60  # largest number of models of a figure


def population_alignment_plot(
    alignment: PopulationAlignment,
    *,
    trait: str = "all",
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw the distance and the disposition of models relative to several populations.

    The left panel has the distance of a model's rates from those of each population, corrected for
    the small numbers of votes and samples: it is 0 for a model that chooses as the population does.
    The right panel has the model's disposition, which is above 0 if the model recommends the
    trait-positive action more often than the population. Lines are intervals: over other scenarios
    on the left, and over other raters of the population on the right.

    Parameters
    ----------
    alignment : PopulationAlignment
        Result of `measurement_layouts.dispositions.alignment_by_population`.
    trait : str, default "all"
        Trait whose scenarios are drawn (default: all scenarios).
    ax : Axes or sequence of Axes, optional
        Two axes to draw on (default: a new figure, with a row per model).

    Returns
    -------
    ndarray of Axes
        Two Axes, distance and disposition, in percentage points. Models are in their order, the
        first at the top; populations differ by colour and marker.

    Raises
    ------
    DataError
        When the trait is unknown, or there are too many models or
        populations.
    FitError
        When the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 10, which
    proposes a study of several populations.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> found = ml.dispositions.alignment_by_population(study.judgments, "nationality")
    >>> [panel.get_xlabel().split()[0] for panel in population_alignment_plot(found)]
    ['distance', 'disposition:']
    """
    table = alignment.table
    traits = list(table.index.unique("trait"))
    if trait not in traits:
        raise DataError(f"trait={trait!r} is not in the table; it has {some(traits, 12)}")
    part = table.xs(trait, level="trait")
    models, groups = (list(part.index.unique(level)) for level in ("model", "population"))
    if len(models) > _MOST or len(groups) > len(style.METHODS):
        raise DataError(
            f"{len(models)} models and {len(groups)} populations; a figure can show {_MOST} and "
            f"{len(style.METHODS)}: select some models, or join populations"
        )
    names = [style.words(model, 40) for model in models]
    row = _MARK * len(groups) + _GAP
    size = 6.4 + max(map(len, names)) * _LETTER, max(len(models) * row + 1.6, 2.6)
    axes, figure = style.panels(ax, 2, 2, size, sharey=True)
    looks = style.method_styles(groups)
    step = _MARK / row
    for panel, (column, label) in zip(axes, _PANELS.items(), strict=True):
        panel.axvline(0, color=style.INK, linewidth=0.9, zorder=0)
        for place, group in enumerate(groups):
            own = part.xs(group, level="population").reindex(models)
            at = np.arange(len(models)) + step * (place - (len(groups) - 1) / 2)
            colour, marker = looks[group]
            ends = 100 * own[[f"{column}_low", f"{column}_high"]].to_numpy().T
            panel.hlines(at, *ends, color=colour, linewidth=1.6, alpha=0.6)
            panel.scatter(100 * own[column], at, s=20, color=colour, marker=marker, zorder=3)
        style.row_names(panel, names, 8.5)
        panel.tick_params(axis="x", labelsize=8)
        panel.set_xlabel(label, fontsize=9)
        panel.set_ylim(len(models) - 0.5, -0.5)
        style.rules(panel, "x")
        style.quiet_frame(panel, "bottom")
    which = "all traits" if trait == "all" else style.words(trait)
    style.heading(figure, f"Models compared with populations by {alignment.attribute}: {which}")
    entries = style.named_entries(looks, linewidth=1.6, markersize=4.5)
    mass = style.percent(alignment.prob)
    entries.append(style.entry(f"{mass} interval", linewidth=1.6, alpha=0.6))
    explain(axes, figure, entries)
    return axes
