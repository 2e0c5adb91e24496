"""Subjects and items of a forecast, in the fit or new, and the draws of their values."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...evaluations.tables import named
from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ...linking.real import real
from ..model.alignment import Features
from ..model.cohort import plate_feature
from ..model.extended import Extended
from ..model.features import read_features
from ..posterior.cohort import cohort_of, covariates_of, draws_at, levels_of, plates_of
from ..posterior.posterior import Posterior


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

    def part(self, items: np.ndarray) -> "Block":
        """Select items by position."""
        features = {name: values[items] for name, values in self.features.items()}
        return replace(self, features=features, items=len(items))

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


def block_of(
    fit: Posterior, features: Features, items: int, rows: np.ndarray | None = None
) -> Block:
    """Return subjects of a fit, by position (default: all), and items with given features."""
    layout = fit.layout
    rows = fit.places() if rows is None else rows
    categories = [one.name for one in layout.categories if one.root == SUBJECT]
    levels = {name: fit.constants[name].to_numpy()[rows] for name in categories}
    covariates = {name: values[rows] for name, values in covariates_of(fit).items()}
    at = partial(draws_at, fit)
    return Block(layout, at, features, items, {SUBJECT: rows, **levels}, covariates)


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
    extended: Extended | None = None

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Scope":
        """Find subjects and items in a fit, or read new ones.

        Parameters and errors are those of `Extended.of`, but subjects of the fit are given by name
        (default: all); a table of subjects needs a joint fit.
        """
        items = named(items, "items", "item")
        features = read_features(fit.layout, items)
        if not fit.layout.joint:
            rows = fit.places(subjects)
            return cls(fit, items, fit.names(rows), rows, features)
        people = subjects if isinstance(subjects, pd.DataFrame) else fit.places(subjects)
        extended = Extended.of(cohort_of(fit), items, features, people)
        for constant in fit.layout.constants:
            if extended.new_subjects.any():
                raise FitError(
                    f"{constant.name} is computed from a subject's outcomes, which new subjects do "
                    "not have; forecast subjects of the fit, or fit.newcomer(evaluation)"
                )
        names = [extended.cohort.levels[SUBJECT][code] for code in extended.subjects]
        rows = np.where(extended.new_subjects, -1, extended.subjects)
        return cls(fit, items, names, rows, features | extended.hidden, extended)

    def block(self, features: Features, items: int) -> Block:
        """Return the subjects with items of given features: `features`, or others of its levels."""
        if self.extended is None:
            return block_of(self.fit, features, items, self.rows)
        at = levels_of(self.fit, self.extended.cohort, self.extended.fitted).at
        subjects = self.extended.levels_of_subjects, self.extended.properties
        return Block(self.fit.layout, at, features, items, *subjects)


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
