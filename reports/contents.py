"""What a report tells: a fit's tables, and what else was given, checked to belong together."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..inference.criticism.criticise import criticise
from ..inference.criticism.criticism import Criticism
from ..inference.data import Evaluation
from ..inference.description.describe import describe
from ..inference.description.description import Description
from ..inference.diagnostics import diagnose, profiles
from ..inference.element_draws import success_rates
from ..inference.errors import DataError, FitError
from ..inference.forecasts.forecasting import Forecast
from ..inference.results import Fit
from ..layouts.elements import Element, elements
from .belonging import check_evaluation, check_forecast
from .columns import training_items
from .outcomes import Outcome, fitted_outcomes

PROB = 0.9
"""Mass of all intervals."""


@dataclass(frozen=True, eq=False)
class Contents:
    """A fit and what is told beside it.

    Attributes
    ----------
    fit : Fit
        Profiles.
    evaluation : Evaluation or None
        The items with all their properties, and outcomes, also of items that were not fitted.
    forecast : Forecast or None
        Of new items.
    criticism : Criticism or None
        Given, or made of the evaluation.
    uncriticised : str
        Why there is no criticism.
    title : str
        Heading.
    """

    fit: Fit
    evaluation: Evaluation | None
    forecast: Forecast | None
    criticism: Criticism | None
    uncriticised: str
    title: str

    @classmethod
    def of(
        cls,
        fit: Fit,
        evaluation: Evaluation | None,
        forecast: Forecast | None,
        criticism: Criticism | None,
        title: str | None,
    ) -> "Contents":
        """Check that all belong to the fit, and criticise it where that can be done.

        Raises
        ------
        DataError
            When something does not belong.
        """
        if evaluation is not None:
            check_evaluation(fit, evaluation)
        if forecast is not None:
            check_forecast(fit, forecast)
        reason = ""
        if criticism is None:
            criticism, reason = _criticised(fit, evaluation)
        heading = f"Cognitive profiles under {fit.layout.name}" if title is None else str(title)
        return cls(fit, evaluation, forecast, criticism, reason, heading)

    @cached_property
    def elements(self) -> list[Element]:
        """The profile's elements."""
        return elements(self.fit.layout)

    @cached_property
    def profiles(self) -> pd.DataFrame:
        """As `Fit.profiles`."""
        return profiles(self.fit, PROB)

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """As `Fit.diagnostics`."""
        return diagnose(self.fit)

    @cached_property
    def description(self) -> Description:
        """In words."""
        return describe(self.fit, self.criticism)

    @property
    def stepped(self) -> bool:
        """Whether outcomes are several, graded or scores."""
        return self.fit.layout.steps is not None

    @cached_property
    def items(self) -> pd.Index:
        """Names of the items that were fitted."""
        return training_items(self.fit)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """What was fitted."""
        return fitted_outcomes(self.fit)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """By subject: ``items`` attempted, and ``trials``, each outcome's attempts counting."""
        attempts = np.sum([outcome.attempts for outcome in self.outcomes], axis=0)
        who = pd.Index(self.fit.subjects, name="subject", dtype="str")
        return pd.DataFrame(
            {"items": (attempts > 0).sum(axis=1), "trials": attempts.sum(axis=1)}, who
        )

    @cached_property
    def gained(self) -> pd.DataFrame:
        """By subject and outcome: sum over attempts, as parts of the highest."""
        sums = {outcome.name: outcome.gained.sum(axis=1) for outcome in self.outcomes}
        return pd.DataFrame(sums, self.trials.index)

    @cached_property
    def means(self) -> pd.DataFrame:
        """The same by attempt; NaN where there is none."""
        counts = {outcome.name: outcome.attempts.sum(axis=1) for outcome in self.outcomes}
        attempts = pd.DataFrame(counts, self.trials.index)
        return self.gained / attempts.where(attempts > 0)

    @cached_property
    def rates(self) -> pd.Series:
        """By subject: success rate; else the mean of all outcomes, as parts of the highest."""
        return success_rates(self.fit)

    @property
    def sampler(self) -> str:
        """How the posterior was computed, as far as the fit knows."""
        sizes, known = self.fit.posterior.sizes, self.fit.data.attrs
        drawn = f"{sizes['chain']} × {sizes['draw']} draws"
        if known.get("method") == "grid":
            return f"integrated over a grid, {drawn}, seed {known.get('seed', '–')}"
        details = [f"NUTS, {drawn}"]
        details += [f"{known['tune']} of tuning per chain"] if "tune" in known else []
        details += [f"target {known['target_accept']:g}"] if "target_accept" in known else []
        return ", ".join([*details, *([f"seed {known['seed']}"] if "seed" in known else [])])


def _criticised(fit: Fit, evaluation: Evaluation | None) -> tuple[Criticism | None, str]:
    if evaluation is None:
        return None, (
            "Not made: give report(..., evaluation=) the items with all their properties, or "
            "criticism=criticise(fit, evaluation)."
        )
    try:
        return criticise(fit, evaluation), ""
    except (DataError, FitError) as error:
        return None, f"Not made: {error}."
