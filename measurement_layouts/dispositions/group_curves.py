"""Means of misalignment and confidence by model and group, over people's rates or consensus."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ..common.bootstrap import group_means
from ..common.errors import DataError
from ..common.messages import some
from .comparison import compare_choices
from .consensus import LEAST, rate_steps
from .judgments import SituationalJudgments, refuse_no_judgments

ONE = "models"
"""Name of the group of all models if no groups are given."""


def confidence_by_group(
    judgments: SituationalJudgments,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    r"""Average the confidence of models in one action, by the consensus of people.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group, ``models``). The value of a group in
        a scenario is the mean of its models with samples.
    prob : float, default 0.9
        Mass of the intervals, in (0, 1).
    resamples : int, default 1000
        Number of resamples of the scenarios of each bin, with replacement; models are not
        resampled.
    seed : int, default 1
        Seed of the resamples.

    Returns
    -------
    DataFrame
        One row for each model and bin, and for each group and bin: ``group``; ``model``, missing in
        the rows of a group; ``human``, people's mean consensus in the bin; number of ``scenarios``;
        mean ``confidence``, ``low`` and ``high``; all in [0, 1]. Bins of fewer than five scenarios
        are left out.

    Raises
    ------
    DataError
        When `judgments` is something else, there are no samples of models, a model has no group, or
        no bin has five scenarios.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 3.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> curves = confidence_by_group(study.judgments, resamples=100)
    >>> curves[curves["model"].isna()]["confidence"].round(2).tolist()
    [0.78, 0.79, 0.84, 0.88, 0.93, 0.96]
    """
    refuse_no_judgments(judgments, "samples")
    people = judgments.human_rates().assign(trait="")
    confidence = judgments.model_rates()["confidence"]
    options = {"prob": prob, "resamples": resamples, "seed": seed}
    curves = _curves(judgments, confidence, people, people["consensus"], groups, **options)
    return curves.drop(columns="trait").rename(columns={"mean": "confidence"})


def misalignment_by_group(
    judgments: SituationalJudgments,
    groups: Mapping[str, str] | None = None,
    *,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> pd.DataFrame:
    r"""Average the distance of models' trait-positive rates from people's, trait by trait.

    .. math:: |\mathrm{TPR}_\mathrm{human}(s) - \mathrm{TPR}_\mathrm{model}(s)|

    is averaged over the scenarios with about the same human rate. Bins are symmetric: those of
    consensus, [60 %, 70 %) to [90 %, 100 %), on either side, one bin for unanimity at each end, and
    one bin in the middle for all rates between 40 % and 60 %. Few votes and few samples differ by
    chance, even if people and a model choose at the same rate.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    groups, prob, resamples, seed
        As in `confidence_by_group`.

    Returns
    -------
    DataFrame
        ``trait``, and the columns of `confidence_by_group`, except that ``human`` is people's mean
        rate in the bin, and ``misalignment`` replaces ``confidence``.

    Raises
    ------
    DataError
        When `judgments` is something else, there are no samples of models, a model has no group, or
        no bin has five scenarios.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equation 1 and
    Figure 2.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=1, models=["sim-01", "sim-04"])
    >>> misalignment_by_group(study.judgments, resamples=100)["trait"].unique().tolist()
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    gaps, people = compare_choices(judgments)["misalignment"], judgments.human_rates()
    options = {"prob": prob, "resamples": resamples, "seed": seed}
    curves = _curves(judgments, gaps, people, people["rate"], groups, **options)
    return curves.rename(columns={"mean": "misalignment"})


def model_groups(models: Iterable[str], groups: Mapping[str, str] | None) -> dict[str, str]:
    """Give each model its group; without groups, all models are one.

    Raises
    ------
    DataError
        When a model has no group.

    Examples
    --------
    >>> model_groups(["b", "a"], {"a": "large", "b": "small", "c": "small"})
    {'b': 'small', 'a': 'large'}
    """
    names = list(models)
    group_of = dict.fromkeys(names, ONE) if groups is None else dict(groups)
    if without := [model for model in names if model not in group_of]:
        raise DataError(f"groups= has no group for {some(without)}; give one for each model")
    return {model: str(group_of[model]) for model in names}


def _curves(
    judgments: SituationalJudgments,
    values: "pd.Series[float]",
    people: pd.DataFrame,
    human: "pd.Series[float]",
    groups: Mapping[str, str] | None,
    **options: Any,
) -> pd.DataFrame:
    """Average values of models, and of groups of them, by trait and tenth of people's rates."""
    wide = values.unstack("model")[judgments.models]
    steps = rate_steps(human)
    order = np.lexsort([steps.to_numpy(), pd.factorize(people["trait"])[0]])
    cells = (people["trait"] + "/" + steps.astype(str)).iloc[order]
    cells = cells[cells.index.isin(wide.index)]
    cells = cells[cells.map(cells.value_counts()) >= LEAST]
    if cells.empty:
        raise DataError(f"no bin of rates has {LEAST} of the {len(wide)} scenarios; give more")
    group_of = model_groups(judgments.models, groups)
    of_groups = wide.T.groupby(pd.Series(group_of), sort=False).mean().T
    lines = pd.DataFrame(
        [*group_of.items(), *((None, group) for group in of_groups)], columns=["model", "group"]
    )
    table = pd.concat([wide, of_groups], axis=1).reindex(cells.index)
    means = group_means(table.set_axis(lines.index, axis=1), cells, overall=False, **options)
    means = means.rename_axis(["line", "cell"]).dropna(subset="mean").reset_index()
    of_cell = pd.DataFrame({"trait": people["trait"], "human": human}).groupby(cells)
    means = means.join(of_cell.agg({"trait": "first", "human": "mean"}), on="cell")
    means = means.join(lines, on="line").rename(columns={"count": "scenarios"})
    return means[["trait", "group", "model", "human", "scenarios", "mean", "low", "high"]]
