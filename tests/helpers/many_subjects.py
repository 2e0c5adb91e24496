"""A fit of many subjects, made of the few of another by other names."""

import numpy as np
import xarray as xr

import measurement_layouts as ml


def many(layout, evaluation, count):
    """Fit a few, and repeat them."""
    fit = ml.fit(layout, evaluation, method="grid", draws=60, chains=2, seed=1, progressbar=False)
    places = np.resize(np.arange(len(fit.subjects)), count)
    names = [f"model-{number:03d}" for number in range(count)]
    groups = {}
    for name, group in fit.data.children.items():
        data = group.to_dataset()
        if "subject" in data.dims:
            data = data.isel(subject=places).assign_coords(subject=names)
        groups[name] = data
    starts = np.r_[0, np.cumsum(np.bincount(fit.coded.subject))]
    cells = [np.arange(*starts[place : place + 2]) for place in places]
    observed = fit.observed.isel(cell=np.concatenate(cells))
    who = np.repeat(names, [len(own) for own in cells])
    groups["observed_data"] = observed.assign_coords(subject=("cell", who))
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = fit.data.attrs
    return ml.Fit(layout, tree, {})
