"""True values of a joint layout's latents: drawn from their priors, or read from a Dataset."""

import numpy as np
import xarray as xr

from ...common.errors import DataError
from ...common.messages import some
from ...layouts import Latent
from ...layouts.plates import SUBJECT, plate_name
from ..model.cohort import Cohort
from ..posterior.posterior import sampled_dims


def draw_truths(cohort: Cohort, draws: int, seed: int) -> xr.Dataset:
    """Draw all latents of a cohort's layout from their priors.

    Parameters
    ----------
    cohort : Cohort
        Levels of all plates.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws.

    Returns
    -------
    Dataset
        One variable per latent, (draw, plates, labels), with levels as coordinates.

    Raises
    ------
    LayoutError
        When draws from a prior are not possible.
    """
    from ..model.pymc_model import draw_values  # PyMC is slow to import

    layout = cohort.layout
    drawn = draw_values(cohort, draws, seed)
    labels = {dim: list(names) for dim, names in layout.labels.items()}
    used = {plate_name(plate) for plate in layout.plates} | {SUBJECT}
    levels = {name: names for name, names in cohort.levels.items() if name in used}
    return xr.Dataset(
        {latent.name: (sampled_dims(latent)[1:], drawn[latent.name]) for latent in layout.latents},
        {"draw": np.arange(draws)} | levels | labels,
    )


def true_values(cohort: Cohort, truth: xr.Dataset) -> dict[str, np.ndarray]:
    """Read the true values of latents at the levels of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Levels of all plates.
    truth : Dataset
        One variable per latent: one draw of `draw_truths`.

    Returns
    -------
    dict of str to ndarray
        By latent, shape (levels..., labels...).

    Raises
    ------
    DataError
        When a variable or a level is missing, or a value is not in its latent's range.
    """
    return {latent.name: _values(cohort, truth, latent) for latent in cohort.layout.latents}


def _values(cohort: Cohort, truth: xr.Dataset, latent: Latent) -> np.ndarray:
    if latent.name not in truth:
        raise DataError(
            f"the true values have no {latent.name}; they have {some(truth.data_vars, 12)}"
        )
    variable, dims = truth[latent.name], sampled_dims(latent)[2:]
    if set(variable.dims) != set(dims):
        raise DataError(
            f"{latent.name} has the dimensions {some(variable.dims) or 'none'}, and needs "
            f"{some(dims) or 'none'}; give a value for each of their levels"
        )
    for plate in map(plate_name, latent.plates):
        index = variable.indexes.get(plate, ())
        missing = [level for level in cohort.levels[plate] if level not in index]
        if missing:
            raise DataError(
                f"{latent.name} has no value for {plate} {some(missing)}; it has "
                f"{some(map(str, index))}"
            )
        variable = variable.sel({plate: cohort.levels[plate]})
    values = variable.transpose(*dims).to_numpy().astype(float)
    low, high = latent.range.low, latent.range.high
    if not ((values >= low) & (values <= high)).all():
        raise DataError(
            f"{latent.name} lies in {latent.range}, and its true values reach from "
            f"{np.min(values):g} to {np.max(values):g}; correct them"
        )
    return values
