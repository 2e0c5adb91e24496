"""A cohort: the attempted cells of an evaluation, and the levels that each belongs to."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.tables import need_columns
from ...layouts import Layout, Node
from ...layouts.outcomes.steps import MARK
from ...layouts.plates import ITEM, SUBJECT, Plate, determines, plate_name
from .alignment import Features
from .features import read_covariates, training_features


@dataclass(frozen=True, eq=False)
class Cohort:
    """Subjects, items and what both did, as far as a joint layout uses it.

    Attributes
    ----------
    layout : Layout
        What is fitted.
    levels : dict of str to list of str
        By plate (``"subject"``, ``"item"`` and categories): who or what there is, in order.
    of : dict of str to ndarray of int
        By category, the level of each item, or of each subject.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    covariates : dict of str to ndarray
        By covariate, shape (subjects,) or (subjects, labels).
    subject, item : ndarray of int, shape (cells,)
        Whose cell it is, of those attempted.
    successes, trials : ndarray of int, shape (cells,)
        Outcomes.
    """

    layout: Layout
    levels: Mapping[str, list[str]]
    of: Mapping[str, np.ndarray]
    features: Features
    covariates: Features
    subject: np.ndarray
    item: np.ndarray
    successes: np.ndarray
    trials: np.ndarray

    @classmethod
    def of_evaluation(cls, layout: Layout, evaluation: Evaluation) -> "Cohort":
        """Read an evaluation.

        Raises
        ------
        DataError
            When a column is not there, or a level is missing or unknown to a closed category.
        """
        subjects = evaluation.subject_table
        tried = evaluation.trials.to_numpy().any(axis=0)
        if not tried.all():
            evaluation = evaluation.select(items=evaluation.items.index[tried])
        kinds, codes = read_categories(layout, evaluation.items, subjects)
        trials = evaluation.trials.to_numpy()
        subject, item = np.nonzero(trials)
        found = cls(
            layout,
            {SUBJECT: evaluation.subjects, ITEM: list(evaluation.items.index), **kinds},
            codes,
            training_features(layout, evaluation),
            read_covariates(layout, subjects),
            subject,
            item,
            evaluation.successes.to_numpy()[subject, item],
            trials[subject, item],
        )
        for category in layout.categories:
            found.up(category.per, category)  # refuses a level that belongs to several
        return found

    @cached_property
    def digest(self) -> str:
        """Hash of all that the log-density depends on, but for the layout."""
        found = hashlib.sha256(
            json.dumps([self.levels[name] for name in sorted(self.levels)]).encode()
        )
        for group in (self.of, self.features, self.covariates):
            for name, values in sorted(group.items()):
                found.update(f"{name}{values.shape}\0".encode())
                found.update(np.ascontiguousarray(values))
        for values in (self.subject, self.item, self.successes, self.trials):
            found.update(np.ascontiguousarray(values))
        return found.hexdigest()

    def size(self, plates: Sequence[Plate]) -> tuple[int, ...]:
        """How many levels each plate has."""
        return tuple(len(self.levels[plate_name(plate)]) for plate in plates)

    def codes(self, plate: Plate) -> np.ndarray:
        """Level of each cell on a plate; shape (cells,)."""
        if isinstance(plate, str):
            return self.subject if plate == SUBJECT else self.item
        return np.asarray(self.of[plate.name][self.codes(plate.root)])

    def up(self, plate: Plate, coarser: Plate) -> np.ndarray:
        """Level of a coarser plate for each level of a plate.

        Raises
        ------
        DataError
            When a level belongs to several.
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
                f"{above} is one per {name}, but {name} {level!r} has several of it; correct "
                f"the column {above!r}, or say Category({above!r}, per={plate.root!r})"
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
        What declares them.
    items, subjects : DataFrame
        Their properties.
    known : mapping of str to sequence of str, optional
        Levels that come first, such as those of the training data.

    Returns
    -------
    levels : dict of str to list of str
        By category: known ones first, then those that occur, in the order in which they are
        declared or come.
    codes : dict of str to ndarray of int
        By category, the level of each item or subject.

    Raises
    ------
    DataError
        When a column is not there, a level is missing, or a closed category has no such level.
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
                f"{category.name} is missing for {some(table.index[empty])} of the {whose}; give "
                "each a level, or leave it out"
            )
        texts = values.astype(str)
        closed, met = category.levels or (), set(texts)
        unknown = met - set(closed)
        if closed and unknown:
            raise DataError(
                f"{category.name} has the level(s) {some(sorted(unknown))}, which its levels= "
                f"{some(closed)} do not hold; add them there, or correct the column of the {whose}"
            )
        first = list((known or {}).get(category.name, ()))
        found = list(dict.fromkeys([*first, *(one for one in closed if one in met), *texts]))
        levels[category.name] = found
        codes[category.name] = pd.Index(found).get_indexer(pd.Index(texts))
    return levels, codes


def indices(cohort: Cohort, node: Node, plates: tuple[Plate, ...]) -> tuple[np.ndarray, ...]:
    """Find a node's levels for each level of finer plates, to index its values with.

    Returns
    -------
    tuple of ndarray of int
        One for each of the node's plates, laid out along the finer plates' axes.
    """
    found = []
    for coarse in cohort.layout.plates_of_nodes[node.name]:
        axis = next(at for at, fine in enumerate(plates) if determines([fine], [coarse]))
        shape = [1] * len(plates)
        shape[axis] = -1
        found.append(cohort.up(plates[axis], coarse).reshape(shape))
    return tuple(found)


def plate_feature(plate: str) -> str:
    """Name the hidden meta-feature that tells the levels of a plate apart."""
    return f"{MARK}{plate}"
