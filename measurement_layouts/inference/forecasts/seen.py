"""Training items of a fit, and which forecast items are among them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...evaluations.alike import by_features
from ...evaluations.cells import Cells
from ...evaluations.steps import Rows
from ...layouts import Layout
from ..posterior.posterior import Posterior
from .support import features_of_items


@dataclass(frozen=True, eq=False)
class Seen:
    """Training items of a fit and the items of a forecast.

    Attributes
    ----------
    subjects, names : Index
        Names of the forecast's subjects and of the fit's training items; each occurs once.
    cells : Cells
        Training outcomes of the subjects; new subjects have none.
    asked : Index
        Names of the items that were forecast.
    known, features : ndarray, shape (training items, columns) and (forecast items, columns)
        Meta-features of the training items and of the forecast items.
    columns : list of str
        Names of the columns.
    joint : bool
        Whether the fit is joint. Items are then always identified by name.
    """

    subjects: pd.Index
    names: pd.Index
    cells: Cells
    asked: pd.Index
    known: np.ndarray
    features: np.ndarray
    columns: list[str]
    joint: bool

    @classmethod
    def of(
        cls,
        fit: Posterior,
        who: Sequence[str],
        rows: np.ndarray,
        asked: pd.Index,
        features: Mapping[str, np.ndarray],
    ) -> "Seen":
        """Read a fit for some subjects, by their positions (-1: new), and for some items."""
        layout = fit.layout
        names: pd.Index = fit.constants.indexes["item"].map(str)
        if layout.steps is not None:
            names = Rows.read(names).items
        cells, (fitted,) = fit.coded.select(rows[rows >= 0]), np.nonzero(rows >= 0)
        cells = replace(cells, subject=fitted[cells.subject], shape=(len(rows), cells.shape[1]))
        return cls(
            pd.Index(who),
            names,
            cells,
            asked,
            flat(layout, features_of_items(fit), len(names)),
            flat(layout, features, len(asked)),
            [name for node in layout.meta_features for name in node.columns],
            layout.joint,
        )

    @property
    def nameless(self) -> bool:
        """Whether names do not identify items, because they are row numbers; see `nameless`."""
        return not self.joint and nameless(self.names, self.asked)

    @property
    def attempted(self) -> np.ndarray:
        """Which training items each subject attempted."""
        table = np.zeros((len(self.subjects), len(self.names)), dtype=bool)
        table[self.cells.subject, self.cells.item * len(self.names) // self.cells.shape[1]] = True
        return table

    def flags(self) -> np.ndarray:
        """Mark the items that each subject was trained on, without looking at outcomes.

        Given names identify items. Without given names, items are identified by their features if
        these differ between all training items, and otherwise by number and features.
        """
        places = self.names.get_indexer(self.asked)
        attempted = self.attempted
        if not self.nameless:
            return np.asarray(attempted[:, places] & (places >= 0))
        rows = by_features(self.features, self.known, places)
        return np.asarray(attempted[:, rows] & (rows >= 0))


def flat(layout: Layout, features: Mapping[str, np.ndarray], items: int) -> np.ndarray:
    """Arrange meta-features as a table with a column for each label."""
    nodes = layout.meta_features
    columns = [features[node.name].reshape(items, len(node.columns)) for node in nodes]
    return np.concatenate([np.zeros((items, 0)), *columns], axis=1)


def nameless(names: pd.Index, asked: pd.Index) -> bool:
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
    if not (numbered(names) or numbered(asked)):
        return False
    return not (_whole(names) and _whole(asked) and not names.isin(asked).any())


def numbered(names: pd.Index) -> bool:
    """Whether names are whole numbers from 0 without a gap."""
    return set(names) == {str(number) for number in range(len(names))}


def _whole(names: pd.Index) -> bool:
    """Whether all names are whole numbers."""
    return all(name.isdecimal() for name in names)
