"""Options of fits and forecasts: checked before anything is computed."""

import numpy as np

from ..linking.errors import short
from ..linking.real import real
from .errors import FitError

LARGEST = 2**63 - 1
"""The largest whole number in a saved fit, and so of any option."""

LIMIT = "2**63 - 1"
"""The same, as written in messages."""


def whole(name: str, value: object, least: int = 0, refusal: type[Exception] = FitError) -> int:
    """Read a whole number, up to `LARGEST`.

    Raises
    ------
    FitError, or the given refusal
        When it is something else, or too small or large.

    Examples
    --------
    >>> whole("draws", 1000, least=4)
    1000
    """
    number = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    if not number or not least <= int(value) <= LARGEST:  # type: ignore[call-overload]
        raise refusal(
            f"{name}={short(repr(value))}; give a whole number of at least {least}, at most {LIMIT}"
        )
    return int(value)  # type: ignore[call-overload,no-any-return]


def inside(name: str, value: object, such_as: float, refusal: type[Exception] = FitError) -> float:
    """Read a number between 0 and 1, both excluded.

    Raises
    ------
    FitError, or the given refusal
        When it is something else.

    Examples
    --------
    >>> inside("prob", 0.9, such_as=0.5)
    0.9
    """
    number = real(value)
    if number is None or not 0 < number < 1:
        raise refusal(
            f"{name}={short(repr(value))}; give a number between 0 and 1, such as {such_as}"
        )
    return number


def share(name: str, value: object, refusal: type[Exception] = FitError) -> float:
    """Read a number from 0 to 1.

    Raises
    ------
    FitError, or the given refusal
        When it is something else.

    Examples
    --------
    >>> share("cover", 1)
    1.0
    """
    number = real(value)
    if number is None or not 0 <= number <= 1:
        raise refusal(f"{name}={short(repr(value))}; give a share from 0 to 1")
    return number


def positive(name: str, value: object, such_as: float) -> float:
    """Read a finite number above 0.

    Raises
    ------
    FitError
        When it is something else.

    Examples
    --------
    >>> positive("gain", 4, such_as=2)
    4.0
    """
    number = None if isinstance(value, bool) else real(value)
    if number is None or not 0 < number < np.inf:
        raise FitError(f"{name}={short(repr(value))}; give a positive number, such as {such_as:g}")
    return number
