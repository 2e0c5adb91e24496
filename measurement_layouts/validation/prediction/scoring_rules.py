"""Scoring rules for forecast probabilities of success, which need NumPy only.

All scores have one row per item: ``p``, the forecast probability of success; ``successes``, the
number of observed successes; and ``trials``, the number of trials (default: 1 each). A row with
``s`` successes in ``n`` trials counts exactly as ``s`` rows with outcome y = 1 and ``n - s`` rows
with y = 0, and a row without trials has no effect. ``N`` is the total number of trials, and sums
are over trials. Inputs are matched by position; the index of a pandas object is not read.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "ONE_NUMBER",
    "BrierDecomposition",
    "ScoreError",
    "auroc",
    "brier",
    "decompose_brier",
    "expected_calibration_error",
    "log_score",
    "single_class_reason",
]

ONE_NUMBER = "AUROC is undefined: the method predicts one number for all items of the subject"
"""The reason why there is no AUROC of a method that predicts the same for all items."""

type _Floats = NDArray[np.float64]
type _Rows = tuple[_Floats, _Floats, _Floats, _Floats]  # forecast, won, lost, trials


class ScoreError(ValueError):
    """Error for forecasts and outcomes that cannot be scored.

    It is raised for input that is not numeric or not one row per item, ``p`` outside [0, 1] or NaN,
    counts that are not integers or violate 0 <= successes <= trials, input without any trial, and
    ``bins`` below 1. Rows without trials are also checked. The message numbers rows from 0.
    """


@dataclass(frozen=True)
class BrierDecomposition:
    """The Brier score and its three parts: ``brier = calibration + refinement + remainder``.

    Attributes
    ----------
    brier : float
        Mean squared error of the forecasts, in [0, 1]; lower is better, as for each part.
    calibration : float
        Squared distance of mean forecast and observed rate within bins, in [0, 1].
    refinement : float
        Variance of the outcomes within bins, in [0, 0.25].
    remainder : float
        Variance of the forecasts within bins minus twice their covariance with the outcomes, in
        [-0.25, 0.75]; 0 if the forecasts of a bin are equal, and negative if they are in the order
        of the outcomes.
    """

    brier: float
    calibration: float
    refinement: float
    remainder: float


def brier(p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None = None) -> float:
    """Return the Brier score, ``sum (p - y)**2 / N``, in [0, 1]; lower is better.

    This is the usual one-class form, half of Brier's sum over both classes.
    Raises `ScoreError` when the input is invalid or has no trial.
    Source: Brier (1950), Monthly Weather Review 78(1), 1-3.

    Parameters
    ----------
    p, successes, trials : array_like, shape (items,)
        Probabilities in [0, 1]; integers in 0..trials; integers (default: 1 each).

    Examples
    --------
    >>> brier([0.5, 1.0], successes=[1, 3], trials=[2, 4])  # (2 * 0.25 + 1) / 6
    0.25
    """
    forecast, won, lost, n = _checked(p, successes, trials)
    return float(np.sum(won * (1 - forecast) ** 2 + lost * forecast**2) / n.sum())


def decompose_brier(
    p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None = None, bins: int = 10
) -> BrierDecomposition:
    """Split the Brier score into calibration, refinement and the within-bin remainder.

    With ``n_k`` trials, mean forecast ``pbar_k`` and observed success rate ``obar_k`` in bin k::

        calibration = sum_k n_k/N (pbar_k - obar_k)**2
        refinement  = sum_k n_k/N obar_k (1 - obar_k)
        remainder   = sum_k n_k/N (var_k(p) - 2 cov_k(p, y))

    Each part is computed by its own formula, none by subtraction, and they add up to the Brier
    score within 1e-12. Bin k is [k/bins, (k+1)/bins), and the last one includes 1.
    Raises `ScoreError` when the input is invalid or has no trial, or ``bins`` is below 1.
    Source: Murphy (1973), Journal of Applied Meteorology 12(4), 595-600, whose uncertainty minus
    resolution is the refinement; for the remainder Stephenson, Coelho and Jolliffe (2008),
    Weather and Forecasting 23(4), 752-757.

    Parameters
    ----------
    p, successes, trials : array_like, shape (items,)
        Probabilities in [0, 1]; integers in 0..trials; integers (default: 1 each).
    bins : int
        Number of bins of equal width over [0, 1], at least 1; empty bins have no effect.

    Examples
    --------
    >>> decompose_brier([1, 1, 1, 1], successes=[1, 0, 0, 0])
    BrierDecomposition(brier=0.75, calibration=0.5625, refinement=0.1875, remainder=0.0)
    """
    rows = _checked(p, successes, trials)
    row, share, mean, rate = _binned(rows, bins)
    forecast, won, _, n = rows
    gap, surplus = forecast - mean[row], won - n * rate[row]
    return BrierDecomposition(
        brier=brier(p, successes, trials),
        calibration=float(np.sum(share * (mean - rate) ** 2)),
        refinement=float(np.sum(share * rate * (1 - rate))),
        remainder=float(np.sum(gap * (n * gap - 2 * surplus)) / n.sum()),
    )


def log_score(p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None = None) -> float:
    """Return the mean negative log likelihood per trial in nats, in [0, inf]; lower is better.

    ``-sum (y log(p) + (1 - y) log(1 - p)) / N`` with ``0 log(0) = 0``, without the binomial
    coefficient. The score is inf if one outcome was excluded by a forecast of exactly 0 or 1. Each
    trial is scored separately: if the trials of an item depend on each other, because of an unseen
    property, the log-likelihood of all trials together is different; `loo` computes it.
    Raises `ScoreError` when the input is invalid or has no trial.
    Source: Good (1952), Journal of the Royal Statistical Society B 14(1), 107-114.

    Parameters
    ----------
    p, successes, trials : array_like, shape (items,)
        Probabilities in [0, 1]; integers in 0..trials; integers (default: 1 each).

    Examples
    --------
    >>> round(log_score([0.5, 1.0], successes=[1, 1]), 4)  # log(2) / 2
    0.3466
    """
    forecast, won, lost, n = _checked(p, successes, trials)
    some, others = won > 0, lost > 0
    with np.errstate(divide="ignore"):  # the log of an excluded outcome is -inf, as documented
        hits = np.sum(won[some] * np.log(forecast[some]))
        misses = np.sum(lost[others] * np.log1p(-forecast[others]))
    return float(0 - (hits + misses) / n.sum())


def auroc(p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None = None) -> float:
    """Return the area under the ROC curve, in [0, 1]; 0.5 is chance, higher is better.

    ``P(p_success > p_failure) + P(p_success = p_failure) / 2`` for a random success and a random
    failure. NaN if all outcomes are of one class; see `single_class_reason`.
    Raises `ScoreError` when the input is invalid or has no trial.
    Source: Hanley and McNeil (1982), Radiology 143(1), 29-36.

    Parameters
    ----------
    p, successes, trials : array_like, shape (items,)
        Probabilities in [0, 1]; integers in 0..trials; integers (default: 1 each).

    Examples
    --------
    >>> auroc([0.2, 0.7, 0.7, 0.9], successes=[0, 0, 1, 1])
    0.875
    """
    forecast, won, lost, _ = _checked(p, successes, trials)
    pairs = won.sum() * lost.sum()
    if pairs == 0:
        return float("nan")
    level = np.unique(forecast, return_inverse=True)[1]
    above, below = np.bincount(level, weights=won), np.bincount(level, weights=lost)
    return float(np.sum(above * (np.cumsum(below) - below / 2)) / pairs)


def single_class_reason(successes: ArrayLike, trials: ArrayLike | None = None) -> str | None:
    """Return the reason why `auroc` is NaN for these outcomes; None if both classes are present.

    Raises `ScoreError` when the input is invalid or has no trial.

    Parameters
    ----------
    successes, trials : array_like, shape (items,)
        Integers in 0..trials; integers (default: 1 each).

    Examples
    --------
    >>> single_class_reason([2, 1], trials=[2, 1])
    'AUROC is undefined: all 3 trials are successes and it needs a success and a failure'
    """
    won, attempted = (int(counts.sum()) for counts in _counts(successes, trials))
    if 0 < won < attempted:
        return None
    found = f"all {attempted} trials are {'successes' if won else 'failures'}"
    return f"AUROC is undefined: {found} and it needs a success and a failure"


def expected_calibration_error(
    p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None = None, bins: int = 10
) -> float:
    """Return the expected calibration error, in [0, 1]; lower is better.

    ``sum_k n_k/N |pbar_k - obar_k|``, with the bins and symbols of `decompose_brier`.
    Raises `ScoreError` when the input is invalid or has no trial, or ``bins`` is below 1.
    Source: Naeini, Cooper and Hauskrecht (2015), AAAI 29, 2901-2907.

    Parameters
    ----------
    p, successes, trials : array_like, shape (items,)
        Probabilities in [0, 1]; integers in 0..trials; integers (default: 1 each).
    bins : int
        Number of bins of equal width over [0, 1], at least 1; empty bins have no effect.

    Examples
    --------
    >>> expected_calibration_error([0.25, 0.75], successes=[0, 4], trials=[4, 4])
    0.25
    """
    _, share, mean, rate = _binned(_checked(p, successes, trials), bins)
    return float(np.sum(share * np.abs(mean - rate)))


def _binned(rows: _Rows, bins: int) -> tuple[NDArray[np.intp], _Floats, _Floats, _Floats]:
    """Return the bin of each row, and trials' share, mean forecast and rate of non-empty bins."""
    if not isinstance(bins, (int, np.integer)) or bins < 1:
        raise ScoreError(f"bins is {bins!r}; it needs a whole number from 1 up: give one, or 10")
    forecast, won, _, n = rows
    # inner edges only, so that both ends are closed; a forecast of k / bins is exactly on its edge
    index = np.searchsorted(np.arange(1, bins) / bins, forecast, side="right")
    row = np.unique(index, return_inverse=True)[1]
    order = np.argsort(row, kind="stable")
    starts = np.flatnonzero(np.diff(row[order], prepend=-1))
    # reduceat sums pairwise; the error of bincount is 1e-12 after a million rows
    total = np.add.reduceat(n[order], starts)
    mean = np.add.reduceat((n * forecast)[order], starts) / total
    rate = np.add.reduceat(won[order], starts) / total
    return row, total / n.sum(), mean, rate


def _checked(p: ArrayLike, successes: ArrayLike, trials: ArrayLike | None) -> _Rows:
    won, attempted = _counts(successes, trials)
    forecast = _numbers("p", p, like=won)
    fix = "forecast every item, and clip rounding errors with numpy.clip(p, 0, 1)"
    _refuse(~((forecast >= 0) & (forecast <= 1)), "p is not a probability in [0, 1]", fix, forecast)
    kept = attempted > 0
    return forecast[kept], won[kept], (attempted - won)[kept], attempted[kept]


def _counts(successes: ArrayLike, trials: ArrayLike | None) -> tuple[_Floats, _Floats]:
    won = _numbers("successes", successes)
    attempted = np.ones_like(won) if trials is None else _numbers("trials", trials, like=won)
    bad = ~((attempted >= 0) & (attempted < np.inf) & (attempted == np.floor(attempted)))
    fix = "give successes 0 and trials 0 for an item not attempted"
    _refuse(bad, "trials is not a whole number from 0 up", fix, attempted)
    bad = ~((won >= 0) & (won <= attempted) & (won == np.floor(won)))
    fix += ", and pass trials= where an item has several"
    _refuse(bad, "successes is not a whole number in 0..trials", fix, won, attempted)
    if not attempted.any():
        has = f"there is no trial in {won.size} rows"
        raise ScoreError(f"{has}; a score needs one: leave out subjects that attempted no item")
    return won, attempted


def _numbers(name: str, values: ArrayLike, like: _Floats | None = None) -> _Floats:
    """Read one real number per item."""
    try:
        array = np.asarray(values)
        numbers = array.astype(np.float64) if array.dtype.kind in "biufO" else None
    except (TypeError, ValueError):  # ragged lists, and objects such as pandas.NA
        numbers = None
    if numbers is None:
        raise ScoreError(f"{name} is not numeric; it needs real numbers: give one for each item")
    if numbers.ndim != 1 or (like is not None and numbers.shape != like.shape):
        needed = "(items,)" if like is None else f"{like.shape}, like successes"
        raise ScoreError(
            f"{name} has shape {numbers.shape}; it needs {needed}: give one number for each item, "
            "in the same order, after averaging over posterior draws"
        )
    return numbers


def _refuse(bad: NDArray[np.bool_], have: str, fix: str, *columns: _Floats) -> None:
    """Raise an error if any row is bad, which names the first five with their values."""
    rows = np.flatnonzero(bad)
    if rows.size:
        shown = [" of ".join(str(c[i]).removesuffix(".0") for c in columns) for i in rows[:5]]
        named = ", ".join(f"row {i} ({text})" for i, text in zip(rows, shown, strict=False))
        more = f" and {rows.size - 5} more" if rows.size > 5 else ""
        raise ScoreError(f"{have} at {named}{more}; {fix}")
