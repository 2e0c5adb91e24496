"""What explains one forecast: tables, and sentences."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...common.digits import Digits, fixed, forecast_errors, of_forecast, outward, short
from ...common.messages import many

_TOLD = 0.005  # share from which a part or a demand is named
_SIDED = 0.05  # share from which a band says on which side it is missed
_NAMED = 5  # after the first one; the shares of more are added up

type Row = dict[str, Any]
"""Of a table, by column."""


class Estimate(NamedTuple):
    """A posterior mean and the ends of its interval.

    Examples
    --------
    >>> Estimate(0.6, 0.4, 0.8).named("share")
    {'share': 0.6, 'share_low': 0.4, 'share_high': 0.8}
    """

    mean: float
    low: float
    high: float

    def named(self, what: str) -> dict[str, float]:
        """Write it as columns of a table."""
        return dict(zip(ends_of(what), self, strict=True))


def ends_of(what: str) -> tuple[str, str, str]:
    """Name the columns of a mean and of the ends of its interval."""
    return (what, f"{what}_low", f"{what}_high")


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why one subject is expected to fail or to succeed on one item; printed, it is in words.

    Made by `Fit.explain`. Shares and what is given failure are of the failure that is feared: a
    subject that probably succeeds has them, too.

    Attributes
    ----------
    subject, item, outcome : str
        Names.
    prob : float
        Mass of the equal-tailed intervals.
    success : Estimate
        Probability of success, as in the layout's own forecast: ``mean``, ``low``, ``high``.
    parts : DataFrame
        Indexed by part, in the layout's order: its ``kind`` (``performance``, ``band``, ``lapse``
        of noise, ``effect`` of the item's own), ``latents`` and ``demands``; ``fails``, the
        probability that it does (with ``fails_low`` and ``fails_high``; NaN of an effect); given
        failure, the probabilities that it failed (``involved``), ``alone``, or ``together`` with
        others; its ``share`` of the failure (``share_low``, ``share_high``) and the probability
        that this is the largest (``first``); the success probability ``without`` its failing
        (``without_low``, ``without_high``); and of a band ``too_little``, the probability that
        the propensity is too low where it misses the band, rather than too high (else NaN).
    unexplained : Estimate
        Share of the failure that is left where no part fails.
    demands : DataFrame
        Indexed by demand, of those that make success less probable than their easiest value does:
        ``value``, ``easiest``, ``unit``, ``share`` of the failure with its interval, ``first``, and
        the ``success`` probability at the easiest with its interval. What the item has of its own
        has a row and no values.
    remaining : Estimate
        Share of the failure that remains where all demands are at their easiest.
    changes : DataFrame
        Indexed by what was changed: ``success`` then, and the ``gain``, with their intervals.
    nearest : DataFrame
        Indexed by training item, the nearest first: ``distance``, ``successes`` and ``trials``.
    remark : str
        What of the item lies outside the subject's training items; empty where nothing does.
    ess : float
        Effective number of draws of the success probability; NaN where they are all the same.

    Examples
    --------
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight, reach = (ml.Capability(name, low=0, high=9) for name in ("sight", "reach"))
    >>> small, far = (ml.MetaFeature(name, low=0, high=9) for name in ("small", "far"))
    >>> got = ml.Success("got", logistic(sight - small) * logistic(reach - far))
    >>> layout = ml.Layout("fetch", got)
    >>> items = pd.DataFrame({"small": [1, 7, 1, 7] * 5, "far": [1, 1, 2, 2] * 5})
    >>> outcomes = pd.DataFrame([[1, 0, 1, 0] * 5], ["Ann"])
    >>> fitted = ml.fit(layout, ml.Evaluation.from_wide(outcomes, items), method="grid")
    >>> print(fitted.explain({"small": 6, "far": 3}, neighbours=2))
    Ann is expected to fail new item: success 0.14 ...
    """

    subject: str
    item: str
    outcome: str
    prob: float
    success: Estimate
    parts: pd.DataFrame
    unexplained: Estimate
    demands: pd.DataFrame
    remaining: Estimate
    changes: pd.DataFrame
    nearest: pd.DataFrame
    remark: str
    ess: float

    @property
    def limits_most(self) -> str:
        """Name the part with the largest share; of a single part, the demand with the largest.

        Empty where nothing can fail.
        """
        table = self.parts if len(self.parts) > 1 else self.demands
        shares = table["share"].fillna(0)
        return str(shares.idxmax()) if len(shares) and shares.max() > 0 else ""

    @property
    def sentences(self) -> list[str]:
        """What there is to say, a topic at a time."""
        if self.success.low < 0.5 < self.success.high:
            first = f"It is open whether {self.subject} succeeds on {self.item}"
        else:
            verb = "fail" if self.success.mean < 0.5 else "succeed on"
            first = f"{self.subject} is expected to {verb} {self.item}"
        first += f": success {self.written(self.success)}."
        told = [*self._of_parts(), *self._of_bands(), *self._of_demands(), *self._of_changes()]
        return [first, *told, *self._of_neighbours(), *self._of_outside()]

    def written(self, estimate: Estimate, interval: bool = True) -> str:
        """Write a probability or a share with its interval, with the digits that are supported.

        Parameters
        ----------
        estimate : Estimate
            The numbers.
        interval : bool
            Whether the interval is written, too.
        """
        mean, low, high = estimate
        digits = self._digits(low, high)
        if not interval or math.isnan(mean):
            return fixed(mean, digits.mean)
        return f"{fixed(mean, digits.mean)} [{', '.join(outward(low, high, digits.ends))}]"

    def _digits(self, low: float, high: float) -> Digits:
        if math.isnan(self.ess) or not high > low:
            return Digits(2, 2)
        ends = np.array([low]), np.array([high])
        (error,) = forecast_errors(*ends, np.array([self.ess]), self.prob)
        return of_forecast(float(error), self.prob)

    def _of(self, row: Row, what: str, interval: bool = True) -> str:
        """Write a number of a table's row."""
        return self.written(Estimate(*(float(row[name]) for name in ends_of(what))), interval)

    def _listed(self, others: list[tuple[str, Row]], interval: bool) -> str:
        """Write the shares of some parts or demands, and of many the sum of the rest."""
        told = [f"{name} for {self._of(row, 'share', interval)}" for name, row in others[:_NAMED]]
        rest = [float(row["share"]) for _, row in others[_NAMED:]]
        if rest:
            told.append(f"{many(len(rest), 'other')} for {fixed(sum(rest), 2)}")
        return told[0] if len(told) == 1 else f"{', '.join(told[:-1])} and {told[-1]}"

    def _of_parts(self) -> list[str]:
        rows = _by_share(self.parts)
        if len(self.parts) < 2 or not rows:
            return []
        (first, most), *others = rows.items()
        told = [f"If it fails, {first} accounts for {self._of(most, 'share')} of the failure"]
        if others:
            told = [
                f"{told[0]}, {self._listed(others, interval=True)}",
                f"{first} has the largest share with probability {_chance(most['first'])}; it "
                f"fails alone in {_chance(most['alone'])} of the failures, and together with "
                f"another part in {_chance(most['together'])}",
            ]
        if self.unexplained.mean >= _TOLD:
            told.append(f"{self.written(self.unexplained)} of it is left where no part fails")
        return [f"{one}." for one in told]

    def _of_bands(self) -> list[str]:
        told = []
        for name, row in _by_share(self.parts).items():
            if not math.isnan(row["too_little"]) and row["share"] >= _SIDED:
                little = float(row["too_little"])
                side, chance = ("too low", little) if little >= 0.5 else ("too high", 1 - little)
                told.append(
                    f"Where {name} fails, {' and '.join(row['latents'])} is {side} for the item's "
                    f"band with probability {_chance(chance)}."
                )
        return told

    def _of_demands(self) -> list[str]:
        rows = _by_share(self.demands)
        if not rows:
            return []
        (first, most), *others = rows.items()
        unit = f" {most['unit']}" * bool(most["unit"])
        if math.isnan(most["easiest"]):
            what, then = f"{first}, which the item has of its own,", "If that were as usual"
        else:
            what = f"{first}, {short(most['value'])}{unit},"
            then = f"At {short(most['easiest'])}{unit}, the easiest of the training items"
        told = [
            f"Of what the item demands, {what} limits most: {self._of(most, 'share')} of the "
            f"failure. {then}, success would be {self._of(most, 'success')}."
        ]
        if others:
            told.append(f"Further, {self._listed(others, interval=False)} of it.")
        if self.remaining.mean >= _TOLD:
            told.append(
                f"{self.written(self.remaining)} of the failure would remain on an item without "
                "these demands."
            )
        return told

    def _of_changes(self) -> list[str]:
        before = self.written(self.success, False)
        rows: dict[str, Row] = self.changes.to_dict("index")  # type: ignore[assignment]
        return [
            f"With {name}: success {before} → {self._of(row, 'success')}."
            for name, row in rows.items()
        ]

    def _of_neighbours(self) -> list[str]:
        table = self.nearest
        if not len(table):
            return []
        passed, tried = int(table["successes"].sum()), int(table["trials"].sum())
        listed = ", ".join(
            f"{name} ({int(row['successes'])} of {int(row['trials'])})"
            for name, row in table.iterrows()
        )
        return [
            f"On the {many(len(table), 'nearest training item')}, {self.subject} succeeded in "
            f"{passed} of {many(tried, 'attempt')}: {listed}."
        ]

    def _of_outside(self) -> list[str]:
        return [f"Outside the training items: {self.remark}."] if self.remark else []

    def __str__(self) -> str:
        return " ".join(self.sentences)

    def __repr__(self) -> str:
        return (
            f"<Explanation of {self.subject} on {self.item}: success "
            f"{self.written(self.success)}, {self.limits_most or 'nothing'} limits most, "
            f"{many(len(self.changes), 'change')}>"
        )

    def _repr_markdown_(self) -> str:
        return "\n".join(f"- {sentence}" for sentence in self.sentences)


def _by_share(table: pd.DataFrame) -> dict[str, Row]:
    """Take the rows whose share is worth a word, the largest first."""
    told = table[table["share"] >= _TOLD].sort_values("share", ascending=False, kind="stable")
    return told.to_dict("index")  # type: ignore[return-value]


def _chance(value: float) -> str:
    """Write a probability to hundredths; never 0 or 1."""
    if math.isnan(value):
        return "–"
    if value < 0.005:
        return "<0.01"
    return ">0.99" if value >= 0.995 else fixed(value, 2)
