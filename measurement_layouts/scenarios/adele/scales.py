"""The general scales: 18 demands in levels from 0 to 5 and above, and unguessability in percent."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import ArrayLike

from ...common.errors import DataError


@dataclass(frozen=True)
class Dimension:
    """One scale on which items are placed.

    Attributes
    ----------
    code : str
        Short name, which is also the column of the items.
    name : str
        Name in figures.
    meaning : str
        Description of the demand, in one sentence.
    broad, broad_name : str
        Code and name of the broad dimension to which it belongs.
    group : {"primordial", "knowledge", "extraneous"}
        Cognitive capability, knowledge of a field, or a property that makes an item harder without
        demanding either.
    """

    code: str
    name: str
    meaning: str
    broad: str
    broad_name: str
    group: str


@dataclass(frozen=True)
class Level:
    """One level of every scale except unguessability.

    Attributes
    ----------
    level : int
        Level, from 0 to 5.
    name : str
        Name, in one or two words.
    meaning : str
        Description of items of this level; the rubric of a dimension describes them in more detail.
    """

    level: int
    name: str
    meaning: str


_FILE = tomllib.loads((files(__package__) / "scales.toml").read_text(encoding="utf-8"))

LEVELS = tuple(Level(**row) for row in _FILE["levels"])
"""Levels, from none to very high; the last one has no upper end."""

DIMENSIONS = {row["code"]: Dimension(**row) for row in _FILE["dimensions"]}
"""Scales by code, in the order of the study's Table 1; unguessability is last."""

UNGUESSABILITY = "UG"
"""The only dimension that is a percentage."""

DEMANDS = tuple(code for code in DIMENSIONS if code != UNGUESSABILITY)
"""The 18 dimensions with levels."""

PRIMORDIAL = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "primordial")
"""The 11 cognitive capabilities."""

KNOWLEDGE = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "knowledge")
"""The 5 fields of knowledge."""

EXTRANEOUS = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "extraneous")
"""The 2 dimensions that are neither; unguessability is a third one, without levels."""

BROAD = {
    broad: tuple(code for code, found in DIMENSIONS.items() if found.broad == broad)
    for broad in dict.fromkeys(found.broad for found in DIMENSIONS.values())
}
"""The 11 broad dimensions, and the parts of each."""

FAMILIES = tuple(dict.fromkeys(DIMENSIONS[code].broad for code in PRIMORDIAL))
"""The 7 broad dimensions that are cognitive capabilities."""

_TOP = 5.0


def rarity(level: ArrayLike) -> np.ndarray:
    r"""Compute the number of people among whom about one can answer an item of a level.

    .. math:: n = 10^L

    This definition makes levels of different dimensions comparable. A demand of 6 is twice a demand
    of 3, because the logarithm of the rarity doubles. The scale has an absolute zero, no demand, at
    which everybody can answer.

    Parameters
    ----------
    level : array_like
        Demands, 0 or above; they may be between or beyond the levels of the rubrics.

    Returns
    -------
    ndarray
        Number of people, with the shape of `level`.

    Raises
    ------
    DataError
        When a level is below 0 or not a number.

    Notes
    -----
    The study also interprets the scale by the log-odds of success of a fixed subject, which should
    halve when the level doubles. A logistic curve over levels does not have this property: its
    log-odds decrease by the same amount from level to level. This package does not use that
    interpretation.

    References
    ----------
    General scales paper, section 5.1.

    Examples
    --------
    >>> rarity([0, 1, 3, 5]).tolist()
    [1.0, 10.0, 1000.0, 100000.0]
    """
    return np.asarray(10.0 ** _read(level, "level", lambda x: x >= 0, "0 or above"))


def unguessability_to_level(unguessability: ArrayLike) -> np.ndarray:
    r"""Turn a percentage of failing guesses into a level that can be compared with demands.

    With unguessability :math:`u` one guess in :math:`n = 1 / (1 - u / 100)` is right, so that

    .. math:: L = \min\Bigl(-\log_{10}\Bigl(1 - \frac{u}{100}\Bigr), 5\Bigr)

    Parameters
    ----------
    unguessability : array_like
        Percentages from 0 (the question contains the answer) to 100 (no guess can be right).

    Returns
    -------
    ndarray
        Levels from 0 to 5, with the shape of `unguessability`; 5 from 99.999 on.

    Raises
    ------
    DataError
        When a value is outside 0 to 100 or not a number.

    Notes
    -----
    The study describes the principle and one value, level 1 for a choice among ten options. Its
    stricter criterion (at least one guess is right in 95 % of groups of :math:`10^L` people) would
    add about half a level.

    References
    ----------
    General scales paper, section 5.1.

    Examples
    --------
    >>> unguessability_to_level([0, 75, 90, 100]).round(3).tolist()
    [0.0, 0.602, 1.0, 5.0]
    """
    percent = _read(unguessability, "unguessability", _is_percentage, "from 0 to 100")
    return np.asarray(2 - np.log10(np.maximum(100 - percent, 10.0 ** (2 - _TOP))))


def level_to_unguessability(level: ArrayLike) -> np.ndarray:
    r"""Turn a level into the percentage of guesses that fail; see `unguessability_to_level`.

    .. math:: u = 100 \, (1 - 10^{-L})

    Parameters
    ----------
    level : array_like
        Levels, from 0 to 5. The result for level 5 is 99.999, its lower end, although the level
        includes 100.

    Returns
    -------
    ndarray
        Percentages, with the shape of `level`.

    Raises
    ------
    DataError
        When a level is outside 0 to 5 or not a number.

    References
    ----------
    General scales paper, section 5.1.

    Examples
    --------
    >>> level_to_unguessability([0, 1, 5]).tolist()
    [0.0, 90.0, 99.999]
    """
    levels = _read(level, "level", lambda x: (x >= 0) & (x <= _TOP), "from 0 to 5")
    return np.asarray(100 - 10.0 ** (2 - levels))


def _is_percentage(values: np.ndarray) -> np.ndarray:
    return np.asarray((values >= 0) & (values <= 100))


def _read(
    values: ArrayLike, what: str, allowed: Callable[[np.ndarray], np.ndarray], need: str
) -> np.ndarray:
    """Read numbers, and refuse those that are not allowed, including NaN."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{what}: {values!r} is not a number; give numbers {need}") from None
    wrong = found[~allowed(found)]
    if wrong.size:
        raise DataError(
            f"{what}: {wrong.size} of {found.size} value(s) such as {wrong[0]:g}; give numbers "
            f"{need}"
        )
    return found
