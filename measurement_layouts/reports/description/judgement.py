"""Judgement of one element of one subject's profile by the rules."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.digits import chance, short, significant, with_interval
from ...common.findings import Finding
from ...layouts.elements import Element
from ...linking import units
from .rules import Rules

_MOVED = 0.5  # prior sds from which a mean has moved
_ZERO = 0.1  # prior sds up to which a prior mean, computed from draws, is 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """Posterior and prior of one element of one subject's profile, with the demands on it.

    Attributes
    ----------
    element : Element
        The element.
    draws, prior : ndarray, shape (draws,)
        Posterior and prior draws, in the node's unit.
    row : dict
        The element's row of `Fit.profiles`.
    success : float
        Success rate of the subject, in [0, 1].
    silent : bool
        Whether success hardly depends on the items, so that they tell nothing of the element.
    levels : ndarray or None
        Levels of demand by which a capability is judged, as returned by `demands.demand_levels`;
        None where it is judged by its range.
    agreed : bool
        Whether chains agree, so that the share of each mode is known: R-hat is at most 1.01.
    """

    element: Element
    draws: np.ndarray
    prior: np.ndarray
    row: dict[str, Any]
    success: float
    silent: bool = False
    levels: np.ndarray | None = None
    agreed: bool = True

    @property
    def counted(self) -> bool:
        """Whether there are levels of demand to judge by."""
        return self.levels is not None and len(self.levels) > 0

    def shares(self, draws: np.ndarray) -> np.ndarray:
        """Map draws to the scale by which the capability is judged, from 0 to 1."""
        if self.levels is not None:
            return np.asarray(np.searchsorted(self.levels, draws) / len(self.levels))
        support = self.element.latent.range
        return np.asarray((draws - support.low) / (support.high - support.low))

    @property
    def called(self) -> str:
        """Name of the element, with its description if the layout has one."""
        about = self.element.latent.about
        return f"{self.element.name} ({about})" if about else self.element.name

    @property
    def moved(self) -> float:
        """Distance of the mean from the prior's, in prior standard deviations."""
        return float((self.row["mean"] - self.prior.mean()) / self.prior.std(ddof=1))

    def number(self, value: float) -> str:
        """Write a number with the unit of the element."""
        unit = units.name(self.element.latent.unit)
        return plain(significant(value)) + (f" {unit}" if unit else "")

    @property
    def estimate(self) -> str:
        """Write the mean with its interval and unit: ``5.71 [5.20, 6.30] digit``."""
        unit = units.name(self.element.latent.unit)
        numbers = with_interval(*(self.row[name] for name in ("mean", "low", "high")))
        return plain(numbers) + (f" {unit}" if unit else "")

    def finding(self, kind: str, text: str, probability: float = math.nan) -> Finding:
        """Make a finding about this element."""
        if self.row["modes"] and kind != "unknown":
            text += " (separate modes: the mean may lie between them)"
        vague = self.counted and kind in ("bounded", "uncertain", "unknown")
        remedy = "run items whose demands lie in the interval" if vague else ""
        mean, low, high = (float(self.row[name]) for name in ("mean", "low", "high"))
        return Finding(self.element.name, kind, text, remedy, mean, low, high, probability)


def plain(text: str) -> str:
    """Write the minus sign as a hyphen, for any terminal."""
    return text.replace("−", "-")


def judge(evidence: Evidence, rules: Rules) -> Finding | None:
    r"""Judge one element by the rules.

    Let :math:`u` be the share of the levels of demand in the subject's items that a capability
    surpasses (for a chance from 0 to 1, or with the rule ``scale="range"``, its share of the range;
    `strong` and `weak` are those of the scale), and let :math:`m` and :math:`s` be the mean and
    standard deviation of a bias's prior. The judgements are:

    - bounded, on one side only: the capability is above all levels of demand, or below all, by the
      rule of a strength, and its interval is wider than the share `vague` of the levels' span; or
      all outcomes are equal, and its mean is half a prior standard deviation or more from the
      prior's;
    - strength: :math:`P(u \ge \mathrm{strong}) \ge \mathrm{certainty}`; weakness:
      :math:`P(u \le \mathrm{weak}) \ge \mathrm{certainty}`; both only if the data raise its odds by
      at least the factor `evidence` (with a uniform prior this is always so), else unknown;
    - otherwise unknown if the interval of u is wider than `vague`, in between if both of its ends
      lie between weak and strong, and uncertain if one does not, so that the capability may be in
      more than one of these classes. A capability with separate modes on which chains do not
      agree is uncertain as well;
    - located, and not judged: a capability on which the subject's items make no demand, or for
      which another latent compensates;
    - bias: :math:`P(b > m)` or :math:`P(b < m)` is at least the certainty, and the posterior mean
      lies at least `tilt` :math:`s` from :math:`m`. If :math:`m` is 0, this is a preference for one
      side; otherwise it is a value higher or lower than expected before the data;
    - noise: :math:`P(\mathrm{noise} > \mathrm{noisy}) \ge \mathrm{certainty}`.

    Probabilities are shares of the posterior's draws.

    Parameters
    ----------
    evidence : Evidence
        Draws of the element.
    rules : Rules
        Thresholds of the judgements.

    Returns
    -------
    Finding or None
        The judgement; None for a slope, which is neither good nor bad.
    """
    kind = evidence.element.latent.kind
    if kind == "slope":
        return None
    beyond = _beyond(evidence, rules) if kind == "capability" else None
    if beyond is not None:
        return beyond
    if evidence.silent and kind != "noise":
        return evidence.finding("unknown", evidence.element.name)
    if kind == "capability" and evidence.success in (0, 1) and abs(evidence.moved) >= _MOVED:
        end, sign = ("low", "at least") if evidence.success else ("high", "at most")
        text = f"{evidence.called} {sign} {evidence.number(evidence.row[end])}"
        return evidence.finding("bounded", text, (1 + rules.prob) / 2)
    if evidence.row["prior_dominated"]:
        return evidence.finding("unknown", evidence.element.name)
    if kind == "bias":
        return _lean(evidence, rules)
    if kind == "noise":
        return _noise(evidence, rules)
    by_range = evidence.levels is None and evidence.element.latent.range.is_finite
    if kind == "capability" and (evidence.counted or by_range):
        return _level(evidence, rules)
    return evidence.finding("location", f"{evidence.called} {evidence.estimate}")


def _beyond(evidence: Evidence, rules: Rules) -> Finding | None:
    """State a bound, if a capability is above or below all levels of demand."""
    levels, width = evidence.levels, evidence.row["high"] - evidence.row["low"]
    if levels is None or not evidence.counted or width <= rules.vague * np.ptp(levels):
        return None
    for side, level, most, sign in (
        ("above", levels[-1], "most", 1),
        ("below", levels[0], "least", -1),
    ):
        after, before = (sign * draws > sign * level for draws in (evidence.draws, evidence.prior))
        if _supported(after, before, rules):
            probability = float(after.mean())
            text = (
                f"{evidence.called} is {side} {evidence.number(level)} (probability "
                f"{chance(probability, 0)}), the {most} that its items demand; how far {side} is "
                "not known"
            )
            return evidence.finding("bounded", text, probability)
    return None


def _supported(after: np.ndarray, before: np.ndarray, rules: Rules) -> bool:
    """Whether a statement is certain enough, and the data have raised its odds enough."""
    probability, expected = float(after.mean()), float(before.mean())
    odds = probability * (1 - expected) >= rules.evidence * expected * (1 - probability)
    return probability >= rules.certainty and odds


def _level(evidence: Evidence, rules: Rules) -> Finding:
    weak, strong = (
        (rules.weak, rules.strong)
        if evidence.levels is None
        else (rules.weak_demands, rules.strong_demands)
    )
    after, before = evidence.shares(evidence.draws), evidence.shares(evidence.prior)
    tail = (1 - rules.prob) / 2
    low, high = np.quantile(after, [tail, 1 - tail])
    text = _placed(evidence, low, high)
    if evidence.row["modes"] and not evidence.agreed:
        return evidence.finding("uncertain", text)
    unknown = high - low > rules.vague
    for kind, now, then in (
        ("strength", after >= strong, before >= strong),
        ("weakness", after <= weak, before <= weak),
    ):
        if _supported(now, then, rules):
            return evidence.finding(kind, text, float(now.mean()))
        unknown |= now.mean() >= rules.certainty  # as before the data
    if unknown:
        return evidence.finding("unknown", text)
    between = weak < low and high < strong
    return evidence.finding("in between" if between else "uncertain", text)


def _placed(evidence: Evidence, low: float, high: float) -> str:
    """Write where a capability is: among the levels of demand, or in its range."""
    if evidence.levels is None:
        support = evidence.element.latent.range
        ends = f"of {short(support.high)}" if support.low == 0 else f"within {plain(str(support))}"
        return f"{evidence.called}: {evidence.estimate} {ends}"
    count = len(evidence.levels)
    first, last = (f"{share * count:.0f}" for share in (low, high))
    surpassed = first if first == last else f"{first} to {last}"
    return (
        f"{evidence.called}: half solved at {evidence.estimate}, above {surpassed} of the {count} "
        "levels demanded"
    )


def _lean(evidence: Evidence, rules: Rules) -> Finding:
    sd, expected = float(evidence.prior.std(ddof=1)), float(evidence.prior.mean())
    centre = 0.0 if abs(expected) < _ZERO * sd else expected
    distance = evidence.row["mean"] - centre
    beyond = evidence.draws > centre if distance > 0 else evidence.draws < centre
    probability = float(beyond.mean())
    if abs(distance) < rules.tilt * sd or probability < rules.certainty:
        return evidence.finding("unremarkable", f"{evidence.called} {evidence.estimate}")
    how = f"{'higher' if distance > 0 else 'lower'} than expected before the data"
    if centre == 0:
        how = "positive" if distance > 0 else "negative"
    return evidence.finding("bias", f"{evidence.called} is {how}, {evidence.estimate}", probability)


def _noise(evidence: Evidence, rules: Rules) -> Finding:
    probability = float((evidence.draws > rules.noisy).mean())
    if probability < rules.certainty:
        return evidence.finding("unremarkable", f"{evidence.called} {evidence.estimate}")
    text = f"about {evidence.estimate} of its outcomes do not follow from the demands of the items "
    return evidence.finding("noise", f"{text}({evidence.element.name})", probability)
