"""Probabilities that each pupil applies each skill."""

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...inference.fit import Fit
from .layouts import SKILLS


def masteries(fit: Fit) -> pd.DataFrame:
    """Average the probability of applying a skill over the posterior.

    Parameters
    ----------
    fit : Fit
        Fit of one of this scenario's layouts.

    Returns
    -------
    DataFrame
        Probabilities with one row per pupil and one column per skill. The mean over pupils is a
        skill's prevalence if each pupil who has it always applies it.

    Raises
    ------
    DataError
        When the layout has no skills.
    """
    draws = fit.posterior
    if "mastery" in draws:
        found = draws["mastery"]
    elif "skillLevel" in draws:
        level = draws["skillLevel"]
        found = level.copy(data=1 / (1 + np.exp(-level.to_numpy())))
    else:
        raise DataError(
            f"the layout {fit.layout.name} has no skills; fit one of this scenario's layouts"
        )
    means = found.mean(("chain", "draw")).transpose("subject", "skill").to_numpy()
    return pd.DataFrame(means, pd.Index(fit.subjects, name="subject"), list(SKILLS))
