"""Training items beside the items of a forecast: which are the same, and which values are new."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...common.digits import short
from ...evaluations.alike import by_features
from ...evaluations.cells import Cells
from ...evaluations.steps import Rows, rows_per_item
from ...evaluations.tables import known_names
from ...layouts import Layout, Measured, MetaFeature
from ...linking import units
from ..model.alignment import Features, defined
from ..posterior.posterior import Posterior
from .scope import Scope

_ROUNDING = 1e-7  # tolerance for float32 columns, as a part of a column's largest value
_IN_WORDS = 3  # findings per item that a remark describes
_KINDS = ("beyond", "level", "undefined")
_TEXTS, _NUMBERS = ("subject", "item", "kind", "meta_feature"), ("value", "low", "high", "beyond")
_TYPES = dict.fromkeys(_TEXTS, "str") | dict.fromkeys(_NUMBERS, float) | {"unit": "str"}


@dataclass(frozen=True, eq=False)
class Training:
    """Training items of a fit and the items of a forecast.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    subjects, items, names : Index
        Names of the forecast's subjects and items, and of the fit's training items.
    rows : ndarray of int
        Positions of the subjects in the fit, or -1 for new subjects.
    cells : Cells
        Training outcomes of all subjects of the fit.
    features, fitted : ndarray, shape (items or training items, columns)
        Meta-features of the items to forecast and of the training items.
    values, fitted_values : ndarray, shape (items or training items, columns)
        Properties: NaN where undefined, and means of measured demands.
    """

    layout: Layout
    subjects: pd.Index
    items: pd.Index
    names: pd.Index
    rows: np.ndarray
    cells: Cells
    features: np.ndarray
    fitted: np.ndarray
    values: np.ndarray
    fitted_values: np.ndarray

    @classmethod
    def of(cls, scope: Scope) -> "Training":
        """Read the training items of the fit for the subjects and items of a forecast."""
        fit, items, layout = scope.fit, scope.items.index, scope.fit.layout
        names, fitted = names_of_items(fit), features_of_items(fit)
        pairs = ((scope.features, len(items)), (fitted, len(names)))
        return cls(
            layout,
            pd.Index(scope.names, dtype="str"),
            items,
            names,
            scope.rows,
            fit.coded,
            *(flat(layout.meta_features, *pair) for pair in pairs),
            *(defined_columns(layout, *pair) for pair in pairs),
        )

    @property
    def nameless(self) -> bool:
        """Whether names do not identify items, because they are row numbers; see `nameless`."""
        return not self.layout.joint and nameless(self.names, self.items)

    def attempted(self, rows: np.ndarray) -> np.ndarray:
        """Mark which training items, by position (-1: none), each subject attempted."""
        attempted = [
            np.isin(rows, self._tried(subject)) & (row >= 0)
            for subject, row in enumerate(self.rows)
        ]
        return np.array(attempted, dtype=bool).reshape(len(self.rows), len(rows))

    def trained(self) -> np.ndarray:
        """Mark the items that each subject was trained on, without looking at outcomes.

        Given names identify items. Without given names, items are identified by their features if
        these differ between all training items, and otherwise by number and features.
        """
        rows = self.names.get_indexer(self.items)
        return self.attempted(
            by_features(self.features, self.fitted, rows) if self.nameless else rows
        )

    def outside(self) -> np.ndarray:
        """Mark the items that lie outside each subject's training items, (subjects, items)."""
        flags = np.zeros((len(self.subjects), len(self.items)), dtype=bool)
        for subject, of_subject in enumerate(flags):
            of_subject[:] = self._outside(subject, slice(None))[0].any(axis=(1, 2))
        return flags

    def table(self, subjects: Iterable[str], items: Iterable[str]) -> pd.DataFrame:
        """List the values that lie outside the training items; see `Forecast.outside`.

        Raises
        ------
        DataError
            When a subject or an item is not in the forecast, or named twice.
        """
        subject_rows, item_rows = (
            index.get_indexer(pd.Index(known_names(names, index, kind), dtype="str"))
            for names, index, kind in (
                (subjects, self.subjects, "subject"),
                (items, self.items, "item"),
            )
        )
        names = np.array([name for name, _ in self._columns], dtype=object)
        measures = np.array([units.name(node.unit) for _, node in self._columns], dtype=object)
        tables = [pd.DataFrame(columns=[*_TYPES]).astype(_TYPES)]
        for row in subject_rows:
            outside, low, high = self._outside(row, item_rows)
            item, kind, column = np.nonzero(outside)
            value, low, high = self.values[item_rows[item], column], low[column], high[column]
            with np.errstate(invalid="ignore"):  # infinite values give invalid differences
                beyond = value - np.clip(value, low, high)
            texts = (
                self.subjects[int(row)],
                self.items[item_rows[item]],
                np.take(_KINDS, kind),
                names[column],
            )
            columns = *texts, value, low, high, beyond, measures[column]
            table = pd.DataFrame(dict(zip(_TYPES, columns, strict=True)))
            tables.append(table.astype(_TYPES))
        return pd.concat(tables, ignore_index=True)

    def remarks(self, subjects: Iterable[str], items: Iterable[str]) -> np.ndarray:
        """Describe in words the values outside, by subject and item; empty where there are none."""
        subjects, items, words = list(subjects), list(items), defaultdict(list)
        for finding in self.table(subjects, items).itertuples():
            words[finding.subject, finding.item].append(_in_words(finding))
        for texts in words.values():
            if len(texts) > _IN_WORDS:
                texts[_IN_WORDS:] = [f"{len(texts) - _IN_WORDS} more"]
        remarks = [["; ".join(words[subject, item]) for item in items] for subject in subjects]
        return np.array(remarks, dtype=object).reshape(len(subjects), len(items))

    def _outside(
        self, subject: int | np.integer, items: slice | np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Mark values outside a subject's training items, (items, kinds, columns).

        Also return the lowest and the highest training value of each column, NaN if all are
        undefined.
        """
        fitted = self.fitted_values
        values, tried = self.values[items], fitted[self._tried(subject)]
        low, high = (
            end.reduce(tried, axis=0, initial=np.nan, dtype=float) for end in (np.fmin, np.fmax)
        )
        slack = _ROUNDING * np.where(np.isfinite(fitted), abs(fitted), 0).max(axis=0, initial=0)
        there, nothing = ~np.isnan(values), np.isnan(low)
        beyond = there & ((values < low - slack) | (values > high + slack))
        level = np.zeros_like(beyond)
        for column, (_, node) in enumerate(self._columns):
            if isinstance(node, MetaFeature) and node.levels is not None:
                level[:, column] = ~np.isin(values[:, column], tried[:, column])
        level &= there & ~nothing & ~beyond
        return np.stack([beyond, level, there & nothing], axis=1), low, high

    def _tried(self, subject: int | np.integer) -> np.ndarray:
        """Find the training items that a subject attempted, or for a new one those of anybody."""
        row = self.rows[subject]
        cells = self.cells.of_subject(row) if row >= 0 else slice(None)
        return np.unique(self.cells.item[cells] // rows_per_item(self.layout))

    @property
    def _columns(self) -> list[tuple[str, MetaFeature | Measured]]:
        """Each column, with the node that declares it."""
        return [(name, node) for node in self.layout.properties for name in node.columns]


def _in_words(finding: Any) -> str:
    name, value, unit = finding.meta_feature, short(finding.value), finding.unit
    if finding.kind == "undefined":
        return f"{name} is undefined on all training items"
    if finding.kind == "level":
        return f"{name} {value} is on no training item"
    far = f"{short(abs(finding.beyond))} " if np.isfinite(finding.beyond) else ""
    low, high = short(finding.low), short(finding.high)
    ends = low if finding.low == finding.high else f"{low} to {high}"
    where = "above" if finding.value > finding.high else "below"
    return f"{name} {value} is {far}{where} the training items ({ends}{' ' * bool(unit)}{unit})"


def names_of_items(fit: Posterior) -> pd.Index:
    """Return the names of the items of a fit; each item occurs once, also where rows are steps."""
    return fit.item_names if fit.layout.steps is None else Rows.read(fit.item_names).items


def features_of_items(fit: Posterior) -> Features:
    """Return the meta-features of the items of a fit, by name; each item occurs once."""
    constants, step_count = fit.constants, rows_per_item(fit.layout)
    return {
        node.name: constants[node.name].to_numpy()[::step_count]
        for node in fit.layout.meta_features
    }


def flat(nodes: Sequence[MetaFeature], features: Features, items: int) -> np.ndarray:
    """Arrange meta-features as a table with a column for each label."""
    columns = [features[node.name].reshape(items, len(node.columns)) for node in nodes]
    return np.concatenate([np.zeros((items, 0)), *columns], axis=1)


def defined_columns(layout: Layout, features: Features, items: int) -> np.ndarray:
    """Arrange meta-features as (items, columns): means of measured ones, NaN where undefined."""
    columns = [np.empty((items, 0))]
    for node in layout.properties:
        if isinstance(node, Measured):
            values = node.compute(tuple(features[chance.name] for chance in node.chances), ())
        else:
            values = flat([node], features, items)
            values[~defined(node, features, items)] = np.nan
        columns.append(np.reshape(values, (items, len(node.columns))))
    return np.hstack(columns)


def nameless(names: pd.Index, others: pd.Index) -> bool:
    """Whether equal names do not identify items, because one table's names are row numbers.

    Whole numbers from 0 without a gap, in any order, are row numbers of a table without given
    names. Numbers that continue those of the other table are further rows of the same table.

    Examples
    --------
    >>> nameless(pd.Index(["0", "1", "2"]), pd.Index(["1", "0"]))
    True
    >>> nameless(pd.Index(["a", "b"]), pd.Index(["a"])), nameless(pd.Index(["7"]), pd.Index(["7"]))
    (False, False)
    >>> nameless(pd.Index(["0", "1"]), pd.Index(["2", "3"]))
    False
    """
    tables = set(names), set(others)
    if not any(table == set(map(str, range(len(table)))) for table in tables):
        return False
    numbers = all(name.isdecimal() for table in tables for name in table)
    return not (numbers and tables[0].isdisjoint(tables[1]))
