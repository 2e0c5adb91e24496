"""Draws of one subject, arranged for computation: its own values and shared ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import xarray as xr

from ...common.errors import FitError
from ...evaluations.steps import rows_per_item
from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name, root
from ..model.alignment import Features
from ..model.cohort import plate_feature
from ..posterior.cohort import covariates_of
from ..posterior.posterior import Posterior
from .blocks import Tables

type AtLevels = Callable[[Latent, np.ndarray], np.ndarray]
"""Function of a latent and levels of its plates, (levels, plates), that returns its draws.

They have the shape (draws, levels, *labels).
"""


@dataclass(frozen=True, eq=False)
class Drawn:
    """One subject's posterior.

    Attributes
    ----------
    profile : mapping of str to ndarray
        By latent and covariate, shape (levels and labels, draws).
    constants : dict of str to float
        The subject's constants.
    """

    profile: Tables
    constants: Mapping[str, float]

    @property
    def draws(self) -> int:
        """Number of draws."""
        return int(next(iter(self.profile.values())).shape[1])

    def part(self, start: int, stop: int) -> Tables:
        """Return some of the draws."""
        return {name: table[:, start:stop] for name, table in self.profile.items()}


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads subjects of a fit in which each subject was fitted separately.

    Attributes
    ----------
    layout : Layout
        The layout that was fitted.
    posterior, constants : Dataset
        Draws, and constants of subjects and items.
    """

    layout: Layout
    posterior: xr.Dataset
    constants: xr.Dataset

    @property
    def levels(self) -> Mapping[str, np.ndarray]:
        """Level of each item in a latent's table, by latent that has values for levels of items."""
        return {}

    def read(self, row: int) -> Drawn:
        """Read a subject's draws, by its position in the fit."""
        profile = {}
        for latent in self.layout.latents:
            chains = self.posterior.variables[latent.name].isel(subject=row).to_numpy()
            draws = chains.reshape(chains.shape[0] * chains.shape[1], -1)
            profile[latent.name] = np.ascontiguousarray(draws.T)
        return Drawn(profile, self._brought(row))

    def _brought(self, row: int) -> dict[str, float]:
        names = (constant.name for constant in self.layout.constants)
        return {
            name: float(self.constants.variables[name].isel(subject=row).to_numpy())
            for name in names
        }


@dataclass(frozen=True, eq=False)
class JointReader(Reader):
    """Reads subjects of a joint fit, which have their own values and values shared by levels.

    Attributes
    ----------
    at : callable
        Function that returns draws of a latent at levels of its plates.
    items : dict of str to ndarray of int
        By plate that is a property of items, the level of each item.
    subjects : dict of str to ndarray of int
        By plate that is a property of subjects, the level of each subject.
    covariates : dict of str to ndarray
        By covariate and constant, shape (subjects,) or (subjects, labels).
    """

    at: AtLevels
    items: Mapping[str, np.ndarray]
    subjects: Mapping[str, np.ndarray]
    covariates: Features

    @cached_property
    def _combined(self) -> dict[tuple[str, ...], tuple[np.ndarray, np.ndarray]]:
        """By plates: the combinations of levels that items have, and the combination of each."""
        found = {}
        for latent in self.layout.latents:
            names = _of_items(latent.plates)
            if names and names not in found:
                codes = np.stack([self.items[name] for name in names], axis=1)
                levels, which = np.unique(codes, axis=0, return_inverse=True)
                found[names] = levels, which.ravel()
        return found

    @property
    def levels(self) -> Mapping[str, np.ndarray]:
        combined = self._combined
        named = {latent.name: _of_items(latent.plates) for latent in self.layout.latents}
        return {name: combined[plates][1] for name, plates in named.items() if plates}

    @cached_property
    def _shared(self) -> dict[str, np.ndarray]:
        """Tables of the latents that are the same for all subjects."""
        return {
            latent.name: self._table(latent, 0)
            for latent in self.layout.latents
            if all(root(plate) == ITEM for plate in latent.plates)
        }

    def read(self, row: int) -> Drawn:
        profile = dict(self._shared)
        for latent in self.layout.latents:
            if latent.name not in profile:
                profile[latent.name] = self._table(latent, row)
        draws = next(iter(profile.values())).shape[1]
        for node in self.layout.covariates:
            own = np.reshape(self.covariates[node.name][row], (-1, 1))
            profile[node.name] = np.broadcast_to(own, (len(own), draws))
        constants = {node.name: self.covariates[node.name][row] for node in self.layout.constants}
        return Drawn(profile, {name: float(value) for name, value in constants.items()})

    def _table(self, latent: Latent, row: int) -> np.ndarray:
        """Arrange one subject's draws of a latent as (levels and labels, draws)."""
        names = _of_items(latent.plates)
        combined = self._combined[names][0] if names else np.zeros((1, 0), dtype=int)
        columns = [
            combined[:, names.index(plate_name(plate))]
            if root(plate) == ITEM
            else np.full(len(combined), self.subjects[plate_name(plate)][row])
            for plate in latent.plates
        ]
        codes = np.stack(columns, axis=1) if columns else combined
        draws = self.at(latent, codes)
        return np.ascontiguousarray(draws.reshape(len(draws), -1).T)


def _of_items(plates: Sequence[Plate]) -> tuple[str, ...]:
    """Names of the plates that are properties of items."""
    return tuple(plate_name(plate) for plate in plates if root(plate) == ITEM)


def draws_at(
    fit: Posterior, posterior: xr.Dataset, latent: Latent, codes: np.ndarray
) -> np.ndarray:
    """Return draws of a latent at known levels of its plates, (draws, levels, *labels).

    Parameters
    ----------
    fit : Posterior
        A joint fit.
    posterior : Dataset
        Its draws.
    latent : Latent
        The latent.
    codes : ndarray of int, shape (levels, plates)
        Positions of the levels in the fit.
    """
    variable: Any = posterior.variables[latent.name]
    at = f"{SUBJECT}[]"  # no dimension of a layout can have this name
    if latent.plates:
        places = zip(latent.plates, codes.T, strict=True)
        chosen = {plate_name(plate): xr.Variable((at,), own) for plate, own in places}
        variable = variable[chosen]
    else:
        variable = variable.expand_dims(at)
    values = variable.transpose("chain", "draw", at, *latent.label_dims).to_numpy()
    chains, draws, *rest = values.shape
    return np.asarray(values.reshape(chains * draws, *rest))


def levels_of_items(fit: Posterior) -> Features:
    """Levels of the items of a joint fit, as hidden meta-features; empty for other fits."""
    layout, constants = fit.layout, fit.constants
    if not layout.joint:
        return {}
    each = rows_per_item(layout)
    found = {plate_feature(ITEM): np.arange(constants.sizes["item"] // each)}
    for category in layout.categories:
        if category.root == ITEM:
            found[plate_feature(category.name)] = constants[category.name].to_numpy()[::each]
    used = {plate_feature(plate_name(plate)) for plate in layout.plates}
    return {name: values for name, values in found.items() if name in used}


def levels_of_subjects(fit: Posterior) -> dict[str, np.ndarray]:
    """Levels of the subjects of a joint fit, by plate that is a property of subjects."""
    found = {SUBJECT: np.arange(len(fit.subjects))}
    for category in fit.layout.categories:
        if category.root == SUBJECT:
            found[category.name] = fit.constants[category.name].to_numpy()
    return found


def reader_of(fit: Posterior, features: Features) -> Reader:
    """Return a reader of a fit's subjects, for items with given features.

    Raises
    ------
    FitError
        When the fit is joint, and the features lack the levels of the items.
    """
    source = fit.layout, fit.posterior, fit.constants
    if not fit.layout.joint:
        return Reader(*source)
    names = dict.fromkeys(
        name for latent in fit.layout.latents for name in _of_items(latent.plates)
    )
    lacking = [name for name in names if plate_feature(name) not in features]
    if lacking:
        raise FitError(
            f"layout {fit.layout.name!r} has values for each {' and '.join(lacking)}, but this "
            "computation is for subjects that share no values; use forecast or derived, which find "
            "the fit's items by name"
        )
    return JointReader(
        *source,
        partial(draws_at, fit, source[1]),
        {name: features[plate_feature(name)].astype(int) for name in names},
        levels_of_subjects(fit),
        covariates_of(fit),
    )
