"""What may be said about one element of one subject's profile, by the rules."""

import math
from dataclasses import dataclass

import numpy as np

from ...linking.expression import Constant
from ..elements import Element
from .finding import Finding
from .rules import Rules
from .sentences import Numbers, called, estimate, located, rounded, vaguely

_CENTRED = ("Laplace", "Logistic", "Normal", "StudentT")  # families whose mean is `mu`


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known about one element of one subject's profile.

    Attributes
    ----------
    element : Element
        Which.
    draws, prior : ndarray, shape (draws,)
        After and before the data, in the node's unit.
    numbers : Numbers
        Posterior mean and interval, and their decimals.
    informed : bool
        Whether the data say more than the prior.
    """

    element: Element
    draws: np.ndarray
    prior: np.ndarray
    numbers: Numbers
    informed: bool

    @property
    def located(self) -> str:
        """Name, mean, interval and range in words."""
        return located(self.element, self.numbers)

    def finding(self, kind: str, text: str, probability: float = math.nan) -> Finding:
        """Say something of this element."""
        mean, low, high, _ = self.numbers
        return Finding(kind, self.element.name, mean, low, high, probability, text)


def judge(evidence: Evidence, rules: Rules) -> Finding | None:
    r"""Say what the rules allow to be said of one element.

    With the share :math:`u` of a capability's range and the centre :math:`m` and standard deviation
    :math:`s` of a bias's prior:

    - strength: :math:`P(u > \mathrm{strong}) \ge \mathrm{certainty}`; weakness:
      :math:`P(u < \mathrm{weak}) \ge \mathrm{certainty}`; either only where the data raise its odds
      by the factor `evidence` or more (a uniform prior never stands in the way), else unknown;
    - bias: :math:`P(b > m)` or :math:`P(b < m)` is at least the certainty, and the posterior mean
      lies `tilt` :math:`s` or more from :math:`m`. Where :math:`m` is 0 that is a lean to one side;
      elsewhere a level higher or lower than was expected before the data;
    - noise: :math:`P(\mathrm{noise} > \mathrm{noisy}) \ge \mathrm{certainty}`.

    Probabilities are shares of the posterior's draws.

    Parameters
    ----------
    evidence : Evidence
        Draws of the element.
    rules : Rules
        Thresholds.

    Returns
    -------
    Finding or None
        None for a slope, which is neither good nor bad.
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
    if kind == "capability" and evidence.element.latent.range.is_finite:
        return _level(evidence, rules)
    return evidence.finding("location", evidence.located)


def _level(evidence: Evidence, rules: Rules) -> Finding:
    support = evidence.element.latent.range
    span = support.high - support.low
    after, before = ((draws - support.low) / span for draws in (evidence.draws, evidence.prior))
    statements = {
        "strength": (after > rules.strong, before > rules.strong),
        "weakness": (after < rules.weak, before < rules.weak),
    }
    unknown = (evidence.numbers.high - evidence.numbers.low) / span > rules.vague
    for kind, holds in statements.items():
        probability, expected = (float(each.mean()) for each in holds)
        if probability < rules.certainty:
            continue
        if probability * (1 - expected) >= rules.evidence * expected * (1 - probability):
            return evidence.finding(kind, evidence.located, probability)
        unknown = True
    if unknown:
        text = vaguely(evidence.element, evidence.numbers)
        return evidence.finding("unknown", text)
    return evidence.finding("in between", evidence.located)


def _lean(evidence: Evidence, rules: Rules) -> Finding:
    centre, sd = _expected(evidence), float(evidence.prior.std(ddof=1))
    distance = evidence.numbers.mean - centre
    beyond = evidence.draws > centre if distance > 0 else evidence.draws < centre
    probability = float(beyond.mean())
    if abs(distance) < rules.tilt * sd or probability < rules.certainty:
        return evidence.finding("unremarkable", evidence.located)
    scale = max(abs(evidence.numbers.low), abs(evidence.numbers.high), sd)
    numbers = estimate(evidence.numbers, scale)
    if centre == 0:
        how = f"{'positive' if distance > 0 else 'negative'}, {numbers}"
    else:
        how = f"{'higher' if distance > 0 else 'lower'} than expected before the data, "
        how += f"{numbers} instead of {rounded(centre, scale)}"
    return evidence.finding("bias", f"{called(evidence.element)} is {how}", probability)


def _expected(evidence: Evidence) -> float:
    """Mean of a bias before the data, by its formula where that is known."""
    prior = evidence.element.latent.distribution
    centre = dict(prior.parameters).get("mu")
    if prior.family in _CENTRED and isinstance(centre, Constant):
        return float(centre.value)
    return float(evidence.prior.mean())


def _noise(evidence: Evidence, rules: Rules) -> Finding:
    probability = float((evidence.draws > rules.noisy).mean())
    if probability < rules.certainty:
        return evidence.finding("unremarkable", evidence.located)
    share = estimate(evidence.numbers, 1)
    text = f"about {share} of its outcomes do not follow from what the items ask "
    return evidence.finding("noise", f"{text}({evidence.element.name})", probability)
