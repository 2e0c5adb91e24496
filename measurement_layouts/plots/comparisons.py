"""Comparisons of subjects, importances of properties, and reliability of annotators, as rows."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from ..common.digits import fixed
from ..common.messages import many
from ..estimation.raters import RaterModel
from ..validation.comparing.result import Comparison
from . import style
from .rows import rows


def importance_plot(importance: pd.DataFrame, *, ax: style.Panels | None = None) -> np.ndarray:
    """Draw permutation importances with intervals, one panel per method.

    The most important property is at the top.

    Parameters
    ----------
    importance : DataFrame
        Result of `permutation_importance`.
    ax : Axes or sequence of Axes, optional
        Axes to draw on, one for each method (default: a new figure).

    Returns
    -------
    ndarray of Axes
        One Axes per method. Horizontal axis: rise of the Brier score when the property is shuffled.

    Raises
    ------
    FitError
        When the number of axes is wrong.

    References
    ----------
    General scales paper, appendix 8.5.1 and Figure 16.

    Examples
    --------
    >>> table = pd.DataFrame({"method": "mine", "property": ["size", "hue"],
    ...                       "importance": [0.2, 0.01], "low": [0.1, -0.01], "high": [0.3, 0.03]})
    >>> [label.get_text() for label in importance_plot(table)[0].get_yticklabels()]
    ['size', 'hue']
    """
    names = {"method": "panel", "property": "row", "importance": "mean"}
    methods = importance["method"].astype(str).unique()
    return rows(
        importance.rename(columns=names),
        {"mean": "mean over folds, with its interval"},
        ax=ax,
        columns=max(len(methods), 1),
        width=3.4,
        labels=dict.fromkeys(methods, "rise of the Brier score when shuffled"),
        titles={name: name for name in methods},
        zero=True,
    )


def rater_reliability_plot(
    model: RaterModel, *, least: float = 0.7, prob: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Draw the reliability of one annotator and of all together, by dimension, with a threshold.

    Dimensions for which all annotators together do not reach the threshold are pale. The number at
    the right is the number of averaged annotations that reach it.

    Parameters
    ----------
    model : RaterModel
        Result of `rater_model`.
    least : float, default 0.7
        Reliability that is needed, in (0, 1).
    prob : float, default 0.9
        Mass of the intervals, in (0, 1).
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: reliability, in [0, 1]. There is one row per dimension, the most reliable
        at the top.

    Raises
    ------
    AnnotationError
        When `least` or `prob` is out of range.

    References
    ----------
    Spearman (1910), British Journal of Psychology 3, 271-295, on the reliability of averages.

    Examples
    --------
    >>> from measurement_layouts.annotation import Ratings
    >>> from measurement_layouts.estimation import rater_model
    >>> random = np.random.default_rng(1)
    >>> truth = random.normal(2.5, 1, 100)
    >>> levels = {name: np.rint(random.normal(truth, 0.7)).clip(0, 5) for name in ("one", "two")}
    >>> ratings = Ratings.from_wide({name: pd.DataFrame({"planning": values})
    ...                              for name, values in levels.items()})
    >>> rater_reliability_plot(rater_model(ratings)).get_xlabel()
    'reliability: share of the variance of levels that is true'
    """
    table = model.reliability(least=least, prob=prob).sort_values("together", ascending=False)
    raters = model.traits.sizes["rater"]
    names = {"one": "one annotator", "together": f"all {raters} together"}
    marks = [
        pd.DataFrame(
            {
                "row": table.index,
                "series": name,
                "mean": table[key].to_numpy(),
                "low": table[f"{key}_low"].to_numpy(),
                "high": table[f"{key}_high"].to_numpy(),
                "pale": ~table["enough"].to_numpy(),
                "note": [fixed(count, 0) for count in table["needed"]],
            }
        )
        for key, name in names.items()
    ]
    (panel,) = rows(
        pd.concat(marks),
        {"mean": f"mean and {style.percent(prob)} interval", "pale": "pale: not enough together"},
        ax=ax,
        width=4.6,
        labels={"": "reliability: share of the variance of levels that is true"},
        titles={"": f"How well {many(raters, 'annotator')} measure levels"},
        limits={"": (0, 1)},
        notes=[f"dashed: {least:g} is needed", "right: annotations needed"],
    )
    panel.axvline(least, color=style.INK, linestyle="--", linewidth=1.2)
    return panel  # type: ignore[no-any-return]


def comparison_plot(comparison: Comparison, *, ax: Axes | None = None) -> Axes:
    """Draw the difference of each subject to the first one, with intervals, and its rank.

    The best subject is at the top. The subjects that cannot be told apart from it have a band
    behind them; the others are pale. Each reading has a marker. To the right of each subject is the
    interval of its rank. A dagger marks a subject whose row has a warning.

    Parameters
    ----------
    comparison : Comparison
        Result of `compare`.
    ax : Axes, optional
        Axes to draw on (default: a new figure).

    Returns
    -------
    Axes
        Horizontal axis: subject minus the first subject. If there are more than 100 subjects, only
        some are named.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> outcomes = pd.DataFrame([[1, 1, 1, 1, 0, 1], [0, 1, 0, 1, 0, 0]], ["Ann", "Bob"])
    >>> evaluation = ml.Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> [name.get_text() for name in comparison_plot(ml.compare(evaluation)).get_yticklabels()]
    ['Ann', 'Bob']
    """
    ranking = comparison.ranking[comparison.ranking["reading"] == comparison.readings[0]]
    first, *behind = ranking["subject"]
    pairs = comparison.table[comparison.table["subject"] == first]
    doubted = set(pairs["reference"][pairs["warning"] != ""])
    names = {name: style.words(name, 40) + " †" * (name in doubted) for name in ranking["subject"]}
    ends = zip(ranking["rank_low"], ranking["rank_high"], strict=True)
    ranks = {name: _ranks(*both) for name, both in zip(ranking["subject"], ends, strict=True)}
    empty = pd.DataFrame({"reference": first, "reading": comparison.readings})
    table = pd.concat([empty, *(pairs[pairs["reference"] == name] for name in behind)])
    marks = pd.DataFrame(
        {
            "row": table["reference"].map(names),
            "series": table["reading"],
            "mean": -table["difference"],
            "low": -table["high"],
            "high": -table["low"],
            "pale": ~table["reference"].isin(comparison.tied),
            "note": table["reference"].map(ranks),
        }
    )
    (panel,) = rows(
        marks,
        {"mean": f"difference, {style.percent(comparison.prob)} interval", "pale": "pale: behind"},
        ax=ax,
        width=4.6,
        labels={"": f"{comparison.name}: subject minus {style.words(first, 30)}"},
        titles={"": f"Behind {style.words(first, 30)}; right: ranks"},
        zero=True,
        notes=[
            "shaded: cannot be told apart from the first",
            *["† with a warning"] * bool(doubted),
        ],
    )
    for row in np.flatnonzero(ranking["tied"]):
        panel.axhspan(row - 0.5, row + 0.5, color=style.RULE, linewidth=0, zorder=0)
    return panel  # type: ignore[no-any-return]


def _ranks(low: float, high: float) -> str:
    return fixed(low, 0) if low == high else f"{fixed(low, 0)} to {fixed(high, 0)}"
