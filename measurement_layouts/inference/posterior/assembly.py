"""Assembly of a fit's data, and of the subjects' draws, into one tree of arrays."""

import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ...layouts.plates import ITEM, SUBJECT
from ..model.cohort import Cohort
from ..sampling.draws import SamplingOptions
from .posterior import GROUPS, Posterior, observed_data, sampled_dims

FORMAT = 4  # of fits and stores; other versions' formats are not read


def data_alone(
    layout: Layout, features: Mapping[str, np.ndarray], evaluation: Evaluation
) -> xr.DataTree:
    """Arrange the data of subjects, each of which is fitted alone, as a fit without draws."""
    cells, items = evaluation.coded, list(evaluation.items.index)
    constants = {constant.name: 1 - cells.rates for constant in layout.constants}
    levels = {SUBJECT: evaluation.subjects}
    return _without_draws(layout, levels, items, {**features, **constants}, cells)


def data_jointly(cohort: Cohort, rows: Sequence[str] | None = None) -> xr.DataTree:
    """Arrange the data of a cohort as a fit without draws; `rows` names steps of outcomes."""
    item_of_row, categories = cohort.item_of_row, dict(cohort.of)
    for category in cohort.layout.categories:
        if category.root == ITEM and item_of_row is not None:
            categories[category.name] = cohort.of[category.name][item_of_row]
    levels = {name: list(names) for name, names in cohort.levels.items()}
    items = levels[ITEM] if rows is None else list(rows)
    shape = len(levels[SUBJECT]), len(items)
    cells = Cells.of(cohort.subject, cohort.row, cohort.successes, cohort.trials, shape=shape)
    properties = {**cohort.features, **cohort.covariates, **categories}
    return _without_draws(cohort.layout, levels, items, properties, cells)


def _without_draws(
    layout: Layout,
    levels: Mapping[str, list[str]],
    items: list[str],
    properties: Mapping[str, np.ndarray],
    cells: Cells,
) -> xr.DataTree:
    """Arrange data and draws from the prior as the groups of a fit; the posterior has no draws."""
    from ..model.prior import draw_prior  # PyMC is slow to import

    labels = {dim: list(names) for dim, names in layout.labels.items()}
    dims = {feature.name: (ITEM, *feature.label_dims) for feature in layout.row_features}
    dims |= {category.name: (category.root,) for category in layout.categories}
    dims |= {node.name: (SUBJECT, *node.label_dims) for node in layout.covariates}
    dims |= {constant.name: (SUBJECT,) for constant in layout.constants}
    prior = draw_prior(layout)
    return xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(coords=labels | dict(levels)),
            "prior": xr.Dataset(
                {
                    latent.name: (("chain", "draw", *latent.label_dims), prior[latent.name][None])
                    for latent in layout.latents
                },
                labels,
            ).copy(deep=True),
            "observed_data": observed_data(cells, levels[SUBJECT], items),
            "constant_data": xr.Dataset(
                {name: (dims[name], properties[name]) for name in dims},
                {SUBJECT: levels[SUBJECT], ITEM: items} | labels,
            ),
        }
    )


def take_subjects(data: xr.DataTree, rows: Sequence[int]) -> xr.DataTree:
    """Select subjects of a fit without draws, given by position, with their outcomes."""
    groups = {
        name: group.to_dataset().isel({SUBJECT: list(rows)}, missing_dims="ignore")
        for name, group in data.children.items()
    }
    observed, names = groups["observed_data"], groups["posterior"].indexes[SUBJECT]
    cells = np.flatnonzero(pd.Index(observed[SUBJECT].to_numpy()).isin(names))
    tree = xr.DataTree.from_dict(groups | {"observed_data": observed.isel(cell=cells)})
    tree.attrs = dict(data.attrs)
    return tree


def marks(layout: Layout, options: SamplingOptions, seed: int, method: str) -> dict[str, Any]:
    """Return a fit's attributes: its layout, and how it was made."""
    return {
        "format": FORMAT,
        "layout": json.dumps(layout.to_dict()),
        "fingerprint": layout.fingerprint,
        "measurement_layouts": version("measurement-layouts"),
        "method": method,
        "seed": seed,
        "tune": options.tune,
        "target_accept": options.target_accept,
    }


def assemble(
    layout: Layout,
    data: xr.DataTree,
    posterior: Mapping[str, Any],
    statistics: Mapping[str, Any],
    failures: Mapping[str, str],
    attempts: Mapping[str, int],
) -> Posterior:
    """Assemble the subjects' draws and their data as one tree.

    Parameters
    ----------
    layout : Layout
        The layout that was fitted.
    data : DataTree
        The fit without draws, for its subjects, with the attributes from `marks`.
    posterior : mapping of str to array
        By latent, with the dimensions of `sampled_dims`, in memory or read on access.
    statistics : mapping of str to array
        Sampler statistics, shape (chains, draws, subjects), or (chains, draws) in a joint fit.
    failures, attempts : mapping
        As in `Posterior`.

    Returns
    -------
    Posterior
        The posterior, whose tree has ArviZ's groups.
    """
    chains, draws = next(iter(statistics.values())).shape[:2]
    sampled: dict[Any, Any] = {"chain": np.arange(chains), "draw": np.arange(draws)}
    levels = dict(data["posterior"].to_dataset().coords)
    subjects = {} if layout.joint else {SUBJECT: levels[SUBJECT]}
    groups = {name: group.to_dataset() for name, group in data.children.items()}
    groups["posterior"] = xr.Dataset(
        {latent.name: (sampled_dims(latent), posterior[latent.name]) for latent in layout.latents},
        sampled | levels,
    )
    groups["sample_stats"] = xr.Dataset(
        {name: (("chain", "draw", *subjects), values) for name, values in statistics.items()},
        sampled | subjects,
    )
    tree = xr.DataTree.from_dict({name: groups[name] for name in GROUPS})
    tree.attrs = {
        **data.attrs,
        "failures": json.dumps(dict(failures)),
        "attempts": json.dumps(dict(attempts)),
    }
    return Posterior(layout, tree, dict(failures), dict(attempts))
