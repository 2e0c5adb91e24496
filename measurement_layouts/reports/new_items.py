"""Forecasts of new items in a report."""

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ..common.digits import in_brackets, significant
from ..common.errors import DataError
from ..common.messages import many
from ..evaluations.steps import rows_per_item
from ..inference.forecasts.forecasting import Forecast
from ..inference.forecasts.summarising import SUMMARY
from ..layouts import Success
from ..validation.prediction.score import score_forecast
from .contents import Contents
from .drawings import Reliability, reliability_drawing
from .geometry import Scale
from .outcomes import outcomes_of

_ROWS = 8000  # on a page, of all subjects together
_MOST, _LEAST = 120, 8  # of a subject
WIDTH = 140


@dataclass(frozen=True, eq=False)
class Line:
    """One item's forecast, of one outcome."""

    item: str
    what: str
    mean: str
    interval: str
    places: tuple[str, str, str] | None
    remark: str
    outcome: str


class NewItems:
    """Forecasts of a report, and their scores where outcomes are known.

    Parameters
    ----------
    contents : Contents
        Contents of the report, with the fit and the evaluation.
    forecast : Forecast
        Forecast of new items.
    """

    def __init__(self, contents: Contents, forecast: Forecast) -> None:
        self._forecast, self._evaluation = forecast, contents.evaluation
        layout, data = contents.fit.layout, forecast.data
        self._nodes = layout.outcomes
        first = slice(None, None, rows_per_item(layout))
        names = data.indexes["item"].map(str)
        self._names = names if forecast.rows is None else forecast.rows.items
        self._values = self._expected()
        self._outside = data["extrapolated"].to_numpy()[first]
        self._trained = data["trained"].to_numpy()[:, first]
        self._training = forecast.training
        self.prob = f"{forecast.prob:.0%}"
        self.items, self.outside = len(self._names), int(self._outside.sum())
        self._subjects = pd.Index(data["subject"].to_numpy().astype(str))
        self.unmet = self._counted(first)
        self.beyond = "" if self.unmet is None else self._told_of_all(first)
        most = _ROWS // (len(self._subjects) * len(self._nodes))
        self.shown = int(np.clip(most, _LEAST, _MOST))
        known = self._evaluation
        counts = [] if known is None else known.coded.tables
        self._outcomes = outcomes_of(layout, *counts) if counts else []
        self._known = pd.Index([]) if known is None else known.item_table.index
        self.scores, self.reliability = self._assessed()

    def means(self) -> pd.DataFrame:
        """Average the forecasts over all items, by subject and outcome."""
        names = [node.name for node in self._nodes]
        return pd.DataFrame(self._values[0].mean(axis=1), self._subjects, names)

    def _counted(self, first: slice) -> pd.Series | None:
        """Count by subject the items outside its training items; None for a baseline's forecast."""
        if self._training is None:
            return None
        flags = self._forecast.data["outside_training"].to_numpy()[:, first]
        return pd.Series(flags.sum(axis=1), self._subjects)

    def _told_of_all(self, first: slice) -> str:
        """Write how many items lie outside the training items of at least one subject."""
        flags = self._forecast.data["outside_training"].to_numpy()[:, first]
        return _outside(int(flags.any(axis=0).sum()), "a subject’s")

    def told_of(self, subject: str) -> str:
        """Write how many items lie outside a subject's training items; empty if none does."""
        if self.unmet is None:
            return ""
        return _outside(int(self.unmet[subject]), "the subject’s")

    def of(self, subject: str) -> list[Line]:
        """List one subject's forecasts, hardest item first; of many items, evenly spaced ones."""
        if subject not in self._subjects:
            return []
        row = self._subjects.get_loc(subject)
        order = np.argsort(self._values[0, row].mean(axis=-1), kind="stable")
        if len(order) > self.shown:
            order = order[np.linspace(0, len(order) - 1, self.shown).round().astype(int)]
        places = range(len(self._nodes))
        told = [""] * len(order)
        if self._training is not None:
            told = self._training.remarks([subject], self._names[order])[0].tolist()
        return [
            self._line(row, item, place, remark)
            for item, remark in zip(order, told, strict=True)
            for place in places
        ]

    def _line(self, row: int, item: int, place: int, remark: str) -> Line:
        mean, low, high = self._values[:, row, item, place]
        across = Scale(0, 1, 4, WIDTH - 4)
        remarks = ["outside a range"] * int(self._outside[item])
        remarks += ["was fitted"] * int(self._trained[row, item])
        remarks += [remark] * bool(remark)
        return Line(
            str(self._names[item]),
            self._nodes[place].name,
            significant(mean, high - low),
            in_brackets(low, high),
            (across(low), across(high), across(mean)) if np.isfinite(low) else None,
            "; ".join(remarks),
            self._outcome(str(self._subjects[row]), str(self._names[item]), place),
        )

    def _expected(self) -> np.ndarray:
        """Forecast outcomes, as fractions of the highest; shape (3, subjects, items, outcomes)."""
        data, expected = self._forecast.data, self._forecast.expected
        if expected is None:
            return np.stack([data[name].to_numpy()[..., None] for name in SUMMARY])
        shape = len(SUMMARY), data.sizes["subject"], len(self._names), len(self._nodes)
        values = expected[list(SUMMARY)].to_numpy().T.reshape(shape)
        return np.asarray(values / [node.range.high for node in self._nodes])

    def _outcome(self, subject: str, item: str, place: int) -> str:
        known = self._evaluation
        if known is None or subject not in known.subject_table.index or item not in self._known:
            return ""
        outcome = self._outcomes[place]
        cell = known.subject_table.index.get_loc(subject), self._known.get_loc(item)
        attempts = int(outcome.attempts[cell])
        single = isinstance(outcome.node, Success)
        if attempts > 1:
            gained = outcome.gained[cell]
            return f"{gained:.0f} of {attempts}" if single else f"{gained:.2f} of {attempts}"
        values = ["failure", "success"] if single else outcome.values
        return values[int(outcome.counts[cell].argmax())] if attempts else ""

    def _assessed(self) -> tuple[pd.Series | None, list[Reliability]]:
        """Score the forecasts if the evaluation has outcomes that were not fitted."""
        known = self._evaluation
        if known is None:
            return None, []
        data = self._forecast.data
        new = replace(self._forecast, data=data.isel(item=~data["trained"].any("subject")))
        try:
            scores = score_forecast(new, known)
        except DataError:  # there are no outcomes of these
            return None, []
        who, what = (
            theirs.get_indexer(ours)
            for theirs, ours in (
                (known.subject_table.index, self._subjects),
                (self._known, self._names),
            )
        )
        rows, items = np.flatnonzero(who >= 0), (what >= 0) & ~self._trained.any(axis=0)
        means = self._values[0][np.ix_(rows, items)]
        own = [outcome.take(who[rows], what[items]) for outcome in self._outcomes]
        drawn = [
            reliability_drawing(outcome, outcome.in_bins(means[..., place], self._forecast.prob))
            for place, outcome in enumerate(own)
            if outcome.attempts.any()
        ]
        return scores[["brier", "auroc", "ece"]].mean(), drawn


def _outside(count: int, whose: str) -> str:
    """Write a sentence about items outside training items; empty if there are none."""
    lie = "lies" if count == 1 else "lie"
    return f"{many(count, 'item')} {lie} outside {whose} training items." * bool(count)
