"""Judgement of one element of one subject's profile by the rules."""

import math
from dataclasses import dataclass

import numpy as np

from ...common.findings import Finding
from ...layouts.elements import Element
from ...linking.expression import Constant
from .rules import Rules
from .sentences import Numbers, Surpassed, called, estimate, located, rounded, vaguely

_CENTRED = ("Laplace", "Logistic", "Normal", "StudentT")  # families whose mean is `mu`


@dataclass(frozen=True, eq=False)
class Evidence:
    """Posterior and prior of one element of one subject's profile, with the demands on it.

    Attributes
    ----------
    element : Element
        The element.
    draws, prior : ndarray, shape (draws,)
        Posterior and prior draws, in the node's unit.
    numbers : Numbers
        Posterior mean and interval.
    informed : bool
        Whether the data add to the prior.
    levels : ndarray or None
        Levels of demand by which a capability is judged, as returned by `demands.demand_levels`;
        None where it is judged by its range.
    modes : bool
        Whether there are separate modes, as in `diagnostics.profiles`.
    agreed : bool
        Whether chains agree, so that the share of each mode is known: R-hat is at most 1.01.
    """

    element: Element
    draws: np.ndarray
    prior: np.ndarray
    numbers: Numbers
    informed: bool
    levels: np.ndarray | None = None
    modes: bool = False
    agreed: bool = True

    @property
    def located(self) -> str:
        """Name, mean, interval and range as text."""
        return located(self.element, self.numbers)

    @property
    def by_range(self) -> bool:
        """Whether it is judged by its position in its range."""
        return self.levels is None and self.element.latent.range.is_finite

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

    def surpassed(self, prob: float) -> Surpassed | None:
        """Count the levels of demand that the capability surpasses."""
        if self.levels is None:
            return None
        counts = np.searchsorted(self.levels, self.draws).astype(float)
        tail = (1 - prob) / 2
        low, high = np.quantile(counts, [tail, 1 - tail])
        return Surpassed(float(counts.mean()), float(low), float(high), len(self.levels))

    def finding(self, kind: str, text: str, probability: float = math.nan) -> Finding:
        """Make a finding about this element."""
        mean, low, high = self.numbers
        if self.modes and kind != "unknown":
            text += " (separate modes: the mean may lie between them)"
        return Finding(self.element.name, kind, text, "", mean, low, high, probability)


def judge(evidence: Evidence, rules: Rules) -> Finding | None:
    r"""Judge one element by the rules.

    Let :math:`u` be the share of the levels of demand in the subject's items that a capability
    surpasses (for a chance from 0 to 1, or with the rule ``scale="range"``, its share of the range;
    `strong` and `weak` are those of the scale), and let :math:`m` and :math:`s` be the centre and
    standard deviation of a bias's prior. The judgements are:

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
    if not evidence.informed:
        return evidence.finding("unknown", evidence.element.name)
    if kind == "bias":
        return _lean(evidence, rules)
    if kind == "noise":
        return _noise(evidence, rules)
    if kind == "capability" and (evidence.counted or evidence.by_range):
        return _level(evidence, rules)
    return evidence.finding("location", evidence.located)


def _level(evidence: Evidence, rules: Rules) -> Finding:
    surpassed = evidence.surpassed(rules.prob)
    weak, strong = (
        (rules.weak, rules.strong)
        if surpassed is None
        else (rules.weak_demands, rules.strong_demands)
    )
    after, before = evidence.shares(evidence.draws), evidence.shares(evidence.prior)
    said = located(evidence.element, evidence.numbers, surpassed)
    if evidence.modes and not evidence.agreed:
        return evidence.finding("uncertain", said)
    tail = (1 - rules.prob) / 2
    low, high = np.quantile(after, [tail, 1 - tail])
    statements = {
        "strength": (after >= strong, before >= strong),
        "weakness": (after <= weak, before <= weak),
    }
    unknown = high - low > rules.vague
    for kind, holds in statements.items():
        probability, expected = (float(each.mean()) for each in holds)
        if probability < rules.certainty:
            continue
        if probability * (1 - expected) >= rules.evidence * expected * (1 - probability):
            return evidence.finding(kind, said, probability)
        unknown = True
    if unknown:
        return evidence.finding("unknown", vaguely(evidence.element, evidence.numbers, surpassed))
    between = weak < low and high < strong
    return evidence.finding("in between" if between else "uncertain", said)


def _lean(evidence: Evidence, rules: Rules) -> Finding:
    centre, sd = _expected(evidence), float(evidence.prior.std(ddof=1))
    distance = evidence.numbers.mean - centre
    beyond = evidence.draws > centre if distance > 0 else evidence.draws < centre
    probability = float(beyond.mean())
    if abs(distance) < rules.tilt * sd or probability < rules.certainty:
        return evidence.finding("unremarkable", evidence.located)
    numbers = estimate(evidence.numbers)
    if centre == 0:
        how = f"{'positive' if distance > 0 else 'negative'}, {numbers}"
    else:
        how = f"{'higher' if distance > 0 else 'lower'} than expected before the data, "
        how += f"{numbers} instead of {rounded(centre)}"
    return evidence.finding("bias", f"{called(evidence.element)} is {how}", probability)


def _expected(evidence: Evidence) -> float:
    """Compute the prior mean of a bias, by its formula if there is one, else from draws."""
    prior = evidence.element.prior
    centre = dict(prior.parameters).get("mu")
    if prior.family in _CENTRED and isinstance(centre, Constant):
        return float(centre.value)
    return float(evidence.prior.mean())


def _noise(evidence: Evidence, rules: Rules) -> Finding:
    probability = float((evidence.draws > rules.noisy).mean())
    if probability < rules.certainty:
        return evidence.finding("unremarkable", evidence.located)
    share = estimate(evidence.numbers)
    text = f"about {share} of its outcomes do not follow from the demands of the items "
    return evidence.finding("noise", f"{text}({evidence.element.name})", probability)
