"""What a report is about: a fit and further results of it, with the tables made of them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..batteries.next_items import next_items
from ..common.errors import DataError, FitError
from ..common.messages import many
from ..evaluations.evaluation import Evaluation
from ..inference.explanations.explanation import Explanation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.training import names_of_items
from ..inference.posterior.diagnostics import diagnose, profiles, verdicts
from ..inference.posterior.posterior import success_rates
from ..validation.criticism.criticise import Criticism, criticise
from .belonging import check_evaluation, check_explanations, check_forecast
from .description.describe import describe
from .description.sentences import Description
from .outcomes import outcome_table

PROB = 0.9
"""Mass of all intervals."""

DETAILED = 30
"""Largest number of subjects that each have a section of their own, unless some are named."""

_MOST = 300  # subjects that are described, and drawn


@dataclass(eq=False)
class Contents:
    """A fit and the further results of a report, which are checked to belong to it.

    Attributes
    ----------
    fit : Fit
        The fit.
    evaluation : Evaluation or None
        The items with all their properties, and outcomes, also of items that were not fitted.
    forecast : Forecast or None
        Forecast of new items.
    criticism : Criticism or None
        Criticism of the fit, given or made from the evaluation.
    title : str
        Heading of the page.
    asked : list of str, optional
        Subjects with a section of their own, if they were named.
    bank : DataFrame, optional
        Candidate items for further tests.
    explanations : tuple of Explanation
        Explanations of single forecasts.
    uncriticised : str
        Reason why there is no criticism.

    Raises
    ------
    DataError
        When a result belongs to another fit, or a subject is named twice.
    FitError
        When a subject is not in the fit.
    """

    fit: Fit
    evaluation: Evaluation | None = None
    forecast: Forecast | None = None
    criticism: Criticism | None = None
    title: str | None = None
    asked: Iterable[object] | None = None
    bank: pd.DataFrame | None = None
    explanations: Iterable[Explanation] = ()
    uncriticised: str = ""

    def __post_init__(self) -> None:
        if self.asked is not None:
            self.asked = self.fit.named(self.asked)
        if self.evaluation is not None:
            check_evaluation(self.fit, self.evaluation)
        if self.forecast is not None:
            check_forecast(self.fit, self.forecast)
        self.explanations = check_explanations(self.fit, self.explanations)
        if self.criticism is None:
            self.criticism, self.uncriticised = _criticised(self.fit, self.evaluation)
        self.title = self.title or f"Cognitive profiles under {self.fit.layout.name}"

    @cached_property
    def profiles(self) -> pd.DataFrame:
        """As `Fit.profiles`."""
        return profiles(self.fit, prob=PROB)

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """As `Fit.diagnostics`."""
        return diagnose(self.fit)

    @cached_property
    def status(self) -> "pd.Series[str]":
        """The verdict on each subject; of a joint fit, the same for all."""
        return verdicts(self.fit)["status"]

    @cached_property
    def rates(self) -> pd.Series:
        """By subject: success rate, or the mean of all outcomes as fractions of the highest."""
        return success_rates(self.fit)

    @cached_property
    def next_items(self) -> pd.DataFrame:
        """As `batteries.next_items`, for the subjects with a section of their own."""
        if self.bank is None:
            return pd.DataFrame(columns=["subject"])
        fitted = [name for name in self.detailed if name in self.rates.index]
        return next_items(self.fit, self.bank, subjects=fitted)

    def spaced(self, most: int) -> list[str]:
        """Choose subjects evenly spaced from the most to the least successful, in this order."""
        order = self.rates.sort_values(ascending=False, kind="stable").index
        chosen = np.linspace(0, len(order) - 1, min(most, len(order))).round().astype(int)
        return [str(name) for name in order[chosen]]

    @cached_property
    def detailed(self) -> list[str]:
        """Subjects with a section of their own, in the fit's order, failed ones last."""
        if self.asked is None and len(self.status) <= DETAILED:
            return [str(name) for name in self.status.index]
        chosen = self.spaced(DETAILED) if self.asked is None else self.asked
        return self.fit.names(np.sort(self.fit.places(chosen)))

    @cached_property
    def description(self) -> Description:
        """Descriptions of all subjects, or where there are many, of some and the detailed ones."""
        if len(self.status) <= _MOST:
            return describe(self.fit, self.criticism)
        who = dict.fromkeys([*self.detailed, *self.spaced(_MOST - len(self.detailed))])
        return describe(self.fit, self.criticism, subjects=who)

    @property
    def stepped(self) -> bool:
        """Whether there are several outcomes, or the outcome is a grade or a score."""
        return self.fit.layout.steps is not None

    @property
    def measured(self) -> str:
        """By whose outcomes the subjects are measured, in a sentence."""
        who = many(len(self.status), "subject")
        if self.fit.layout.joint:
            return (
                f"{who}, fitted together: the outcomes of each also count in the profiles of the "
                "others, through the values that they share."
            )
        if len(self.status) == 1:
            return f"{who}, measured by its own outcomes."
        return f"{who}, each measured by its own outcomes alone."

    @cached_property
    def items(self) -> pd.Index:
        """Names of the items that were fitted."""
        return names_of_items(self.fit)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """Outcomes that were fitted, by attempted cell; see `outcome_table`."""
        fit = self.fit
        return outcome_table(fit.layout, fit.coded, pd.Index(fit.subjects), fit.item_names)

    @cached_property
    def _observed(self) -> dict[tuple[str, str, str], str]:
        """Outcomes of the evaluation as texts, by subject, item and outcome."""
        if self.evaluation is None:
            return {}
        evaluation = self.evaluation
        names = evaluation.subject_table.index, evaluation.items.index
        table = outcome_table(self.fit.layout, evaluation.coded, *names)
        keys = zip(table["subject"], table["item"], table["outcome"], strict=True)
        texts = [
            f"{gained:.3g} of {count}"
            for gained, count in zip(table["gained"], table["attempts"], strict=True)
        ]
        return dict(zip(keys, texts, strict=True))

    def observed(self, subject: str, item: str, outcome: str) -> str:
        """Write an outcome of the evaluation, also of items that were not fitted."""
        return self._observed.get((subject, item, outcome), "")

    @property
    def sampler(self) -> str:
        """How the posterior was computed, as far as the fit records it."""
        sizes, marks = self.fit.posterior.sizes, self.fit.data.attrs
        drawn = f"{sizes['chain']} × {sizes['draw']} draws"
        if marks.get("method") == "grid":
            return f"integrated over a grid, {drawn}, seed {marks.get('seed', '–')}"
        settings = {"tune": "{} of tuning per chain", "target_accept": "target {:g}"}
        settings["seed"] = "seed {}"
        details = [text.format(marks[name]) for name, text in settings.items() if name in marks]
        return ", ".join([f"NUTS, {drawn}", *details])


def _criticised(fit: Fit, evaluation: Evaluation | None) -> tuple[Criticism | None, str]:
    if evaluation is None:
        return None, (
            "No criticism was made; pass the items with all their properties, as in "
            "report(..., evaluation=evaluation), or criticism=criticise(fit, evaluation)."
        )
    try:
        return criticise(fit, evaluation, progressbar=False), ""
    except (DataError, FitError) as error:
        return None, f"No criticism was made: {error}."
