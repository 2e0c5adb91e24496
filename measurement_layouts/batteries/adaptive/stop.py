"""Rules that stop an adaptive test."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ...common.errors import FitError
from ...common.options import inside, whole
from ...inference.sequential.running import Running
from ...layouts import Layout
from ...layouts.elements import find_elements
from ...linking.real import real


@dataclass(frozen=True)
class Stop:
    r"""Rules that stop an adaptive test.

    The test is done when all given rules of precision are met for all elements that they name, or
    when a limit is reached.

    Attributes
    ----------
    sd : mapping of str to float, optional
        Largest posterior standard deviation, by profile element, in its unit.
    width : mapping of str to float, optional
        Largest width of the equal-tailed interval, by profile element.
    prob : float
        Mass of that interval.
    threshold : mapping of str to float, optional
        Value by profile element; the element must be above or below it with a sufficient
        probability.
    confidence : float
        Sufficient probability of being above or below the threshold.
    items : int, optional
        Largest number of answers.
    cost : float, optional
        Largest total cost of the answers.

    Raises
    ------
    FitError
        When there is no rule, or a number is out of range.

    Examples
    --------
    >>> Stop(sd={"sight": 0.5}, items=60).to_dict()
    {'sd': {'sight': 0.5}, 'prob': 0.9, 'confidence': 0.95, 'items': 60}
    """

    sd: Mapping[str, float] | None = None
    width: Mapping[str, float] | None = None
    prob: float = 0.9
    threshold: Mapping[str, float] | None = None
    confidence: float = 0.95
    items: int | None = None
    cost: float | None = None

    def __post_init__(self) -> None:
        inside("prob", self.prob, such_as=0.9)
        inside("confidence", self.confidence, such_as=0.95)
        if self.items is not None:
            whole("items", self.items, 1)
        if self.cost is not None and not (real(self.cost) or 0) > 0:
            raise FitError(f"cost={self.cost!r}; give a number above 0")
        for name in ("sd", "width", "threshold"):
            rules = getattr(self, name)
            if rules is None:
                continue
            if not isinstance(rules, Mapping) or not rules:
                raise FitError(f"{name}={rules!r}; give numbers by latent, as in {{'sight': 0.5}}")
            for latent, value in rules.items():
                number = real(value)
                if number is None or (name != "threshold" and not number > 0):
                    raise FitError(f"{name}[{latent!r}]={value!r}; give a number above 0")
        if all(value is None for value in (*self._rules, self.items, self.cost)):
            raise FitError(
                "Stop() has no rule; give sd=, width=, threshold=, items= or cost=, as in "
                "Stop(sd={'sight': 0.5}, items=60)"
            )

    @property
    def _rules(self) -> tuple[Mapping[str, float] | None, ...]:
        return self.sd, self.width, self.threshold

    def check(self, layout: Layout) -> None:
        """Refuse names that are not profile elements of a layout.

        Raises
        ------
        FitError
            When there are such names, which the error lists.
        """
        for rules in self._rules:
            if rules is not None:
                find_elements(layout, list(rules))

    def to_dict(self) -> dict[str, Any]:
        """Write the rules as plain numbers."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def reached(self, running: Running) -> str:
        """Write how the rules of precision are met; empty if one is not, or none is given."""
        layout, places = running.layout, {name: at for at, name in enumerate(running.elements)}
        said = []
        for kind, rules in zip(("sd", "width", "threshold"), self._rules, strict=True):
            for name, limit in (rules or {}).items():
                for element in find_elements(layout, name):
                    at = places[element.name]
                    found = getattr(self, f"_{kind}_reached")(running, at, float(limit))
                    if not found:
                        return ""
                    said.append(f"{element.name} {found}")
        return "; ".join(said)

    def _sd_reached(self, running: Running, at: int, limit: float) -> str:
        sd = float(running.sds[at])
        return f"has an sd of {_short(sd)}, at most {limit:g}" if sd <= limit else ""

    def _width_reached(self, running: Running, at: int, limit: float) -> str:
        low, high = running.interval(at, self.prob)
        if high - low > limit:
            return ""
        return f"has a {100 * self.prob:g}% interval {_short(high - low)} wide, at most {limit:g}"

    def _threshold_reached(self, running: Running, at: int, limit: float) -> str:
        above = float(running.weights[running.values[:, at] > limit].sum())
        if max(above, 1 - above) < self.confidence:
            return ""
        side, chance = ("above", above) if above > 0.5 else ("below", 1 - above)
        return f"is {side} {limit:g} with probability {min(chance, 0.999):.3f}"


def _short(value: float) -> str:
    return np.format_float_positional(value, precision=3, fractional=False, trim="-")
