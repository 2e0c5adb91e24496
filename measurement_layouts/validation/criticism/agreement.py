"""Agreement of each subject's outcomes with those of the others, item by item.

Outcomes whose items are in the wrong order still have the right success rate, and a layout can
be fitted to them, but poorly. They lack agreement with other subjects' outcomes on the same items.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from scipy.stats import norm

from ...common.findings import Finding
from ...common.messages import many, some
from ...evaluations.cells import Cells
from ...evaluations.steps import Rows

_COLUMNS = ["subject", "items", "others", "agreement", "expected", "low", "high", "p", "flagged"]
_LEAST = 10  # least number of items that a subject has to share with others
_LEAST_OTHERS = 2
_RARE = 0.005  # probability of so little agreement in a subject that agrees as others do
_CHANCE = 0.01  # p value below which a subject counts as agreeing
_ROUNDING = 1e-9
_REMEDY = (
    "items may be in another order, or answers be random: check the reading of the file, item by "
    "item"
)


def outcomes_by_item(cells: Cells, rows: Rows | None) -> pd.DataFrame:
    """Average each subject's outcomes on each item that it attempted.

    Parameters
    ----------
    cells : Cells
        Attempted cells.
    rows : Rows or None
        Outcomes of which the cells' items are steps. Each outcome is taken as a fraction of the
        highest, less the subject's mean of that outcome, and averaged over the outcomes of an item.

    Returns
    -------
    DataFrame
        One row per subject and item: ``subject`` and ``item``, their positions, and ``outcome``.
    """
    table = pd.DataFrame({"subject": cells.subject, "item": cells.item})
    if rows is None:
        return table.assign(outcome=cells.successes / cells.trials)
    table["first"] = rows.first[cells.item]
    table["gained"] = cells.successes / rows.tops[cells.item]
    table["attempts"] = np.where(cells.item == table["first"], cells.trials, 0)
    outcomes = table.groupby(["subject", "first"], as_index=False)[["gained", "attempts"]].sum()
    fraction, first = outcomes["gained"] / outcomes["attempts"], outcomes["first"].to_numpy()
    means = fraction.groupby([outcomes["subject"], rows.outcome[first]]).transform("mean")
    outcomes = outcomes.assign(item=rows.places[first], outcome=fraction - means)
    return outcomes.groupby(["subject", "item"])["outcome"].mean().reset_index()


def agreement(
    subjects: Sequence[str],
    outcomes: pd.DataFrame,
    *,
    prob: float,
    strata: np.ndarray | None = None,
) -> pd.DataFrame:
    r"""Compare every subject's outcomes with the others' on the same items.

    Agreement of subject s is Sijtsma and Meijer's scalability coefficient of a person,

    .. math:: H_s = \frac{\mathrm{cov}(y_s, m_s)}{\mathrm{cov}_{max}(y_s, m_s)}

    where :math:`m_s` is the mean of the others' standardised outcomes, and the largest covariance
    is that of both sorted, so that it is 1 where the two are as strongly related as possible. Over
    all permutations of the subject's outcomes among n items, its mean is 0 and its variance

    .. math:: \frac{n^2}{n - 1} \frac{\mathrm{var}(y_s) \mathrm{var}(m_s)}
        {(n \, \mathrm{cov}_{max}(y_s, m_s))^2}

    The expected agreement is the median of the others', with the spread of theirs about it.

    A subject is flagged if its agreement is not significantly above 0 (at 1 %), and if agreement
    as low as its own has a probability of at most 0.5 % among subjects that agree as the others
    do. A subject that passes or fails all items, or shares fewer than ten items, is not tested.

    Parameters
    ----------
    subjects : sequence of str
        Names of the subjects.
    outcomes : DataFrame
        One row per attempted cell: positions of its ``subject`` and ``item``, and its ``outcome``,
        of which higher is better.
    prob : float
        Mass of the equal-tailed interval of the expected agreement.
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
    >>> passed = rng.normal(size=(6, 100)) > 2 * rng.normal(size=100)
    >>> passed[5] = rng.permutation(passed[5])
    >>> subject, item = np.divmod(np.arange(600), 100)
    >>> outcomes = pd.DataFrame({"subject": subject, "item": item, "outcome": passed.ravel()})
    >>> table = agreement(list("abcdef"), outcomes, prob=0.9)
    >>> table.loc[table["flagged"], "subject"].tolist()
    ['f']
    """
    count = len(subjects)
    if count <= _LEAST_OTHERS:
        return pd.DataFrame(columns=_COLUMNS).astype({"flagged": bool})
    subject, item = outcomes["subject"].to_numpy(), outcomes["item"].to_numpy()
    stratum = np.zeros_like(item) if strata is None else np.asarray(strata)[item]
    standard = _centred(outcomes["outcome"].to_numpy(dtype=float), _groups(subject, stratum))
    squares = np.bincount(subject, standard**2, count)
    sd = np.sqrt(squares / np.maximum(np.bincount(subject, minlength=count), 1))
    standard /= np.where(sd > _ROUNDING, sd, np.inf)[subject]
    shared_by = np.bincount(item)[item]
    rest = (np.bincount(item, standard)[item] - standard) / np.maximum(shared_by - 1, 1)
    shared = shared_by > 1
    subject, item, stratum = subject[shared], item[shared], stratum[shared]
    group = _groups(subject, stratum)
    own, rest = _centred(standard[shared], group), _centred(rest[shared], group)
    items = np.bincount(subject, minlength=count)
    covariance = np.bincount(subject, own * rest, count)
    order = np.lexsort((own, group))
    largest = np.bincount(subject[order], own[order] * rest[np.lexsort((rest, group))], count)
    products = np.bincount(group, own**2) * np.bincount(group, rest**2)
    variances = products / np.maximum(np.bincount(group) - 1, 1)
    of_group = np.zeros(len(variances), dtype=int)
    of_group[group] = subject
    tested = (sd > _ROUNDING) & (items >= _LEAST) & (largest > _ROUNDING)
    scale = np.where(tested, largest, np.nan)
    table = pd.DataFrame({"subject": list(subjects), "items": items}, columns=_COLUMNS)
    table["others"] = _others(subject, item, count)
    table["agreement"] = covariance / scale
    return _judged(table, np.sqrt(np.bincount(of_group, variances, count)) / scale, prob)


def _groups(subject: np.ndarray, stratum: np.ndarray) -> np.ndarray:
    """Return a number for the stratum of each cell, in the order of subjects and strata."""
    keys = subject * (stratum.max(initial=0) + 1) + stratum
    return np.unique(keys, return_inverse=True)[1]


def _centred(values: np.ndarray, group: np.ndarray) -> np.ndarray:
    """Subtract the mean of each group."""
    return np.asarray(values - (np.bincount(group, values) / np.bincount(group))[group])


def _others(subject: np.ndarray, item: np.ndarray, count: int) -> list[int]:
    """Count the other subjects that attempted some of each subject's items."""
    shape = count, int(item.max(initial=0)) + 1
    attempted = sp.coo_array((np.ones(len(item), bool), (subject, item)), shape).tocsr()
    by_item = attempted.T.tocsr()
    return [max((attempted[[row]] @ by_item).nnz - 1, 0) for row in range(count)]


def _judged(table: pd.DataFrame, error: np.ndarray, prob: float) -> pd.DataFrame:
    """Compare each subject's agreement with the median of the others'."""
    agreeing = table["agreement"].to_numpy(dtype=float)
    tested = np.flatnonzero(np.isfinite(agreeing))
    results = np.full((4, len(table)), np.nan)
    for place, row in enumerate(tested if len(tested) > _LEAST_OTHERS else []):
        rest = np.delete(agreeing[tested], place)
        expected = np.median(rest)
        spread = np.hypot(error[row], 1.4826 * np.median(np.abs(rest - expected)))
        p = norm.cdf((agreeing[row] - expected) / spread)
        half = norm.isf((1 - prob) / 2) * spread
        results[:, row] = expected, max(expected - half, -1), min(expected + half, 1), p
    table[["expected", "low", "high", "p"]] = results.T
    disagrees = norm.sf(agreeing / error) > _CHANCE
    return table.assign(flagged=(results[3] <= _RARE) & disagrees)


def agreement_findings(table: pd.DataFrame) -> Iterator[Finding]:
    """Describe whose outcomes agree with no other subject's, and what to look at."""
    rows = table[table["flagged"]].sort_values("p", kind="stable").to_dict("records")
    if not rows:
        return
    text = disagreement(rows[0])
    names = some(table.loc[table["flagged"], "subject"])
    if len(rows) > 1:
        text = (
            f"the outcomes of {len(rows)} subjects agree with no other's ({names}), least those of "
            f"{rows[0]['subject']} ({_numbers(rows[0])})"
        )
    yield Finding(names, "agreement", text, _REMEDY)


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
