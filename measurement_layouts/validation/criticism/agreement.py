"""Agreement of subjects' outcomes, item by item, and subjects that agree with no other.

Outcomes whose items are in the wrong order still have the right success rate, and a layout can
be fitted to them, but poorly. They lack agreement with other subjects' outcomes on the same items.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import log_ndtr, logsumexp, ndtr
from scipy.stats import norm
from threadpoolctl import threadpool_limits

from ...common.messages import many, some
from ...common.proportions import rates
from ...evaluations.steps import Rows

_COLUMNS = ["subject", "items", "others", "agreement", "expected", "low", "high", "p", "flagged"]
_FOLDS = 5  # folds of items; the weights of a fold are estimated from the others
_MOST = 200  # most other subjects in a comparison, evenly chosen
_LEAST = 10  # least items that a subject has to share with others
_DOUBT = 20  # items without agreement that are added to shrink a pair's agreement
_RARE = 0.005  # probability of so little agreement in a subject that agrees as others do
_CHANCE = 0.01  # p value below which a subject counts as agreeing
_WITNESSES, _SURE = 2, 0.05  # others that have to agree; p value, adjusted for their number
_MEANS = np.linspace(0.02, 1, 50)  # mean agreement of the subjects that agree ...
_SPREADS = np.array([0, 0.1, 0.2, 0.3, 0.4])  # ... and its sd relative to the mean
_SHARES = np.array([0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98])  # shares that disagree
_ROUNDING = 1e-9
_SMALLEST = 0.2  # least error of a subject that agrees, relative to the error by chance


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
    part = pd.DataFrame(rates(gained, attempts))
    centred = part - part.groupby(rows.outcome[begins]).transform("mean")
    return np.asarray(centred.groupby(rows.places[begins]).mean().T)


def no_agreement() -> pd.DataFrame:
    """Make a table without rows."""
    return pd.DataFrame(columns=_COLUMNS).astype({"flagged": bool})


def agreement(
    subjects: Sequence[str], outcomes: np.ndarray, *, prob: float, seed: int
) -> pd.DataFrame:
    r"""Compare every subject's outcomes with the others' on the same items.

    Agreement of subject s is Sijtsma and Meijer's scalability coefficient of a person,

    .. math:: H_s = \frac{\mathrm{cov}(y_s, m_s)}{\mathrm{cov}_{max}(y_s, m_s)}

    where :math:`m_s` is a weighted mean of the others' standardised outcomes, and the largest
    covariance is that of both sorted. Its expectation is 0 by chance; it is 1 where the two are as
    strongly related as possible, and depends little on the subject's success rate. Others are
    weighted by their agreement with the subjects that agree with this one, on other items (five
    folds), so that subjects may fall into groups, and many may agree with no other. By chance, that
    is if the subject's items are in random order, the variance is
    :math:`\sum y^2 \sum m^2 / (n - 1) / \mathrm{cov}_{max}^2`.

    The expected agreement is estimated from the others' values, as a mixture of subjects whose
    agreement is 0 up to chance and of subjects whose agreement is normal about a mean, with a
    standard deviation in proportion to it; means, deviations and shares are weighted by their
    likelihood. A subject is flagged if agreement as low as its own has a probability of at most
    0.5 % among subjects that agree, if its agreement is not significantly above 0 (at 1 %), and if
    that of at least two others is (at 5 %, Bonferroni). A subject that passes or fails all items,
    or shares fewer than ten items, is not tested.

    Parameters
    ----------
    subjects : sequence of str
        Names of the subjects.
    outcomes : ndarray, shape (subjects, items)
        Outcomes, of which higher is better; NaN without attempts.
    prob : float
        Mass of the equal-tailed interval of the expected agreement.
    seed : int
        Seed of the folds.

    Returns
    -------
    DataFrame
        One row per subject; no rows if there are fewer than three subjects.

        - ``items``: number of items that it shares with others; ``others``: number of subjects that
          attempted some of them.
        - ``agreement``; ``expected``, ``low`` and ``high``: agreement on these items of a subject
          like the others that agree, and the ends of its interval.
        - ``p``: probability that the agreement of such a subject is as low; ``flagged``.

    Notes
    -----
    Results of 300 simulations of 11 subjects of a Rasch model with 100 items, where one subject's
    items are permuted:

    ============  ========================  ======  ============
    item spread   mean correlation of two   found   false alarms
    ============  ========================  ======  ============
    1 logit       0.14                      42 %    0.2 %
    1.5 logits    0.25                      91 %    0.1 %
    2 logits      0.35                      98 %    0.0 %
    2.5 logits    0.43                      99 %    0.0 %
    ============  ========================  ======  ============

    No test with 1 % false alarms finds more than 82 % in the first row; with 300 items 94 % are
    found. If subjects also differ in slope and guess in up to 30 % of items, or if two demands
    multiply, false alarms are 0.3 to 0.6 %, and fewer are found (64 to 83 % at 2 to 3 logits with
    two demands); on the 69 items of the Animal-AI Olympics, the shares are 0.9 % and 45 %. If 9 of
    12 subjects are permuted, at a spread of 2 logits, 31 % of them are found with 100 items, 74 %
    with 200 and 95 % with 400. Real subjects that differ more in agreement are found less often: of
    12 language models on six benchmarks, none is flagged without a permutation, and a permuted one
    is flagged in 65 to 100 % of trials.

    A subject that guesses at random also agrees with no other, and is flagged. An order that is
    wrong only within groups of items of equal difficulty is not found, and neither are subjects
    that all have the same wrong order.

    References
    ----------
    Sijtsma, K. and Meijer, R. R. (1992), A method for investigating the intersection of item
    response functions in Mokken's nonparametric IRT model, Applied Psychological Measurement 16.
    Karabatsos, G. (2003), Comparing the aberrant response detection performance of thirty-six
    person-fit statistics, Applied Measurement in Education 16.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> outcomes = (rng.normal(size=(6, 100)) > 2 * rng.normal(size=100)).astype(float)
    >>> outcomes[5] = rng.permutation(outcomes[5])
    >>> table = agreement(list("abcdef"), outcomes, prob=0.9, seed=1)
    >>> table.loc[table["flagged"], "subject"].tolist()
    ['f']
    """
    if len(subjects) < _WITNESSES + 1:
        return no_agreement()
    known = np.isfinite(outcomes)
    centred = np.where(known, outcomes, 0)
    centred -= known * (centred.sum(axis=1) / known.sum(axis=1))[:, None]
    sds = np.sqrt(np.square(centred).sum(axis=1) / known.sum(axis=1))
    varying = np.flatnonzero(sds > _ROUNDING)
    table = pd.DataFrame({"subject": list(subjects)}).reindex(columns=_COLUMNS)
    table["flagged"] = False
    if len(varying) > _WITNESSES:
        scaled = centred[varying] / sds[varying][:, None]
        with threadpool_limits(1, user_api="blas"):  # more threads change the last digits
            found = _judged(*_coefficients(scaled, known[varying], seed), prob)
        for name, values in found.items():
            table[name] = pd.Series(values, varying).reindex(table.index)
        table["flagged"] = table["flagged"].fillna(False).astype(bool)
    for name in ("items", "others"):
        table[name] = table[name].fillna(0).astype(int)
    return table


def _coefficients(
    scaled: np.ndarray, known: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Compute agreement, its error by chance, and the numbers of items and of other subjects."""
    count, items = scaled.shape
    others = np.unique(np.linspace(0, count - 1, min(count, _MOST)).round().astype(int))
    fold = np.random.default_rng(seed).permutation(items) % _FOLDS
    parts = [np.flatnonzero(fold == number) for number in range(_FOLDS)]
    own = np.arange(count)[:, None] == others
    tried = known.astype(float)
    products = [scaled[:, at] @ scaled[others][:, at].T for at in parts]
    shared = [tried[:, at] @ tried[others][:, at].T for at in parts]
    product_sum, shared_sum = np.sum(products, axis=0), np.sum(shared, axis=0)
    size, sums = np.zeros(count, dtype=int), np.zeros((3, count))
    for at, product, together in zip(parts, products, shared, strict=True):
        pairs = (product_sum - product) / (shared_sum - together + _DOUBT)
        pairs = np.where(own, 0, np.maximum(pairs, 0))
        weights = np.where(own, 0, pairs @ pairs[others])
        means = weights @ scaled[others][:, at]
        met = known[:, at] & (weights @ tried[others][:, at] > 0)
        for row in np.flatnonzero(met.sum(axis=1) > 1):
            y, m = scaled[row, at[met[row]]], means[row, met[row]]
            size[row] += len(y)
            sums[:, row] += covariances(y, m / weights[row].sum())
    both, most, variance = sums
    most = np.where((most > _ROUNDING) & (size >= _LEAST), most, np.nan)
    partners = ((shared_sum > 0) & ~own).sum(axis=1)
    return both / most, np.sqrt(variance) / most, size, partners


def covariances(first: np.ndarray, second: np.ndarray) -> tuple[float, float, float]:
    """Sum products about the means: as observed, with both sorted, and their variance by chance.

    Examples
    --------
    >>> covariances(np.array([1.0, 0, 1, 0]), np.array([1.0, 1, 0, 0]))
    (0.0, 1.0, 0.333...)
    """
    y, m = first - first.mean(), second - second.mean()
    most = np.sort(y) @ np.sort(m)
    return float(y @ m), float(most), float((y @ y) * (m @ m) / (len(y) - 1))


def _judged(
    found: np.ndarray, error: np.ndarray, items: np.ndarray, others: np.ndarray, prob: float
) -> dict[str, np.ndarray]:
    """Compare each subject's agreement with the one expected from the others."""
    result = {name: np.full(len(found), np.nan) for name in ("expected", "low", "high", "p")}
    flagged = np.zeros(len(found), dtype=bool)
    tested = np.flatnonzero(np.isfinite(found) & (error > 0))
    value, by_chance = (part[tested][:, None, None] for part in (found, error))
    means = _MEANS[:, None]
    correlation = means / (by_chance * np.sqrt(items[tested] - 1)[:, None, None])
    narrower = np.maximum(1 - correlation**2, _SMALLEST)  # as the error of a correlation
    sds = np.hypot(by_chance * narrower, _SPREADS * means)
    agrees = np.asarray(norm.logpdf(value, means, sds))[..., None] + np.log1p(-_SHARES)
    not_at_all = np.asarray(norm.logpdf(value, 0, by_chance))[..., None] + np.log(_SHARES)
    each = np.logaddexp(agrees, not_at_all)
    every = each.sum(axis=0)
    score = found[tested] / error[tested]
    surprise = np.exp(log_ndtr(-score))
    for place, row in enumerate(tested):
        rest = every - each[place]
        weight = np.exp(rest - logsumexp(rest)).sum(axis=-1)
        sd = sds[place]
        mean = float((weight * means).sum())
        spread = np.sqrt((weight * (sd**2 + (means - mean) ** 2)).sum())
        half = norm.isf((1 - prob) / 2) * spread
        p = float((weight * ndtr((found[row] - means) / sd)).sum())
        ends = max(mean - half, -1), min(mean + half, 1)  # coefficients lie in [-1, 1]
        for name, number in zip(result, (mean, *ends, p), strict=True):
            result[name][row] = number
        witnesses = np.delete(surprise, place) * (len(tested) - 1) <= _SURE
        flagged[row] = p <= _RARE and surprise[place] > _CHANCE and witnesses.sum() >= _WITNESSES
    return {"items": items, "others": others, "agreement": found, **result, "flagged": flagged}


def told_agreement(table: pd.DataFrame) -> list[str]:
    """Describe whose outcomes agree with no other subject's, and what to look at."""
    rows = table[table["flagged"]].to_dict("records")
    if len(rows) < 2:
        return [f"{disagreement(row)}; {_REMEDY}" for row in rows]
    least = min(rows, key=lambda row: row["p"])
    names = some(row["subject"] for row in rows)
    return [
        f"the outcomes of {len(rows)} subjects agree with no other's ({names}), least those of "
        f"{least['subject']} ({_numbers(least)}); {_REMEDY}"
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


_REMEDY = (
    "items may be in another order, or answers be random: check the reading of the file, item by "
    "item"
)
