"""Tests of whether a trend has a kink."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...common.digits import fixed
from ...common.errors import FitError
from ...common.messages import some
from ...inference.fit import Fit
from .compare import compare_layouts

_NATS = 2.0
_QUANTILES = 0.025, 0.5, 0.975
type Verdict = Literal["kink", "changed", "cannot tell"]


@dataclass(frozen=True)
class FoundKink:
    """Result of a test for a kink.

    Made by `find_kink`.

    Attributes
    ----------
    verdict : {"kink", "changed", "cannot tell"}
        Whether the rate changed at one time; or changed, at one time or bit by bit; or neither can
        be said. A straight line is never concluded: `low` and `high` say how large a change could
        be.
    change, low, high : float
        Posterior median and 95 % interval of the change of the rate.
    when, earliest, latest : float
        The same of its time.
    ahead : float
        By how many nats the kink foresees subjects that are left out better than the best other
        shape; NaN where the interval of the change holds 0.

    Examples
    --------
    >>> FoundKink("changed", 2.1, 0.4, 3.9, -0.2, -0.6, 0.3, 0.8)
    <FoundKink: changed; change of the rate 2.1 (0.4 to 3.9), ahead by 0.8 nats>
    """

    verdict: Verdict
    change: float
    low: float
    high: float
    when: float
    earliest: float
    latest: float
    ahead: float

    def __repr__(self) -> str:
        numbers = [fixed(number, 1) for number in (self.change, self.low, self.high)]
        ahead = "" if np.isnan(self.ahead) else f", ahead by {fixed(self.ahead, 1)} nats"
        return (
            f"<FoundKink: {self.verdict}; change of the rate {numbers[0]} ({numbers[1]} to "
            f"{numbers[2]}){ahead}>"
        )


def find_kink(
    fits: Mapping[str, Fit],
    kink: str = "kink",
    *,
    change: str = "change",
    when: str = "when",
) -> FoundKink:
    r"""Test whether a trend has a kink.

    The rate has *changed* where the 95 % interval of the change, under the layout with a kink, does
    not hold 0. It is a *kink* where that layout, besides, foresees subjects that are left out by at
    least 2 nats better than each other shape, a walk among them: a rate that wanders
    resembles a kink. Otherwise the verdict is "cannot tell".

    Parameters
    ----------
    fits : mapping of str to Fit
        Of the same outcomes, by shape: one with a kink, and the shapes that it competes with, such
        as a line and a walk.
    kink : str
        Which of them has the kink.
    change, when : str
        Its latents, of which the population has one: the change of the rate, and its time.

    Returns
    -------
    FoundKink
        Verdict, and intervals.

    Raises
    ------
    FitError
        When a fit or a latent is missing; as `compare_layouts` does.

    Notes
    -----
    Leave-one-out is computed where the interval of the change does not hold 0, since it cannot
    alter the verdict elsewhere.

    The two rules were chosen on simulated horizons of 20 models over 2.6 years, which grow by 2.4
    doublings a year on average and are known to 0.35 doublings; 60 to 200 cohorts a row, integrated
    on a grid. With a scatter of 0.4 doublings, no straight line was called a kink and 2 %
    "changed"; of walks that move by 1 or 2 doublings in a year, 2 % and none were called kinks, and
    21 % and 33 % "changed", as they did. A rate that goes from 1.2 to 3.6 was seen to change in
    half of the cohorts, and one from 0 to 4.8 in 95 %, a quarter of which were told from a walk.
    With a scatter of 0.9 doublings, the latter was seen in 35 to 38 %.

    References
    ----------
    Carlin, Gelfand and Smith (1992), Hierarchical Bayesian analysis of changepoint problems,
    Applied Statistics 41(2); Sivula, Magnusson, Matamoros and Vehtari, arXiv:2008.10296, on small
    differences of the elpd.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import weirdml
    >>> models = weirdml.dated(weirdml.simulated_cohort().evaluation, weirdml.release_dates())
    >>> fits = {name: fit(weirdml.trend_layout(name), models, draws=200, tune=200, chains=2, seed=1,
    ...                   progressbar=False) for name in ("line", "kink")}
    >>> find_kink(fits).verdict
    'cannot tell'
    """
    if kink not in fits or len(fits) < 2:
        raise FitError(
            f"the fits are {some(fits)}; give one with a kink, named as kink={kink!r}, and at "
            "least one of another shape"
        )
    (low, middle, high), (earliest, time, latest) = (
        _interval(fits[kink], name) for name in (change, when)
    )
    verdict: Verdict = "cannot tell"
    ahead = float("nan")
    if not low <= 0 <= high:
        total = compare_layouts(fits, unit="subject").total.set_index("layout")["elpd"]
        ahead = float(total[kink] - total.drop(kink).max())
        verdict = "kink" if ahead >= _NATS else "changed"
    return FoundKink(verdict, middle, low, high, time, earliest, latest, ahead)


def _interval(fit: Fit, name: str) -> tuple[float, float, float]:
    """Compute the lower end, median and upper end of what all share."""
    known = [one.name for one in fit.layout.latents if not one.plates and one.labels is None]
    if name not in known:
        raise FitError(
            f"{name} is no single value that all subjects share under layout {fit.layout.name!r}, "
            f"which has {some(known)}; name the change of the rate and its time as change= and "
            "when="
        )
    values = fit.posterior[name].to_numpy()
    low, middle, high = np.quantile(values, _QUANTILES).tolist()
    return low, middle, high
