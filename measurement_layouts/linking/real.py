"""Reading of real numbers, whether they are numbers of Python, of NumPy or fractions."""

import numbers

import numpy as np


def real(value: object) -> float | None:
    """Read a real number, possibly infinite or NaN; return None for any other value.

    None is also returned for a number that is too large for a float, and for spans of time, which
    NumPy treats as whole numbers.

    Examples
    --------
    >>> real(3), real("3"), real(10**400)
    (3.0, None, None)
    """
    if isinstance(value, np.timedelta64) or not isinstance(value, numbers.Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def holds_numbers(x: object) -> bool:
    """Whether a value is a number, or an array or variable of numbers or truth values.

    Examples
    --------
    >>> holds_numbers(np.arange(3)), holds_numbers("3")
    (True, False)
    """
    kind = getattr(x, "dtype", None)
    if kind is None:
        return real(x) is not None
    return str(kind).lower().startswith(("bool", "int", "uint", "float"))
