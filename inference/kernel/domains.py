"""Domains: the distinct combinations of some meta-features that occur in a battery."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..distinct import distinct

# a table of its own pays with at most that part of the rows, and so many fewer
_PART, _SAVED = 0.5, 100


@dataclass(frozen=True, eq=False)
class Domain:
    """Where a quantity is computed: a table with an entry per distinct combination.

    Attributes
    ----------
    name : str
        Unique in a battery.
    size : int
        Entries; per label for a domain of cells.
    index : ndarray of int, shape (rows,) or (rows, labels)
        Each row's entry.
    origin : ndarray of int, shape (size,) or (size, labels)
        A row that stands for each entry.
    dim : str or None
        Label dimension of a domain of cells, which numbers the values of each label on its own.
    """

    name: str
    size: int
    index: np.ndarray
    origin: np.ndarray
    dim: str | None = None


class Domains:
    """The domains of a battery, each partition once.

    Parameters
    ----------
    labels : dict of str to tuple of str
        Label dimensions by meta-feature, where it has some.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    used : iterable of str
        Meta-features on which the probability of success depends.
    apart : bool
        Whether every item is a row of its own, however alike.
    tabled : iterable of str
        Meta-features whose combinations always have a table of their own, however many there are.

    Attributes
    ----------
    collapsed : ndarray of int, shape (items,)
        Each item's row: items alike in all that is used are one row.
    rows : Domain
        All rows.
    """

    def __init__(
        self,
        labels: Mapping[str, tuple[str, ...]],
        features: Mapping[str, np.ndarray],
        items: int,
        used: Iterable[str],
        apart: bool = False,
        tabled: Iterable[str] = (),
    ) -> None:
        self._tabled = frozenset(tabled)
        self._labels = {name: labels.get(name, ()) for name in features}
        everything = np.arange(items)
        columns = [one for name in sorted(used) for one in features[name].reshape(items, -1).T]
        told_apart = [everything] if apart else columns or [np.zeros(items)]
        first, self.collapsed = _first_seen(told_apart)
        self.features = {name: features[name][first] for name in sorted(used)}
        rows = np.arange(len(first))
        self.rows = Domain("rows", len(first), rows, rows)
        self._known = {rows.tobytes(): self.rows}
        self._found: dict[tuple[frozenset[str], tuple[str, ...]], Domain | None] = {}

    def of(self, features: frozenset[str], labels: tuple[str, ...]) -> Domain | None:
        """Find the cheapest domain of a quantity; None where it is the same for all items."""
        if not features:
            return None
        key = (features, labels)
        if key not in self._found:
            self._found[key] = self._partition(sorted(features), labels)
        return self._found[key]

    def joins(self, domain: Domain | None, features: frozenset[str], dim: str) -> bool:
        """Tell whether a quantity depends on all labels of a dimension at once."""
        joint = domain is not None and domain.dim is None
        return joint and any(dim in self._labels[name] for name in features)

    @property
    def known(self) -> list[Domain]:
        """All domains that were asked for, the rows first."""
        return list(self._known.values())

    def named(self, name: str) -> Domain:
        """Find a domain by its name."""
        return next(domain for domain in self.known if domain.name == name)

    def map(self, source: Domain, target: Domain) -> np.ndarray:
        """Entries of a coarser domain for each entry of a finer one."""
        if source.dim is not None and target.dim is not None:
            own = np.arange(source.origin.shape[1])
            return np.asarray(target.index[source.origin, own])
        return np.asarray(target.index[source.origin])

    def _partition(self, features: list[str], labels: tuple[str, ...]) -> Domain:
        vector = {dim for name in features for dim in self._labels[name] if dim in labels}
        dim = vector.pop() if len(vector) == 1 else None
        if vector:
            return self.rows
        columns = list[np.ndarray]()
        for name in features:  # of labels that are reduced, every column tells entries apart
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
            size = max(len(found) for found, _ in cells)
            origin = np.stack(
                [np.pad(found, (0, size - len(found)), mode="edge") for found, _ in cells], axis=1
            )
            index = np.stack([places for _, places in cells], axis=1)
        key = index.tobytes()
        if key not in self._known:
            most = min(_PART * self.rows.size, self.rows.size - _SAVED)
            if len(origin) > most and not self._tabled.issuperset(features):
                return self.rows
            self._known[key] = Domain(f"table{len(self._known)}", len(origin), index, origin, dim)
        return self._known[key]


def _first_seen(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Find the rows that differ, in the order in which they come; also say which each row is."""
    first, number = distinct(columns)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[number]
