"""Draws from a layout's prior, the yardstick of what the data taught."""

import functools

import numpy as np
import pandas as pd
import pymc as pm

from ..layouts import Layout
from .compiler import SubjectData, build_model

_DRAWS = 4000


@functools.lru_cache(maxsize=32)
def draw_prior(layout: Layout) -> dict[str, np.ndarray]:
    """Draw the profile from its prior; always the same draws for the same layout.

    Returns
    -------
    dict of str to ndarray
        By latent, shape (4000,) or (4000, labels).
    """
    features = {
        feature.name: np.zeros((1, *map(len, feature.dims.values())))
        for feature in layout.meta_features
    }
    nothing = SubjectData(
        np.zeros(1, dtype="int64"),
        np.zeros(1, dtype="int64"),
        {constant.name: 0.5 for constant in layout.constants},
    )
    model = build_model(layout, features, pd.RangeIndex(1), nothing)
    names = [latent.name for latent in layout.latents]
    drawn = pm.draw([model[name] for name in names], draws=_DRAWS, random_seed=20231)
    return dict(zip(names, map(np.asarray, drawn), strict=True))
