"""Properties of items divided into levels: those that a layout uses, and candidates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.steps import STEP
from ...evaluations.tables import need_columns, refuse_repeats, texts
from ...inference.fit import Fit
from ...linking.real import real

MOST_VALUES = 8  # a property with more different numbers is divided into bins
_BINS = 6  # number of bins, with equal numbers of items up to ties
_MOST_NAMES = 30  # texts with more different values are names of items, not a property
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Property:
    """A property of items, divided into levels.

    Attributes
    ----------
    name : str
        Column of the items.
    levels : tuple of str
        Values, or bins of values; the last one is ``"missing"`` if some items lack the property.
    codes : ndarray of int, shape (items,)
        Level of each item.

    Examples
    --------
    >>> items = pd.DataFrame({"colour": ["red", None, "blue", "red"]}, index=list("abcd"))
    >>> read_property(items, "colour")
    Property('colour', levels=('blue', 'red', 'missing'))
    """

    name: str
    levels: tuple[str, ...]
    codes: np.ndarray

    def indicators(self) -> np.ndarray:
        """Return a column per level except the most frequent one, shape (items, levels - 1)."""
        counts = np.bincount(self.codes, minlength=len(self.levels))
        others = np.delete(np.arange(len(self.levels)), counts.argmax())
        return np.asarray(self.codes[:, None] == others, dtype=float)

    def take(self, places: np.ndarray) -> "Property":
        """Select items, and keep only their levels."""
        kept, codes = np.unique(self.codes[places], return_inverse=True)
        return Property(self.name, tuple(self.levels[code] for code in kept), codes)

    def __repr__(self) -> str:
        return f"Property({self.name!r}, levels={self.levels})"


def read_property(items: pd.DataFrame, name: str) -> Property:
    """Divide a column into levels.

    The levels are the values or, for more than 8 different numbers, 6 bins with equal numbers of
    items up to ties.

    Parameters
    ----------
    items : DataFrame
        Properties of the items, indexed by item.
    name : str
        A column of numbers, truth values or texts; cells may be missing.

    Returns
    -------
    Property
        The property, which has one level if all items have the same value.

    Raises
    ------
    DataError
        When there is no such column, or it has more than 30 different texts.

    Examples
    --------
    >>> items = pd.DataFrame({"size": np.arange(12.0)})
    >>> read_property(items, "size").levels
    ('0 to 1', '2 to 3', '4 to 5', '6 to 7', '8 to 9', '10 to 11')
    """
    need_columns(items.columns, [name], "the items have")
    column = items[name]
    missing = column.isna().to_numpy()
    known = column[~missing]
    numbers = _as_numbers(known)
    if numbers.isna().any():
        found, codes = _texts(name, known.map(str))
    else:
        found, codes = _numbers(numbers.to_numpy(dtype=float))
    every = np.full(len(items), len(found))
    every[~missing] = codes
    return Property(name, (*found, MISSING) if missing.any() else tuple(found), every)


def is_kind(column: pd.Series) -> bool:
    """Return whether a column has numbers or at most 30 different texts, unlike names of items."""
    numbers = _as_numbers(column)
    kinds = column.map(str) if column.dtype == object else column
    return bool(numbers.notna().eq(column.notna()).all()) or kinds.nunique() <= _MOST_NAMES


def _as_numbers(column: pd.Series) -> pd.Series:
    """Read numbers, including those written as texts; other cells, such as lists, are NaN."""
    if pd.api.types.is_complex_dtype(column):
        return pd.Series(np.nan, column.index)
    if column.dtype == object:
        column = column.map(lambda cell: cell if isinstance(cell, str | np.bool) else real(cell))
    return pd.to_numeric(column, errors="coerce")


def _texts(name: str, values: pd.Series) -> tuple[list[str], np.ndarray]:
    found, codes = np.unique(values.to_numpy(dtype=str), return_inverse=True)
    if len(found) > _MOST_NAMES:
        raise DataError(
            f"{name} has {len(found)} different texts on {len(values)} items, too many to compare; "
            "group them into a column of at most "
            f"{_MOST_NAMES} kinds, or leave the column out of the candidates"
        )
    return [str(value) for value in found], codes


def _numbers(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    found, codes = np.unique(values, return_inverse=True)
    if len(found) <= MOST_VALUES:
        return [f"{value:g}" for value in found], codes
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, values, side="left")
    kept, codes = np.unique(bins, return_inverse=True)
    inside = [values[codes == place] for place in range(len(kept))]
    return [_between(part.min(), part.max()) for part in inside], codes


def _between(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


@dataclass(frozen=True, eq=False)
class Cut:
    """Properties of items, divided into levels.

    Attributes
    ----------
    items : Index of str
        Names of the items.
    used : list of Property
        Properties that the layout uses.
    candidates : list of Property
        Properties to test.
    """

    items: pd.Index
    used: list[Property]
    candidates: list[Property]

    @classmethod
    def of(cls, fit: Fit, items: pd.DataFrame, names: Sequence[str]) -> "Cut":
        """Divide columns of the items into levels.

        Raises
        ------
        DataError
            When a column is missing or has too many different texts.
        """
        used, asked = (
            [read_property(items, name) for name in columns]
            for columns in (used_columns(fit), names)
        )
        return cls(items.index, used, asked)

    def take(self, names: pd.Index) -> "Cut":
        """Select items, with the used properties that vary on them and all candidates.

        Raises
        ------
        DataError
            When a name is not among the items.
        """
        where = places_of(names, self.items, "item")
        used = [part.take(where) for part in self.used]
        varying = [part for part in used if len(part.levels) > 1]
        return Cut(names, varying, [part.take(where) for part in self.candidates])


def places_of(names: Iterable[str], known: pd.Index, what: str) -> np.ndarray:
    """Find fitted subjects or items among those of an evaluation, by position."""
    wanted = pd.Index(names)
    found = known.get_indexer(wanted)
    if (found < 0).any():
        raise DataError(
            f"the evaluation lacks the fitted {what}(s) {some(wanted[found < 0])}; give the "
            "evaluation that was fitted"
        )
    return np.asarray(found)


def used_columns(fit: Fit) -> list[str]:
    """Return the columns of the items that the layout uses."""
    return [column for feature in fit.layout.meta_features for column in feature.columns]


def candidate_columns(fit: Fit, items: pd.DataFrame, asked: Iterable[str] | None) -> list[str]:
    """Check the given candidates; without any, return all possible ones, if there are any.

    Raises
    ------
    DataError
        When an empty list is given, a name is repeated, or the layout uses a candidate.
    """
    used = [*used_columns(fit), STEP]
    if asked is None:
        need_columns(items.columns, list(items.columns), "the items have")
        names = [str(name) for name in items.columns if name not in used and is_kind(items[name])]
    else:
        names = [asked] if isinstance(asked, str) else texts(asked, "the candidates")
        refuse_repeats(names, "property", "the candidates")
        both = [name for name in names if name in used]
        if both:
            raise DataError(
                f"the layout uses {some(both)}, so that it is not a candidate; leave it out of "
                "candidates=: Criticism.table always has a row for the form of its effect"
            )
        if not names:
            raise DataError(
                "candidates= is empty; name columns of the items that the layout does not use, or "
                "leave out candidates= to test all of them"
            )
    return names


def why_none(fit: Fit, items: pd.DataFrame) -> str:
    """Return the reason why no property of the items is a candidate.

    Parameters
    ----------
    fit : Fit
        Fit of a layout that uses some properties.
    items : DataFrame
        Properties of the items, none of which can be tested.
    """
    used = [*used_columns(fit), STEP]
    others = [str(name) for name in items.columns if name not in used]
    why = "the layout uses every property of the items"
    if others:
        why = (
            f"what the layout does not use ({some(others)}) has over {_MOST_NAMES} different texts"
            ", which are names of items rather than a property"
        )
    return why
