"""Formatting of numbers with as many digits as their error supports."""

import math
from collections.abc import Mapping
from decimal import Decimal
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

_ROUNDING = 1e-9
_MOST = 2  # decimals of a probability
_FEW = 3.5  # leading digits of an error from which one of them is enough


class Digits(NamedTuple):
    """Decimals of a posterior mean, and of the ends of its interval."""

    mean: int
    ends: int


def supported(error: float) -> int:
    r"""Count the decimals of a number that its error supports, if the error is not shown.

    .. math:: d = \lfloor -\log_{10} e \rfloor

    A unit of the last digit shown is at least the error e of the number: :math:`10^{-d} \ge e`.
    Two runs with that error then differ by five units of the last digit or more in fewer than one
    of 200 numbers.

    Parameters
    ----------
    error : float
        Standard error of the number, above 0: its Monte Carlo error.

    Returns
    -------
    int
        Decimals; negative if not even the units are supported.

    Examples
    --------
    >>> supported(0.01), supported(0.011), supported(30)
    (2, 1, -2)
    """
    return math.floor(_ROUNDING - math.log10(error))


def decimals(sd: float, ess: float) -> int:
    r"""Count the decimals of a posterior mean that its Monte Carlo error supports.

    .. math:: \min(\lfloor -\log_{10} (\mathrm{sd} / \sqrt{\mathrm{ess}}) \rfloor,
        1 - \lfloor \log_{10} \mathrm{sd} \rfloor)

    A unit of the last decimal is at least the Monte Carlo standard error
    :math:`\mathrm{sd} / \sqrt{\mathrm{ess}}`, and there are at most two digits of sd (one if the
    effective sample size is unknown).

    Parameters
    ----------
    sd : float
        Posterior standard deviation.
    ess : float
        Effective sample size; NaN where it is unknown.

    Returns
    -------
    int
        Decimals; negative if not even the units are supported; 2 for a number without spread.

    References
    ----------
    Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), Bayesian Analysis 16(2), section 4, for
    the error of means and of quantiles.

    Examples
    --------
    >>> decimals(0.2, 400), decimals(0.2, 4_000_000), decimals(12, 100), decimals(0.2, math.nan)
    (2, 2, -1, 1)
    """
    return _worth(sd, sd / math.sqrt(ess) if ess > 0 else math.nan)


def of_profile(row: Mapping[Any, Any], column: str = "mean") -> Digits:
    """Count the decimals of a row of a table by its Monte Carlo errors.

    The errors of ends of intervals are two to three times those of means, so that ends often have
    one digit less.

    Parameters
    ----------
    row : mapping
        Row with ``sd``, ``low_error`` and ``high_error`` of the interval's ends, and ``ess_bulk``
        and ``ess_tail`` as in `diagnostics.profiles`, or the error of the mean.
    column : str
        ``mean`` of a profile, or a column whose error is ``{column}_error``.

    Returns
    -------
    Digits
        Decimals as in `decimals`; of the ends, by the larger one of their errors.

    Examples
    --------
    >>> of_profile({"sd": 0.2, "ess_bulk": 900, "ess_tail": 700, "low_error": 0.011,
    ...             "high_error": 0.02})
    Digits(mean=2, ends=1)
    """
    sd = float(row["sd"])
    ends = float(row["low_error"]), float(row["high_error"])
    worst = math.nan if any(map(math.isnan, ends)) else max(ends)
    if f"{column}_error" in row:
        return Digits(_worth(sd, float(row[f"{column}_error"])), _worth(sd, worst))
    # the sd is shown with the mean, and its error also depends on the tails
    sizes = float(row["ess_bulk"]), float(row["ess_tail"])
    ess = math.nan if any(map(math.isnan, sizes)) else min(sizes)
    return Digits(decimals(sd, ess), _worth(sd, worst))


def _worth(sd: float, error: float) -> int:
    """Count decimals that an error supports, with at most two digits of sd."""
    if sd == 0:
        return _MOST
    if not 0 < sd < math.inf:
        return 0
    leading = -math.floor(math.log10(sd) + _ROUNDING)
    return min(supported(error), leading + 1) if 0 < error < math.inf else leading


def beside(error: float) -> int:
    """Count the decimals of a number that is shown with its error: two digits of it, or one.

    The error has two digits if they are at most 35, and otherwise one: the rule of the Particle
    Data Group.

    Parameters
    ----------
    error : float
        Standard error, such as that of a mean over random splits.

    Returns
    -------
    int
        Decimals; negative if not even the units are supported; 2 if the error is 0 or unknown.

    References
    ----------
    Particle Data Group, Review of Particle Physics, introduction, section 5.3: rounding.

    Examples
    --------
    >>> beside(0.0031), beside(0.0042), beside(12.0), beside(math.nan)
    (4, 3, 0, 2)
    """
    if not 0 < error < math.inf:
        return _MOST
    leading = math.floor(math.log10(error) + _ROUNDING)
    return -leading + int(error / 10.0**leading < _FEW)


def with_error(value: float, error: float, most: int = 4) -> str:
    """Write a number and its standard error with the same decimals.

    Examples
    --------
    >>> with_error(0.14781, 0.00421), with_error(-812.4, 31.2), with_error(0.5, math.nan)
    ('0.148 ± 0.004', '−812 ± 31', '0.50')
    """
    digits = min(beside(error), most)
    if math.isnan(error):
        return fixed(value, digits)
    return f"{fixed(value, digits)} ± {fixed(error, digits)}"


def forecast_errors(low: np.ndarray, high: np.ndarray, ess: np.ndarray, prob: float) -> np.ndarray:
    r"""Estimate Monte Carlo standard errors of forecasts from their intervals, without draws.

    .. math:: \frac{\mathrm{high} - \mathrm{low}}{2 z \sqrt{\mathrm{ess}}}

    with the normal distribution's z of the interval, and the smallest effective sample size of the
    subject's profile.

    Parameters
    ----------
    low, high : ndarray
        Ends of intervals.
    ess : ndarray
        Effective sample sizes, of a shape that broadcasts with the intervals.
    prob : float
        Mass of the intervals.

    Returns
    -------
    ndarray
        Errors of the means.

    Examples
    --------
    >>> forecast_errors(np.array([0.4]), np.array([0.7]), np.array([400.0]), 0.9).round(4)
    array([0.0046])
    """
    wide = 2 * NormalDist().inv_cdf((1 + prob) / 2)
    return np.asarray((high - low) / (wide * np.sqrt(ess)))


def of_forecast(error: float, prob: float) -> Digits:
    """Count the decimals of a forecast's mean and interval, two at most.

    Examples
    --------
    >>> of_forecast(0.0046, 0.9)
    Digits(mean=2, ends=2)
    """
    return Digits(of_score(error, _MOST), of_score(error * end_factor(prob), _MOST))


def end_factor(prob: float) -> float:
    """Compute the ratio of the error of an end of a normal interval to that of the mean.

    Examples
    --------
    >>> round(end_factor(0.9), 2)
    2.11
    """
    tail, normal = (1 - prob) / 2, NormalDist()
    return math.sqrt(tail * (1 - tail)) / normal.pdf(normal.inv_cdf(tail))


def of_score(error: float, most: int = 3) -> int:
    """Count the decimals of a number between 0 and 1, such as a score; one if its error is unknown.

    Examples
    --------
    >>> of_score(0.002), of_score(1e-9), of_score(math.nan), of_score(math.inf)
    (2, 3, 1, 0)
    """
    if math.isinf(error):
        return 0
    if not error > 0:
        return most if error == 0 else 1
    return max(0, min(supported(error), most))


def chance(value: float, error: float, most: int = _MOST) -> str:
    """Write a probability that is a share of draws.

    Parameters
    ----------
    value : float
        The share, in [0, 1].
    error : float
        Monte Carlo standard error of the share; NaN if it is unknown.
    most : int
        Largest number of decimals.

    Returns
    -------
    str
        The probability, never written as 0 or 1, which draws cannot show; a dash if no digit is
        supported.

    Examples
    --------
    >>> chance(0.5213, 0.004), chance(0.9996, 0.004), chance(0.0, 0.02), chance(0.5, 0.2)
    ('0.52', '>0.99', '<0.1', '–')
    """
    digits = min(supported(error), most) if 0 < error < math.inf else 1 if error else most
    if math.isnan(value) or digits < 1:
        return "–"
    unit = 10.0**-digits
    if value < unit / 2:
        return f"<{unit:.{digits}f}"
    return f">{1 - unit:.{digits}f}" if value >= 1 - unit / 2 else fixed(value, digits)


def fixed(value: float, digits: int) -> str:
    """Write a number with a true minus sign; a dash for NaN.

    Parameters
    ----------
    value : float
        The number.
    digits : int
        Decimals; a negative number rounds digits before the point.

    Examples
    --------
    >>> fixed(-0.001, 2), fixed(-1.25, 1), fixed(1234.5, -2), fixed(math.nan, 2)
    ('0.00', '−1.2', '1200', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    exact = float(value)  # NumPy's own rounding would lower 0.325 to 0.32
    return f"{round(exact, digits) + 0.0:.{max(digits, 0)}f}".replace("-", "−")


def outward(
    low: float, high: float, digits: int, limits: tuple[float, float] = (-math.inf, math.inf)
) -> tuple[str, str]:
    """Write the ends of an interval: the low one rounded down, the high one up.

    The written interval therefore contains the interval, and has at least its probability.

    Parameters
    ----------
    low, high : float
        Ends of the interval.
    digits : int
        Decimals, as in `fixed`.
    limits : (float, float)
        Declared ends of the range, which are written if rounding would go beyond them.

    Examples
    --------
    >>> outward(0.3, 5.22, 0, (0.2, 5.3))
    ('0.2', '5.3')
    >>> outward(3.94, 7.51, 1), outward(3.94, 7.51, 0), outward(-0.004, 0.3, 2)
    (('3.9', '7.6'), ('3', '8'), ('−0.01', '0.30'))
    """
    down, up = _stepped(low, digits, -1), _stepped(high, digits, 1)
    least, most = limits
    return (
        short(least) if down < least <= low else fixed(down, digits),
        short(most) if up > most >= high else fixed(up, digits),
    )


def in_brackets(
    low: float, high: float, digits: int, limits: tuple[float, float] = (-math.inf, math.inf)
) -> str:
    """Write an interval in brackets, with its ends as `outward` writes them.

    Examples
    --------
    >>> in_brackets(-0.004, 0.3, 2)
    '[−0.01, 0.30]'
    """
    return f"[{', '.join(outward(low, high, digits, limits))}]"


def _stepped(value: float, digits: int, side: int) -> float:
    """Move a number to the next multiple of the last digit's unit, down or up."""
    if not math.isfinite(value):
        return value
    steps = side * Decimal(repr(float(value))).scaleb(digits)
    return side * float(Decimal(math.ceil(steps - Decimal(_ROUNDING))).scaleb(-digits))


def short(value: float) -> str:
    """Write a number as it was declared, with four digits.

    Examples
    --------
    >>> short(-2.40), short(1 / 3), short(math.inf)
    ('−2.4', '0.3333', '∞')
    """
    return "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−").replace("inf", "∞")
