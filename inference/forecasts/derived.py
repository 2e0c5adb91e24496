"""Posterior values of derived nodes, item by item."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import some
from ...common.options import inside
from ...evaluations.tables import named
from ...layouts import Layout
from ...linking import units
from ..model.features import read_features
from ..posterior.posterior import Posterior
from .streaming import SUMMARY, summaries

_DIM = "summary"


def derived(
    fit: Posterior,
    items: pd.DataFrame,
    nodes: str | Iterable[str] | None = None,
    *,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> xr.Dataset:
    """Compute what the layout says happens on the way to success: its derived nodes.

    Parameters
    ----------
    fit : Posterior
        Profiles.
    items : DataFrame
        Meta-features, indexed by item, run or not; columns in any order, others are ignored.
    nodes : str or iterable of str, optional
        Names of derived nodes, or of outcomes; all of them by default.
    subjects : iterable, optional
        Whose; everybody's by default.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.
    memory_mib : float, default 256
        Bound of the memory used on the way, by all threads together, in MiB; it changes no result.
        The result itself, and what a single item needs, come on top.

    Returns
    -------
    Dataset
        A variable per node, by its name and in its unit (attribute ``units``, where it has one),
        with the dimensions ``subject``, ``item``, its label dimensions, and ``summary``: the
        posterior ``mean``, and the ends ``low`` and ``high`` of the interval. The outcome's
        is the probability of success, as in a forecast, or the expected grade or score. A
        node that uses something unseen of the items has one value for each place of that,
        in standard deviations from its mean, along a dimension named ``... score``. The
        attribute ``prob`` is the intervals' mass.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    FitError
        When a node is none of the layout's derived ones, a subject is not in the fit, `prob` is not
        between 0 and 1, or `memory_mib` is no positive number.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> values = derived(result, aaio.battery(seed=2).head(3), "visualPerformance")
    >>> values["visualPerformance"].dims
    ('subject', 'item', 'summary')
    >>> bool((values.sel(summary="low") <= values.sel(summary="mean")).all()["visualPerformance"])
    True
    """
    prob = inside("prob", prob, such_as=0.9)
    layout = fit.layout
    wanted = _find(layout, nodes)
    items = named(items, "items", "item")
    features = read_features(layout, items)
    rows, names = fit.places(subjects), fit.subjects
    targets = [node for node in (*layout.derived, *layout.outcomes) if node.name in wanted]
    found = summaries(fit, rows, features, len(items), targets, prob=prob, memory_mib=memory_mib)
    variables = {}
    for node, values in zip(targets, found, strict=True):
        dims = ("subject", "item", *(dim for dim in layout.dims if dim in node.dims), _DIM)
        unit = units.spelled(node.unit)
        attributes = {"units": unit} if unit else {}
        variables[node.name] = (dims, np.moveaxis(values, 0, -1), attributes)
    coordinates = {
        "subject": [names[row] for row in rows],
        "item": list(items.index),
        _DIM: list(SUMMARY),
    }
    coordinates |= {
        dim: list(labels)
        for dim, labels in layout.dims.items()
        if any(dim in node.dims for node in targets)
    }
    return xr.Dataset({name: variables[name] for name in wanted}, coordinates, {"prob": prob})


def _find(layout: Layout, nodes: str | Iterable[str] | None) -> list[str]:
    """Check names of derived nodes; each once, in the order asked for."""
    known = [node.name for node in (*layout.derived, *layout.outcomes)]
    wanted = [nodes] if isinstance(nodes, str) else known if nodes is None else map(str, nodes)
    found = list(dict.fromkeys(wanted))
    unknown = [name for name in found if name not in known]
    if unknown or not found:
        raise FitError(
            f"layout {layout.name!r} has no derived node {some(unknown) or '(none was named)'}; it "
            f"has {some(known, 20)}. Latents are in profiles(), meta-features in the items"
        )
    if _DIM in (*found, *layout.dims):
        raise FitError(
            f"layout {layout.name!r} names a node or a label dimension {_DIM!r}, as the dimension "
            "of means and intervals is named; rename it where it is declared"
        )
    return found
