"""Derived nodes of subjects on items, with intervals."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import some
from ...common.options import inside
from ...linking import units
from ..posterior.posterior import Posterior
from .scope import Scope
from .streaming import SUMMARY, summaries


def derived(
    fit: Posterior,
    items: pd.DataFrame,
    nodes: str | Iterable[str] | None = None,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> xr.Dataset:
    """Compute the layout's derived nodes and outcomes on items of the fit or new items.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    items : DataFrame
        Meta-features, indexed by item, and with a joint fit also categories. Columns may be in any
        order, and others are ignored.
    nodes : str or iterable of str, optional
        Names of derived nodes or outcomes (default: all).
    subjects : iterable or DataFrame, optional
        Subjects (default: all); with a joint fit also a table, as in `forecasting.forecast`.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.
    memory_mib : float, default 256
        Bound of the memory used during the computation, by all threads together, in MiB. It changes
        no result. The result itself and the memory needed for a single item are not included.

    Returns
    -------
    Dataset
        One variable per node, by its name and in its unit (attribute ``units``, if it has one),
        with the dimensions ``subject``, ``item``, its label dimensions, and ``summary``: the
        posterior ``mean``, and the ends ``low`` and ``high`` of the interval. The variable of an
        outcome is the success probability, as in a forecast, or the expected grade or score. A
        node that depends on an unseen property of items has one value for each grid point of the
        property, in standard deviations from its mean, along a dimension named ``... score``. A
        node that depends on measured demands is averaged over their levels. The attribute ``prob``
        is the mass of the intervals.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    FitError
        When a name in `nodes` is neither a derived node nor an outcome, a subject is not in the
        fit, `prob` is not between 0 and 1, or `memory_mib` is not a positive number.

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
    known = [node.name for node in (*layout.derived, *layout.outcomes)]
    wanted = [nodes] if isinstance(nodes, str) else known if nodes is None else map(str, nodes)
    names = list(dict.fromkeys(wanted))
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise FitError(
            f"layout {layout.name!r} has no derived node {some(unknown) or '(none was named)'}; it "
            f"has {some(known, 20)}. Latents are in fit.profiles(), meta-features in the items"
        )
    if "summary" in (*names, *layout.dims):
        raise FitError(
            f"layout {layout.name!r} has a node or a label dimension named 'summary', as the "
            "dimension of means and intervals is; rename it where it is declared"
        )
    targets = [node for node in (*layout.derived, *layout.outcomes) if node.name in names]
    scope = Scope.of(fit, items, subjects)
    means = [layout.mean_of(node) for node in targets]
    blocks = scope.blocks(scope.features, len(scope.items), memory_mib)
    subjects = range(len(scope.names))
    values_of_nodes = summaries(blocks, subjects, means, prob=prob, memory_mib=memory_mib)
    coordinates = {
        "subject": scope.names,
        "item": list(scope.items.index),
        "summary": list(SUMMARY),
    }
    variables = {}
    for node, values in zip(targets, values_of_nodes, strict=True):
        labels = {dim: list(layout.dims[dim]) for dim in layout.dims if dim in node.dims}
        coordinates |= labels
        unit = units.spelled(node.unit)
        dims = ("subject", "item", *labels, "summary")
        variables[node.name] = dims, np.moveaxis(values, 0, -1), {"units": unit} if unit else {}
    return xr.Dataset({name: variables[name] for name in names}, coordinates, {"prob": prob})
