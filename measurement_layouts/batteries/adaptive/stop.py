"""Rules that stop an adaptive test."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

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

    Cut points divide the range of an element into bands; one cut point, a threshold, into below and
    above. With the posterior probability :math:`p_b` and the prior probability :math:`q_b` of each
    band, an element is in band b if

    .. math:: p_b \ge c, \qquad \frac{p_b / q_b}{\sum_a p_a / q_a} \ge c

    with the confidence c. The second is the probability under equal prior odds of the bands, so
    that a verdict does not come from a prior with most of its mass in one band. The rule is met
    when the verdict was the same after each of the last eight answers, because a test that may stop
    after any answer otherwise stops too often at a chance run of them.

    Attributes
    ----------
    sd : mapping of str to float, optional
        Largest posterior standard deviation, by profile element, in its unit.
    threshold : mapping of str to float or sequence of float, optional
        Cut points by profile element, in ascending order: one, which the element must be above or
        below, or several, of whose bands it must be in one.
    confidence : float
        Sufficient probability of a band, under the prior and also under equal prior odds of the
        bands. With one cut point, of subjects on one side, drawn from the prior, at most
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
    >>> Stop(threshold={"sight": [3, 5, 7]}, confidence=0.9).to_dict()
    {'threshold': {'sight': [3, 5, 7]}, 'confidence': 0.9}
    """

    sd: Mapping[str, float] | None = None
    threshold: Mapping[str, float | Sequence[float]] | None = None
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
        for option, rules, least in (("sd", self.sd, 0), ("threshold", self.threshold, -np.inf)):
            if rules is not None and (not isinstance(rules, Mapping) or not rules):
                raise FitError(
                    f"{option}={rules!r}; give numbers by latent, as in {{'sight': 0.5}}"
                )
            for latent, value in (rules or {}).items():
                numbers = [real(number) for number in np.ravel(value).tolist()]
                limits = np.array(numbers, dtype=float)  # NaN where it is no number
                ascending = (np.diff(limits, prepend=least) > 0).all()
                if not numbers or not ascending or (option == "sd" and len(numbers) > 1):
                    raise FitError(
                        f"{option}[{latent!r}]={value!r}; give a number above {least:g}, or for a "
                        "threshold several in ascending order"
                    )

    def check(self, running: Running) -> None:
        """Refuse names that are not elements of the profile, and bands that the prior excludes.

        Raises
        ------
        FitError
            When there are such names, or the prior has no mass in a band.
        """
        _limits(running, self.sd)
        for name, at, cuts in _limits(running, self.threshold):
            masses = _of_bands([running.above_before(at, cut) for cut in cuts])
            if not masses.all():
                band = _band(cuts, int(masses.argmin()))
                stated = ", ".join(f"{cut:g}" for cut in cuts)
                raise FitError(
                    f"threshold[{name!r}]={stated}; the prior has no mass {band}, so that no "
                    "answer can decide this: give values inside the prior's range"
                )

    def to_dict(self) -> dict[str, Any]:
        """Write the rules as plain numbers."""
        written = {name: value for name, value in asdict(self).items() if value is not None}
        plain: dict[str, Any] = json.loads(
            json.dumps(written, default=lambda value: value.tolist())
        )
        return plain

    def bands(self, running: Running) -> dict[str, int]:
        """Return the band that each element is in, counted from 0; -1 if uncertain."""
        bands = {}
        for name, at, cuts in _limits(running, self.threshold):
            sure = (_chances(running, at, cuts) >= self.confidence).all(axis=0)
            bands[name] = int(sure.argmax()) if sure.any() else -1
        return bands

    def reached(self, running: Running, bands: Sequence[Mapping[str, int]] = ()) -> str:
        """Write how the rules are met; empty if one is not.

        Parameters
        ----------
        running : Running
            The posterior.
        bands : sequence of dict
            Results of `bands` after each answer.
        """
        reasons = []
        for name, at, (limit,) in _limits(running, self.sd):
            sd = float(running.sds[at])
            reasons.append(
                f"{name} has an sd of {sd:.3g}, at most {limit:g}" if sd <= limit else ""
            )
        for name, at, cuts in _limits(running, self.threshold):
            decided = _in_a_row([verdicts[name] for verdicts in bands]) >= _ROW
            reasons.append(f"{name} is {_verdict(running, at, cuts)}" if decided else "")
        if reasons and all(reasons):
            return "; ".join(reasons)
        full = self.items is not None and len(bands) >= self.items
        return f"{len(bands)} items were answered, the limit" if full else ""

    def answers_left(
        self, running: Running, sds: np.ndarray, bands: Sequence[Mapping[str, int]]
    ) -> float:
        r"""Estimate the number of answers until the rules are met, from how fast sds fall.

        The precision :math:`1 / s^2` of an element is expected to grow by each further answer as by
        the last half of the answers. A cut point is decided when it is as far from the mean as the
        normal quantile of the confidence, in standard deviations, and eight answers in a row agree.

        Parameters
        ----------
        running : Running
            The posterior.
        sds : ndarray, shape (answers + 1, elements)
            Standard deviations before the first answer, and after each.
        bands : sequence of dict
            Results of `bands` after each answer.
        """
        answered, expected = len(bands), [0.0]
        precision = 1 / np.maximum(sds, np.finfo(float).tiny) ** 2
        rate = (precision[-1] - precision[answered // 2]) / (answered - answered // 2)
        needed = [(at, limit) for _, at, (limit,) in _limits(running, self.sd)]
        for name, at, cuts in _limits(running, self.threshold):
            distance = np.abs(np.subtract(cuts, running.means[at])).min()
            needed.append((at, distance / max(ndtri(self.confidence), 0.1)))
            expected.append(_ROW - _in_a_row([verdicts[name] for verdicts in bands]))
        for at, limit in needed:
            if sds[-1, at] > limit:
                missing = 1 / max(limit, 1e-9) ** 2 - precision[-1, at]
                expected.append(missing / rate[at] if rate[at] > 0 else np.inf)
        limited = np.inf if self.items is None else self.items - answered
        return float(min(limited, max(expected) if needed else np.inf))


def _limits(
    running: Running, rules: Mapping[str, float | Sequence[float]] | None
) -> list[tuple[str, int, list[float]]]:
    """List the elements that rules name: name, position, and limits."""
    return [
        (element.name, running.elements.index(element), np.atleast_1d(limits).tolist())
        for name, limits in (rules or {}).items()
        for element in find_elements(running.elements, name)
    ]


def _of_bands(above: Sequence[float]) -> np.ndarray:
    """Compute probabilities of the bands from those of being above each cut point."""
    return np.asarray(-np.diff([1, *above, 0]))


def _chances(running: Running, at: int, cuts: list[float]) -> np.ndarray:
    """Posterior probabilities of the bands, under the prior and under equal prior odds."""
    before = _of_bands([running.above_before(at, cut) for cut in cuts])
    after = _of_bands([running.above(at, cut) for cut in cuts])
    return np.stack([after, after / before / (after / before).sum()])


def _in_a_row(verdicts: Sequence[int]) -> int:
    """Count how often the last verdict was given without a break; 0 if it is uncertain."""
    if not verdicts or verdicts[-1] < 0:
        return 0
    differs = np.flatnonzero(np.array(verdicts) != verdicts[-1])
    return len(verdicts) - 1 - int(differs[-1]) if len(differs) else len(verdicts)


def _band(cuts: list[float], band: int) -> str:
    """Name a band."""
    if band in (0, len(cuts)):
        return f"above {cuts[-1]:g}" if band else f"below {cuts[0]:g}"
    return f"between {cuts[band - 1]:g} and {cuts[band]:g}"


def _verdict(running: Running, at: int, cuts: list[float]) -> str:
    """Write in which band an element is, with both probabilities."""
    chances = _chances(running, at, cuts)
    band = int(chances[0].argmax())
    stated, even = chances[:, band].clip(max=0.999)
    described = _band(cuts, band)
    return f"{described} with probability {stated:.3f}, and {even:.3f} under equal prior odds"
