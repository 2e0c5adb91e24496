"""What every estimator returns."""

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
    """Estimates of latents, with the reason where a subject has none.

    Made by `estimate`.

    Attributes
    ----------
    layout : Layout
        What was estimated.
    method : str
        ``"likelihood"``, ``"collapse"``, ``"grid"`` or ``"nuts"``.
    prob : float
        Mass, or confidence, of the intervals.
    table : DataFrame
        One row per subject and node: ``estimate`` (of highest likelihood; the best point of a
        collapse; the posterior mean), ``se`` (from the curvature; the posterior's standard
        deviation), ``low`` and ``high`` (profile-likelihood interval; equal-tailed posterior
        interval), ``log_likelihood`` at the estimate, number of ``modes``, ``identified``,
        ``compatible`` (the values that the data allow, in words) and ``reason`` (why a subject is
        not identified, or what else to know; else empty). Where a subject is not identified,
        ``estimate``, ``se``, ``low`` and ``high`` are NaN, and ``log_likelihood`` is the highest.
        Of layouts of several latents, ``log_likelihood`` and ``modes`` are missing.
    modes : DataFrame
        One row per subject, node and maximum, the highest first: ``at``, ``log_likelihood`` (or
        log-density of the posterior per unit of the latent) and ``below`` the highest, in nats. A
        maximum that is reached only far out is at infinity. Of layouts of one latent.
    ranges : mapping of str to list of (float, float)
        By subject, the values that the data allow: pieces of the line, ascending; an end may be
        infinite. Of layouts of one latent.
    curves : mapping of str to callable
        By subject, from values of the latent to log-likelihoods. Of layouts of one latent.
    prior : callable
        Draws from the prior, by latent, shape (draws,) or (draws, labels); made when called.
    fit : Fit or None
        The posterior, where there is one.

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
    >>> found.ranges["Bob"][0][0]  # who passes everything has a lower end alone
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
