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
        Short name, and the items' column.
    name : str
        For figures.
    meaning : str
        What is asked for, in one sentence.
    broad, broad_name : str
        Code and name of the broad dimension that it is a part of.
    group : {"primordial", "knowledge", "extraneous"}
        A cognitive capability, knowledge of a field, or what makes an item harder without asking
        for either.
    """

    code: str
    name: str
    meaning: str
    broad: str
    broad_name: str
    group: str


@dataclass(frozen=True)
class Level:
    """One level of every scale but unguessability.

    Attributes
    ----------
    level : int
        From 0 to 5.
    name : str
        In a word or two.
    meaning : str
        What an item of this level asks for; the rubric of a dimension says it for that dimension.
    """

    level: int
    name: str
    meaning: str


_FILE = tomllib.loads((files(__package__) / "scales.toml").read_text(encoding="utf-8"))

LEVELS = tuple(Level(**row) for row in _FILE["levels"])
"""From none to very high; the last one is open above."""

DIMENSIONS = {row["code"]: Dimension(**row) for row in _FILE["dimensions"]}
"""By code, in the order of the study's Table 1; unguessability comes last."""

UNGUESSABILITY = "UG"
"""The one dimension that is a percentage."""

DEMANDS = tuple(code for code in DIMENSIONS if code != UNGUESSABILITY)
"""The 18 that have levels."""

PRIMORDIAL = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "primordial")
"""Cognitive capabilities, 11."""

KNOWLEDGE = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "knowledge")
"""Fields of knowledge, 5."""

EXTRANEOUS = tuple(code for code in DEMANDS if DIMENSIONS[code].group == "extraneous")
"""Neither of them, 2; unguessability is a third, without levels."""

BROAD = {
    broad: tuple(code for code, found in DIMENSIONS.items() if found.broad == broad)
    for broad in dict.fromkeys(found.broad for found in DIMENSIONS.values())
}
"""The 11 broad dimensions, and the parts of each."""

FAMILIES = tuple(dict.fromkeys(DIMENSIONS[code].broad for code in PRIMORDIAL))
"""The 7 broad dimensions that are cognitive capabilities."""

_TOP = 5.0


def rarity(level: ArrayLike) -> np.ndarray:
    r"""Say among how many people about one has enough for an item of a level.

    .. math:: n = 10^L

    This is what makes levels of different dimensions comparable, and a demand of 6 twice one of 3:
    the logarithm of the rarity doubles. The levels count from an absolute zero, no demand, at which
    anybody has enough.

    Parameters
    ----------
    level : array_like
        Demands, 0 or above; also between and beyond the levels of the rubrics.

    Returns
    -------
    ndarray
        People, in the shape of `level`.

    Raises
    ------
    DataError
        When a level is below 0 or no number.

    Notes
    -----
    The study also reads the scale by the log odds of success of a fixed subject, which are to halve
    where the level doubles. A logistic curve over levels does not do that: its log odds fall by the
    same amount from level to level. Nothing in this package rests on that reading.

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
    r"""Turn a percentage of failing guesses into a level, to be compared with the demands.

    With unguessability :math:`u` one guesser in :math:`n = 1 / (1 - u / 100)` is right, so that

    .. math:: L = \min\Bigl(-\log_{10}\Bigl(1 - \frac{u}{100}\Bigr), 5\Bigr)

    Parameters
    ----------
    unguessability : array_like
        From 0 (the question gives the answer away) to 100 (no guess can be right).

    Returns
    -------
    ndarray
        Levels from 0 to 5, in the shape of `unguessability`; 5 from 99.999 on.

    Raises
    ------
    DataError
        When a value lies outside 0 to 100 or is no number.

    Notes
    -----
    The study gives the principle and one value, level 1 for a choice of ten options. Its stricter
    criterion (somebody is right in 95 % of groups of :math:`10^L`) would add about half a level.

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
        From 0 to 5. Level 5 gives 99.999, its lower end, although it stands for 100 as well.

    Returns
    -------
    ndarray
        Per cent, in the shape of `level`.

    Raises
    ------
    DataError
        When a level lies outside 0 to 5 or is no number.

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
    """Read numbers, and refuse those that are not allowed, NaN among them."""
    try:
        found = np.asarray(values, dtype=float)
    except (TypeError, ValueError):
        raise DataError(f"{what}: {values!r} is no number; give numbers {need}") from None
    wrong = found[~allowed(found)]
    if wrong.size:
        raise DataError(
            f"{what}: {wrong.size} of {found.size} value(s) such as {wrong[0]:g}; give numbers "
            f"{need}"
        )
    return found
