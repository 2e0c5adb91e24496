"""Cohorts: outcomes with the subjects and items that they belong to, as a model reads them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...common.names import plain
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import of_rows, rows_per_item
from ...evaluations.subject_data import SubjectData
from ...evaluations.tables import named, need_columns
from ...layouts import Layout, Node
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name
from .alignment import Features
from .features import read_covariates, read_features, read_training_features


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
        tried = evaluation.coded.attempted
        if evaluation.rows is not None:
            tried = np.bincount(evaluation.rows.places, tried) > 0
        if not tried.all():
            evaluation = evaluation.select(items=evaluation.item_table.index[tried])
        items, subjects = evaluation.item_table, evaluation.subject_table
        features, cells = read_training_features(layout, evaluation), evaluation.coded
        constants = {constant.name: 1 - cells.rates for constant in layout.constants}
        covariates = read_covariates(layout, subjects) | constants
        return replace(
            cls.empty(layout, *_read_levels(layout, items, subjects), features, covariates),
            subject=cells.subject.astype(int),
            row=cells.item.astype(int),
            successes=cells.successes,
            trials=cells.trials,
        )

    @classmethod
    def of_tables(cls, layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame) -> "Cohort":
        """Read subjects and items without outcomes.

        Parameters
        ----------
        layout : Layout
            The layout.
        items, subjects : DataFrame
            Properties, indexed by name; the table of subjects may have no columns.

        Raises
        ------
        DataError
            When a table is empty, a column is missing, or the properties do not fit the layout.
        """
        items, subjects = named(items, "items", "item"), named(subjects, "subjects", "subject")
        for table, plate in ((items, ITEM), (subjects, SUBJECT)):
            if not len(table):
                raise DataError(f"there are no {plate}s; give at least one, as a row of {plate}s")
        features = by_row(layout, read_features(layout, items), len(items))
        levels, codes = _read_levels(layout, items, subjects)
        return cls.empty(layout, levels, codes, features, read_covariates(layout, subjects))

    @classmethod
    def empty(
        cls,
        layout: Layout,
        levels: Mapping[str, list[str]],
        of: Mapping[str, np.ndarray],
        features: Features,
        covariates: Features,
    ) -> "Cohort":
        """Make a cohort without outcomes, of which rows are all steps of each item in order.

        Raises
        ------
        DataError
            When a level of a category belongs to several levels of a coarser one.
        """
        none, item_of_row = np.zeros(0, dtype=int), None
        if layout.steps is not None:
            item_of_row = np.repeat(np.arange(len(levels[ITEM])), rows_per_item(layout))
        cohort = cls(layout, levels, of, features, covariates, none, none, none, none, item_of_row)
        for category in layout.categories:
            cohort.up(category.per, category)
        return cohort

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
        levels = json.dumps([self.levels[name] for name in sorted(self.levels)])
        data = hashlib.sha256(levels.encode())
        for group in (self.of, self.features, self.covariates):
            for name, values in sorted(group.items()):
                data.update(f"{name}{values.shape}\0".encode())
                data.update(np.ascontiguousarray(values))
        for values in (self.subject, self.row, self.successes, self.trials):
            data.update(np.ascontiguousarray(values))
        return data.hexdigest()

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
        levels = np.zeros(len(self.levels[name]), dtype=int)
        levels[pairs["fine"]] = pairs["coarse"]
        return levels


def by_row(layout: Layout, features: Features, items: int) -> Features:
    """Give items' rows their meta-features, and those of their step."""
    return features if layout.steps is None else of_rows(layout.steps, features, items)


def _read_levels(
    layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame
) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """Read the levels of all plates, and those of each item and subject."""
    of_items, item_codes = read_categories(layout, ITEM, items)
    of_subjects, subject_codes = read_categories(layout, SUBJECT, subjects)
    names = {SUBJECT: list(subjects.index), ITEM: list(items.index)}
    return names | of_items | of_subjects, item_codes | subject_codes


def read_categories(
    layout: Layout,
    plate: str,
    table: pd.DataFrame,
    fitted: Mapping[str, Sequence[str]] | None = None,
) -> tuple[dict[str, list[str]], dict[str, np.ndarray]]:
    """Read the columns of a layout's categories of items, or of subjects.

    Parameters
    ----------
    layout : Layout
        Layout with the categories.
    plate : {"subject", "item"}
        Whether categories of subjects or of items are read.
    table : DataFrame
        Properties of the subjects or items.
    fitted : mapping of str to sequence of str, optional
        By category, levels that come first, such as those of the training data.

    Returns
    -------
    levels : dict of str to list of str
        By category, the fitted levels, then the levels that occur in the column, in the order of
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
        if category.root != plate:
            continue
        need_columns(table.columns, [category.name], f"{category.name}: the {plate}s have")
        values = table[category.name]
        empty = values.isna().to_numpy()
        if empty.any():
            raise DataError(
                f"{category.name} is missing for {some(table.index[empty])} of the {plate}s; fill "
                f"in the column, or leave out those {plate}s"
            )
        texts = values.astype(str).map(plain)
        closed, names = category.levels or (), set(texts)
        unknown = names - set(closed)
        if closed and unknown:
            raise DataError(
                f"{category.name} has the level(s) {some(sorted(unknown))}, which are not in its "
                f"levels= {some(closed)}; add them there, or correct the column of the {plate}s"
            )
        declared = (level for level in closed if level in names)
        first = (fitted or {}).get(category.name, ())
        levels[category.name] = list(dict.fromkeys([*first, *declared, *texts]))
        codes[category.name] = pd.Index(levels[category.name]).get_indexer(pd.Index(texts))
    return levels, codes


def indices(
    cohort: Cohort,
    node: Node,
    plates: tuple[Plate, ...],
    levels: tuple[np.ndarray, ...] | None = None,
) -> tuple[np.ndarray, ...]:
    """Return a node's levels for levels of finer plates, as an index into its values.

    Parameters
    ----------
    cohort : Cohort
        Cohort with the levels.
    node : Node
        The node.
    plates : tuple of Plate
        Plates that determine those of the node.
    levels : tuple of ndarray of int, optional
        Levels of each of these plates (default: all levels, with an axis for each plate).

    Returns
    -------
    tuple of ndarray of int
        One array for each of the node's plates, with the axes of `levels`.
    """
    if levels is None:
        levels = np.ix_(*map(np.arange, cohort.size(plates)))
    index = []
    for coarse in cohort.layout.plates_of_nodes[node.name]:
        axis = next(at for at, fine in enumerate(plates) if determines([fine], [coarse]))
        index.append(cohort.up(plates[axis], coarse)[levels[axis]])
    return tuple(index)


def plate_feature(plate: str) -> str:
    """Name the hidden meta-feature whose values are the levels of a plate."""
    return f"{MARK}{plate}"
