"""Dispositions of models beside those of people: curves by bin, rates by model, self-reports."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.density import density
from ..common.errors import DataError
from ..common.messages import many, some
from ..common.options import inside
from ..dispositions.group_curves import ONE, model_groups
from ..evaluations.tables import need_columns, need_frame
from ..linking.interval import UNIT
from . import style
from .lines import Look, lines
from .rows import rows

_CURVE = ["group", "model", "human"]  # columns that identify a point of a curve
_FEWEST = 3  # least number of models for a density
_GRID = np.linspace(0, 1, 201)
_HILL = 2.5  # height of the highest density, in rows


def tidy(table: object, what: str, keys: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """Check a table of results: its columns or levels of the index, and one row for each key.

    Raises
    ------
    DataError
        When it is no table, a column is missing, it has no rows, or two rows have the same key.
    """
    checked = need_frame(table, what).reset_index()
    need_columns(checked.columns, [*keys, *columns], f"the table of {what} has")
    twice = checked[checked.duplicated(list(keys))]
    if checked.empty or len(twice):
        fault = f"two rows of {some(twice.iloc[0][list(keys)])}" if len(twice) else "no rows"
        raise DataError(f"{what}: the table has {fault}; give one for each {' and '.join(keys)}")
    return checked


def ordered(values: "pd.Series[float]", groups: Mapping[str, str]) -> list[str]:
    """Order models by group, and within it from the highest value to the lowest."""
    rank = pd.factorize(pd.Series(groups))[0]
    table = pd.DataFrame({"group": pd.Series(rank, list(groups)), "value": values})
    return list(table.sort_values(["group", "value"], ascending=[True, False]).index)


def mass_of(prob: float) -> str:
    """Write the mass of intervals, a share in (0, 1)."""
    return f"{style.percent(inside('prob', prob, such_as=0.9))} interval"


def group_looks(groups: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return a colour and a marker for each group; a single group is black."""
    names = list(dict.fromkeys(groups))
    return {ONE: (style.INK, "o")} if names == [ONE] else style.group_styles(names)


def misalignment_plot(
    curves: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw the distance of models' trait-positive rates from people's, one panel per trait.

    .. math:: |\mathrm{TPR}_\mathrm{human}(s) - \mathrm{TPR}_\mathrm{model}(s)|

    is averaged over the scenarios with about the same human rate. Bins are symmetric: those of
    consensus, [60 %, 70 %) to [90 %, 100 %), on either side, one bin for unanimity at each end, and
    one bin in the middle for all rates between 40 % and 60 %. Few votes and few samples differ by
    chance, even if people and a model choose at the same rate.

    Parameters
    ----------
    curves : DataFrame
        Result of `measurement_layouts.dispositions.misalignment_by_group`.
    prob : float, default 0.9
        Mass of the intervals, as it was given to that function; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per trait. Horizontal axis: mean human rate in the bin; vertical axis: mean
        misalignment, both in %. There is a thin line for each model and a thick one for each group.
        Bins with fewer than five scenarios are left out.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, or there are too many groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equation 1 and
    Figure 2.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> curves = ml.dispositions.misalignment_by_group(study.judgments, resamples=100)
    >>> axes = misalignment_plot(curves)
    >>> [panel.get_title() for panel in axes]
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    curves = tidy(curves, "curves", ["trait", *_CURVE], ["misalignment", "low", "high"])
    axes = _curves(
        curves.assign(panel=curves["trait"]),
        "misalignment",
        prob,
        ax=ax,
        x="human trait-positive rate (%)",
        y="misalignment (percentage points)",
        xlim=(-3, 103),
    )
    top = max(50.0, *(panel.dataLim.y1 + 2 for panel in axes))
    for panel in axes:
        panel.set(ylim=(0, top), xticks=[0, 25, 50, 75, 100])
    return axes


def confidence_plot(
    curves: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: Axes | None = None,
) -> Axes:
    r"""Draw the confidence of models in one action against the consensus of people.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all.

    Parameters
    ----------
    curves : DataFrame
        Result of `measurement_layouts.dispositions.confidence_by_group`.
    prob : float, default 0.9
        Mass of the intervals, as it was given to that function; the legend states it.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: mean consensus in the bin; vertical axis: mean confidence, both in %. There
        is a thin line for each model and a thick one for each group. Bins with fewer than five
        scenarios are left out.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, or there are too many groups.
    FitError
        When `prob` is not between 0 and 1.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 3.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> curves = ml.dispositions.confidence_by_group(study.judgments, resamples=100)
    >>> confidence_plot(curves).get_ylabel()
    'model confidence (%)'
    """
    curves = tidy(curves, "curves", _CURVE, ["confidence", "low", "high"])
    (panel,) = _curves(
        curves,
        "confidence",
        prob,
        ax=ax,
        size=(4.8, 4.2),
        title="Confidence of models and consensus of people",
        x="human consensus (%)",
        y="model confidence (%)",
        xlim=(48, 102),
        ylim=(48, 102),
        entries=(style.entry("confidence equals consensus", linestyle=":"),),
    )
    panel.plot([50, 100], [50, 100], color=style.QUIET, linestyle=":", linewidth=1.2, zorder=0)
    panel.set_aspect("equal")
    return panel  # type: ignore[no-any-return]


def _curves(curves: pd.DataFrame, measure: str, prob: float, **options: Any) -> np.ndarray:
    """Draw a measure: one thin line per model, and one mean with its band per group."""
    points = curves.assign(x=100 * curves["human"], y=100 * curves[measure])
    points = points.assign(low=100 * points["low"], high=100 * points["high"])
    counts = curves.groupby("group")["model"].nunique()
    looks, band = {}, f"band: {mass_of(prob)}"
    for group, (colour, _) in group_looks(curves["group"]).items():
        looks[f"{group}: model"] = Look(colour, line="-", width=0.7, alpha=0.35)
    for group, (colour, marker) in group_looks(curves["group"]).items():
        name = f"mean of {counts[group]} models" if counts[group] > 1 else "1 model"
        name = name if group == ONE else f"{group}: {name}"
        looks[group] = Look(colour, f"{name}, {band}", "-", marker, band=True, width=2, area=16)
    thin = points["model"].notna()
    models = points[thin].assign(part=points["model"], low=np.nan)
    models["series"] = models["group"] + ": model"
    table = pd.concat([models, points[~thin].assign(series=points["group"])])
    thin_line = style.entry("one model", linewidth=0.8)
    entries = [*options.pop("entries", ()), *[thin_line] * bool(counts.sum() > len(counts))]
    return lines(table, looks, entries=tuple(entries), **options)


def rate_distributions(
    rates: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    """Draw mean trait-positive rates of models where people are divided, one panel per trait.

    At the top is the density over models, estimated with a Gaussian kernel. Each row below is a
    model: the mean over the divided scenarios and its bootstrap interval. The dashed line is 50 %,
    near which the rate of people is in these scenarios.

    Parameters
    ----------
    rates : DataFrame
        Result of `measurement_layouts.dispositions.divided_rates`.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group). A group of three models or more
        that differ has a separate density, whose area is its share of the models.
    prob : float, default 0.9
        Mass of the intervals, as it was given to `divided_rates`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes for each trait with at least five divided scenarios. Horizontal axis: mean rate in
        %. Rows are in the same order in all panels: by group, and within a group from the highest
        mean over the traits to the lowest.

    Raises
    ------
    DataError
        When a column is missing, the table has no rows, a model has no group, or there are too many
        groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6 and
    Figure 5.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> axes = rate_distributions(ml.dispositions.divided_rates(study.judgments, resamples=100))
    >>> axes[0].get_title().split(":")[0]
    'Empathy'
    """
    table = tidy(rates, "rates", ["model", "trait"], ["scenarios", "rate", "low", "high"])
    groups = model_groups(table["model"].unique(), groups)
    styles = group_looks(groups.values())
    models = ordered(table.groupby("model")["rate"].mean(), groups)
    traits = list(dict.fromkeys(table["trait"]))
    every = pd.MultiIndex.from_product([traits, models], names=["trait", "model"])
    table = table.set_index(["trait", "model"]).reindex(every).reset_index()
    marks = pd.DataFrame({"panel": table["trait"], "row": table["model"]}).assign(
        series=table["model"].map(groups) if len(styles) > 1 else "",
        colour=[styles[groups[model]][0] for model in table["model"]],
        mean=100 * table["rate"],
        low=100 * table["low"],
        high=100 * table["high"],
    )
    counts = table.groupby("trait")["scenarios"].max()
    titles = {t: f"{style.words(t, 24)}: {many(int(counts[t]), 'scenario')}" for t in traits}
    hills = {
        trait: {
            group: density(subset["rate"].dropna().to_numpy(), _GRID, UNIT)
            * len(subset)
            / len(models)
            for group, subset in of_trait.dropna().groupby(of_trait["model"].map(groups))
            if len(subset) >= _FEWEST and subset["rate"].nunique() > 1
        }
        for trait, of_trait in table.groupby("trait")
    }
    axes = rows(
        marks,
        {"mean": f"mean and {mass_of(prob)}"},
        ax=ax,
        title="Models where people are divided",
        labels=dict.fromkeys(traits, "mean trait-positive rate (%)"),
        titles=titles,
        limits=dict.fromkeys(traits, (-2, 102)),
        notes=["hills: density over models"] * any(hills.values()),
    )
    highest = max((h.max() for subset in hills.values() for h in subset.values()), default=1.0)
    for trait, panel in zip(traits, axes, strict=True):
        panel.axvline(50, color=style.QUIET, linestyle=(0, (3, 2)), linewidth=1.0, zorder=0)
        for group, hill in hills[trait].items():
            height, colour = -0.7 - _HILL * hill / highest, styles[str(group)][0]
            panel.fill_between(100 * _GRID, -0.7, height, color=colour, alpha=0.25, linewidth=0)
            panel.plot(100 * _GRID, height, color=colour, linewidth=1.4)
        if any(hills.values()):
            panel.set_ylim(top=-1.0 - _HILL)
    return axes
