"""Domains: the distinct combinations of some meta-features that occur in a battery."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..distinct import distinct

# a separate table is used if it has at most this part of the rows, and this many fewer entries
_PART, _SAVED = 0.5, 100
_CHANGES = 0.1  # largest part of changes between neighbours that a processor can predict well


@dataclass(frozen=True, eq=False)
class Domain:
    """Table on which a quantity is computed, with an entry per distinct combination of values.

    Attributes
    ----------
    name : str
        Name, unique in a battery.
    size : int
        Number of entries; in a domain with `dim`, number of entries per label.
    index : ndarray of int, shape (rows,) or (rows, labels)
        Entry of each row.
    origin : ndarray of int, shape (size,) or (size, labels)
        A row with the combination of each entry.
    dim : str or None
        Label dimension of a domain whose entries are numbered separately for each label.
    """

    name: str
    size: int
    index: np.ndarray
    origin: np.ndarray
    dim: str | None = None


class Domains:
    """The domains of a battery; equal domains occur once.

    Parameters
    ----------
    labels : dict of str to tuple of str
        Label dimensions by meta-feature.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    used : iterable of str
        Meta-features on which the probability of success depends.
    tabled : iterable of str
        Meta-features whose combinations always have a separate table.

    Attributes
    ----------
    collapsed : ndarray of int, shape (items,)
        Row of each item; items with equal values of all used meta-features are one row.
    rows : Domain
        The domain of all rows.
    """

    def __init__(
        self,
        labels: Mapping[str, tuple[str, ...]],
        features: Mapping[str, np.ndarray],
        items: int,
        used: Iterable[str],
        tabled: Iterable[str] = (),
    ) -> None:
        self._tabled = frozenset(tabled)
        self._labels = {name: labels.get(name, ()) for name in features}
        columns = [one for name in sorted(used) for one in features[name].reshape(items, -1).T]
        first, self.collapsed = _first_seen(columns or [np.zeros(items)])
        self.features = {name: features[name][first] for name in sorted(used)}
        rows = np.arange(len(first))
        self.rows = Domain("rows", len(first), rows, rows)
        self._known = {rows.tobytes(): self.rows}
        self._found: dict[tuple[frozenset[str], tuple[str, ...]], Domain | None] = {}

    def of(self, features: frozenset[str], labels: tuple[str, ...]) -> Domain | None:
        """Find the smallest domain of a quantity; None if it is the same for all items."""
        if not features:
            return None
        key = (features, labels)
        if key not in self._found:
            self._found[key] = self._partition(sorted(features), labels)
        return self._found[key]

    def joins(self, domain: Domain | None, features: frozenset[str], dim: str) -> bool:
        """Return whether the entries of a quantity depend on all labels of a dimension."""
        joint = domain is not None and domain.dim is None
        return joint and any(dim in self._labels[name] for name in features)

    @property
    def known(self) -> list[Domain]:
        """All domains that have been found, beginning with the rows."""
        return list(self._known.values())

    def map(self, source: Domain, target: Domain) -> np.ndarray:
        """Return the entry of a coarser domain for each entry of a finer one."""
        if source.dim is not None and target.dim is not None:
            labels = np.arange(source.origin.shape[1])
            return np.asarray(target.index[source.origin, labels])
        return np.asarray(target.index[source.origin])

    def in_runs(self, source: Domain, target: Domain) -> bool:
        """Return whether most neighbouring entries of a domain have the same entry of a coarser."""
        entries = self.map(source, target)
        return entries.ndim == 1 and bool(np.mean(entries[1:] != entries[:-1]) < _CHANGES)

    def _partition(self, features: list[str], labels: tuple[str, ...]) -> Domain:
        vector = {dim for name in features for dim in self._labels[name] if dim in labels}
        dim = vector.pop() if len(vector) == 1 else None
        if vector:
            return self.rows
        columns = list[np.ndarray]()
        for name in features:  # if labels are reduced, entries differ by all columns
            values = self.features[name]
            reduced = not set(self._labels[name]) <= {dim}
            columns += list(values.reshape(len(values), -1).T) if reduced else [values]
        if dim is None:
            origin, index = _first_seen(columns)
        else:
            wide = max(values.shape[1] for values in columns if values.ndim == 2)
            cells = [
                _first_seen([one[:, label] if one.ndim == 2 else one for one in columns])
                for label in range(wide)
            ]
            size = max(len(rows) for rows, _ in cells)
            origin = np.stack(
                [np.pad(rows, (0, size - len(rows)), mode="edge") for rows, _ in cells], axis=1
            )
            index = np.stack([entries for _, entries in cells], axis=1)
        key = index.tobytes()
        if key not in self._known:
            most = min(_PART * self.rows.size, self.rows.size - _SAVED)
            if len(origin) > most and not self._tabled.issuperset(features):
                return self.rows
            self._known[key] = Domain(f"table{len(self._known)}", len(origin), index, origin, dim)
        return self._known[key]


def _first_seen(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Return the first one of each kind of rows, in their order, and the kind of each row."""
    first, number = distinct(columns)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]
