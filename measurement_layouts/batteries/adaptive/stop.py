"""Rules that stop an adaptive test."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...common.errors import FitError
from ...common.options import inside, whole
from ...inference.sequential.running import Running
from ...layouts.elements import find_elements
from ...linking.real import real

_ROW = 8  # answers in a row after which a verdict must hold


@dataclass(frozen=True)
class Stop:
    r"""Rules that stop an adaptive test.

    The test is done when all given rules of precision are met for all elements that they name, or
    when the limit is reached.

    An element is above a threshold if the posterior odds :math:`o` of being above it, and the
    posterior odds :math:`o / r` under equal prior odds of the two sides (the Bayes factor), are
    both at least :math:`c / (1 - c)`, where :math:`r` are the prior odds and :math:`c` is the
    confidence; it is below it if the inverses of both are. So a verdict does not come from a prior
    with most of its mass on one side. The rule is met when the verdict was the same after each of
    the last eight answers, because a test that may stop after any answer otherwise stops too often
    at a chance run of them.

    Attributes
    ----------
    sd : mapping of str to float, optional
        Largest posterior standard deviation, by profile element, in its unit.
    threshold : mapping of str to float, optional
        Value by profile element, which the element must be above or below.
    confidence : float
        Sufficient probability of being above or below the threshold, under the prior and also under
        equal prior odds of the two sides. Of subjects on one side, drawn from the prior, at most
        ``(1 - confidence) / confidence`` are called to be on the other; of subjects with one value,
        more may be, most of all near the threshold.
    items : int, optional
        Largest number of answers.

    Raises
    ------
    FitError
        When there is no rule, or a number is out of range.

    Examples
    --------
    >>> Stop(sd={"sight": 0.5}, items=60).to_dict()
    {'sd': {'sight': 0.5}, 'confidence': 0.95, 'items': 60}
    """

    sd: Mapping[str, float] | None = None
    threshold: Mapping[str, float] | None = None
    confidence: float = 0.95
    items: int | None = None

    def __post_init__(self) -> None:
        inside("confidence", self.confidence, such_as=0.95)
        if self.items is not None:
            whole("items", self.items, 1)
        if self.sd is None and self.threshold is None and self.items is None:
            raise FitError(
                "Stop() has no rule; give sd=, threshold= or items=, as in "
                "Stop(sd={'sight': 0.5}, items=60)"
            )
        for name, rules, least in (("sd", self.sd, 0), ("threshold", self.threshold, -np.inf)):
            if rules is not None and (not isinstance(rules, Mapping) or not rules):
                raise FitError(f"{name}={rules!r}; give numbers by latent, as in {{'sight': 0.5}}")
            for latent, value in (rules or {}).items():
                number = real(value)
                if number is None or not number > least:
                    raise FitError(f"{name}[{latent!r}]={value!r}; give a number above {least:g}")

    def check(self, running: Running) -> None:
        """Refuse names that are not elements of the profile, and thresholds that the prior decides.

        Raises
        ------
        FitError
            When there are such names, or the prior has no mass on one side of a threshold.
        """
        _limits(running, self.sd)
        for name, at, limit in _limits(running, self.threshold):
            before = running.above_before(at, limit)
            if before in (0, 1):
                raise FitError(
                    f"threshold[{name!r}]={limit:g}; the prior has no mass "
                    f"{'below' if before else 'above'} it, so that no answer can decide this: give "
                    "a value inside the prior's range"
                )

    def to_dict(self) -> dict[str, Any]:
        """Write the rules as plain numbers."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def sides(self, running: Running) -> dict[str, int]:
        """Return on which side of its threshold each element is: 1, -1, or 0 if uncertain."""
        sides = {}
        for name, at, limit in _limits(running, self.threshold):
            chances = _above(running, at, limit)
            above, below = min(chances), 1 - max(chances)
            sides[name] = int(above >= self.confidence) - int(below >= self.confidence)
        return sides

    def reached(self, running: Running, sides: Sequence[Mapping[str, int]] = ()) -> str:
        """Write how the rules of precision are met; empty if one is not, or none is given.

        Parameters
        ----------
        running : Running
            The posterior.
        sides : sequence of dict
            Results of `sides` after each answer.
        """
        reasons = []
        for name, at, limit in _limits(running, self.sd):
            sd = float(running.sds[at])
            reasons.append(
                f"{name} has an sd of {sd:.3g}, at most {limit:g}" if sd <= limit else ""
            )
        for name, at, limit in _limits(running, self.threshold):
            decided = abs(sum(verdicts[name] for verdicts in sides[-_ROW:])) == _ROW
            reasons.append(f"{name} is {_verdict(running, at, limit)}" if decided else "")
        return "; ".join(reasons) if all(reasons) else ""


def _limits(running: Running, rules: Mapping[str, float] | None) -> list[tuple[str, int, float]]:
    """List the elements that rules name: name, position, and limit."""
    return [
        (element.name, running.elements.index(element), float(limit))
        for name, limit in (rules or {}).items()
        for element in find_elements(running.elements, name)
    ]


def _above(running: Running, at: int, limit: float) -> tuple[float, float]:
    """Posterior probabilities of being above, under the prior and under equal prior odds."""
    before, after = running.above_before(at, limit), running.above(at, limit)
    return after, after * (1 - before) / (after * (1 - before) + (1 - after) * before)


def _verdict(running: Running, at: int, limit: float) -> str:
    """Write on which side an element is, with both probabilities."""
    chances = np.array(_above(running, at, limit))
    side, chances = ("above", chances) if chances[0] > 0.5 else ("below", 1 - chances)
    stated, even = chances.clip(max=0.999)
    return f"{side} {limit:g} with probability {stated:.3f}, and {even:.3f} under equal prior odds"
