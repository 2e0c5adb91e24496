"""Numbers of the user's own: expressions of a layout's nodes, evaluated on the draws of a fit."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.messages import some
from ...layouts import Category
from ...layouts.nodes import Node
from ...layouts.outcomes.averaging import averaged
from ...layouts.plates import ITEM, SUBJECT, Plate, plate_name
from ...linking import Expr, evaluate, units
from ...linking.evaluation import ancestry
from ...linking.expression import as_expr
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior
from .scope import Scope
from .streaming import SAMPLE, computed


def derive(
    fit: Posterior,
    expression: Expr | str,
    items: pd.DataFrame | None = None,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    memory_mib: float = 256,
) -> xr.DataArray:
    r"""Evaluate any expression of a layout's nodes on the draws of a fit.

    .. math:: g^{(s)} = g(\theta^{(s)})

    for each draw s of the latents :math:`\theta`. All values that enter a number are of the same
    draw, so that their dependence is kept. Nodes are found by their names, so that they may also
    be declared again.

    Parameters
    ----------
    fit : Posterior
        The fit.
    expression : expression or str
        Formula of nodes of the layout with the functions of the layout's language, such as
        ``2 ** memory - 1`` or ``-ease / slope``; or the name of a node. Where units forbid a
        formula, apply it to the array: ``2 ** fit.derive(memory) - 1``.
    items : DataFrame, optional
        Meta-features (and categories) of items, new ones too, as in a forecast. Needed where the
        expression uses properties of items, as derived nodes and outcomes mostly do.
    subjects : iterable or DataFrame, optional
        Subjects (default: all); with items and a joint fit also a table of new subjects.
    memory_mib : float, default 256
        Bound of the memory of each piece of a lazy array, in MiB. It changes no result.

    Returns
    -------
    DataArray
        Draws: ``chain``, ``draw``, then ``subject``, ``item`` or categories on which the expression
        depends, and the dimensions of its labels; attribute ``units``. With items, the dimensions
        are ``subject`` and ``item`` in any case, and the array is lazy: what is selected of it is
        computed when it is used. ``.sel(subject="Ann")`` selects a subject or a label, arrays can
        be subtracted, and `summarise` gives means, intervals and P(above a value).

        The value of an outcome is its success probability, or the expected grade or score. A node
        that depends on an unseen property of items has one value for each grid point of the
        property, along a dimension named ``... score``; measured demands are averaged over.

    Raises
    ------
    DataError
        When the items do not fit the layout.
    FitError
        When the layout has no such node, or one with other labels; when properties of items are
        needed and not given; or when a subject is not in the fit.

    Notes
    -----
    Without items the array is in memory: 8 bytes for each draw of each of its levels and labels.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 10.5, for functions of draws.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.inference.forecasts.summarising import summarise
    >>> from measurement_layouts.linking import logistic
    >>> memory, delay = Capability("memory", low=0, high=8), MetaFeature("delay", low=0, high=8)
    >>> layout = Layout("delays", Success("found", logistic(memory - delay)))
    >>> items = pd.DataFrame({"delay": [1, 3, 5]}, index=list("abc"))
    >>> outcomes = pd.DataFrame([[1, 1, 0], [1, 0, 0]], ["Ann", "Bob"], items.index)
    >>> done = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", seed=1)
    >>> seconds = derive(done, 2**memory - 1)
    >>> summarise(seconds, above=20)[["subject", "above"]].round(1)
      subject  above
    0     Ann    0.4
    1     Bob    0.1
    >>> apart = seconds.sel(subject="Ann") - seconds.sel(subject="Bob")
    >>> summarise(apart, above=0)["above"].round(1)
    0    0.8
    Name: above, dtype: float64
    >>> derive(done, "found", items).dims
    ('chain', 'draw', 'subject', 'item')
    """
    layout = fit.layout
    node = layout.nodes.get(expression) if isinstance(expression, str) else expression
    if node is None:
        raise FitError(_unknown(fit, str(expression)))
    target = as_expr(node)
    if items is None:
        values = _on_levels(fit, target)
        if subjects is not None:
            names = fit.named(subjects)
            values = values.sel(subject=names) if SUBJECT in values.dims else values
    else:
        _refuse_unknown(fit, target, {*layout.nodes, *(one.name for one in layout.row_features)})
        scope = Scope.of(fit, items, subjects)
        if isinstance(node, Node) and node.name in layout.nodes:
            target = layout.mean_of(layout.nodes[node.name])
        elif layout.measured:
            target = averaged(target)
        block = scope.block(scope.features, len(scope.items))
        array = computed(fit, block, target, memory_mib=memory_mib)
        values = array.to_array({"subject": scope.names, "item": list(scope.items.index)})
    unit = units.spelled(as_expr(node).unit)
    return values.assign_attrs({"units": unit} if unit else {})


def correlation(fit: Posterior, one: Expr | str, other: Expr | str) -> xr.DataArray:
    r"""Correlate two quantities of subjects over the subjects, draw by draw.

    .. math:: r^{(s)} = \mathrm{corr}_j\left(g^{(s)}_j, h^{(s)}_j\right)

    over the subjects j of the fit, for each draw s. Means of posteriors are less spread than the
    values, and their correlation has no interval; this one has the uncertainty of all profiles.
    Where each subject was fitted alone, it is attenuated by this uncertainty, as by errors of
    measurement; a joint layout whose prior of one depends on the other estimates the correlation.

    Parameters
    ----------
    fit : Posterior
        A fit of at least three subjects.
    one, other : expression or str
        Quantities with a value for each subject, as for `derive`.

    Returns
    -------
    DataArray
        Draws of the correlation, with the dimensions of labels of either quantity, if there are
        any; `summarise` gives its mean and interval.

    Raises
    ------
    FitError
        When a quantity has no value for each subject, or there are fewer than three subjects; as
        in `derive`.

    References
    ----------
    Mislevy (1991), Randomization-based inference about latent variables from complex samples,
    Psychometrika 56, for correlations of draws.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill, size = Capability("skill", low=0, high=5), MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> items = pd.DataFrame({"size": [1, 2, 3]}, index=list("abc"))
    >>> outcomes = pd.DataFrame([[1, 1, 1], [1, 0, 0], [0, 0, 0]], list("xyz"), items.index)
    >>> done = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", seed=1)
    >>> correlation(done, skill, skill**2).mean().item() > 0.9
    True
    """
    pair = derive(fit, one), derive(fit, other)
    if len(fit.subjects) < 3 or any(SUBJECT not in draws.dims for draws in pair):
        raise FitError(
            f"correlation: {one} and {other} of {len(fit.subjects)} subjects; give two quantities "
            "with a value for each of at least three subjects"
        )
    return xr.corr(*pair, dim=SUBJECT)


def _on_levels(fit: Posterior, target: Expr) -> xr.DataArray:
    """Evaluate an expression at the levels of its latents: subjects, items and categories."""
    layout, labels = fit.layout, tuple(fit.layout.dims)
    arrays: dict[str, Any] = {latent.name: fit.posterior[latent.name] for latent in layout.latents}
    for node in (*layout.covariates, *layout.constants):
        arrays[str(node.name)] = fit.constants[node.name]
    _refuse_unknown(fit, target, arrays)
    used = {of.name for of in ancestry(target, lambda of: of.name in arrays)}
    arrays = {name: array for name, array in arrays.items() if name in used}
    names = (SUBJECT, ITEM, *(category.name for category in layout.categories))
    plates = [name for name in names if any(name in array.dims for array in arrays.values())]
    for category in layout.categories:
        finer: list[Plate] = [category.per]
        while isinstance(finer[0], Category):
            finer.insert(0, finer[0].per)
        inside = [plate for plate in finer if plate_name(plate) in plates]
        if category.name in plates and inside:  # what is inside has the value of its level
            at = xr.DataArray(cohort_of(fit).up(inside[0], category), dims=plate_name(inside[0]))
            for name, array in arrays.items():
                if category.name in array.dims:
                    arrays[name] = array.isel({category.name: at})
            plates.remove(category.name)
    axes = (*SAMPLE, *plates, *labels)
    aligned = {}
    for name, array in arrays.items():
        missing = [axis for axis in axes if axis not in array.dims]
        aligned[name] = array.expand_dims(missing).transpose(*axes).to_numpy()
    sizes = [fit.posterior.sizes[axis] for axis in (*SAMPLE, *plates)]
    sizes += [len(layout.dims[dim]) if dim in target.dims else 1 for dim in labels]
    values = np.broadcast_to(evaluate(target, aligned, labels), sizes)
    draws = xr.DataArray(values, dims=axes)
    draws = draws.squeeze([dim for dim in labels if dim not in target.dims])
    levels = {dim: fit.posterior[dim].to_numpy() for dim in (*SAMPLE, *plates)}
    return draws.assign_coords(levels | {dim: list(layout.dims[dim]) for dim in target.dims})


def _refuse_unknown(fit: Posterior, target: Expr, known: Iterable[str]) -> None:
    """Refuse an expression of nodes that are not in the layout, or need items."""
    names, nodes = set(known), fit.layout.nodes
    for part in ancestry(target, lambda of: of.name in names):
        if part.name in names:
            if part.name in nodes and dict(part.dims) != dict(nodes[part.name].dims):
                raise FitError(
                    f"{part.name} has labels {dict(part.dims)}, but {dict(nodes[part.name].dims)} "
                    "in the layout that was fitted; use the node of that layout"
                )
        elif isinstance(part, Node) and not part.parents:
            if part.name not in nodes:
                raise FitError(_unknown(fit, str(part.name)))
            raise FitError(
                f"{target} uses {part.name}, a property of items; give the items, as in "
                "fit.derive(expression, items)"
            )


def _unknown(fit: Posterior, name: str) -> str:
    return (
        f"layout {fit.layout.name!r} has no node {name}; it has {some(fit.layout.nodes, 20)}: use "
        "these, and numbers"
    )
