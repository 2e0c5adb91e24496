"""How numbers are written: with as many digits as the Monte Carlo error supports."""

import math

_ROUNDING = 1e-9


def decimals(sd: float, ess: float) -> int:
    r"""Count the decimals of a posterior mean that are worth showing.

    The last one is worth at least the Monte Carlo standard error
    :math:`\mathrm{sd} / \sqrt{\mathrm{ess}}`, and no more than two digits of sd
    are kept (one where the effective sample size is unknown).

    Parameters
    ----------
    sd : float
        Posterior standard deviation.
    ess : float
        Effective sample size; NaN where it is unknown.

    Returns
    -------
    int
        0 or more.

    Examples
    --------
    >>> decimals(0.2, 400), decimals(0.2, 4_000_000), decimals(12, 100), decimals(0.2, math.nan)
    (2, 2, 0, 1)
    """
    if not (math.isfinite(sd) and sd > 0):
        return 2
    leading = -math.floor(math.log10(sd))
    if not (math.isfinite(ess) and ess > 0):
        return max(0, leading)
    supported = math.floor(math.log10(math.sqrt(ess) / sd) + _ROUNDING)
    return max(0, min(supported, leading + 1))


def written(value: float, digits: int) -> str:
    """Write a number with a real minus sign; a dash where there is none.

    Examples
    --------
    >>> written(-0.001, 2), written(-1.25, 1), written(math.nan, 2)
    ('0.00', '−1.2', '–')
    """
    if not math.isfinite(value):
        return "–" if math.isnan(value) else ("∞" if value > 0 else "−∞")
    exact = float(value)  # NumPy's own rounding would lower 0.325 to 0.32
    return f"{round(exact, digits) + 0.0:.{digits}f}".replace("-", "−")


def short(value: float) -> str:
    """Write a number as it was declared, with four digits.

    Examples
    --------
    >>> short(-2.40), short(1 / 3), short(math.inf)
    ('−2.4', '0.3333', '∞')
    """
    return "–" if math.isnan(value) else f"{value:.4g}".replace("-", "−").replace("inf", "∞")
