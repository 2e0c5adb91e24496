"""The result that every estimator returns."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.messages import many
from ..inference.fit import Fit
from ..layouts import Layout

type Interval = tuple[float, float]

COLUMNS = (
    "estimate",
    "se",
    "low",
    "high",
    "log_likelihood",
    "modes",
    "identified",
    "compatible",
    "reason",
)


@dataclass(frozen=True, eq=False)
class Estimates:
    """Estimates of latents, with the reason for each subject that has none.

    Made by `estimate`.

    Attributes
    ----------
    layout : Layout
        The layout whose latents were estimated.
    method : str
        ``"likelihood"``, ``"collapse"``, ``"grid"`` or ``"nuts"``.
    prob : float
        Confidence, or posterior mass, of the intervals.
    table : DataFrame
        One row per subject and node. ``estimate`` is the maximum of the likelihood, the best point
        of a collapse, or the posterior mean. ``se`` is computed from the curvature of the
        likelihood, or is the standard deviation of the posterior. ``low`` and ``high`` are the ends
        of the profile-likelihood interval, or of the equal-tailed posterior interval.
        ``log_likelihood`` is its value at the estimate, and ``modes`` the number of modes.
        ``identified`` is true where the data determine the estimate, ``compatible`` gives the
        values that the data allow, in words, and ``reason`` states why a subject is not identified,
        or another remark (else empty). Where a subject is not identified, ``estimate``, ``se``,
        ``low`` and ``high`` are NaN, and ``log_likelihood`` is its maximum. For layouts with
        several latents, ``log_likelihood`` and ``modes`` are missing.
    modes : DataFrame
        One row per subject, node and maximum, the highest first: ``at``, ``log_likelihood`` (or the
        log-density of the posterior per unit of the latent) and ``below``, its distance from the
        highest maximum in nats. A maximum that is approached but never reached is at infinity.
        Empty for layouts with several latents.
    ranges : mapping of str to list of (float, float)
        By subject, the values that the data allow, as intervals in ascending order; an end may be
        infinite. Empty for layouts with several latents.
    curves : mapping of str to callable
        By subject, a function from values of the latent to log-likelihoods. Empty for layouts with
        several latents.
    prior : callable
        Function without arguments that returns draws from the prior by latent, of shape (draws,) or
        (draws, labels).
    fit : Fit or None
        The posterior, if the method is ``"grid"`` or ``"nuts"``.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, MetaFeature, Success
    >>> from measurement_layouts.estimation import estimate
    >>> from measurement_layouts.linking import logistic
    >>> skill, hardness = Capability("skill", low=0, high=5), MetaFeature("hardness", low=0, high=5)
    >>> layout = Layout("quiz", Success("solved", logistic(skill - hardness)))
    >>> items = pd.DataFrame({"hardness": [1.0, 2.0, 3.0, 4.0]})
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0], [1, 1, 1, 1]], ["Ann", "Bob"])
    >>> found = estimate(layout, Evaluation.from_wide(outcomes, items))
    >>> found
    <Estimates of 'quiz' by 'likelihood': 2 subjects, 1 of 2 rows not identified, 90% intervals>
    >>> found.table[["subject", "estimate", "identified"]].round(2)
      subject  estimate  identified
    0     Ann       2.5        True
    1     Bob       NaN       False
    >>> found.ranges["Bob"][0][0]  # Bob passed everything: only a lower end
    3.398...
    """

    layout: Layout
    method: str
    prob: float
    table: pd.DataFrame
    modes: pd.DataFrame
    ranges: Mapping[str, list[Interval]]
    curves: Mapping[str, Callable[[np.ndarray], np.ndarray]]
    prior: Callable[[], Mapping[str, np.ndarray]]
    fit: Fit | None = None

    def __repr__(self) -> str:
        return (
            f"<Estimates of {self.layout.name!r} by {self.method!r}: "
            f"{many(len(self.subjects), 'subject')}, {len(self.unidentified)} of "
            f"{many(len(self.table), 'row')} not identified, {self.prob:.0%} intervals>"
        )

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return list(dict.fromkeys(self.table["subject"]))

    @property
    def unidentified(self) -> pd.DataFrame:
        """Rows of `table` that are not identified."""
        return self.table[~self.table["identified"]]
