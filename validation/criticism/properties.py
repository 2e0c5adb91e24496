"""Properties of items as levels, and which of them stand in for what a layout uses."""

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

MOST_VALUES = 8  # a property with more different numbers is cut into bins
_BINS = 6  # with as many items each, as near as ties allow
_MOST_NAMES = 30  # text with more different values names the items rather than a property of them
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Property:
    """A property of items, cut into levels.

    Attributes
    ----------
    name : str
        The items' column.
    levels : tuple of str
        Values, or bins of values; ``"missing"`` last where some items lack it.
    codes : ndarray of int, shape (items,)
        Which level each item has.

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
        """One column per level but the most frequent one, shape (items, levels - 1)."""
        counts = np.bincount(self.codes, minlength=len(self.levels))
        others = np.delete(np.arange(len(self.levels)), counts.argmax())
        return np.asarray(self.codes[:, None] == others, dtype=float)

    def take(self, places: np.ndarray) -> "Property":
        """Keep some items, and the levels they have."""
        kept, codes = np.unique(self.codes[places], return_inverse=True)
        return Property(self.name, tuple(self.levels[code] for code in kept), codes)

    def __repr__(self) -> str:
        return f"Property({self.name!r}, levels={self.levels})"


def read_property(items: pd.DataFrame, name: str) -> Property:
    """Cut a column into levels: values where they are few, bins of equally many items elsewhere.

    Parameters
    ----------
    items : DataFrame
        Indexed by item.
    name : str
        A column of numbers, truth values or text; cells may be missing.

    Returns
    -------
    Property
        With one level only, if all items are alike.

    Raises
    ------
    DataError
        When there is no such column, or its text differs on nearly every item.

    Examples
    --------
    >>> items = pd.DataFrame({"size": np.arange(12.0)})
    >>> read_property(items, "size").levels
    ('0 to 1', '2 to 3', '4 to 5', '6 to 7', '8 to 9', '10 to 11')
    """
    if name not in items.columns:
        raise DataError(f"the items have no column {name!r}; they have {some(items.columns, 20)}")
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
    """Whether a column says of what kind items are, rather than naming them."""
    numbers = _as_numbers(column)
    kinds = column.map(str) if column.dtype == object else column
    return bool(numbers.notna().eq(column.notna()).all()) or kinds.nunique() <= _MOST_NAMES


def _as_numbers(column: pd.Series) -> pd.Series:
    """Read numbers, also those written as texts; NaN for other cells, such as lists."""
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
    """Properties of items, cut into levels.

    Attributes
    ----------
    items : Index of str
        The items.
    used : list of Property
        Those that the layout uses.
    candidates : list of Property
        Others, as asked for.
    """

    items: pd.Index
    used: list[Property]
    candidates: list[Property]

    @classmethod
    def of(cls, fit: Fit, items: pd.DataFrame, names: Sequence[str]) -> "Cut":
        """Cut columns of the items.

        Raises
        ------
        DataError
            When a column is not there.
        """
        used, asked = (
            [read_property(items, name) for name in columns]
            for columns in (used_columns(fit), names)
        )
        return cls(items.index, used, asked)

    def take(self, names: pd.Index) -> "Cut":
        """Keep some items; of what the layout uses, what varies on them.

        Raises
        ------
        DataError
            When one is not among the items.
        """
        where = self.items.get_indexer(names)
        if (where < 0).any():
            raise DataError(
                f"the evaluation has no item {some(names[where < 0])}, on which the fit was made; "
                "give the evaluation that was fitted"
            )
        used = [part.take(where) for part in self.used]
        varying = [part for part in used if len(part.levels) > 1]
        return Cut(names, varying, [part.take(where) for part in self.candidates])


def used_columns(fit: Fit) -> list[str]:
    """Columns of the items that the layout uses."""
    return [column for feature in fit.layout.meta_features for column in feature.columns]


def candidate_columns(fit: Fit, items: pd.DataFrame, asked: Iterable[str] | None) -> list[str]:
    """Check the candidates asked for, or find all; there may be none if they were not asked for.

    Raises
    ------
    DataError
        When none is named, one repeats, or the layout uses one.
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
                f"the layout uses {some(both)}, so it cannot be missing there; leave it out of the "
                "candidates: whether its form fits is said in Criticism.table in any case"
            )
        if not names:
            raise DataError(
                "there are no candidates: none was named; name columns of the items that the "
                "layout does not use, or leave candidates= out to try all of them"
            )
    return names


def why_none(fit: Fit, items: pd.DataFrame) -> str:
    """Say why no property of the items is a candidate.

    Parameters
    ----------
    fit : Fit
        Whose layout uses some properties.
    items : DataFrame
        With their properties, none of which can be tried.
    """
    used = [*used_columns(fit), STEP]
    others = [str(name) for name in items.columns if name not in used]
    why = "the layout uses every property of the items"
    if others:
        why = (
            f"what the layout does not use ({some(others)}) has over {_MOST_NAMES} different texts"
            ", which name items rather than a kind of them"
        )
    return why
