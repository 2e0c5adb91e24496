"""Curves of groups of models against people's choices: means in bins of scenarios."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from .comparison import compare_choices
from .consensus import consensus_steps, means_in_bins, rate_steps
from .judgments import SituationalJudgments
from .model_groups import ModelGroups


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """Means of models and of groups, in bins of scenarios by people's choices.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    at : Series
        Mean of people by bin, in [0, 1]. Bins with fewer than five scenarios are left out.
    lines : DataFrame
        Mean of each model by bin.
    means : DataFrame
        ``mean``, ``low`` and ``high`` by group and bin.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=1, models=["sim-01", "sim-04"])
    >>> confidence_by_group(study.judgments, resamples=10).lines.columns.tolist()
    ['sim-01', 'sim-04']
    """

    chosen: ModelGroups
    at: "pd.Series[float]"
    lines: pd.DataFrame
    means: pd.DataFrame
    prob: float


def confidence_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> GroupCurves:
    r"""Average the confidence of models in one action, by the consensus of people.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models : sequence of str, optional
        Models to use (default: all).
    groups : mapping of str to str, optional
        Group of each model (default: all models are one group).
    prob : float
        Mass of the intervals of groups' means.
    resamples, seed : int
        Number and seed of the resamples of scenarios from which intervals are computed.

    Returns
    -------
    GroupCurves
        Curves of confidence by people's mean consensus, all in [0, 1].

    Raises
    ------
    DataError
        When `judgments` is something else, or a model is unknown or has no group.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Figure 3.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> confidence_by_group(study.judgments, resamples=100).at.round(2).tolist()
    [0.53, 0.63, 0.72, 0.82, 0.92, 1.0]
    """
    chosen = ModelGroups.of(judgments, models, groups)
    people, rates = chosen.judgments.human_rates(), chosen.judgments.model_rates()
    values = rates["confidence"].unstack("model").reindex(people.index)
    steps = consensus_steps(people["rate"])
    means = means_in_bins(values, steps, chosen.members, prob=prob, resamples=resamples, seed=seed)
    return _curves(chosen, people["consensus"], values, steps, means, prob)


def misalignment_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> dict[str, GroupCurves]:
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
    models, groups, prob, resamples, seed
        As in `confidence_by_group`.

    Returns
    -------
    dict of str to GroupCurves
        Curves of misalignment by people's mean rate, for each trait, all in [0, 1].

    Raises
    ------
    DataError
        When `judgments` is something else, or a model is unknown or has no group.
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
    >>> list(misalignment_by_group(study.judgments, resamples=100))
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    chosen = ModelGroups.of(judgments, models, groups)
    table = compare_choices(chosen.judgments)
    found = {}
    for trait in chosen.judgments.traits:
        part = table[table["trait"] == trait]
        human = part.groupby("scenario", sort=False)["human"].first()
        steps = rate_steps(human)
        values = part["misalignment"].unstack("model")
        values = values.reindex(index=human.index, columns=chosen.models)
        means = means_in_bins(
            values, steps, chosen.members, prob=prob, resamples=resamples, seed=seed
        )
        found[trait] = _curves(chosen, human, values, steps, means, prob)
    return found


def _curves(
    chosen: ModelGroups,
    human: "pd.Series[float]",
    values: pd.DataFrame,
    steps: "pd.Series[int]",
    means: pd.DataFrame,
    prob: float,
) -> GroupCurves:
    """Average people, models and an aligned model over the bins that have means."""
    kept = means.index.unique("bin").sort_values()
    at = human.groupby(steps).mean()
    lines = values.groupby(steps).mean().loc[kept]
    return GroupCurves(chosen, at.loc[kept], lines, means, prob)
