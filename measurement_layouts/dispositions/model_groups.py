"""Models in order, each with a group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..evaluations.tables import known_names
from .judgments import SituationalJudgments, refuse_no_judgments

ONE = "models"
"""Name of the group of all models if no groups are given."""


@dataclass(frozen=True, eq=False)
class ModelGroups:
    """Models in order, and the group of each.

    Attributes
    ----------
    judgments : SituationalJudgments
        Judgments with only these models.
    groups : dict of str to str
        Group of each model, in the order in which models were given.

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
        """Choose models, and assign each to its group.

        Raises
        ------
        DataError
            When there is no model, one is unknown, or one has no group.
        """
        refuse_no_judgments(judgments)
        if not judgments.models:
            raise DataError("no model answered these scenarios; give samples to from_long")
        known = pd.Index(judgments.models)
        chosen = list(known) if models is None else known_names(models, known, "model")
        if not chosen:
            raise DataError("no model is given; give at least one, or leave models= out")
        given = dict.fromkeys(known, ONE) if groups is None else dict(groups)
        known_names(given, known, "model")
        if without := [model for model in chosen if model not in given]:
            raise DataError(f"groups= has no group for {some(without)}; give one for each model")
        part = judgments if models is None else judgments.select(models=chosen)
        return cls(part, {model: str(given[model]) for model in chosen})
