"""Values of an item that lie outside a subject's training items."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...common.digits import short
from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.steps import rows_per_item
from ...layouts import Layout, Measured, MetaFeature
from ...linking import units
from ..model.alignment import Features, defined
from ..posterior.posterior import Posterior

_ROUNDING = 1e-7  # tolerance for float32 columns, as a part of a column's largest value
_AT_ONCE = 4096  # items compared at a time
_TOLD = 3  # findings per item that a remark describes in words
_NUMBERS = ("value", "low", "high", "beyond")
_COLUMNS = {
    name: float if name in _NUMBERS else "str"
    for name in (*("subject", "item", "kind", "meta_feature", *_NUMBERS, "unit"),)
}


@dataclass(frozen=True, eq=False)
class Support:
    """Items to forecast, and the training items of each subject with which they are compared.

    A subject's training items are those that it attempted. A labelled meta-feature has a column
    for each label. An undefined meta-feature is not compared. Of a measured demand, the expected
    level is compared.

    Attributes
    ----------
    columns : tuple of (str, MetaFeature or Measured)
        Name of each column, and the node that declares it.
    items, subjects : Index
        Names of the items and of the subjects.
    values : ndarray, shape (items, columns)
        Meta-features of the items to forecast, NaN where undefined.
    training : ndarray, shape (items of the fit, columns)
        Meta-features of the items of the fit, NaN where undefined.
    attempted : tuple of ndarray
        Distinct sets of training items, each with a bit for every item of the fit.
    which : ndarray of int, shape (subjects,)
        Position of each subject's set in `attempted`.
    """

    columns: tuple[tuple[str, MetaFeature | Measured], ...]
    items: pd.Index
    subjects: pd.Index
    values: np.ndarray
    training: np.ndarray
    attempted: tuple[np.ndarray, ...]
    which: np.ndarray

    @classmethod
    def of(
        cls,
        fit: Posterior,
        who: Sequence[str],
        rows: np.ndarray,
        items: pd.Index,
        features: Features,
    ) -> "Support":
        """Read the training items of some subjects from a fit.

        Parameters
        ----------
        fit : Posterior
            The fit.
        who : sequence of str
            Names of the subjects.
        rows : ndarray of int
            Their positions in the fit, or -1 for new subjects, which are compared with all items
            that any subject attempted.
        items : Index
            Names of the items to forecast.
        features : dict of str to ndarray
            Meta-features of these items, as `read_features` returns them.
        """
        layout, each = fit.layout, rows_per_item(fit.layout)
        columns = [(name, node) for node in layout.properties for name in node.columns]
        cells = fit.coded
        anybody = cells.attempted
        found: dict[bytes, int] = {}
        which = []
        for row in rows:
            tried = cells.counts(row)[1] > 0 if row >= 0 else anybody
            bits = np.packbits(tried.reshape(-1, each).any(axis=1))
            which.append(found.setdefault(bits.tobytes(), len(found)))
        return cls(
            tuple(columns),
            items,
            pd.Index(list(who), dtype="str"),
            defined_columns(layout, features, len(items)),
            defined_columns(layout, features_of_items(fit), len(anybody) // each),
            tuple(np.frombuffer(bits, dtype=np.uint8) for bits in found),
            np.array(which, dtype=int),
        )

    def flags(self) -> np.ndarray:
        """Mark the items that lie outside each subject's training items, (subjects, items).

        A value of theirs lies beyond the lowest or highest one of the training items, is a level
        that none of them has, or is of a column that is undefined on all of them.
        """
        outside = np.zeros((len(self.attempted), len(self.items)), dtype=bool)
        for number in range(len(outside)):
            met = self._met(number)
            for part in _parts(len(self.items)):
                outside[number, part] = np.any(self._outside(met, part), axis=(0, 2))
        return np.asarray(outside[self.which])

    def table(self, subjects: Iterable[str], items: Iterable[str]) -> pd.DataFrame:
        """List the values that lie outside the training items; see `Forecast.outside`."""
        places, who = self._places(self.items, items), self._places(self.subjects, subjects)
        known = {number: self._findings(number, places) for number in set(self.which[who])}
        found = [
            (self.subjects[at], self.items[places[own.item]], *own[1:])
            for at in who
            for own in known[self.which[at]]
        ]
        return pd.DataFrame(found, columns=list(_COLUMNS)).astype(_COLUMNS)

    def remarks(self, subjects: Iterable[str], items: Iterable[str]) -> np.ndarray:
        """Describe in words the values outside, by subject and item; empty where there are none."""
        places, who = self._places(self.items, items), self._places(self.subjects, subjects)
        known = {number: self._told(number, places) for number in set(self.which[who])}
        found = np.full((len(who), len(places)), "", dtype=object)
        for row, subject in enumerate(who):
            found[row] = known[self.which[subject]]
        return found

    def _told(self, number: int, places: np.ndarray) -> np.ndarray:
        told: list[list[str]] = [[] for _ in places]
        for finding in self._findings(number, places):
            told[finding.item].append(_in_words(finding))
        texts = np.full(len(places), "", dtype=object)
        for item, own in enumerate(told):
            left = [f"{len(own) - _TOLD} more"] if len(own) > _TOLD else []
            texts[item] = "; ".join([*own[:_TOLD], *left])
        return texts

    def _findings(self, number: int, places: np.ndarray) -> list["_Finding"]:
        """List the findings for one set of training items; items are positions in `places`."""
        met, values = self._met(number), self.values[places]
        names = [name for name, _ in self.columns]
        measured = [units.name(node.unit) for _, node in self.columns]
        lows, highs = met.low.tolist(), met.high.tolist()
        with np.errstate(invalid="ignore"):  # infinite values give invalid differences
            far = values - np.clip(values, met.low, met.high)
        found = list[_Finding]()
        kinds = ("beyond", "level", "undefined")
        for kind, flagged in zip(kinds, self._outside(met, places), strict=True):
            for item, at in np.argwhere(flagged).tolist():
                numbers = float(values[item, at]), lows[at], highs[at], float(far[item, at])
                found.append(_Finding(item, kind, names[at], *numbers, measured[at]))
        return sorted(found, key=lambda finding: finding.item)

    def _outside(self, met: "_Met", part: slice | np.ndarray) -> list[np.ndarray]:
        """Mark values beyond the training values, new levels, and values in undefined columns."""
        values, codes = self.values[part], self._codes[1][part]
        there = ~np.isnan(values)
        nothing = np.isnan(met.low)
        slack = self._slack
        beyond = there & ((values < met.low - slack) | (values > met.high + slack))
        levelled = np.array(
            [isinstance(node, MetaFeature) and node.levels is not None for _, node in self.columns],
            dtype=bool,
        )
        new = there & levelled & ~nothing & ~beyond
        for column in np.flatnonzero(new.any(axis=0)):
            new[:, column] &= ~met.present[column][codes[:, column]]
        return [beyond, new, there & nothing]

    @cached_property
    def _slack(self) -> np.ndarray:
        finite = np.where(np.isfinite(self.training), np.abs(self.training), 0)
        return np.asarray(_ROUNDING * finite.max(axis=0, initial=0))

    @cached_property
    def _codes(self) -> tuple[np.ndarray, np.ndarray]:
        """Assign numbers to the distinct values of each column, in the fit and in the forecast."""
        found = [np.empty(values.shape, dtype=np.int32) for values in (self.training, self.values)]
        for column, slack in enumerate(self._slack):
            runs = _runs(self.training[:, column], slack)
            for codes, values in zip(found, (self.training, self.values), strict=True):
                codes[:, column] = _numbered(values[:, column], *runs, slack)
        return found[0], found[1]

    def _met(self, number: int) -> "_Met":
        bits = np.unpackbits(self.attempted[number], count=len(self.training))
        chosen = np.flatnonzero(bits)
        return _Met.of(self.training[chosen], self._codes[0][chosen], self._codes[0].max(axis=0))

    def _places(self, known: pd.Index, names: Iterable[str]) -> np.ndarray:
        what = "item" if known is self.items else "subject"
        wanted = pd.Index(list(names))
        places = known.get_indexer(wanted)
        if (places < 0).any():
            raise DataError(
                f"unknown {what}(s): {some(wanted[places < 0])}; the forecast was made of "
                f"{some(known)}"
            )
        return np.asarray(places)


class _Finding(NamedTuple):
    """One value outside the training items; a row of the table."""

    item: int
    kind: str
    name: str
    value: float
    low: float
    high: float
    beyond: float
    unit: str


class _Met(NamedTuple):
    """Values of a set of training items.

    `low` and `high` have the ends of each column, NaN where it is undefined on all items. `present`
    marks by column the numbered values that occur; its last entry is for values without a number.
    """

    low: np.ndarray
    high: np.ndarray
    present: list[np.ndarray]

    @classmethod
    def of(cls, values: np.ndarray, codes: np.ndarray, most: np.ndarray) -> "_Met":
        present = list[np.ndarray]()
        for column in range(values.shape[1]):
            occurs = np.zeros(most[column] + 2, dtype=bool)
            occurs[codes[:, column]] = True
            occurs[-1] = False
            present.append(occurs)
        low, high = np.full((2, values.shape[1]), np.nan)
        if len(values):
            low, high = np.fmin.reduce(values), np.fmax.reduce(values)
        return cls(low, high, present)


def _parts(items: int) -> Iterator[slice]:
    """Cut items into parts, so that memory stays bounded."""
    return (slice(start, start + _AT_ONCE) for start in range(0, items, _AT_ONCE))


def _runs(values: np.ndarray, slack: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct values, ascending: first and last of each run that is equal by rounding."""
    found = np.unique(values[~np.isnan(values)])
    begins = np.flatnonzero(np.append(True, found[1:] > found[:-1] + slack)[: len(found)])
    ends = np.append(begins[1:], len(found))[: len(begins)] - 1
    return found[begins], found[ends]


def _numbered(values: np.ndarray, first: np.ndarray, last: np.ndarray, slack: float) -> np.ndarray:
    """Return the number of each value among the known ones, or -1 for other values and NaN."""
    if not len(first):
        return np.full(len(values), -1)
    at = np.searchsorted(first, values + slack, side="right") - 1
    return np.where((at >= 0) & (values <= last[at] + slack), at, -1)


def _in_words(found: _Finding) -> str:
    name, value, unit = found.name, short(found.value), found.unit
    if found.kind == "undefined":
        return f"{name} is undefined on all training items"
    if found.kind == "level":
        return f"{name} {value} is on no training item"
    far = f"{short(abs(found.beyond))} " if np.isfinite(found.beyond) else ""
    low, high = short(found.low), short(found.high)
    ends = low if found.low == found.high else f"{low} to {high}"
    where = "above" if found.value > found.high else "below"
    return f"{name} {value} is {far}{where} the training items ({ends}{' ' * bool(unit)}{unit})"


def features_of_items(fit: Posterior) -> Features:
    """Return the meta-features of the items of a fit, by name; each item occurs once."""
    constants, layout = fit.constants, fit.layout
    return {
        node.name: constants[node.name].to_numpy()[:: rows_per_item(layout)]
        for node in layout.meta_features
    }


def defined_columns(layout: Layout, features: Features, items: int) -> np.ndarray:
    """Arrange meta-features as (items, columns): means of measured ones, NaN where undefined."""
    parts = [np.empty((items, 0))]
    for node in layout.properties:
        if isinstance(node, Measured):
            chances = tuple(features[chance.name] for chance in node.chances)
            parts.append(np.reshape(node.compute(chances, ()), (items, len(node.columns))))
            continue
        there = defined(node, features, items)[:, None]
        values = features[node.name].reshape(items, len(node.columns))
        parts.append(np.where(there, values, np.nan))
    return np.hstack(parts)
