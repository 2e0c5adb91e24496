"""Layouts declared in Python, with arguments that nobody means: refused, or right."""

import json
import random

import numpy as np
import pytest
from helpers.damaged_layouts import BROKEN, OWN, Declaring
from helpers.trying import counts, need, try_many

from measurement_layouts import Layout, LayoutError, MetaFeature
from measurement_layouts.layouts import Latent
from measurement_layouts.linking import evaluate
from measurement_layouts.linking.expression import Dims

_ROUNDING = 1e-9  # which ranges allow, too
_FAR = 100.0  # values to compute with, where a range has no end


def declared(choice: random.Random) -> None:
    """Declare a layout; one that is accepted computes, is written, and returns from JSON."""
    layout = Declaring(choice).layout()
    again = Layout.from_dict(json.loads(json.dumps(layout.to_dict(), allow_nan=False)), OWN)
    json.dumps(layout.to_dict(), ensure_ascii=False).encode()  # no file holds half a character
    need(again == layout, "the layout that returns from JSON is another one")
    need(again.fingerprint == layout.fingerprint, "its fingerprint is another one")
    for write in (str, repr, Layout.to_mermaid, Layout.to_graphviz):
        need(write(layout) == write(again), f"{write.__name__} differs")
    if BROKEN.isdisjoint(function.name for function in layout.functions):
        _computes(layout, again, choice)


def _computes(layout: Layout, again: Layout, choice: random.Random) -> None:
    """Hold the probabilities at random profiles and items in [0, 1], and to those of the other."""
    rng = np.random.default_rng(choice.randrange(2**32))
    nodes = (*layout.meta_features, *layout.latents)
    known = {node.name: _values(node, layout.dims, rng) for node in nodes}
    known |= {constant.name: 0.25 for constant in layout.constants}
    with np.errstate(all="ignore"):
        for leaf, other in zip(layout.outcomes, again.outcomes, strict=True):
            found = np.asarray(evaluate(leaf, known, tuple(layout.dims)))
            low, high = leaf.range.low - _ROUNDING, leaf.range.high + _ROUNDING
            need(bool(((found >= low) & (found <= high)).all()), f"{found.ravel()} of {layout}")
            same = np.asarray(evaluate(other, known, tuple(layout.dims)))
            need(found.tobytes() == same.tobytes(), "what returns from JSON computes other numbers")


def _values(node: MetaFeature | Latent, dims: Dims, rng: np.random.Generator) -> np.ndarray:
    shape = (5, *(len(labels) if dim in node.dims else 1 for dim, labels in dims.items()))
    if isinstance(node, MetaFeature) and node.levels is not None:
        return rng.choice(node.levels, shape)
    low, high = (min(max(end, -_FAR), _FAR) for end in (node.range.low, node.range.high))
    return rng.uniform(low, high, shape)


@pytest.mark.parametrize(("name", "count"), counts(declared=(250, 2000)))
def test_odd_layouts_are_refused_or_right(name, count, more):
    tried = try_many(globals()[name], count * more, LayoutError)
    tried.hold(accepted=0.1, refused=0.2)
