"""One subject on one item: formulas computed for its draws, with the item unchanged or changed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.tables import named
from ...layouts import Layout
from ...layouts.plates import ITEM
from ...linking import Expr
from ..forecasts.asked import Asked, all_draws
from ..forecasts.support import Support, defined_columns, features_of_items
from ..model.features import read_features
from ..posterior.posterior import Posterior

_NEW = "new item"


@dataclass(frozen=True, eq=False)
class Cell:
    """A subject and an item, which may be new to the fit.

    Attributes
    ----------
    asked : Asked
        The one subject and the one item.
    memory_mib : float
        Bound of the memory used during the computation, in MiB.
    """

    asked: Asked
    memory_mib: float

    @classmethod
    def of(cls, fit: Posterior, item: object, subject: object, memory_mib: float) -> "Cell":
        """Find a subject and an item in the fit, or read new ones from tables.

        Raises
        ------
        DataError
            When the item lacks a column that the layout needs, or its table has several rows.
        FitError
            When the subject or the named item is not in the fit, or when no subject is named and
            the fit has several.
        """
        table = _table_of(fit, item)
        if subject is None:
            if len(fit.subjects) != 1:
                raise FitError(
                    f"explain: the fit has {len(fit.subjects)} subjects ({some(fit.subjects)}); "
                    "name one of them, as in subject="
                    f"{fit.subjects[0] if fit.subjects else 'name'!r}"
                )
            subject = fit.subjects[0]
        one = subject if isinstance(subject, pd.DataFrame) else [subject]
        asked = Asked.of(fit, table, one)
        if len(asked.names) != 1:
            raise DataError(
                f"explain: subject= has {len(asked.names)} rows; give one subject at a time"
            )
        return cls(asked, memory_mib)

    @property
    def fit(self) -> Posterior:
        """The fit, with the subjects' profiles."""
        return self.asked.fit

    @property
    def subject(self) -> str:
        """Name of the subject."""
        return self.asked.names[0]

    @property
    def item(self) -> str:
        """Name of the item."""
        return str(self.asked.items.index[0])

    @property
    def layout(self) -> Layout:
        """The layout that was fitted."""
        return self.fit.layout

    def draws(
        self,
        target: Expr,
        changes: Sequence[Mapping[str, float]] = ({},),
        usual: Mapping[str, float] | None = None,
    ) -> np.ndarray:
        """Compute a target for all draws of the subject.

        Parameters
        ----------
        target : expression
            An expression with one number per item.
        changes : sequence of mapping of str to float
            Versions of the item, each given by the values of columns and of hidden meta-features
            that differ.
        usual : mapping of str to float, optional
            Values of hidden meta-features that are not changed.

        Returns
        -------
        ndarray, shape (changes, chains * draws)
        """
        count, hidden = len(changes), usual or {}
        features = {
            name: np.repeat(own, count, axis=0) for name, own in self.asked.features.items()
        }
        features |= {name: np.full(count, value) for name, value in hidden.items()}
        places = {
            column: (node.name, place if node.labels else None)
            for node in self.layout.meta_features
            for place, column in enumerate(node.columns)
        }
        for at, change in enumerate(changes):
            for column, value in change.items():
                name, place = places.get(column, (column, None))
                features[name][at if place is None else (at, place)] = value
        readers = self.asked.readers(features, count, self.memory_mib)
        return all_draws(readers, self.asked.places[0], target, memory_mib=self.memory_mib)

    def with_values(self, values: Mapping[str, float]) -> dict[str, float]:
        """Read the item again with other values of some columns, and return all its columns.

        Raises
        ------
        DataError
            When the layout does not accept a value, or needs one that the item lacks.
        """
        table = self.asked.items.copy()
        for column, value in values.items():
            table[column] = [float(value)]
        found = read_features(self.layout, table)
        return {
            column: float(np.reshape(found[node.name], -1)[place])
            for node in self.layout.meta_features
            for place, column in enumerate(node.columns)
        }

    def training(self) -> tuple[pd.Index, np.ndarray, np.ndarray, np.ndarray]:
        """Items that the subject attempted, their values (items, columns), successes and trials."""
        names = self.fit.constants.indexes["item"].map(str)
        values = self.all_values()
        (row,) = self.asked.rows
        if row < 0:
            none = np.zeros(0, dtype=int)
            return names[:0], values[:0], none, none
        successes, trials = (count[row] for count in self.fit.counts)
        tried = trials > 0
        return names[tried], values[tried], successes[tried], trials[tried]

    def all_values(self) -> np.ndarray:
        """Values of the columns of all items of the fit, NaN where undefined."""
        count = self.fit.constants.sizes["item"]
        found: np.ndarray = defined_columns(self.layout, features_of_items(self.fit), count)
        return found

    def own_values(self) -> np.ndarray:
        """Values of the item's columns, NaN where undefined."""
        found: np.ndarray = defined_columns(self.layout, self.asked.features, 1)[0]
        return found

    def remark(self) -> str:
        """Describe which properties of the item lie outside the subject's training items."""
        asked, items = self.asked, self.asked.items.index
        support = Support.of(asked.fit, asked.names, asked.rows, items, asked.features)
        return str(support.remarks(asked.names, items)[0, 0])


def _table_of(fit: Posterior, item: object) -> pd.DataFrame:
    """Read an item, given by its name in the fit or by its properties."""
    if isinstance(item, pd.DataFrame):
        table = named(item, "item", "item")
    elif isinstance(item, pd.Series):
        table = named(item.to_frame().T, "item", "item")
    elif isinstance(item, Mapping):
        own = {str(name): value for name, value in item.items()}
        name = str(own.pop("item", _NEW))
        table = named(pd.DataFrame([own], index=[name]), "item", "item")
    else:
        return _trained(fit, str(item))
    if len(table) != 1:
        raise DataError(
            f"explain: the table of the item has {len(table)} rows; give one, as in "
            "items.loc[['name']]"
        )
    return table


def _trained(fit: Posterior, name: str) -> pd.DataFrame:
    """Return the properties of an item of the fit as a table of one row."""
    constants = fit.constants
    names = constants.indexes["item"].map(str)
    if name not in names:
        raise FitError(
            f"explain: the fit has no item {name!r}; its items are {some(names)}; name one of "
            "these, or give the properties of a new item as a table of one row"
        )
    (place,) = np.flatnonzero(names == name)
    values = defined_columns(fit.layout, features_of_items(fit), len(names))[place]
    table = pd.DataFrame([values], [name], columns_of(fit.layout))
    for category in fit.layout.categories:
        if category.root == ITEM:
            levels = fit.posterior.indexes[category.name].map(str)
            own = levels[int(constants[category.name].to_numpy()[place])]
            table[category.name] = [own]
    return named(table, "item", "item")


def columns_of(layout: Layout) -> list[str]:
    """Columns of an item's meta-features, in the order of `Cell.own_values`."""
    return [name for node in layout.meta_features for name in node.columns]


def distances(own: np.ndarray, training: np.ndarray) -> np.ndarray:
    r"""Compute how far training items are from an item.

    .. math:: d_i = \sqrt{\frac{1}{C} \sum_c \left(\frac{x_c - x_{ic}}{s_c}\right)^2}

    over the columns c that are defined on at least one of the two items. A column that is defined
    on only one of them contributes 1 to the sum.

    Parameters
    ----------
    own : ndarray, shape (columns,)
        Values of the item, NaN where undefined. Infinite ends of bands are only compared for
        equality.
    training : ndarray, shape (items, columns)
        Values of the training items. The standard deviation s of a column is taken over its finite
        values, and is 1 where there are none or they do not differ.

    Examples
    --------
    >>> distances(np.array([2.0, np.nan]), np.array([[0.0, 1.0], [2.0, np.nan], [4.0, np.nan]]))
    array([1.11803399, 0.        , 1.22474487])
    """
    apart = np.zeros(training.shape)
    for column, value in enumerate(own):
        values = training[:, column]
        finite = np.isfinite(values)
        spread = float(values[finite].std()) if finite.any() else 0.0
        known = finite & np.isfinite(value)
        apart[:, column] = np.where(np.isnan(values) & np.isnan(value), 0.0, 1.0)
        apart[values == value, column] = 0.0
        apart[known, column] = np.abs(values[known] - value) / (spread or 1.0)
    counted = ~(np.isnan(training) & np.isnan(own))
    return np.asarray(np.sqrt((apart**2).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)))
