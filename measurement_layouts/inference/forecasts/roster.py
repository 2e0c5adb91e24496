"""Subjects, items and levels of a forecast of a joint fit, in the fit or new."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.alike import equal
from ...evaluations.tables import named
from ...layouts import MetaFeature
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ..model.alignment import Features
from ..model.cohort import Cohort, plate_feature, read_categories
from ..model.features import read_covariates, read_features
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior


@dataclass(frozen=True, eq=False)
class Roster:
    """Subjects and items of a forecast, among the levels of a joint fit.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, followed by the new levels; without outcomes.
    known : dict of str to int
        By plate, the number of levels of the fit.
    who, what : ndarray of int
        Positions of the subjects and of the items among the levels.
    features : dict of str to ndarray
        Meta-features of the items, and their levels as hidden meta-features.
    """

    cohort: Cohort
    known: Mapping[str, int]
    who: np.ndarray
    what: np.ndarray
    features: Features

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Roster":
        """Find subjects and items in a fit, or read new ones.

        Parameters
        ----------
        fit : Posterior
            A joint fit.
        items : DataFrame
            Meta-features and categories, indexed by item.
        subjects : iterable or DataFrame, optional
            Names of subjects of the fit (default: all); or covariates and categories of subjects,
            in the fit or new, indexed by name.

        Raises
        ------
        DataError
            When a column is missing, a level is missing or unknown to a closed category, a level of
            one category belongs to several of another, or a subject or an item of the fit is given
            other properties.
        FitError
            When a name is not in the fit.
        """
        layout = fit.layout
        items = named(items, "items", "item")
        features = read_features(layout, items)
        old = cohort_of(fit)
        trained = _taken(old.features, old.first_row)
        if isinstance(subjects, pd.DataFrame):
            people = named(subjects, "subjects", "subject")
            covariates = read_covariates(layout, people)
            places = pd.Index(old.levels[SUBJECT]).get_indexer(people.index)
            for constant in layout.constants:
                values = np.append(old.covariates[constant.name], np.nan)  # -1 where new
                covariates[constant.name] = values[places]
        else:
            rows = fit.places(subjects)
            people = _people(old).iloc[rows]
            covariates = {name: values[rows] for name, values in old.covariates.items()}
        kinds, codes = read_categories(layout, items, people, old.levels)
        levels = {**old.levels, **kinds}
        at, new = {}, {}
        for plate, table in ((SUBJECT, people), (ITEM, items)):
            levels[plate] = list(dict.fromkeys([*old.levels[plate], *table.index]))
            at[plate] = pd.Index(levels[plate]).get_indexer(table.index)
            new[plate] = at[plate] >= len(old.levels[plate])
            there = np.flatnonzero(~new[plate])
            nodes, values, before = (
                (layout.covariates, covariates, old.covariates)
                if plate == SUBJECT
                else (layout.meta_features, features, trained)
            )
            mine, theirs = at[plate][there], table.index[there]
            refuse_changed(plate, theirs, nodes, _taken(values, there), _taken(before, mine))
            for category in layout.categories:
                if category.root == plate:
                    own, known = codes[category.name][there], old.of[category.name][mine]
                    _refuse_moved(category.name, plate, theirs, levels[category.name], own, known)
        of = {
            category.name: np.concatenate(
                [old.of[category.name], codes[category.name][new[category.root]]]
            )
            for category in layout.categories
        }
        everybody = {
            name: np.concatenate([values, covariates[name][new[SUBJECT]]])
            for name, values in old.covariates.items()
        }
        none = np.zeros(0, dtype=int)
        cohort = Cohort(layout, levels, of, {}, everybody, none, none, none, none)
        for category in layout.categories:
            cohort.up(category.per, category)  # raises an error if a task is in two benchmarks
        codes[ITEM] = at[ITEM]
        hidden = {
            plate_feature(plate_name(plate)): codes[plate_name(plate)]
            for plate in layout.plates
            if root(plate) == ITEM
        }
        return cls(
            cohort,
            {name: len(values) for name, values in old.levels.items()},
            at[SUBJECT],
            at[ITEM],
            features | hidden,
        )

    @property
    def names(self) -> list[str]:
        """Names of the subjects."""
        return [self.cohort.levels[SUBJECT][place] for place in self.who]

    @property
    def items(self) -> pd.Index:
        """Names of the items."""
        names = [self.cohort.levels[ITEM][place] for place in self.what]
        found: pd.Index = pd.Index(names, name="item")
        return found

    @property
    def rows(self) -> np.ndarray:
        """Positions of the subjects in the fit, or -1 for new subjects."""
        return np.where(self.who < self.known[SUBJECT], self.who, -1)

    @property
    def new_levels(self) -> np.ndarray:
        """Whether a subject or an item has a level of a category that is new, (subjects, items)."""
        found = {SUBJECT: np.zeros(len(self.who), bool), ITEM: np.zeros(len(self.what), bool)}
        places = {SUBJECT: self.who, ITEM: self.what}
        for category in self.cohort.layout.categories:
            codes = self.cohort.of[category.name][places[category.root]]
            found[category.root] |= codes >= self.known[category.name]
        return np.asarray(found[SUBJECT][:, None] | found[ITEM])


def _people(cohort: Cohort) -> pd.DataFrame:
    """Return the categories of a cohort's subjects as a table."""
    columns = {
        category.name: np.array(cohort.levels[category.name], dtype=object)[
            cohort.of[category.name]
        ]
        for category in cohort.layout.categories
        if category.root == SUBJECT
    }
    return pd.DataFrame(columns, cohort.levels[SUBJECT])


def _taken(values: Features, places: np.ndarray) -> Features:
    """Return some rows of each array."""
    return {name: own[places] for name, own in values.items()}


def refuse_changed(
    kind: str, names: pd.Index, nodes: Sequence[MetaFeature], values: Features, known: Features
) -> None:
    """Raise an error if a subject or an item of the fit is given other properties."""
    for node in nodes:
        shape = len(names), len(node.columns)
        have, had = (part[node.name].reshape(shape) for part in (values, known))
        other = ~equal(have, had)
        if other.any():
            row, column = np.argwhere(other)[0]
            raise DataError(
                f"{kind} {names[row]} is in the fit with {node.columns[column]} = "
                f"{had[row, column]:g}, but here it has {have[row, column]:g} "
                f"({other.any(axis=1).sum()} such {kind}(s)); give it the value that it was fitted "
                f"with, or another name if it is another {kind}"
            )


def _refuse_moved(
    category: str,
    kind: str,
    names: pd.Index,
    levels: Sequence[str],
    codes: np.ndarray,
    known: np.ndarray,
) -> None:
    """Raise an error if a subject or an item of the fit is given another level of a category."""
    moved = np.flatnonzero(codes != known)
    if len(moved):
        first = moved[0]
        raise DataError(
            f"{kind} {names[first]} is in the fit with {category} = {levels[known[first]]!r}, but "
            f"here it has {levels[codes[first]]!r} ({kind}s: {some(names[moved])}); give it the "
            f"level that it was fitted with, or another name if it is another {kind}"
        )
