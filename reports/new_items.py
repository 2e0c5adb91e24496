"""Forecasts of new items, some of them for the page."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..inference.assessment import score
from ..inference.calibration import calibration_curve
from ..inference.errors import DataError
from ..inference.forecasts.forecasting import Forecast
from .contents import Contents
from .drawings import Reliability, reliability_drawing
from .geometry import Scale
from .numbers import written

_ROWS = 8000  # on a page, of all subjects together
_MOST, _LEAST = 120, 8  # of a subject
WIDTH = 140


@dataclass(frozen=True, eq=False)
class Line:
    """One item's forecast."""

    item: str
    mean: str
    interval: str
    places: tuple[str, str, str] | None
    remark: str
    outcome: str


class NewItems:
    """Forecasts of a report, and how they did where outcomes are known.

    Parameters
    ----------
    contents : Contents
        Evaluation and fit.
    forecast : Forecast
        Of new items.
    """

    def __init__(self, contents: Contents, forecast: Forecast) -> None:
        self._forecast, self._evaluation = forecast, contents.evaluation
        self.prob = f"{forecast.prob:.0%}"
        self.items = int(forecast.data.sizes["item"])
        self.outside = int(forecast.data["extrapolated"].sum())
        self._subjects = {str(n): p for p, n in enumerate(forecast.data["subject"].to_numpy())}
        self.shown = int(np.clip(_ROWS // len(self._subjects), _LEAST, _MOST))
        self.scores, self.reliability = self._assessed()

    def of(self, subject: str) -> list[Line]:
        """List one subject's forecasts, the hardest item first; evenly spaced ones where many."""
        if subject not in self._subjects:
            return []
        own = self._forecast.data.isel(subject=self._subjects[subject])
        means = own["mean"].to_numpy()
        order = np.argsort(means, kind="stable")
        if len(order) > self.shown:
            order = order[np.linspace(0, len(order) - 1, self.shown).round().astype(int)]
        low, high = own["low"].to_numpy(), own["high"].to_numpy()
        outside, seen = (own[name].to_numpy() for name in ("extrapolated", "trained"))
        across = Scale(0, 1, 4, WIDTH - 4)
        names = own["item"].to_numpy()
        return [
            Line(
                str(names[at]),
                written(means[at], 2),
                f"[{written(low[at], 2)}, {written(high[at], 2)}]",
                (across(low[at]), across(high[at]), across(means[at]))
                if np.isfinite(low[at])
                else None,
                "; ".join(["outside a range"] * int(outside[at]) + ["was fitted"] * int(seen[at])),
                self._outcome(subject, str(names[at])),
            )
            for at in order
        ]

    def _outcome(self, subject: str, item: str) -> str:
        known = self._evaluation
        if known is None or subject not in known.trials.index or item not in known.trials.columns:
            return ""
        trials = int(known.trials[item][subject])
        successes = int(known.successes[item][subject])
        if trials < 2:
            return ("", "success" if successes else "failure")[trials]
        return f"{successes} of {trials}"

    def _assessed(self) -> tuple[pd.Series | None, Reliability | None]:
        """Score the forecasts where the evaluation knows outcomes that were not fitted."""
        if self._evaluation is None:
            return None, None
        data = self._forecast.data
        new = Forecast(
            data.isel(item=~data["trained"].any("subject").to_numpy()), self._forecast.prob
        )
        try:
            scores, rates = score(new, self._evaluation), calibration_curve(new, self._evaluation)
        except DataError:  # there are no outcomes of these
            return None, None
        return scores[["brier", "auroc", "ece"]].mean(), reliability_drawing(rates)
