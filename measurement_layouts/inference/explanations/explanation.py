"""The explanation of one forecast, as tables and as sentences."""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import pandas as pd

from ...common.digits import fixed, short, significant, with_interval
from ...common.messages import many

_TOLD = 0.005  # least share of a part or a demand that is named
_SIDED = 0.05  # least share of a band for which the side that is missed is named
_NAMED = 5  # number named after the first; the shares of the rest are added up

type Row = dict[str, Any]
"""A row of a table, by column."""


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
        """Return the three numbers as columns of a table."""
        return dict(zip(ends_of(what), self, strict=True))


def ends_of(what: str) -> tuple[str, str, str]:
    """Name the columns of a mean and of the ends of its interval."""
    return (what, f"{what}_low", f"{what}_high")


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why one subject is expected to fail or to succeed on one item; in words when printed.

    Made by `Fit.explain`. Shares and probabilities given failure describe the failure that is
    possible on the item, and are computed even if the subject will probably succeed.

    Attributes
    ----------
    subject, item, outcome : str
        Names of the subject, the item and the outcome.
    prob : float
        Mass of the equal-tailed intervals.
    success : Estimate
        Probability of success in the layout's own forecast: ``mean``, ``low``, ``high``.
    parts : DataFrame
        Indexed by part, in the layout's order. ``kind`` is ``performance``, ``band``, ``lapse``
        (noise) or ``effect`` (item effect); ``latents`` and ``demands`` are those of the part.
        ``fails`` is the probability that the part fails (with ``fails_low`` and ``fails_high``; NaN
        for an effect). ``involved``, ``alone`` and ``together`` are the probabilities, given
        failure, that the part failed, that it alone failed, and that it failed with others.
        ``share`` is its share of the failure (with ``share_low`` and ``share_high``), and ``first``
        the probability that this share is the largest. ``without`` is the success probability if
        the part could not fail (with ``without_low`` and ``without_high``). ``too_little`` is, for
        a band, the probability that a propensity that misses the band is too low rather than too
        high (else NaN).
    unexplained : Estimate
        Share of the failure that remains if no part fails.
    demands : DataFrame
        Indexed by demand, for the demands whose easiest value would make success more probable:
        ``value``, ``easiest`` value, ``unit``, ``share`` of the failure with its interval,
        ``first`` and, with its interval, the ``success`` probability at the easiest value. An item
        effect has a row without values.
    remaining : Estimate
        Share of the failure that remains if all demands are at their easiest.
    changes : DataFrame
        Indexed by change: the ``success`` probability after it and the ``gain``, with their
        intervals.
    nearest : DataFrame
        Indexed by training item, the nearest first: ``distance``, ``successes`` and ``trials``.
    remark : str
        Properties of the item that lie outside the subject's training items (else empty).
    ess : float
        Effective sample size of the success probability, or NaN if all its draws are equal.

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
    Ann is expected to fail new item: success 0.142 ...
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
        """Name the part with the largest share; if there is one part, the demand with the largest.

        The name is empty if no part can fail.
        """
        table = self.parts if len(self.parts) > 1 else self.demands
        shares = table["share"].fillna(0)
        return str(shares.idxmax()) if len(shares) and shares.max() > 0 else ""

    @property
    def sentences(self) -> list[str]:
        """The explanation in sentences, one string per topic."""
        if self.success.low < 0.5 < self.success.high:
            first = f"It is uncertain whether {self.subject} succeeds on {self.item}"
        else:
            verb = "fail" if self.success.mean < 0.5 else "succeed on"
            first = f"{self.subject} is expected to {verb} {self.item}"
        first += f": success {self.written(self.success)}."
        told = [*self._of_parts(), *self._of_bands(), *self._of_demands(), *self._of_changes()]
        return [first, *told, *self._of_neighbours(), *self._of_outside()]

    def written(self, estimate: Estimate, interval: bool = True) -> str:
        """Write a probability or a share with three significant digits.

        Parameters
        ----------
        estimate : Estimate
            The numbers.
        interval : bool
            Whether to write the interval too.
        """
        mean, low, high = estimate
        if not interval or math.isnan(mean):
            return significant(mean, high - low)
        return with_interval(mean, low, high)

    def _of(self, row: Row, what: str, interval: bool = True) -> str:
        """Write one estimate of a table's row."""
        return self.written(Estimate(*(float(row[name]) for name in ends_of(what))), interval)

    def _listed(self, others: list[tuple[str, Row]], interval: bool) -> str:
        """Write the shares of the largest parts or demands, and the sum of the rest."""
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
            told.append(f"{self.written(self.unexplained)} of it remains if no part fails")
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
            what, then = f"{first}, the item's own effect,", "If that were as usual"
        else:
            what = f"{first}, {short(most['value'])}{unit},"
            then = f"At {short(most['easiest'])}{unit}, the easiest of the training items"
        told = [
            f"Among the item's demands, {what} limits most: {self._of(most, 'share')} of the "
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
    """Return the rows whose share is large enough to be named, the largest first."""
    told = table[table["share"] >= _TOLD].sort_values("share", ascending=False, kind="stable")
    return told.to_dict("index")  # type: ignore[return-value]


def _chance(value: float) -> str:
    """Write a probability with two decimals, but never as 0 or 1."""
    if math.isnan(value):
        return "–"
    if value < 0.005:
        return "<0.01"
    return ">0.99" if value >= 0.995 else fixed(value, 2)
