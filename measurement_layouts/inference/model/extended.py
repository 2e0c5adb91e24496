"""A cohort with new subjects and items after its own, which keep their properties."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.alike import equal
from ...evaluations.tables import named
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name, root
from .alignment import Features
from .cohort import Cohort, by_row, plate_feature, read_categories
from .features import read_covariates


@dataclass(frozen=True, eq=False)
class Extended:
    """Subjects and items of a forecast, among the levels of a joint fit and new levels.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, followed by the new levels, with the properties of all; without outcomes.
    fitted : dict of str to int
        By plate, the number of levels of the fit.
    subjects, items : ndarray of int
        Positions of the subjects and of the items among the levels.
    """

    cohort: Cohort
    fitted: Mapping[str, int]
    subjects: np.ndarray
    items: np.ndarray

    @classmethod
    def of(
        cls,
        cohort: Cohort,
        items: pd.DataFrame,
        features: Features,
        subjects: np.ndarray | pd.DataFrame,
    ) -> "Extended":
        """Find subjects and items in a cohort, and add those that are new.

        Parameters
        ----------
        cohort : Cohort
            Cohort of a joint fit.
        items : DataFrame
            Meta-features and categories, indexed by item.
        features : dict of str to ndarray
            Meta-features of the items.
        subjects : ndarray of int or DataFrame
            Positions of subjects in the cohort; or covariates and categories of subjects, in the
            cohort or new, indexed by name. Constants of new subjects are NaN.

        Raises
        ------
        DataError
            When a column is missing, a level is missing or unknown to a closed category, a level of
            one category belongs to several of another, or a subject or an item of the fit is given
            other properties.
        """
        layout = cohort.layout
        tables = {ITEM: (items, features)}
        levels, of, positions = dict(cohort.levels), dict(cohort.of), dict[str, np.ndarray]()
        if isinstance(subjects, pd.DataFrame):
            people = named(subjects, "subjects", "subject")
            tables[SUBJECT] = people, read_covariates(layout, people)
        else:
            positions[SUBJECT] = subjects
        of_items = {
            node.name: cohort.features[node.name][cohort.first_row] for node in layout.meta_features
        }
        properties = {ITEM: of_items, SUBJECT: dict(cohort.covariates)}
        nodes = {ITEM: layout.meta_features, SUBJECT: layout.covariates}
        for plate, (table, values) in tables.items():
            levels[plate] = list(dict.fromkeys([*cohort.levels[plate], *table.index]))
            positions[plate] = pd.Index(levels[plate]).get_indexer(table.index)
            new = positions[plate] >= len(cohort.levels[plate])
            names, fitted = table.index[~new], positions[plate][~new]
            for node in nodes[plate]:
                now, before = values[node.name], properties[plate][node.name]
                _refuse_changed(plate, names, node.columns, now[~new], before[fitted])
                properties[plate][node.name] = np.concatenate([before, now[new]])
            levels_of, codes_of = read_categories(layout, plate, table, cohort.levels)
            levels |= levels_of
            for name, codes in codes_of.items():
                words = np.array(levels[name], dtype=object)
                now, before = words[codes[~new]], words[of[name][fitted]]
                _refuse_changed(plate, names, [name], now, before)
                of[name] = np.concatenate([of[name], codes[new]])
        unknown = np.full(len(levels[SUBJECT]) - len(cohort.levels[SUBJECT]), np.nan)
        for constant in layout.constants:
            numbers = properties[SUBJECT][constant.name]
            properties[SUBJECT][constant.name] = np.append(numbers, unknown)
        rows = by_row(layout, properties[ITEM], len(levels[ITEM]))
        extended = Cohort.empty(layout, levels, of, rows, properties[SUBJECT])
        counts = {name: len(names) for name, names in cohort.levels.items()}
        return cls(extended, counts, positions[SUBJECT], positions[ITEM])

    @property
    def new_subjects(self) -> np.ndarray:
        """Whether each subject is new."""
        return np.asarray(self.subjects >= self.fitted[SUBJECT])

    @property
    def new_items(self) -> np.ndarray:
        """Whether each item is new."""
        return np.asarray(self.items >= self.fitted[ITEM])

    @property
    def new_levels(self) -> np.ndarray:
        """Whether a subject or an item has a level of a category that is new, (subjects, items)."""
        new = {SUBJECT: np.zeros(len(self.subjects), bool), ITEM: np.zeros(len(self.items), bool)}
        for category in self.cohort.layout.categories:
            new[category.root] |= self._codes(category) >= self.fitted[category.name]
        return np.asarray(new[SUBJECT][:, None] | new[ITEM])

    @property
    def hidden(self) -> Features:
        """Levels of the items on the layout's plates, as hidden meta-features."""
        levels = self._levels_of(ITEM)
        return {plate_feature(name): codes for name, codes in levels.items()}

    @property
    def levels_of_subjects(self) -> Features:
        """Levels of the subjects, by plate."""
        return self._levels_of(SUBJECT)

    @property
    def properties(self) -> Features:
        """Covariates of the subjects."""
        return {name: values[self.subjects] for name, values in self.cohort.covariates.items()}

    def _levels_of(self, side: str) -> Features:
        plates = [plate for plate in self.cohort.layout.plates if root(plate) == side]
        return {plate_name(plate): self._codes(plate) for plate in plates}

    def _codes(self, plate: Plate) -> np.ndarray:
        """Return the levels of the subjects or of the items on a plate."""
        side = root(plate)
        positions = self.subjects if side == SUBJECT else self.items
        return np.asarray(self.cohort.up(side, plate)[positions])


def _refuse_changed(
    plate: str, names: pd.Index, columns: Sequence[str], values: np.ndarray, fitted: np.ndarray
) -> None:
    """Raise an error if subjects or items of the fit are given other numbers or levels."""
    values, fitted = (cells.reshape(len(names), len(columns)) for cells in (values, fitted))
    are_levels = values.dtype == object
    changed = values != fitted if are_levels else ~equal(values, fitted)
    if changed.any():
        row, column = np.argwhere(changed)[0]
        now, before = (
            repr(cells[row, column]) if are_levels else f"{cells[row, column]:g}"
            for cells in (values, fitted)
        )
        raise DataError(
            f"{plate} {names[row]} is in the fit with {columns[column]} = {before}, but here it "
            f"has {now} ({plate}s: {some(names[changed.any(axis=1)])}); give it the value that it "
            f"was fitted with, or another name if it is another {plate}"
        )
