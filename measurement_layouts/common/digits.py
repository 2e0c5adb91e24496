"""Formatting of numbers: posteriors, numbers with their errors, probabilities and p values."""

import math

_ROUNDING = 1e-9
_MOST = 2  # decimals of a probability
_FEW = 3.5  # leading digits of an error from which one of them is enough
_DIGITS = 3  # of a number of a profile, of a forecast or of another posterior
_SMALL = -5  # exponent from which a number is written with an exponent
_LEAST_P = 0.001


def significant(value: float, width: float = math.inf) -> str:
    """Write a number with three significant digits, or more where its interval is narrow.

    All numbers of a posterior are written like this: means, standard deviations and ends of
    intervals, rounded to the nearest.

    Parameters
    ----------
    value : float
        The number.
    width : float
        Width of the number's interval. At least one of its digits is shown, so that the ends of
        an interval that is very narrow beside its values still differ.

    Returns
    -------
    str
        The number with a true minus sign; a dash for NaN.

    Examples
    --------
    >>> significant(115.48), significant(57.96), significant(-0.0041234), significant(0.0)
    ('115', '58.0', '−0.00412', '0.00')
    >>> significant(1503.2, width=9.6), significant(0.00000123), significant(math.nan)
    ('1503', '1.23e−06', '–')
    """
    if not math.isfinite(value):
        return fixed(value, 0)
    exponent = int(f"{value:.{_DIGITS - 1}e}".partition("e")[2])
    if exponent < _SMALL:
        return f"{value:.{_DIGITS - 1}e}".replace("-", "−")
    digits = _DIGITS - 1 - exponent
    if 0 < width < math.inf:
        digits = max(digits, -math.floor(math.log10(width) + _ROUNDING))
    return fixed(value, digits)


def in_brackets(low: float, high: float) -> str:
    """Write an interval in brackets, with its ends as `significant` writes them.

    Examples
    --------
    >>> in_brackets(57.96, 115.48), in_brackets(1498.4, 1508.0)
    ('[58.0, 115]', '[1498, 1508]')
    """
    return f"[{significant(low, high - low)}, {significant(high, high - low)}]"


def with_interval(mean: float, low: float, high: float) -> str:
    """Write a mean and its interval, as `significant` writes them.

    Examples
    --------
    >>> with_interval(86.97, 57.96, 115.48)
    '87.0 [58.0, 115]'
    """
    return f"{significant(mean, high - low)} {in_brackets(low, high)}"


def p_value(value: float) -> str:
    """Write a p value with three decimals; one that rounds to 0 is written as below 0.001.

    Examples
    --------
    >>> p_value(0.0203), p_value(2.6e-43), p_value(0.0), p_value(1.0), p_value(math.nan)
    ('0.020', '<0.001', '<0.001', '1.000', '–')
    """
    return f"<{_LEAST_P:g}" if value < _LEAST_P / 2 else fixed(value, 3)


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
    digits = 1 if error else most
    if 0 < error < math.inf:
        digits = min(math.floor(_ROUNDING - math.log10(error)), most)
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


def short(value: float) -> str:
    """Write a number as it was declared, with four digits.

    Examples
    --------
    >>> short(-2.40), short(1 / 3), short(math.inf)
    ('−2.4', '0.3333', '∞')
    """
    return "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−").replace("inf", "∞")
