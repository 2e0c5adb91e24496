"""Derived nodes as variables of a PyMC model."""

from collections.abc import Mapping
from typing import Any

import pymc as pm
import pytensor.tensor as pt

from ...layouts import Layout


def keep_derived(layout: Layout, computed: Mapping[str, Any], rows: tuple[str, int]) -> None:
    """Make a layout's derived nodes variables of the current model, by their names.

    Parameters
    ----------
    layout : Layout
        Whose nodes.
    computed : mapping of str to tensor
        By node, aligned as ``(row, *labels)``.
    rows : (str, int)
        The dimension of rows, and how many there are.
    """
    dims = tuple(layout.dims)
    for node in layout.derived:
        if node.name not in computed:  # of a prior alone
            continue
        value = computed[node.name]
        own = tuple(slice(None) if dim in node.label_dims else 0 for dim in dims)
        shape = (rows[1], *(value.shape[1 + at] for at in range(len(dims))))
        laid = pt.broadcast_to(value, shape)[(slice(None), *own)]
        pm.Deterministic(node.name, laid, dims=(rows[0], *node.label_dims))
