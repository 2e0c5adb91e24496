"""The simulated incitation study: 12 models, four propensities, eight conditions."""

import itertools

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...linking import band
from ..scenario import Cohort
from .dimensions import DIMENSIONS, obtained

FIGURE_6 = -1.5
"""True propensity in the paper's Figures 5 and 6."""
FURTHEST = 5.0
"""End of the range of the bands in that experiment."""

_LOWER, _UPPER = (-3, -2, -1, 0), (0, 1, 2, 3)
_WINDOWS = 1000


def battery(propensity: str) -> pd.DataFrame:
    """Make the items of one propensity, as many as the published battery has.

    Every band contains 0, as all annotated bands do, since annotators start there. Lower ends -3 to
    0 are combined with upper ends 0 to 3 in turn, except for [-3, 3], which has no demand, and
    [0, 0], which no other item confirms. Each combination has 24 to 26 items.

    Parameters
    ----------
    propensity : str
        Name of the propensity in `DIMENSIONS`.

    Returns
    -------
    DataFrame
        Indexed by item: ``propensity``, ``lower``, ``upper`` in levels.

    Examples
    --------
    >>> battery("risk_aversion").groupby(["lower", "upper"]).size().describe()[["count", "min"]]
    count    14.0
    min      25.0
    dtype: float64
    """
    pairs = [
        pair
        for pair in itertools.product(_LOWER, _UPPER)
        if pair not in ((_LOWER[0], _UPPER[-1]), (0, 0))
    ]
    places = np.arange(DIMENSIONS[propensity].items)
    lower, upper = np.array(pairs, dtype=float)[places % len(pairs)].T
    names = pd.Index([f"{propensity}-{place + 1:03d}" for place in places], name="item")
    columns = {"propensity": propensity, "lower": lower, "upper": upper}
    return pd.DataFrame(columns, index=names)


def simulated_cohort(seed: int = 1) -> Cohort:
    """Simulate the answers of all 384 subjects to the battery of their propensity.

    Each subject has the propensity that the paper obtained; answers are simulated from Eq. 5. Items
    of the other three batteries are not attempted.

    Parameters
    ----------
    seed : int
        Seed of the answers.

    Returns
    -------
    Cohort
        Outcomes on 1,414 items, and the true propensities.

    References
    ----------
    Propensities paper, Tables 2 and 3.

    Examples
    --------
    >>> cohort = simulated_cohort()
    >>> cohort.evaluation.trials.sum(axis=1).value_counts().sort_index().to_dict()
    {348: 96, 350: 96, 357: 96, 359: 96}
    """
    truth = obtained()
    items = pd.concat([battery(propensity) for propensity in DIMENSIONS])
    own = truth["propensity"].to_numpy()[:, None] == items["propensity"].to_numpy()
    theta = truth["obtained"].to_numpy()[:, None]
    chance = band(theta, low=items["lower"].to_numpy(), high=items["upper"].to_numpy())
    right = np.random.default_rng(seed).binomial(1, chance) * own
    tables = [pd.DataFrame(t.astype(int), truth.index, items.index) for t in (right, own)]
    evaluation = Evaluation(items, *tables)
    return Cohort(evaluation, truth[["obtained"]].set_axis(["propensity"], axis=1))


def windows(seed: int = 1) -> Evaluation:
    """Simulate the experiment of Figures 5 and 6: one subject at -1.5, and 1,000 random bands.

    Both ends are uniform on [-5, 5].

    Parameters
    ----------
    seed : int
        Seed of bands and answers.

    References
    ----------
    Propensities paper, Figures 5 and 6.

    Examples
    --------
    >>> windows()
    <Evaluation: 1 subject, 1000 items, 1000 trials, properties lower, upper>
    """
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.uniform(-FURTHEST, FURTHEST, (_WINDOWS, 2)), axis=1)
    right = rng.binomial(1, band(FIGURE_6, low=ends[:, 0], high=ends[:, 1]))
    items = pd.DataFrame(ends, columns=["lower", "upper"])
    return Evaluation.from_wide(pd.DataFrame([right], ["simulated"]), items)
