"""How far models are from people, over what people choose."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..dispositions.comparison import compare_choices
from ..dispositions.consensus import means_in_bins, rate_steps
from ..dispositions.votes import as_aligned
from . import style
from .disposition_lines import (
    draw_means,
    draw_models,
    explain,
    line_entries,
    shown,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..dispositions.judgments import SituationalJudgments

_COLUMNS = 4
_PANEL = (2.7, 2.7)  # inches
_MISALIGNMENT = "misalignment (percentage points)"


def misalignment_plot(
    judgments: "SituationalJudgments",
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
    ax: "Axes | Sequence[Axes] | np.ndarray | None" = None,
) -> "np.ndarray":
    r"""Draw how far models' trait-positive rates are from people's, a panel per trait.

    .. math:: |\mathrm{TPR}_\mathrm{human}(s) - \mathrm{TPR}_\mathrm{model}(s)|

    averaged over the scenarios with about the same human rate. Bins are symmetric: those of
    consensus, [60 %, 70 %) to [90 %, 100 %), at either side, unanimity alone at both ends, and all
    rates between 40 % and 60 % in the middle. A few votes and a few samples differ by chance, even
    where people and a model choose at one rate; the dashed line shows what is to be expected of
    such a model, with as many samples (see `as_aligned`).

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models : sequence of str, optional
        Which; all by default.
    groups : mapping of str to str, optional
        Group of each model, for colours and means; all models are one group by default.
    prob : float
        Mass of the bands.
    resamples, seed : int
        Of the bootstrap over scenarios that gives the bands.
    ax : Axes or sequence of Axes, optional
        Where to draw, one for each trait; a new figure by default.

    Returns
    -------
    ndarray of Axes
        One per trait. Horizontal: mean human rate in the bin, vertical: mean misalignment, both in
        %. A thin line per model, a thick one per group. Bins of fewer than five scenarios are left
        out.

    Raises
    ------
    DataError
        When a model is unknown or has no group, or there are too many groups.
    FitError
        When the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equation 1 and
    Figure 2.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> axes = misalignment_plot(study.judgments, resamples=100)
    >>> [panel.get_title() for panel in axes]
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    chosen = shown(judgments, models, groups)
    table = compare_choices(chosen.judgments)
    people, rates = chosen.judgments.human_rates(), chosen.judgments.model_rates()
    aligned = as_aligned(people, rates, _gap)
    traits = chosen.judgments.traits
    columns = min(_COLUMNS, len(traits))
    size = max(_PANEL[0] * columns + 0.5, 4.6), _PANEL[1] * -(-len(traits) // columns) + 0.9
    axes, figure = style.panels(ax, len(traits), columns, size, sharey=True)
    for panel, trait in zip(axes, traits, strict=True):
        part = table[table["trait"] == trait]
        human = part.groupby("scenario", sort=False)["human"].first()
        bins, expected = rate_steps(human), aligned.loc[human.index]
        values = part["misalignment"].unstack("model")
        values = values.reindex(index=human.index, columns=chosen.models)
        means = means_in_bins(
            values, bins, chosen.members, prob=prob, resamples=resamples, seed=seed
        )
        kept = means.index.unique("bin").sort_values()
        at = human.groupby(bins).mean().loc[kept]
        draw_models(panel, at, values.groupby(bins).mean().loc[kept], chosen)
        draw_means(panel, at, means, chosen)
        luck = expected.groupby(bins).mean().loc[kept]
        (dashed,) = panel.plot(
            100 * at, 100 * luck, color=style.INK, linestyle=(0, (3, 2)), linewidth=1.2
        )
        _frame(panel)
        style.title(panel, style.words(trait))
    style.outer_labels(axes, columns, "human trait-positive rate (%)", _MISALIGNMENT, fontsize=9)
    dashed.set_label("a model whose rates are the people's")
    explain(axes, figure, [*line_entries(chosen, prob), dashed])
    return axes


def _gap(model: np.ndarray, human: np.ndarray) -> np.ndarray:
    return np.asarray(np.abs(model - human))


def _frame(ax: "Axes") -> None:
    ax.set_xlim(-3, 103)
    ax.set_ylim(0, max(50.0, ax.dataLim.y1 + 2, ax.get_ylim()[1]))
    ax.set_xticks([0, 25, 50, 75, 100])
    ax.grid(axis="y", color=style.RULE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.tick_params(labelsize=8)
    style.quiet_frame(ax, "left", "bottom")
