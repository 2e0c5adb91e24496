"""How sure models are of one action, over how much people agree."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..dispositions.consensus import consensus_steps, means_in_bins
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

_SIZE = (5.4, 5.2)  # inches


def confidence_plot(
    judgments: "SituationalJudgments",
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
    ax: "Axes | None" = None,
) -> "Axes":
    r"""Draw how sure models are of one action, over how much people agree on one.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all. The dashed line is what such a model is expected to show,

    .. math:: \mathrm{E} \max(k, n - k) / n, \quad k \sim \mathrm{Binomial}(n, r)

    with the models' numbers n of decided samples, and r from the posterior of the people's rate
    (`rate_posteriors`, by trait).

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
    ax : Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    Axes
        Horizontal: mean consensus in the bin, vertical: mean confidence, both in %. A thin line per
        model, a thick one per group. Bins of fewer than five scenarios are left out.

    Raises
    ------
    DataError
        When a model is unknown or has no group, or there are too many groups.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 3.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> confidence_plot(study.judgments, resamples=100).get_ylabel()
    'model confidence (%)'
    """
    chosen = shown(judgments, models, groups)
    people, rates = chosen.judgments.human_rates(), chosen.judgments.model_rates()
    values = rates["confidence"].unstack("model").reindex(people.index)
    bins = consensus_steps(people["rate"])
    means = means_in_bins(values, bins, chosen.members, prob=prob, resamples=resamples, seed=seed)
    kept = means.index.unique("bin").sort_values()
    at = people["consensus"].groupby(bins).mean().loc[kept]
    panel = style.single(ax, _SIZE)
    figure = panel.get_figure(root=True) if ax is None else None
    draw_models(panel, at, values.groupby(bins).mean().loc[kept], chosen)
    draw_means(panel, at, means, chosen)
    aligned = as_aligned(people, rates, _confidence).groupby(bins).mean().loc[kept]
    (dashed,) = panel.plot(
        100 * at,
        100 * aligned,
        color=style.INK,
        linestyle=(0, (3, 2)),
        linewidth=1.4,
        label="a model whose rates are the people's",
    )
    (dotted,) = panel.plot(
        [50, 100], [50, 100], color=style.QUIET, linestyle=":", linewidth=1.2, zorder=0
    )
    dotted.set_label("confidence equals consensus")
    _frame(panel)
    style.title(panel, "Confidence of models and consensus of people")
    entries = [*line_entries(chosen, prob), dashed, dotted]
    explain(np.array([panel]), figure, entries)
    return panel


def _confidence(model: np.ndarray, human: np.ndarray) -> np.ndarray:
    return np.asarray(np.maximum(model, 1 - model))


def _frame(ax: "Axes") -> None:
    ax.set_xlim(48, 102)
    ax.set_ylim(48, 102)
    ax.set_aspect("equal")
    ax.set_xticks(range(50, 101, 10))
    ax.set_yticks(range(50, 101, 10))
    ax.grid(axis="y", color=style.RULE, linewidth=0.7)
    ax.set_axisbelow(True)
    ax.set_xlabel("human consensus (%)")
    ax.set_ylabel("model confidence (%)")
    style.quiet_frame(ax, "left", "bottom")
