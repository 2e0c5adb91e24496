"""Groups of models beside people: what figures of dispositions show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.tables import known_names
from .comparison import compare_choices
from .consensus import LEAST, consensus_steps, divided, means_in_bins, rate_steps
from .directional import directional_alignment
from .judgments import SituationalJudgments
from .resampling import GroupMeans, group_means
from .self_report import self_report_correlations, self_reports
from .votes import as_aligned

ONE = "models"
"""The group of all models where none are given."""


@dataclass(frozen=True, eq=False)
class ModelGroups:
    """Models in order, and the group of each.

    Attributes
    ----------
    judgments : SituationalJudgments
        Of these models only.
    groups : dict of str to str
        Group by model, in the order asked for.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> ModelGroups.of(study.judgments, None, {"sim-01": "large", "sim-04": "small"}).members
    {'large': ['sim-01'], 'small': ['sim-04']}
    """

    judgments: SituationalJudgments
    groups: dict[str, str]

    @property
    def models(self) -> list[str]:
        """All models, in order."""
        return list(self.groups)

    @property
    def members(self) -> dict[str, list[str]]:
        """Models of each group, groups in order of appearance."""
        found: dict[str, list[str]] = {}
        for model, group in self.groups.items():
            found.setdefault(group, []).append(model)
        return found

    def ordered(self, values: "pd.Series[float]") -> list[str]:
        """Order models by group, and within it from the highest value to the lowest."""
        return [
            model
            for members in self.members.values()
            for model in values.reindex(members).sort_values(ascending=False).index
        ]

    @classmethod
    def of(
        cls,
        judgments: SituationalJudgments,
        models: Sequence[str] | None,
        groups: Mapping[str, str] | None,
    ) -> "ModelGroups":
        """Choose models, and give each its group.

        Raises
        ------
        DataError
            When there is no model, one is unknown, or one has no group.
        """
        if not judgments.models:
            raise DataError("no model answered these scenarios; give samples to from_long")
        known = pd.Index(judgments.models)
        chosen = list(known) if models is None else known_names(models, known, "model")
        if not chosen:
            raise DataError("no model is named; name one, or leave models= out")
        given = dict.fromkeys(known, ONE) if groups is None else dict(groups)
        known_names(given, known, "model")
        if without := [model for model in chosen if model not in given]:
            raise DataError(f"groups= has no group for {some(without)}; name one for each model")
        part = judgments if models is None else judgments.select(models=chosen)
        return cls(part, {model: str(given[model]) for model in chosen})


@dataclass(frozen=True, eq=False)
class GroupCurves:
    """What models show over what people choose: means in bins of scenarios.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    at : Series
        By bin: mean of the people, in [0, 1]. Bins of fewer than five scenarios are left out.
    lines : DataFrame
        By bin and model: mean of the model.
    means : DataFrame
        By group and bin: ``mean``, ``low`` and ``high`` of the group.
    aligned : Series
        By bin: what is expected of a model whose rates are the people's.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> confidence_by_group(study.judgments, resamples=10).lines.columns.tolist()
    ['sim-01', 'sim-04']
    """

    chosen: ModelGroups
    at: "pd.Series[float]"
    lines: pd.DataFrame
    means: pd.DataFrame
    aligned: "pd.Series[float]"
    prob: float


@dataclass(frozen=True, eq=False)
class DividedRates:
    """Mean trait-positive rates where people are divided.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    means : GroupMeans
        By trait and model, with intervals.
    counts : Series
        Divided scenarios by trait, of traits with at least five.
    threshold, prob : float
        Consensus below which scenarios are divided, and mass of the intervals.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> rates_by_group(study.judgments, resamples=10).threshold
    0.7
    """

    chosen: ModelGroups
    means: GroupMeans
    counts: "pd.Series[int]"
    threshold: float
    prob: float


@dataclass(frozen=True, eq=False)
class GroupAlignment:
    """Directional alignment of models in groups.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    table : DataFrame
        As `directional_alignment` returns it.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> alignment_by_group(study.judgments).table.index.names
    FrozenList(['model', 'trait', 'bucket'])
    """

    chosen: ModelGroups
    table: pd.DataFrame
    prob: float


@dataclass(frozen=True, eq=False)
class GroupReports:
    """What models say of themselves and what they do.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    table : DataFrame
        As `self_reports` returns it, of models with both a report and a rate.
    rho : DataFrame
        As `self_report_correlations` returns it.
    divided_below : float or None
        Consensus below which scenarios count; all of them without one.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> self_reports_by_group(study.judgments).scenarios
    'scenarios where people are divided'
    """

    chosen: ModelGroups
    table: pd.DataFrame
    rho: pd.DataFrame
    divided_below: float | None
    prob: float

    @property
    def scenarios(self) -> str:
        """Which scenarios count, in words."""
        divided_only = "scenarios where people are divided"
        return "all scenarios" if self.divided_below is None else divided_only


def confidence_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> GroupCurves:
    r"""Average how sure models are of one action, over how much people agree on one.

    Both are :math:`\max(\mathrm{TPR}, 1 - \mathrm{TPR})`, averaged over the scenarios of a bin:
    [50 %, 60 %) to [90 %, 100 %), and unanimity. A model that chooses as people do is not on the
    diagonal: few samples look surer than the rate behind them, and so do few votes, unanimous ones
    most of all. Such a model is expected to show

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
        Group of each model; all models are one group by default.
    prob : float
        Mass of the intervals of groups' means.
    resamples, seed : int
        Of the bootstrap over scenarios that gives the intervals.

    Returns
    -------
    GroupCurves
        Over people's mean consensus, all in [0, 1].

    Raises
    ------
    DataError
        When a model is unknown or has no group.
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
    aligned = as_aligned(people, rates, lambda model, human: np.maximum(model, 1 - model))
    values = rates["confidence"].unstack("model").reindex(people.index)
    steps = consensus_steps(people["rate"])
    means = means_in_bins(values, steps, chosen.members, prob=prob, resamples=resamples, seed=seed)
    return _curves(chosen, people["consensus"], values, steps, means, aligned, prob)


def misalignment_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> dict[str, GroupCurves]:
    r"""Average how far models' trait-positive rates are from people's, trait by trait.

    .. math:: |\mathrm{TPR}_\mathrm{human}(s) - \mathrm{TPR}_\mathrm{model}(s)|

    averaged over the scenarios with about the same human rate. Bins are symmetric: those of
    consensus, [60 %, 70 %) to [90 %, 100 %), at either side, unanimity alone at both ends, and all
    rates between 40 % and 60 % in the middle. A few votes and a few samples differ by chance, even
    where people and a model choose at one rate; what is expected of such a model, with as many
    samples, stands beside (see `as_aligned`).

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models, groups, prob, resamples, seed
        As in `confidence_by_group`.

    Returns
    -------
    dict of str to GroupCurves
        By trait: over people's mean rate, all in [0, 1].

    Raises
    ------
    DataError
        When a model is unknown or has no group.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equation 1 and
    Figure 2.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> list(misalignment_by_group(study.judgments, resamples=100))
    ['Empathy', 'Emotion Regulation', 'Assertiveness', 'Impulsiveness']
    """
    chosen = ModelGroups.of(judgments, models, groups)
    table = compare_choices(chosen.judgments)
    people, rates = chosen.judgments.human_rates(), chosen.judgments.model_rates()
    aligned = as_aligned(people, rates, lambda model, human: np.abs(model - human))
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
        found[trait] = _curves(chosen, human, values, steps, means, aligned.loc[human.index], prob)
    return found


def rates_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    threshold: float = 0.7,
    prob: float = 0.9,
    resamples: int = 1000,
    seed: int = 1,
) -> DividedRates:
    """Average the trait-positive rate of each model where people are divided, trait by trait.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models, groups, prob, resamples, seed
        As in `confidence_by_group`.
    threshold : float
        Scenarios with a consensus below it are divided.

    Returns
    -------
    DividedRates
        Means with bootstrap intervals over scenarios.

    Raises
    ------
    DataError
        When a model is unknown or has no group, or no trait has five divided scenarios.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 6.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> rates_by_group(study.judgments, resamples=100).means.mean.columns.tolist()
    ['sim-01', 'sim-04']
    """
    chosen = ModelGroups.of(judgments, models, groups)
    scenarios = divided(chosen.judgments, threshold).index
    traits = chosen.judgments.scenarios["trait"].loc[scenarios]
    kept = traits[traits.map(traits.value_counts()) >= LEAST]
    if kept.empty:
        raise DataError(
            f"no trait has five scenarios with a consensus below {100 * threshold:g}%; give a "
            "higher threshold="
        )
    rates = chosen.judgments.model_rates()["rate"].unstack("model")
    values = rates.reindex(index=kept.index, columns=chosen.models)
    means = group_means(values, kept, prob=prob, resamples=resamples, seed=seed)
    return DividedRates(chosen, means, kept.value_counts(), threshold, prob)


def alignment_by_group(
    judgments: SituationalJudgments,
    *,
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    prob: float = 0.9,
) -> GroupAlignment:
    """Count on how many consensus scenarios each model of some groups is on the people's side.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models.
    models, groups
        As in `confidence_by_group`.
    prob : float
        Mass of the intervals.

    Returns
    -------
    GroupAlignment
        Of `directional_alignment`.

    Raises
    ------
    DataError
        When a model is unknown or has no group, or no scenario has a consensus.
    FitError
        When `prob` is not between 0 and 1.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, Equations 2
    and 3.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> alignment_by_group(study.judgments).chosen.models
    ['sim-01', 'sim-04']
    """
    chosen = ModelGroups.of(judgments, models, groups)
    return GroupAlignment(chosen, directional_alignment(chosen.judgments, prob=prob), prob)


def self_reports_by_group(
    judgments: SituationalJudgments,
    *,
    by: Literal["trait", "statement"] = "trait",
    models: Sequence[str] | None = None,
    groups: Mapping[str, str] | None = None,
    divided_below: float | None = 0.7,
    prob: float = 0.9,
) -> GroupReports:
    """Lay what models of some groups say of themselves beside what they do.

    Parameters
    ----------
    judgments : SituationalJudgments
        Choices of people and models, with the models' ratings.
    by : {"trait", "statement"}
        What is compared; see `self_reports`.
    models, groups
        As in `confidence_by_group`.
    divided_below : float, optional
        Only scenarios with a consensus below it count; all scenarios where it is None.
    prob : float
        Mass of the intervals.

    Returns
    -------
    GroupReports
        Of `self_reports` and `self_report_correlations`.

    Raises
    ------
    DataError
        When a model is unknown or has no group, no model has both ratings and rates, or, by
        statement, one model has no statement with both.
    FitError
        When an option is out of range.

    References
    ----------
    Taubenfeld et al., Evaluating alignment of behavioral dispositions in LLMs, section 7 and
    appendix F.

    Examples
    --------
    >>> from measurement_layouts.scenarios.dispositions import simulated_study
    >>> study = simulated_study(per_statement=4, models=["sim-01", "sim-04"])
    >>> self_reports_by_group(study.judgments, divided_below=None).rho["reason"].unique().tolist()
    ['fewer than 3 points']
    """
    chosen = ModelGroups.of(judgments, models, groups)
    every = chosen.judgments
    within = prob if by == "trait" else 0.9
    table = self_reports(every, by=by, divided_below=divided_below, prob=within)
    table = table.dropna(subset=["reported", "revealed"])
    rho = self_report_correlations(every, by=by, divided_below=divided_below, prob=prob)
    if by == "trait" and table.empty:
        raise DataError(
            "no model has both ratings and rates; give ratings to from_long, or a higher "
            "divided_below="
        )
    silent = [name for name in chosen.models if name not in table.index.unique("model")]
    if by == "statement" and silent:
        raise DataError(
            f"{silent[0]} has no statement with both a rating and a rate; leave it out of "
            "models=, or give a higher divided_below="
        )
    return GroupReports(chosen, table, rho, divided_below, prob)


def _curves(
    chosen: ModelGroups,
    human: "pd.Series[float]",
    values: pd.DataFrame,
    steps: "pd.Series[int]",
    means: pd.DataFrame,
    aligned: "pd.Series[float]",
    prob: float,
) -> GroupCurves:
    """Average people, models and an aligned model over the bins that have means."""
    kept = means.index.unique("bin").sort_values()
    at, expected = human.groupby(steps).mean(), aligned.groupby(steps).mean()
    lines = values.groupby(steps).mean().loc[kept]
    return GroupCurves(chosen, at.loc[kept], lines, means, expected.loc[kept], prob)
