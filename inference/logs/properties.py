"""Items' meta-features from records: flat, tidy, the same wherever an item is met."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pandas as pd

from ..errors import DataError
from ..tables import is_missing, known_names
from ..wording import some
from .notes import Notes
from .tidy import tidy


class Properties:
    """Collects one record per item from everything that tells of it.

    Parameters
    ----------
    notes : Notes
        Told of fields that are no meta-features, and of those that differ within an item.

    Examples
    --------
    >>> properties = Properties(Notes())
    >>> properties.add("sums/1", {"digits": 2, "carry": {"count": 1}, "tags": ["a"]})
    >>> properties.table(["digits", "carry.count"])
            digits  carry.count
    item
    sums/1       2            1
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._items: dict[str, dict[str, object]] = {}
        self._differing: dict[str, str] = {}

    def add(self, item: str, record: Mapping[str, object]) -> None:
        """Take in what one attempt tells of its item."""
        known = self._items.setdefault(item, {})
        for name, value in self._fields(item, record):
            if name not in known or is_missing(known[name]):
                known[name] = value
            elif not is_missing(value) and known[name] != value:
                self._differing.setdefault(name, item)

    def table(self, features: Sequence[str] | None) -> pd.DataFrame:
        """Make the table of items, with all meta-features or the ones asked for.

        Raises
        ------
        DataError
            When one that was asked for is unknown, or differs within an item.
        """
        names = list(dict.fromkeys(name for record in self._items.values() for name in record))
        wanted = names if features is None else known_names(features, pd.Index(names), "feature")
        differing = [name for name in wanted if name in self._differing]
        if features is not None and differing:
            name = differing[0]
            raise DataError(
                f"{name} differs between attempts at one item, such as {self._differing[name]}; a "
                "meta-feature belongs to the item, so leave it out of features"
            )
        for name in differing:
            self._notes.add(f"dropped: {name} differs within an item", self._differing[name])
        left = [name for name in names if name not in wanted]
        if left:
            self._notes.add("dropped: fields not among features", some(left), len(left))
        kept = [name for name in wanted if name not in differing]
        columns = {
            name: pd.Series([record.get(name) for record in self._items.values()], dtype=object)
            for name in kept
        }
        index = pd.Index(list(self._items), name="item", dtype="str")
        return tidy(pd.DataFrame(columns).set_axis(index, axis=0), self._notes)

    def _fields(
        self, item: str, record: Mapping[str, object], within: str = ""
    ) -> Iterator[tuple[str, object]]:
        """Go through a record's fields, those of inner records as `outer.inner`."""
        for key, value in record.items():
            name = f"{within}{key}"
            if isinstance(value, Mapping):
                yield from self._fields(item, value, f"{name}.")
            elif isinstance(value, Iterable) and not isinstance(value, str):
                self._notes.add(f"dropped: field {name} holds lists", item)
            else:
                yield name, value
