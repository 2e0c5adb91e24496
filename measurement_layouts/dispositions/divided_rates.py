"""Trait-positive rates of groups of models where people are divided."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.density import density
from ..common.errors import DataError
from ..linking.interval import UNIT
from .consensus import LEAST, divided
from .judgments import SituationalJudgments
from .model_groups import ModelGroups
from .resampling import GroupMeans, group_means

_FEWEST = 3  # least number of models for a density


@dataclass(frozen=True, eq=False)
class DividedRates:
    """Mean trait-positive rates where people are divided.

    Attributes
    ----------
    chosen : ModelGroups
        Models and their groups.
    means : GroupMeans
        Means by trait and model, with intervals.
    counts : Series
        Number of divided scenarios by trait, for traits with at least five.
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

    def densities(self, trait: str, at: np.ndarray) -> dict[str, np.ndarray]:
        """Estimate the density of the models' rates of a trait.

        Parameters
        ----------
        trait : str
            Trait of the rates.
        at : ndarray, shape (rates,)
            Rates at which the density is computed, in [0, 1].

        Returns
        -------
        dict of str to ndarray, shape (rates,)
            Density of each group with three or more models that differ, estimated with a Gaussian
            kernel and multiplied by the group's share of the models.
        """
        means = self.means.mean.T[trait]
        parts = {group: means[members].dropna() for group, members in self.chosen.members.items()}
        return {
            group: density(part.to_numpy(), at, UNIT) * len(part) / len(means)
            for group, part in parts.items()
            if len(part) >= _FEWEST and part.nunique() > 1
        }


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
        When `judgments` is something else, a model is unknown or has no group, or no trait has five
        divided scenarios.
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
