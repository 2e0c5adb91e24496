"""Subjects and items of a forecast, in the fit or new, and the draws of their values."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.alike import equal
from ...evaluations.tables import named
from ...layouts import Latent, Layout, MetaFeature
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ...linking.real import real
from ..model.alignment import Features
from ..model.cohort import Cohort, plate_feature, read_categories
from ..model.features import read_covariates, read_features
from ..posterior.cohort import cohort_of, covariates_of, draws_at, plates_of
from ..posterior.posterior import Posterior
from .levels import Levels


@dataclass(frozen=True, eq=False)
class Block:
    """Subjects and some items, with the draws of their values.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    at : callable
        Function of a latent and levels of its plates, (levels, plates), that returns its draws,
        (draws, levels, *labels).
    features : dict of str to ndarray
        Meta-features of the items, and their levels as hidden meta-features.
    items : int
        Number of items.
    subjects : dict of str to ndarray of int
        By plate that is a property of subjects, the level of each subject.
    covariates : dict of str to ndarray
        By covariate and constant of subjects, shape (subjects,) or (subjects, labels).
    """

    layout: Layout
    at: Callable[[Latent, np.ndarray], np.ndarray]
    features: Features
    items: int
    subjects: Features
    covariates: Features

    @cached_property
    def _tables(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """By latent with values for levels of items: these levels, and the one of each item."""
        tables = {}
        for latent in self.layout.latents:
            names = [plate_name(plate) for plate in latent.plates if root(plate) == ITEM]
            if names:
                codes = np.stack([self.features[plate_feature(name)] for name in names], axis=1)
                levels, number = np.unique(codes.astype(int), axis=0, return_inverse=True)
                tables[latent.name] = levels, number.ravel()
        return tables

    @property
    def levels(self) -> Mapping[str, np.ndarray]:
        """Level of each item in a latent's draws, by latent with values for levels of items."""
        return {name: number for name, (_, number) in self._tables.items()}

    @cached_property
    def _shared(self) -> dict[str, np.ndarray]:
        """Draws of the latents that are the same for all subjects."""
        return {
            latent.name: self._draws(latent, 0)
            for latent in self.layout.latents
            if all(root(plate) == ITEM for plate in plates_of(self.layout, latent))
        }

    def read(self, subject: int) -> dict[str, np.ndarray]:
        """Read the draws of a subject, by its position.

        Returns
        -------
        dict of str to ndarray
            By latent, and by covariate and constant of the subject, shape (levels, *labels, draws),
            with one level for what has no levels of items, and one draw for covariates and
            constants.
        """
        values = dict(self._shared)
        for latent in self.layout.latents:
            if latent.name not in values:
                values[latent.name] = self._draws(latent, subject)
        for name, numbers in self.covariates.items():
            values[name] = np.asarray(numbers[subject])[None, ..., None]
        return values

    def _draws(self, latent: Latent, subject: int) -> np.ndarray:
        """Arrange one subject's draws of a latent as (levels, *labels, draws)."""
        levels, _ = self._tables.get(latent.name, (np.zeros((1, 0), dtype=int), None))
        of_items = iter(levels.T)
        codes = [
            next(of_items)
            if root(plate) == ITEM
            else np.full(len(levels), self.subjects[plate_name(plate)][subject])
            for plate in plates_of(self.layout, latent)
        ]
        draws = self.at(latent, np.stack(codes, axis=1) if codes else levels)
        return np.ascontiguousarray(np.moveaxis(draws, 0, -1))


def block_of(fit: Posterior, features: Features, items: int) -> Block:
    """Return a fit's subjects, and items with given features.

    Raises
    ------
    FitError
        When the fit is joint, and the features lack the levels of the items.
    """
    layout = fit.layout
    names = [plate_name(plate) for plate in layout.plates if root(plate) == ITEM]
    missing = [name for name in names if plate_feature(name) not in features]
    if missing:
        raise FitError(
            f"layout {layout.name!r} has values for each {' and '.join(missing)}, but this "
            "computation is for subjects that share no values; use forecast or derived, which find "
            "the fit's items by name"
        )
    categories = [one.name for one in layout.categories if one.root == SUBJECT]
    levels = {name: fit.constants[name].to_numpy() for name in categories}
    levels[SUBJECT] = np.arange(len(fit.subjects))
    return Block(layout, partial(draws_at, fit), features, items, levels, covariates_of(fit))


_OF_LEVELS = 0.25  # part of the memory for the draws of values of items


@dataclass(frozen=True, eq=False)
class Scope:
    """Subjects and items of a forecast; in a joint fit, both may be new.

    Attributes
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    items : DataFrame
        The items, by name.
    names : list of str
        Names of the subjects.
    rows : ndarray of int
        Positions of the subjects in the fit, or -1 for new subjects.
    features : dict of str to ndarray
        Meta-features of the items, and in a joint fit their levels as hidden meta-features.
    extended : Extended or None
        Levels of a joint fit and new levels (otherwise None).
    """

    fit: Posterior
    items: pd.DataFrame
    names: list[str]
    rows: np.ndarray
    features: Features
    extended: "Extended | None" = None

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Scope":
        """Find subjects and items in a fit, or read new ones.

        Parameters and errors are those of `Extended.of`; a table of subjects needs a joint fit.
        """
        items = named(items, "items", "item")
        features = read_features(fit.layout, items)
        if not fit.layout.joint:
            rows = fit.places(subjects)
            return cls(fit, items, fit.names(rows), rows, features)
        extended = Extended.of(fit, items, features, subjects)
        for constant in fit.layout.constants:
            if extended.new_subjects.any():
                raise FitError(
                    f"{constant.name} is computed from a subject's outcomes, which new subjects do "
                    "not have; forecast subjects of the fit, or fit.newcomer(evaluation)"
                )
        names = [extended.cohort.levels[SUBJECT][code] for code in extended.subjects]
        rows = np.where(extended.new_subjects, -1, extended.subjects)
        return cls(fit, items, names, rows, features | extended.hidden, extended)

    def blocks(self, features: Features, items: int, memory_mib: float) -> Iterator[Block]:
        """Yield the subjects with some items at a time, whose draws take a quarter of the memory.

        Parameters
        ----------
        features : dict of str to ndarray
            Features of the items: `features`, or others with the same levels.
        items : int
            Number of items.
        memory_mib : float
            Bound of the memory used during the computation, in MiB.
        """
        if self.extended is None:
            block = block_of(self.fit, features, items)
            rows = self.rows
            levels, covariates = _taken(block.subjects, rows), _taken(block.covariates, rows)
            yield replace(block, subjects=levels, covariates=covariates)
            return
        layout, sizes = self.fit.layout, self.fit.posterior.sizes
        values = sum(
            math.prod(map(len, latent.dims.values()))
            for latent in layout.latents
            if any(root(plate) == ITEM for plate in latent.plates)
        )
        each = 8 * sizes["chain"] * sizes["draw"] * max(1, values)
        together = max(1, int(_OF_LEVELS * byte_count(memory_mib) / each))
        at = Levels(self.fit, self.extended.cohort, self.extended.fitted).at
        subjects = self.extended.levels_of_subjects, self.extended.properties
        for start in range(0, max(1, items), together):
            chosen = {name: values[start : start + together] for name, values in features.items()}
            yield Block(layout, at, chosen, min(together, items - start), *subjects)


def byte_count(memory_mib: object) -> float:
    """Convert a bound of memory in MiB to bytes.

    Raises
    ------
    FitError
        When it is not a positive number.
    """
    number = None if isinstance(memory_mib, bool) else real(memory_mib)
    if number is None or not 0 < number < math.inf:
        raise FitError(f"memory_mib={memory_mib!r}; give a positive number of MiB, such as 256")
    return max(1.0, number * 2**20)


@dataclass(frozen=True, eq=False)
class Extended:
    """Subjects and items of a forecast, among the levels of a joint fit and new levels.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, followed by the new levels; without outcomes.
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
        fit: Posterior,
        items: pd.DataFrame,
        features: Features,
        subjects: Iterable[object] | pd.DataFrame | None,
    ) -> "Extended":
        """Find subjects and items in a fit, or read new ones.

        Parameters
        ----------
        fit : Posterior
            A joint fit.
        items : DataFrame
            Meta-features and categories, indexed by item.
        features : dict of str to ndarray
            Meta-features of the items.
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
        layout, fitted = fit.layout, cohort_of(fit)
        if isinstance(subjects, pd.DataFrame):
            people = named(subjects, "subjects", "subject")
            covariates = read_covariates(layout, people)
            rows = pd.Index(fitted.levels[SUBJECT]).get_indexer(people.index)
            for constant in layout.constants:  # unknown of new subjects
                numbers = np.append(fitted.covariates[constant.name], np.nan)
                covariates[constant.name] = numbers[rows]
        else:
            rows = fit.places(subjects)
            people = _categories_of_subjects(fitted).iloc[rows]
            covariates = {name: values[rows] for name, values in fitted.covariates.items()}
        kinds, codes = read_categories(layout, items, people, fitted.levels)
        levels = {**fitted.levels, **kinds}
        of, new = dict(fitted.of), {}
        of_items = _taken(fitted.features, fitted.first_row)
        sides = (
            (SUBJECT, people, layout.covariates, covariates, fitted.covariates),
            (ITEM, items, layout.meta_features, features, of_items),
        )
        for plate, table, nodes, values, fitted_values in sides:
            levels[plate] = list(dict.fromkeys([*fitted.levels[plate], *table.index]))
            codes[plate] = pd.Index(levels[plate]).get_indexer(table.index)
            new[plate] = codes[plate] >= len(fitted.levels[plate])
            old = np.flatnonzero(~new[plate])
            at, names = codes[plate][old], table.index[old]
            refuse_changed(plate, names, nodes, _taken(values, old), _taken(fitted_values, at))
            for category in layout.categories:
                if category.root == plate:
                    name = category.name
                    now, before = codes[name][old], fitted.of[name][at]
                    _refuse_moved(name, plate, names, levels[name], now, before)
                    of[name] = np.concatenate([fitted.of[name], codes[name][new[plate]]])
        everybody = {
            name: np.concatenate([values, covariates[name][new[SUBJECT]]])
            for name, values in fitted.covariates.items()
        }
        none = np.zeros(0, dtype=int)
        cohort = Cohort(layout, levels, of, {}, everybody, none, none, none, none)
        for category in layout.categories:
            cohort.up(category.per, category)  # raises an error if a task is in two benchmarks
        counts = {name: len(names) for name, names in fitted.levels.items()}
        return cls(cohort, counts, codes[SUBJECT], codes[ITEM])

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
            new[category.root] |= self._codes(category.name) >= self.fitted[category.name]
        return np.asarray(new[SUBJECT][:, None] | new[ITEM])

    @property
    def hidden(self) -> Features:
        """Levels of the items on the layout's plates, as hidden meta-features."""
        plates = [plate for plate in self.cohort.layout.plates if root(plate) == ITEM]
        return {plate_feature(name): self._codes(name) for name in map(plate_name, plates)}

    @property
    def levels_of_subjects(self) -> Features:
        """Levels of the subjects, by plate."""
        plates = [plate for plate in self.cohort.layout.plates if root(plate) == SUBJECT]
        return {name: self._codes(name) for name in map(plate_name, plates)}

    @property
    def properties(self) -> Features:
        """Covariates of the subjects."""
        return _taken(self.cohort.covariates, self.subjects)

    def _codes(self, name: str) -> np.ndarray:
        """Return the levels of the subjects or of the items on a plate."""
        if name in (SUBJECT, ITEM):
            return self.subjects if name == SUBJECT else self.items
        category = next(one for one in self.cohort.layout.categories if one.name == name)
        at = self.subjects if category.root == SUBJECT else self.items
        return np.asarray(self.cohort.of[name][at])


def _categories_of_subjects(cohort: Cohort) -> pd.DataFrame:
    """Return the categories of a cohort's subjects as a table."""
    columns = {
        category.name: np.array(cohort.levels[category.name], dtype=object)[
            cohort.of[category.name]
        ]
        for category in cohort.layout.categories
        if category.root == SUBJECT
    }
    return pd.DataFrame(columns, cohort.levels[SUBJECT])


def _taken(values: Mapping[str, np.ndarray], at: np.ndarray) -> Features:
    """Return some rows of each array."""
    return {name: numbers[at] for name, numbers in values.items()}


def refuse_changed(
    kind: str, names: pd.Index, nodes: Sequence[MetaFeature], values: Features, fitted: Features
) -> None:
    """Raise an error if a subject or an item of the fit is given other properties."""
    for node in nodes:
        shape = len(names), len(node.columns)
        now, before = (numbers[node.name].reshape(shape) for numbers in (values, fitted))
        other = ~equal(now, before)
        if other.any():
            row, column = np.argwhere(other)[0]
            raise DataError(
                f"{kind} {names[row]} is in the fit with {node.columns[column]} = "
                f"{before[row, column]:g}, but here it has {now[row, column]:g} "
                f"({other.any(axis=1).sum()} such {kind}(s)); give it the value that it was fitted "
                f"with, or another name if it is another {kind}"
            )


def _refuse_moved(
    category: str,
    kind: str,
    names: pd.Index,
    levels: Sequence[str],
    now: np.ndarray,
    before: np.ndarray,
) -> None:
    """Raise an error if a subject or an item of the fit is given another level of a category."""
    moved = np.flatnonzero(now != before)
    if len(moved):
        first = moved[0]
        raise DataError(
            f"{kind} {names[first]} is in the fit with {category} = {levels[before[first]]!r}, but "
            f"here it has {levels[now[first]]!r} ({kind}s: {some(names[moved])}); give it the "
            f"level that it was fitted with, or another name if it is another {kind}"
        )
