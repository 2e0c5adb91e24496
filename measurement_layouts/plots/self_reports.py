"""Self-reports of models beside their choices."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..common.digits import significant, with_interval
from ..dispositions.group_curves import ONE, model_groups
from . import style
from .dispositions import group_looks, mass_of, tidy
from .labels import write_names
from .lines import Look, lines

_RHO = ["rho", "low", "high", "reason"]  # columns of correlations
_LINE = 10.0  # height of a line above a panel, in points


def self_report_plot(
    reports: pd.DataFrame,
    correlations: pd.DataFrame,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw revealed against reported dispositions of models, one panel per trait.

    The horizontal axis is a model's mean rating of the trait's statements, reverse-scored if
    agreeing means less of the trait. The vertical axis is its mean trait-positive rate, with a
    bootstrap interval over scenarios. The title has Spearman's :math:`\rho` over the models, with
    its interval. If reports predicted choices, points would rise from the lower left to the upper
    right.

    Parameters
    ----------
    reports, correlations : DataFrame
        Results of `measurement_layouts.dispositions.self_reports` and `self_report_correlations`,
        by trait.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group).
    prob : float, default 0.9
        Mass of the intervals, as it was given to `self_reports`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each trait (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per trait. Horizontal axis: rating, 1 to 7; vertical axis: rate in %. Grey lines
        are the middles of both scales.

    Raises
    ------
    DataError
        When a column is missing, a table has no rows, a model has no group, or there are too many
        groups.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 6
    (divided scenarios) and Figure 12 (all scenarios).

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> reports = ml.dispositions.self_reports(study.judgments, divided_below=None)
    >>> rho = ml.dispositions.self_report_correlations(study.judgments, divided_below=None)
    >>> axes = self_report_plot(reports, rho)
    >>> axes[0].get_title().splitlines()[0]
    'Empathy'
    """
    table = tidy(reports, "reports", ["model", "trait"], ["reported", "revealed", "low", "high"])
    rho = tidy(correlations, "correlations", ["trait"], _RHO).set_index("trait")
    groups = model_groups(table["model"].unique(), groups)
    points = table.assign(
        panel=table["trait"],
        series=table["model"].map(groups),
        x=table["reported"],
        y=100 * table["revealed"],
        low=100 * table["low"],
        high=100 * table["high"],
    )
    mass = f"{mass_of(prob)} of its rate"
    looks = {
        group: Look(colour, f"{'a model' if group == ONE else group}, {mass}", marker=marker)
        for group, (colour, marker) in group_looks(groups.values()).items()
    }
    traits = list(dict.fromkeys(table["trait"]))
    written = {trait: f"\n{written_rho(row)}" for trait, row in rho.iterrows()}
    axes = lines(
        points,
        looks,
        ax=ax,
        size=(2.9, 3.0),
        title="Reported and revealed dispositions",
        titles={trait: style.words(trait, 34) + written.get(trait, "") for trait in traits},
        x="reported: mean rating (1 to 7)",
        y="revealed: mean trait-positive rate (%)",
        xlim=(0.8, 7.2),
        ylim=(-3, 103),
    )
    for trait, panel in zip(traits, axes, strict=True):
        panel.axvline(4, color=style.RULE, linewidth=1.2, zorder=0)
        panel.set_xticks(range(1, 8))
        subset = points[points["panel"] == trait]
        write_names(panel, subset["x"], subset["y"], subset["model"])
    return axes


def self_report_panels(
    reports: pd.DataFrame,
    correlations: pd.DataFrame,
    *,
    prob: float = 0.9,
    ax: style.Panels | None = None,
) -> np.ndarray:
    r"""Draw choices of models against their self-reports by statement, one panel per model.

    The horizontal axis is the rating that the model gave a statement. The vertical axis is the mean
    rate of the action that agrees with the statement, over its scenarios. Each trait has a colour,
    a least-squares line and, above the panel, Spearman's :math:`\rho` over its statements, with a
    bootstrap interval. The line is solid if the interval does not contain 0.

    Parameters
    ----------
    reports, correlations : DataFrame
        Results of `measurement_layouts.dispositions.self_reports` and `self_report_correlations`,
        by statement.
    prob : float, default 0.9
        Mass of the intervals, as it was given to `self_report_correlations`; the legend states it.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each model (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per model. Horizontal axis: rating, 1 to 7; vertical axis: rate in %.

    Raises
    ------
    DataError
        When a column is missing, a table has no rows, or there are more traits than colours.
    FitError
        When `prob` is not between 0 and 1, or the number of axes is wrong.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, appendix F
    and Figure 13.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> options = {"by": "statement", "divided_below": None}
    >>> reports = ml.dispositions.self_reports(study.judgments, **options)
    >>> rho = ml.dispositions.self_report_correlations(study.judgments, **options)
    >>> axes = self_report_panels(reports, rho)
    >>> [panel.get_title() for panel in axes]
    ['sim-01', 'sim-04']
    """
    keys, columns = ["model", "trait"], ["trait", "reported", "revealed"]
    table = tidy(reports, "reports", ["model", "statement"], columns)
    rho = tidy(correlations, "correlations", keys, [*_RHO, "slope", "intercept"]).set_index(keys)
    points = pd.DataFrame(
        {
            "panel": table["model"],
            "series": table["trait"],
            "x": table["reported"],
            "y": 100 * table["revealed"],
        }
    ).join(table[keys])
    frames, looks = [points], {}
    styles = style.group_styles(table["trait"])
    for trait, (colour, marker) in styles.items():
        looks[trait] = Look(colour, trait, marker=marker, alpha=0.5, area=11)
        looks[f"{trait}: sure"] = Look(colour, line="-")
        looks[f"{trait}: unsure"] = Look(colour, line=(0, (3, 2)))
    for key, subset in points.groupby(keys, sort=False):
        model, trait = map(str, key)
        row = rho.xs(key) if key in rho.index else None
        if row is not None and np.isfinite(row["rho"]):
            sure = "sure" if row["low"] > 0 or row["high"] < 0 else "unsure"
            ends = np.array([subset["x"].min(), subset["x"].max()])
            heights = 100 * (row["intercept"] + row["slope"] * ends)
            line = {"panel": model, "series": f"{trait}: {sure}", "x": ends, "y": heights}
            frames.append(pd.DataFrame(line))
    titles = {str(model): style.words(model, 34) for model in dict.fromkeys(table["model"])}
    axes = lines(
        pd.concat(frames),
        looks,
        ax=ax,
        columns=5,
        size=(2.4, 2.2 + 0.16 * len(styles)),
        title="Reported and revealed, statement by statement",
        titles=titles,
        x="rating (1 to 7)",
        y="agreeing action (%)",
        xlim=(0.6, 7.4),
        ylim=(-4, 104),
        entries=(style.entry(f"{mass_of(prob)} of ρ includes 0", linestyle=(0, (3, 2))),),
    )
    above: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points"}
    for model, panel in zip(titles, axes, strict=True):
        panel.set_xticks(range(1, 8))
        panel.set_title(titles[model], fontsize=9, pad=5 + _LINE * len(styles))
        for height, (trait, (colour, _)) in enumerate(reversed(styles.items())):
            if (model, trait) in rho.index:
                text = written_rho(rho.loc[[(model, trait)]].iloc[0])
                look = {"ha": "center", "fontsize": 7, "color": colour, **above}
                panel.annotate(text, (0.5, 1), (0, 4 + _LINE * height), **look)
    return axes


def written_rho(row: pd.Series) -> str:
    """Write a rank correlation and its interval, or why there is none.

    Examples
    --------
    >>> written_rho(pd.Series({"rho": -0.12, "low": -0.4, "high": 0.2}))
    'ρ = −0.120 [−0.400, 0.200]'
    """
    if not np.isfinite(row["rho"]):
        return f"no ρ: {row['reason']}"
    if not np.isfinite(row["low"]):
        return f"ρ = {significant(row['rho'])}"
    return f"ρ = {with_interval(row['rho'], row['low'], row['high'])}"
