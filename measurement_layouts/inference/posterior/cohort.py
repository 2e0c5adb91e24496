"""A fit as a cohort: levels, properties and outcomes, and the draws at its levels."""

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import xarray as xr

from ...evaluations.steps import Rows, rows_per_item
from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name, root
from ..model.alignment import Features
from ..model.cohort import Cohort, plate_feature
from ..model.new_levels import Levels
from .posterior import Posterior


def cohort_of(fit: Posterior) -> Cohort:
    """Read the levels and outcomes of a joint fit, and the properties of its subjects and items."""
    constants, layout = fit.constants, fit.layout
    indexes = fit.posterior.indexes
    rows = None if layout.steps is None else Rows.read(map(str, constants.indexes[ITEM])).places
    first = slice(None) if rows is None else np.unique(rows, return_index=True)[1]
    levels = (SUBJECT, ITEM, *(category.name for category in layout.categories))
    cells = fit.coded
    return Cohort(
        layout,
        {name: list(map(str, indexes[name])) for name in levels},
        {
            category.name: constants[category.name].to_numpy()[
                first if category.root == ITEM else slice(None)
            ]
            for category in layout.categories
        },
        {node.name: constants[node.name].to_numpy() for node in layout.row_features},
        covariates_of(fit),
        cells.subject.astype(int),
        cells.item.astype(int),
        cells.successes,
        cells.trials,
        rows,
    )


def covariates_of(fit: Posterior) -> Features:
    """Covariates of the subjects of a fit, and their constants."""
    nodes = (*fit.layout.covariates, *fit.layout.constants)
    return {str(node.name): fit.constants[node.name].to_numpy() for node in nodes}


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
    constants, each = fit.constants, rows_per_item(fit.layout)
    names = [plate_name(plate) for plate in fit.layout.plates if root(plate) == ITEM]
    return {
        plate_feature(name): np.arange(constants.sizes["item"] // each)
        if name == ITEM
        else constants[name].to_numpy()[::each]
        for name in names
    }


def plates_of(layout: Layout, latent: Latent) -> tuple[Plate, ...]:
    """Return the plates of a latent's draws: subjects where each was fitted separately."""
    return latent.plates if layout.joint else (SUBJECT,)
