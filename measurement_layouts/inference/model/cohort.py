"""Cohorts: outcomes with the subjects and items that they belong to, as a model reads them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.names import plain
from ...evaluations.evaluation import Evaluation
from ...evaluations.subject_data import SubjectData
from ...evaluations.tables import need_columns
from ...layouts import Layout, Node
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name
from .alignment import Features
from .features import read_covariates, read_training_features


@dataclass(frozen=True, eq=False)
class Cohort:
    """Subjects, items and outcomes, with the properties that a layout uses.

    A subject that is fitted alone is a cohort of one.

    Attributes
    ----------
    layout : Layout
        The layout to fit.
    levels : dict of str to list of str
        By plate (``"subject"``, ``"item"`` and categories), the names of its levels, in order.
    of : dict of str to ndarray of int
        By category, the level of each item, or of each subject.
    features : dict of str to ndarray
        Values by meta-feature, shape (rows,) or (rows, labels). A row is an item or, in a layout
        with several outcomes, grades or scores, a step of an item's outcomes.
    covariates : dict of str to ndarray
        Values by covariate and by subject constant, shape (subjects,) or (subjects, labels).
    subject, row : ndarray of int, shape (cells,)
        Subject and row of each cell: each attempted pair or, for a subject that is fitted alone,
        each row of the battery.
    successes, trials : ndarray of int, shape (cells,)
        Outcomes of the cells.
    item_of_row : ndarray of int, shape (rows,), optional
        Item of each row (default: each row is an item).
    """

    layout: Layout
    levels: Mapping[str, list[str]]
    of: Mapping[str, np.ndarray]
    features: Features
    covariates: Features
    subject: np.ndarray
    row: np.ndarray
    successes: np.ndarray
    trials: np.ndarray
    item_of_row: np.ndarray | None = None

    @classmethod
    def of_evaluation(cls, layout: Layout, evaluation: Evaluation) -> "Cohort":
        """Read an evaluation; items without trials are left out.

        Raises
        ------
        DataError
            When the items do not fit the layout, a column is missing, or a level is missing, is not
            a level of a closed category, or belongs to several levels of a coarser category.
        """
        subjects = evaluation.subject_table
        tried = evaluation.coded.attempted
        if evaluation.rows is not None:
            tried = np.bincount(evaluation.rows.places, tried) > 0
        if not tried.all():
            evaluation = evaluation.select(items=evaluation.item_table.index[tried])
        items, rows, cells = evaluation.item_table, evaluation.rows, evaluation.coded
        kinds, codes = read_categories(layout, items, subjects)
        constants = {constant.name: 1 - cells.rates for constant in layout.constants}
        found = cls(
            layout,
            {SUBJECT: evaluation.subjects, ITEM: list(items.index), **kinds},
            codes,
            read_training_features(layout, evaluation),
            read_covariates(layout, subjects) | constants,
            cells.subject.astype(int),
            cells.item.astype(int),
            cells.successes,
            cells.trials,
            None if rows is None else rows.places,
        )
        for category in layout.categories:
            found.up(category.per, category)  # an error if a level belongs to several
        return found

    @classmethod
    def alone(cls, layout: Layout, features: Features, rows: Any, data: SubjectData) -> "Cohort":
        """Make a cohort of one subject, whose cells are all rows, attempted or not.

        Parameters
        ----------
        layout : Layout
            A layout under which subjects share no values.
        features : dict of str to ndarray
            Values by meta-feature; they are not copied.
        rows : sequence of str
            Names of the rows.
        data : SubjectData
            Outcomes and constants of the subject.
        """
        count = len(data.trials)
        return cls(
            layout.several if data.trials.max(initial=0) > 1 else layout,
            {SUBJECT: [""], ITEM: rows},
            {},
            features,
            {one.name: np.array([data.constants[one.name]]) for one in layout.constants},
            np.zeros(count, dtype=int),
            np.arange(count),
            data.successes,
            data.trials,
        )

    @cached_property
    def item(self) -> np.ndarray:
        """Item of each cell."""
        return self.row if self.item_of_row is None else self.item_of_row[self.row]

    @cached_property
    def first_row(self) -> np.ndarray:
        """First row of each item."""
        if self.item_of_row is None:
            return np.arange(len(self.levels[ITEM]))
        return np.unique(self.item_of_row, return_index=True)[1]

    @cached_property
    def digest(self) -> str:
        """Hash of all data that the log-density depends on; the layout is not included."""
        found = hashlib.sha256(
            json.dumps([self.levels[name] for name in sorted(self.levels)]).encode()
        )
        for group in (self.of, self.features, self.covariates):
            for name, values in sorted(group.items()):
                found.update(f"{name}{values.shape}\0".encode())
                found.update(np.ascontiguousarray(values))
        for values in (self.subject, self.row, self.successes, self.trials):
            found.update(np.ascontiguousarray(values))
        return found.hexdigest()

    def size(self, plates: Sequence[Plate]) -> tuple[int, ...]:
        """Return the number of levels of each plate."""
        return tuple(len(self.levels[plate_name(plate)]) for plate in plates)

    def codes(self, plate: Plate) -> np.ndarray:
        """Return the level of each cell on a plate; shape (cells,)."""
        if isinstance(plate, str):
            return self.subject if plate == SUBJECT else self.item
        return np.asarray(self.of[plate.name][self.codes(plate.root)])

    def up(self, plate: Plate, coarser: Plate) -> np.ndarray:
        """Return the level of a coarser plate for each level of a plate.

        Raises
        ------
        DataError
            When a level belongs to several levels of the coarser plate.
        """
        name, above = plate_name(plate), plate_name(coarser)
        if name == above:
            return np.arange(len(self.levels[name]))
        if isinstance(plate, str):
            return self.of[above]
        pairs = pd.DataFrame({"fine": self.of[name], "coarse": self.of[above]}).drop_duplicates()
        twice = pairs["fine"].duplicated()
        if twice.any():
            level = self.levels[name][pairs["fine"][twice].iloc[0]]
            raise DataError(
                f"{above} is declared as one per {name}, but {name} {level!r} has several; correct "
                f"the column {above!r}, or declare Category({above!r}, per={plate.root!r})"
            )
        found = np.zeros(len(self.levels[name]), dtype=int)
        found[pairs["fine"]] = pairs["coarse"]
        return found


def read_categories(
    layout: Layout,
    items: pd.DataFrame,
    subjects: pd.DataFrame,
    known: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """Read the columns of a layout's categories.

    Parameters
    ----------
    layout : Layout
        Layout with the categories.
    items, subjects : DataFrame
        Properties of items and subjects.
    known : mapping of str to sequence of str, optional
        By category, levels that come first, such as those of the training data.

    Returns
    -------
    levels : dict of str to list of str
        By category, the known levels, then the levels that occur in the columns, in the order of
        the declaration, or else of their occurrence.
    codes : dict of str to ndarray of int
        By category, the level of each item or subject.

    Raises
    ------
    DataError
        When a column is missing, a level is missing, or a level is not one of a closed category.
    """
    levels: dict[str, list[str]] = {}
    codes: dict[str, np.ndarray] = {}
    for category in layout.categories:
        table, whose = (items, "items") if category.root == ITEM else (subjects, "subjects")
        need_columns(table.columns, [category.name], f"{category.name}: the {whose} have")
        values = table[category.name]
        empty = values.isna().to_numpy()
        if empty.any():
            raise DataError(
                f"{category.name} is missing for {some(table.index[empty])} of the {whose}; fill "
                f"in the column, or leave out those {whose}"
            )
        texts = values.astype(str).map(plain)
        closed, met = category.levels or (), set(texts)
        unknown = met - set(closed)
        if closed and unknown:
            raise DataError(
                f"{category.name} has the level(s) {some(sorted(unknown))}, which are not in its "
                f"levels= {some(closed)}; add them there, or correct the column of the {whose}"
            )
        first = list((known or {}).get(category.name, ()))
        found = list(dict.fromkeys([*first, *(one for one in closed if one in met), *texts]))
        levels[category.name] = found
        codes[category.name] = pd.Index(found).get_indexer(pd.Index(texts))
    return levels, codes


def indices(cohort: Cohort, node: Node, plates: tuple[Plate, ...]) -> tuple[np.ndarray, ...]:
    """Return a node's levels for each level of finer plates, as an index into its values.

    Returns
    -------
    tuple of ndarray of int
        One array for each of the node's plates, with the axes of the finer plates.
    """
    found = []
    for coarse in cohort.layout.plates_of_nodes[node.name]:
        axis = next(at for at, fine in enumerate(plates) if determines([fine], [coarse]))
        shape = [1] * len(plates)
        shape[axis] = -1
        found.append(cohort.up(plates[axis], coarse).reshape(shape))
    return tuple(found)


def plate_feature(plate: str) -> str:
    """Name the hidden meta-feature whose values are the levels of a plate."""
    return f"{MARK}{plate}"
