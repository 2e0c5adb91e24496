"""Number of steps at which a model solves half of the problems."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...inference.fit import Fit
from .layouts import recommended_layout

LONGEST = 8
"""Largest number of steps with which problems were written; some solutions have more lines."""


def horizons(fit: Fit, prob: float = 0.9) -> pd.DataFrame:
    r"""Find the number of steps at which typical problems are solved half of the time.

    .. math:: h = \theta_1 - \frac{1}{a_1} \operatorname{logit} \frac{1}{2 (1 - \nu) \, c \, r}

    where c and r are the probabilities of calculating and reading a problem whose numbers and words
    are the medians of the fitted problems. If these alone fail half of the time in a draw, its
    horizon is minus infinity.

    Parameters
    ----------
    fit : Fit
        Fit of the recommended layout.
    prob : float
        Mass of the equal-tailed interval.

    Returns
    -------
    DataFrame
        Indexed by subject: ``median``, ``low``, ``high`` in steps, ``beyond``, the probability that
        the horizon lies beyond 8 steps, and ``extrapolated``, whether the interval's upper end
        does: what is said about it there rests on the logistic's form and on the prior.

    Raises
    ------
    DataError
        When the fit is of another layout.

    References
    ----------
    Cobbe et al. (2021), whose problems take between 2 and 8 steps.
    """
    if fit.layout.fingerprint != recommended_layout().fingerprint:
        raise DataError(
            f"the fit is of the layout {fit.layout.name}, and horizons follow from the recommended "
            "one; fit gsm8k.recommended_layout()"
        )
    items = fit.constants
    draws = {name: values.stack(all=("chain", "draw")) for name, values in fit.posterior.items()}
    rest = 1 - draws["slips"]
    for ability, feature in (("calculation", "digits"), ("reading", "doublings")):
        margin = draws[f"{ability}Ability"] - float(items[feature].median())
        rest = rest / (1 + np.exp(-draws[f"{ability}Slope"] * margin))
    needed = np.clip(0.5 / rest, None, 1)
    with np.errstate(divide="ignore"):
        found = draws["planningAbility"] - np.log(needed / (1 - needed)) / draws["planningSlope"]
    values = found.transpose("subject", "all").to_numpy()
    tail = (1 - prob) / 2
    low, median, high = np.quantile(values, [tail, 0.5, 1 - tail], axis=1, method="nearest")
    table = {"median": median, "low": low, "high": high, "beyond": (values > LONGEST).mean(axis=1)}
    index = pd.Index(fit.subjects, name="subject")
    return pd.DataFrame({**table, "extrapolated": high > LONGEST}, index)
