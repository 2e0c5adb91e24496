"""Agreement of each subject's outcomes with those of the others, item by item.

Outcomes whose items are in the wrong order still have the right success rate, and a layout can
be fitted to them, but poorly. They lack agreement with other subjects' outcomes on the same items.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...common.messages import many, some
from ...common.proportions import rates
from ...evaluations.steps import Rows

_COLUMNS = ["subject", "items", "others", "agreement", "expected", "low", "high", "p", "flagged"]
_LEAST = 10  # least number of items that a subject has to share with others
_LEAST_OTHERS = 2
_PERMUTED = 200  # permutations of a subject's outcomes
_RARE = 0.005  # probability of so little agreement in a subject that agrees as others do
_CHANCE = 0.01  # p value below which a subject counts as agreeing
_ROUNDING = 1e-9


def outcomes_by_item(successes: np.ndarray, trials: np.ndarray, rows: Rows | None) -> np.ndarray:
    """Average each subject's outcomes on each item, shape (subjects, items); NaN without attempts.

    Parameters
    ----------
    successes, trials : ndarray of int, shape (subjects, rows)
        Counts of successes and of trials.
    rows : Rows or None
        Outcomes of which rows are steps. Each outcome is taken as a fraction of the highest, less
        the subject's mean of that outcome, and averaged over the outcomes of an item.

    Examples
    --------
    >>> outcomes_by_item(np.array([[1, 0, 0]]), np.array([[2, 1, 0]]), None)
    array([[0.5, 0. , nan]])
    """
    if rows is None:
        return rates(successes, trials)
    begins = np.unique(rows.first)
    gained = pd.DataFrame((successes / rows.tops).T).groupby(rows.first).sum().to_numpy()
    attempts = trials[:, begins].T
    fractions = pd.DataFrame(rates(gained, attempts))
    centred = fractions - fractions.groupby(rows.outcome[begins]).transform("mean")
    return np.asarray(centred.groupby(rows.places[begins]).mean().T)


def agreement(
    subjects: Sequence[str],
    outcomes: np.ndarray,
    *,
    prob: float,
    seed: int,
    strata: np.ndarray | None = None,
) -> pd.DataFrame:
    r"""Compare every subject's outcomes with the others' on the same items.

    Agreement of subject s is Sijtsma and Meijer's scalability coefficient of a person,

    .. math:: H_s = \frac{\mathrm{cov}(y_s, m_s)}{\mathrm{cov}_{max}(y_s, m_s)}

    where :math:`m_s` is the mean of the others' standardised outcomes, and the largest covariance
    is that of both sorted. It is 0 by chance, as measured by permutations of the subject's
    outcomes among the items, and 1 where the two are as strongly related as possible. The expected
    agreement is the median of the others', with the spread of theirs about it.

    A subject is flagged if its agreement is not significantly above 0 (at 1 %), and if agreement
    as low as its own has a probability of at most 0.5 % among subjects that agree as the others
    do. A subject that passes or fails all items, or shares fewer than ten items, is not tested.

    Parameters
    ----------
    subjects : sequence of str
        Names of the subjects.
    outcomes : ndarray, shape (subjects, items)
        Outcomes, of which higher is better; NaN without attempts.
    prob : float
        Mass of the equal-tailed interval of the expected agreement.
    seed : int
        Seed of the permutations.
    strata : ndarray of int, shape (items,), optional
        Group of each item, such as items of equal demands. Outcomes are then compared, and
        permuted, within groups only.

    Returns
    -------
    DataFrame
        One row per subject; no rows if there are fewer than three subjects.

        - ``items``: number of items that it shares with others; ``others``: number of subjects that
          attempted some of them.
        - ``agreement``; ``expected``, ``low`` and ``high``: agreement on these items of a subject
          like the others, and the ends of its interval.
        - ``p``: probability that the agreement of such a subject is as low; ``flagged``.

    Notes
    -----
    A subject that guesses at random also agrees with no other, and is flagged. An order that is
    wrong only within groups of items of equal difficulty is not found, and neither are subjects
    that all have the same wrong order.

    References
    ----------
    Sijtsma, K. and Meijer, R. R. (1992), A method for investigating the intersection of item
    response functions in Mokken's nonparametric IRT model, Applied Psychological Measurement 16.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> outcomes = (rng.normal(size=(6, 100)) > 2 * rng.normal(size=100)).astype(float)
    >>> outcomes[5] = rng.permutation(outcomes[5])
    >>> table = agreement(list("abcdef"), outcomes, prob=0.9, seed=1)
    >>> table.loc[table["flagged"], "subject"].tolist()
    ['f']
    """
    if len(subjects) <= _LEAST_OTHERS:
        return pd.DataFrame(columns=_COLUMNS).astype({"flagged": bool})
    rng = np.random.default_rng(seed)
    groups = np.zeros(outcomes.shape[1], dtype=int) if strata is None else np.asarray(strata)
    order = np.argsort(groups, kind="stable")
    groups, attempted = groups[order], np.isfinite(outcomes[:, order])
    standard = np.where(attempted, outcomes[:, order], 0)
    for group in np.unique(groups):
        inside = (groups == group) & attempted
        mean = (standard * inside).sum(axis=1) / np.maximum(inside.sum(axis=1), 1)
        standard -= inside * mean[:, None]
    sd = np.sqrt(np.square(standard).sum(axis=1) / np.maximum(attempted.sum(axis=1), 1))
    standard /= np.where(sd > _ROUNDING, sd, np.inf)[:, None]
    total, count = standard.sum(axis=0), attempted.sum(axis=0)
    rows = []
    for place, subject in enumerate(subjects):
        shared = np.flatnonzero(attempted[place] & (count > 1))
        own, group = standard[place, shared], groups[shared]
        mean = (total[shared] - own) / (count[shared] - 1)
        others = int((attempted[:, shared].any(axis=1)).sum()) - 1 if len(shared) else 0
        row = {"subject": subject, "items": len(shared), "others": others}
        ranked = own[np.lexsort((own, group))] @ mean[np.lexsort((mean, group))]
        ranked -= sum(own[group == one].sum() * mean[group == one].mean() for one in set(group))
        if sd[place] > _ROUNDING and len(shared) >= _LEAST and ranked > _ROUNDING:
            keys = rng.random((_PERMUTED, len(shared))) + group
            by_chance = own[np.argsort(keys, axis=1)] @ mean
            centre, error = by_chance.mean(), by_chance.std() / ranked
            row |= {"agreement": float((own @ mean - centre) / ranked), "error": float(error)}
        rows.append(row)
    return _judged(pd.DataFrame(rows, columns=["error", *_COLUMNS]), prob)[_COLUMNS]


def _judged(table: pd.DataFrame, prob: float) -> pd.DataFrame:
    """Compare each subject's agreement with the median of the others'."""
    found, error = (table[name].to_numpy(dtype=float) for name in ("agreement", "error"))
    tested = np.flatnonzero(np.isfinite(found))
    table["flagged"] = False
    for place in tested if len(tested) > _LEAST_OTHERS else []:
        rest = np.setdiff1d(tested, [place])
        expected = np.median(found[rest])
        deviations = np.abs(found[rest] - expected)
        spread = np.hypot(error[place], 1.4826 * np.median(deviations))
        p = norm.cdf((found[place] - expected) / spread)
        half = norm.isf((1 - prob) / 2) * spread
        numbers = expected, max(expected - half, -1), min(expected + half, 1), p
        table.loc[place, ["expected", "low", "high", "p"]] = numbers
        above = norm.sf(found[place] / error[place])
        table.loc[place, "flagged"] = bool(p <= _RARE and above > _CHANCE)
    return table


def told_agreement(table: pd.DataFrame) -> list[str]:
    """Describe whose outcomes agree with no other subject's, and what to look at."""
    rows = table[table["flagged"]].to_dict("records")
    if len(rows) < 2:
        return [f"{disagreement(row)}; {REMEDY}" for row in rows]
    least = min(rows, key=lambda row: row["p"])
    names = some(row["subject"] for row in rows)
    return [
        f"the outcomes of {len(rows)} subjects agree with no other's ({names}), least those of "
        f"{least['subject']} ({_numbers(least)}); {REMEDY}"
    ]


def disagreement(row: dict[Any, Any]) -> str:
    """Describe one flagged subject, whose outcomes agree with no other subject's.

    Examples
    --------
    >>> row = {"subject": "Bob", "agreement": 0.012, "expected": 0.35, "low": 0.21, "high": 0.49}
    >>> disagreement(row | {"items": 120, "others": 11})
    "the outcomes of Bob agree with no other subject's (agreement 0.01, expected 0.35 [0.21, ..."
    """
    return f"the outcomes of {row['subject']} agree with no other subject's ({_numbers(row)})"


def _numbers(row: dict[Any, Any]) -> str:
    """Format a subject's agreement with the expected one."""
    expected = f"{row['expected']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"
    others = many(int(row["others"]), "other subject")
    return (
        f"agreement {row['agreement']:.2f}, expected {expected}, on "
        f"{many(int(row['items']), 'item')} that it shares with {others}"
    )


REMEDY = (
    "items may be in another order, or answers be random: check the reading of the file, item by "
    "item"
)
