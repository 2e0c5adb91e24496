"""Draws of one subject's values and of the shared ones, for given items."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import xarray as xr

from ...common.errors import FitError
from ...evaluations.steps import rows_per_item
from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name, root
from ..evaluator import Draws
from ..model.alignment import Features
from ..model.cohort import Cohort, plate_feature
from ..model.new_levels import Levels
from ..posterior.posterior import Posterior

type AtLevels = Callable[[Latent, np.ndarray], np.ndarray]
"""Function of a latent and levels of its plates, (levels, plates), that returns its draws.

They have the shape (draws, levels, *labels).
"""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One subject's posterior.

    Attributes
    ----------
    values : mapping of str to ndarray
        Draws by latent, and by covariate and constant of the subject, shape (levels, *labels,
        draws), with one level for what has no levels of items, and one draw for covariates and
        constants.
    draws : int
        Number of draws.
    """

    values: Draws
    draws: int


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the draws of subjects, for items with given levels.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    at : callable
        Function that returns draws of a latent at levels of its plates.
    items : dict of str to ndarray of int
        By plate that is a property of items, the level of each item.
    subjects : dict of str to ndarray of int
        By plate that is a property of subjects, the level of each subject.
    properties : dict of str to ndarray
        By covariate and constant of subjects, shape (subjects,) or (subjects, labels).
    """

    layout: Layout
    at: AtLevels
    items: Mapping[str, np.ndarray]
    subjects: Mapping[str, np.ndarray]
    properties: Features

    def take(self, rows: np.ndarray) -> "Reader":
        """Return a reader of some of the subjects."""
        subjects, properties = (
            {name: values[rows] for name, values in of.items()}
            for of in (self.subjects, self.properties)
        )
        return replace(self, subjects=subjects, properties=properties)

    @cached_property
    def _combinations(self) -> dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
        """By plates: the combinations of levels that items have, and the combination of each."""
        combinations = {}
        for latent in self.layout.latents:
            names = _of_items(latent.plates)
            if names and names not in combinations:
                codes = np.stack([self.items[name] for name in names], axis=1)
                levels, which = np.unique(codes, axis=0, return_inverse=True)
                combinations[names] = levels, which.ravel()
        return combinations

    @property
    def levels(self) -> Mapping[str, np.ndarray]:
        """Level of each item in a latent's table, by latent that has values for levels of items."""
        named = {latent.name: _of_items(latent.plates) for latent in self.layout.latents}
        return {name: self._combinations[plates][1] for name, plates in named.items() if plates}

    @cached_property
    def _shared(self) -> dict[str, np.ndarray]:
        """Tables of the latents that are the same for all subjects."""
        return {
            latent.name: self._table(latent, 0)
            for latent in self.layout.latents
            if all(root(plate) == ITEM for plate in plates_of(self.layout, latent))
        }

    def read(self, row: int) -> Drawn:
        """Read the draws of a subject, by its position."""
        values = dict(self._shared)
        for latent in self.layout.latents:
            if latent.name not in values:
                values[latent.name] = self._table(latent, row)
        draws = values[self.layout.latents[0].name].shape[-1]
        for name, numbers in self.properties.items():
            values[name] = np.asarray(numbers[row])[None, ..., None]
        return Drawn(values, draws)

    def _table(self, latent: Latent, row: int) -> np.ndarray:
        """Arrange one subject's draws of a latent as (levels, *labels, draws)."""
        names = _of_items(latent.plates)
        items = self._combinations[names][0] if names else np.zeros((1, 0), dtype=int)
        columns = [
            items[:, names.index(plate_name(plate))]
            if root(plate) == ITEM
            else np.full(len(items), self.subjects[plate_name(plate)][row])
            for plate in plates_of(self.layout, latent)
        ]
        draws = self.at(latent, np.stack(columns, axis=1) if columns else items)
        return np.ascontiguousarray(np.moveaxis(draws, 0, -1))


def plates_of(layout: Layout, latent: Latent) -> tuple[Plate, ...]:
    """Return the plates of a latent's draws: subjects where each was fitted separately."""
    return latent.plates if layout.joint else (SUBJECT,)


def _of_items(plates: Sequence[Plate]) -> tuple[str, ...]:
    """Names of the plates that are properties of items."""
    return tuple(plate_name(plate) for plate in plates if root(plate) == ITEM)


def draws_at(fit: Posterior, latent: Latent, codes: np.ndarray) -> np.ndarray:
    """Return draws of a latent at levels of the fit, (draws, levels, *labels).

    Parameters
    ----------
    fit : Posterior
        The fit.
    latent : Latent
        The latent.
    codes : ndarray of int, shape (levels, plates)
        Positions of the levels in the fit.
    """
    variable: Any = fit.data["posterior"].variables[latent.name]
    names = [plate_name(plate) for plate in plates_of(fit.layout, latent)]
    dim = f"{SUBJECT}[]"  # no dimension of a layout can have this name
    if len(codes) == 1 or not names:  # draws on disk are read for this level only
        variable = variable.isel(dict(zip(names, map(int, codes[0]), strict=True)))
        variable = variable.expand_dims(dim)
    else:
        columns = zip(names, codes.T, strict=True)
        variable = variable[{name: xr.Variable((dim,), levels) for name, levels in columns}]
    values = variable.transpose("chain", "draw", dim, *latent.label_dims).to_numpy()
    chains, draws, *rest = values.shape
    return np.asarray(values.reshape(chains * draws, *rest))


def levels_of(fit: Posterior, cohort: Cohort, fitted: Mapping[str, int]) -> Levels:
    """Return the draws of a joint fit at its levels and at the new levels of a cohort."""
    draws = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    return Levels(cohort, fitted, partial(draws_at, fit), draws, int(fit.data.attrs["seed"]))


def levels_of_items(fit: Posterior) -> Features:
    """Levels of the items of a joint fit, as hidden meta-features; empty for other fits."""
    layout, constants = fit.layout, fit.constants
    names = [plate_name(plate) for plate in layout.plates if root(plate) == ITEM]
    each = rows_per_item(layout)
    return {
        plate_feature(name): np.arange(constants.sizes["item"] // each)
        if name == ITEM
        else constants[name].to_numpy()[::each]
        for name in names
    }


def levels_of_subjects(fit: Posterior) -> dict[str, np.ndarray]:
    """Levels of the subjects of a fit, by plate that is a property of subjects."""
    categories = [one.name for one in fit.layout.categories if one.root == SUBJECT]
    levels = {name: fit.constants[name].to_numpy() for name in categories}
    return {SUBJECT: np.arange(len(fit.subjects)), **levels}


def properties_of(fit: Posterior) -> Features:
    """Covariates and constants of the subjects of a fit."""
    nodes = (*fit.layout.covariates, *fit.layout.constants)
    return {str(node.name): fit.constants[node.name].to_numpy() for node in nodes}


def reader_of(fit: Posterior, features: Features) -> Reader:
    """Return a reader of a fit's subjects, for items with given features.

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
    items = {name: features[plate_feature(name)].astype(int) for name in names}
    return Reader(
        layout, partial(draws_at, fit), items, levels_of_subjects(fit), properties_of(fit)
    )
