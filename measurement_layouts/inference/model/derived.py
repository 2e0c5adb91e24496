"""Derived nodes as variables of a PyMC model, from which the outcome is computed."""

from collections.abc import Mapping
from typing import Any

import pymc as pm
import pytensor.tensor as pt

from ...layouts import Derived, Layout
from ...layouts.outcomes.averaging import averaged
from ...layouts.plates import ITEM, root
from ...linking import evaluate


def profile_level(layout: Layout) -> list[str]:
    """Name the derived nodes that have one value for all items of a subject."""
    plates = layout.plates_of_nodes
    return [
        node.name
        for node in layout.derived
        if not any(root(plate) == ITEM for plate in plates[node.name])
    ]


def keep_derived(
    node: Derived, known: Mapping[str, Any], plates: Mapping[str, int], dims: tuple[str, ...]
) -> Any:
    """Add a derived node to the current model as a variable of the same name.

    Nodes that use the derived node must be computed from this variable. The model's graph then has
    the arrows of the layout's diagram, and a value that `pymc.do` gives to the node changes the
    outcome.

    Parameters
    ----------
    node : Derived
        The derived node.
    known : mapping of str to tensor
        Values of the nodes that it is computed from, aligned as ``(*plates, *labels)``.
    plates : mapping of str to int
        Dimensions before the labels, with their lengths; empty if the value is the same for all
        items.
    dims : tuple of str
        The layout's label dimensions.

    Returns
    -------
    variable
        The variable, of shape (plates..., labels), with the labels of the node.
    """
    value = pt.as_tensor_variable(evaluate(averaged(node), known, dims))
    shape = [*plates.values(), *(value.shape[len(plates) + at] for at in range(len(dims)))]
    own = (slice(None) if dim in node.label_dims else 0 for dim in dims)
    laid = pt.broadcast_to(value, shape)[(..., *own)]
    return pm.Deterministic(node.name, laid, dims=(*plates, *node.label_dims))
