"""Contents of a report: the tables of a fit and further results, checked to belong together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ..batteries.next_items import next_items
from ..common.errors import DataError, FitError
from ..common.given import kind_of, refuse_other
from ..common.messages import many, some
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation
from ..evaluations.steps import refuse_other_rows
from ..inference.explanations.explanation import Explanation
from ..inference.fit import Fit
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.training import features_of_items, names_of_items
from ..inference.given import refuse_no_forecast
from ..inference.model.features import read_features
from ..inference.posterior.diagnostics import diagnose, profiles, verdicts
from ..inference.posterior.posterior import success_rates
from ..layouts.elements import Element
from ..validation.criticism.criticise import Criticism, criticise
from .description.describe import describe
from .description.sentences import Description
from .outcomes import Outcome, fitted_outcomes

PROB = 0.9
"""Mass of all intervals."""

DETAILED = 300
"""Largest number of subjects that each have a section of their own, unless some are named."""


@dataclass(frozen=True, eq=False)
class Contents:
    """A fit and the further results of a report.

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
    uncriticised : str
        Reason why there is no criticism.
    title : str
        Heading of the page.
    asked : list of str, optional
        Subjects with a section of their own, if they were named.
    bank : DataFrame, optional
        Candidate items for further tests.
    explanations : tuple of Explanation
        Explanations of single forecasts.
    """

    fit: Fit
    evaluation: Evaluation | None
    forecast: Forecast | None
    criticism: Criticism | None
    uncriticised: str
    title: str
    asked: list[str] | None = None
    bank: pd.DataFrame | None = None
    explanations: tuple[Explanation, ...] = ()

    @classmethod
    def of(
        cls,
        fit: Fit,
        evaluation: Evaluation | None,
        forecast: Forecast | None,
        criticism: Criticism | None,
        title: str | None,
        detailed: Iterable[object] | None = None,
        bank: pd.DataFrame | None = None,
        explanations: Iterable[Explanation] = (),
    ) -> "Contents":
        """Check that all results belong to the fit, and criticise the fit if that is possible.

        Raises
        ------
        DataError
            When a result belongs to another fit, or a subject is named twice.
        FitError
            When a subject is not in the fit.
        """
        asked = None if detailed is None else fit.named(detailed)
        if evaluation is not None:
            check_evaluation(fit, evaluation)
        if forecast is not None:
            check_forecast(fit, forecast)
        refuse_other("explain", explanations, Iterable, "a list", _EXPLAIN)
        explained = tuple(explanations)
        check_explanations(fit, explained)
        reason = ""
        if criticism is None:
            criticism, reason = _criticised(fit, evaluation)
        heading = f"Cognitive profiles under {fit.layout.name}" if title is None else str(title)
        own = fit, evaluation, forecast, criticism, reason, heading, asked, bank
        return cls(*own, explained)

    @cached_property
    def elements(self) -> list[Element]:
        """The profile's elements."""
        return self.fit.elements

    @cached_property
    def profiles(self) -> pd.DataFrame:
        """As `Fit.profiles`."""
        return profiles(self.fit, prob=PROB)

    @cached_property
    def diagnostics(self) -> pd.DataFrame:
        """As `Fit.diagnostics`."""
        return diagnose(self.fit)

    @cached_property
    def verdicts(self) -> pd.DataFrame:
        """The verdict on each subject; of a joint fit, the same for all."""
        return verdicts(self.fit)

    @cached_property
    def next_items(self) -> pd.DataFrame:
        """As `batteries.next_items`, for the subjects with a section of their own."""
        if self.bank is None:
            return pd.DataFrame(columns=["subject"])
        return next_items(self.fit, self.bank, subjects=self._drawn)

    @property
    def _drawn(self) -> list[str]:
        """Subjects with a section of their own that have draws."""
        fitted = set(self.fit.subjects)
        return [name for name in self.detailed if name in fitted]

    @property
    def whole(self) -> bool:
        """Whether all subjects have a section of their own, including those that failed."""
        return self.asked is None and len(self.verdicts) <= DETAILED

    @cached_property
    def detailed(self) -> list[str]:
        """Subjects with a section of their own, in the fit's order.

        If there are many subjects and none is named, these are `DETAILED` subjects, evenly spaced
        from the most successful to the least successful.
        """
        if self.whole:
            return [str(name) for name in self.verdicts.index]
        chosen = self.asked
        if chosen is None:
            order = self.rates.sort_values(ascending=False, kind="stable").index
            last = len(order) - 1
            places = np.linspace(0, last, min(DETAILED, last + 1)).round().astype(int)
            chosen = order[places].tolist()
        return self.fit.names(np.sort(self.fit.places(chosen)))

    @cached_property
    def description(self) -> Description:
        """Descriptions in words of all subjects."""
        return describe(self.fit, self.criticism)

    @cached_property
    def told(self) -> Description:
        """Descriptions in words of the subjects with a section of their own."""
        if self.whole:
            return self.description
        return describe(self.fit, self.criticism, subjects=self.detailed)

    @property
    def stepped(self) -> bool:
        """Whether there are several outcomes, or the outcome is a grade or a score."""
        return self.fit.layout.steps is not None

    @property
    def measured(self) -> str:
        """By whose outcomes the subjects are measured, in a sentence."""
        count = len(self.verdicts)
        who = many(count, "subject")
        if count == 1:
            return f"{who}, measured by its own outcomes."
        if not self.fit.layout.joint:
            return f"{who}, each measured by its own outcomes alone."
        return (
            f"{who}, fitted together: the outcomes of each also count in the profiles of the "
            "others, through the values that they share."
        )

    @cached_property
    def items(self) -> pd.Index:
        """Names of the items that were fitted."""
        return names_of_items(self.fit)

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """Outcomes that were fitted."""
        return fitted_outcomes(self.fit)

    @cached_property
    def trials(self) -> pd.DataFrame:
        """By subject: ``items`` attempted, and ``trials``, the attempts of all outcomes."""
        attempts = np.sum([outcome.attempts for outcome in self.outcomes], axis=0)
        who = pd.Index(self.fit.subjects, name="subject", dtype="str")
        return pd.DataFrame(
            {"items": (attempts > 0).sum(axis=1), "trials": attempts.sum(axis=1)}, who
        )

    @cached_property
    def gained(self) -> pd.DataFrame:
        """By subject and outcome: sum over attempts, as fractions of the highest value."""
        sums = {outcome.name: outcome.gained.sum(axis=1) for outcome in self.outcomes}
        return pd.DataFrame(sums, self.trials.index)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean of each outcome over attempts, by subject; NaN without attempts."""
        counts = {outcome.name: outcome.attempts.sum(axis=1) for outcome in self.outcomes}
        attempts = pd.DataFrame(counts, self.trials.index)
        return self.gained / attempts.where(attempts > 0)

    @cached_property
    def rates(self) -> pd.Series:
        """By subject: success rate, or the mean of all outcomes as fractions of the highest."""
        return success_rates(self.fit)

    @property
    def sampler(self) -> str:
        """How the posterior was computed, as far as the fit records it."""
        sizes, known = self.fit.posterior.sizes, self.fit.data.attrs
        drawn = f"{sizes['chain']} × {sizes['draw']} draws"
        if known.get("method") == "grid":
            return f"integrated over a grid, {drawn}, seed {known.get('seed', '–')}"
        details = [f"NUTS, {drawn}"]
        details += [f"{known['tune']} of tuning per chain"] if "tune" in known else []
        details += [f"target {known['target_accept']:g}"] if "target_accept" in known else []
        return ", ".join([*details, *([f"seed {known['seed']}"] if "seed" in known else [])])


_EXPLAIN = "give explanations, as in explain=[fit.explain(item, subject)]"


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


_SAME = 1e-9  # relative and absolute; numbers that were written to a text file stay the same


def check_evaluation(fit: Fit, evaluation: Evaluation) -> None:
    """Refuse an evaluation whose data differ from those of the fit.

    The evaluation may have further items and subjects.

    Raises
    ------
    DataError
        When an item or a subject of the fit is missing, or a meta-feature or an outcome differs.
        The error names them.
    """
    refuse_no_evaluation(evaluation)
    items, known_items = list(names_of_items(fit)), evaluation.item_table
    refuse_other_rows(fit.layout, evaluation.rows)
    for kind, names, known in (
        ("item", items, known_items.index),
        ("subject", fit.subjects, evaluation.subject_table.index),
    ):
        missing = [name for name in names if name not in known]
        if missing:
            raise _other_evaluation(f"it has no {kind} {some(missing)}, but {some(known)}")
    features, fitted = read_features(fit.layout, known_items.loc[items]), features_of_items(fit)
    for name, values in features.items():
        same = np.isclose(values, fitted[name], rtol=_SAME, atol=_SAME).reshape(len(items), -1)
        if not same.all():
            where = [items[place] for place in np.flatnonzero(~same.all(axis=1))]
            raise _other_evaluation(f"{name} differs on {some(where)}")
    cells = fit.coded
    who = evaluation.subject_table.index.get_indexer(pd.Index(fit.subjects))[cells.subject]
    rows = evaluation.items.index.get_indexer(fit.item_names)[cells.item]
    successes, trials = evaluation.coded.at(who, rows)
    for what, theirs, ours in (
        ("trials", trials, cells.trials),
        ("successes", successes, cells.successes),
    ):
        differs = theirs != ours
        if differs.any():
            table = cells.take(differs).frame(pd.Index(fit.subjects), fit.item_names)
            pairs = zip(table["subject"], table["item"], theirs[differs], strict=True)
            listed = some(f"{subject} on {item}: {count}" for subject, item, count in pairs)
            raise _other_evaluation(f"{what} differ in {differs.sum()} cell(s): {listed}")


def _other_evaluation(why: str) -> DataError:
    return DataError(
        f"the evaluation is not that of the fit: {why}; give the evaluation that was fitted, or "
        "leave it out"
    )


def check_explanations(fit: Fit, explanations: Sequence[Explanation]) -> None:
    """Refuse values that are not explanations, and explanations of other subjects.

    Raises
    ------
    DataError
        When there is such a value. The error names its type or its subject.
    """
    for one in explanations:
        if not isinstance(one, Explanation):
            raise DataError(f"explain= contains {kind_of(one)}; {_EXPLAIN}")
    others = [one.subject for one in explanations if one.subject not in fit.subjects]
    if others:
        raise DataError(
            f"explain= explains forecasts of {some(others)}, and the fit is of "
            f"{some(fit.subjects)}; give explanations of the fit's subjects"
        )


def check_forecast(fit: Fit, forecast: Forecast) -> None:
    """Refuse a forecast without any subject of the fit, or of other outcomes.

    Raises
    ------
    DataError
        When the forecast is such. The error names the subjects or the outcomes.
    """
    refuse_no_forecast(forecast)
    rows, steps = forecast.rows, fit.layout.steps
    told = {} if rows is None else dict.fromkeys(zip(rows.outcome, rows.step, strict=True))
    own = [] if steps is None else [(name, step) for name, _, step in steps.rows]
    if list(told) != own:
        what = [
            some((" ≥ ".join(pair) for pair in pairs), 12) or "success on items"
            for pairs in (told, own)
        ]
        raise DataError(
            f"the forecast is of {what[0]}, and the fit of {what[1]}; give a forecast under the "
            "fit's layout, or leave it out"
        )
    whose = [str(name) for name in forecast.data["subject"].to_numpy()]
    if not set(whose) & set(fit.subjects):
        raise DataError(
            f"the forecast is of {some(whose)}, and the fit of {some(fit.subjects)}; give a "
            "forecast of the fit's subjects, or leave it out"
        )
