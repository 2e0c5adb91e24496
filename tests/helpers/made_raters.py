"""Models of raters whose draws nobody sampled."""

import numpy as np
import xarray as xr

from measurement_layouts.estimation import RaterModel


def made_up(together):
    """Two raters, and the reliability of both together by dimension."""
    rng = np.random.default_rng(1)
    shares = np.array(list(together.values()))
    draws = rng.normal(0.6 * shares[:, None], 0.02, (4, 50, len(shares), 2))
    names = ("bias", "scale", "noise", "reliability")
    traits = {name: (("chain", "draw", "dimension", "rater"), draws) for name in names}
    both = rng.normal(shares, 0.02, (4, 50, len(shares)))
    coords = {"dimension": list(together), "rater": ["one", "two"]}
    dataset = xr.Dataset(traits | {"together": (("chain", "draw", "dimension"), both)}, coords)
    dims = ("item", "dimension", "level")
    return RaterModel(dataset, xr.DataArray(np.full((1, len(shares), 6), 1 / 6), dims=dims), True)
