"""True values of a joint layout's latents, drawn from their priors."""

import numpy as np
import xarray as xr

from ...layouts.plates import SUBJECT, plate_name
from ..model.cohort import Cohort
from ..model.pymc_model import draw_values
from .truth import dims_of


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
    layout = cohort.layout
    drawn = draw_values(cohort, draws, seed)
    labels = {dim: list(names) for dim, names in layout.labels.items()}
    used = {plate_name(plate) for plate in layout.plates} | {SUBJECT}
    levels = {name: names for name, names in cohort.levels.items() if name in used}
    return xr.Dataset(
        {
            latent.name: (("draw", *dims_of(latent)), drawn[latent.name])
            for latent in layout.latents
        },
        {"draw": np.arange(draws)} | levels | labels,
    )
