"""The profile in coordinates without bounds: PyMC's transformations and prior, vectorised."""

import functools
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
from pytensor.graph.replace import graph_replace, vectorize_graph
from pytensor.graph.traversal import ancestors

from ....layouts import Layout
from ....layouts.elements import elements
from ...model.alignment import Features
from ...model.prior import draw_prior, profile_variables
from .lattice import WIDEST, grow, rim

_FARTHEST = 700.0  # on PyMC's unbounded scale: exp of more is no number


class Unconstrained:
    r"""Coordinates of a layout's profile, one for every profile element.

    .. math:: z_k = m_k + s_k \sinh t_k

    takes the coordinate t to PyMC's unbounded scale z, where NUTS runs: the prior's median m is at
    0, its spread s at about 1, and a tail of any power falls off exponentially.

    Parameters
    ----------
    layout : Layout
        Whose profile.
    deviations : frozenset of str
        Latents that NUTS moves along deviations from their location, as `noncentred` names them.

    Raises
    ------
    LayoutError
        When PyMC does not take a prior, or it cannot be drawn from.
    FitError
        When a prior cannot be normalised.

    Attributes
    ----------
    names : list of str
        Of the profile elements.
    closed : ndarray of bool, shape (axes,)
        Coordinates on a circle, of which one turn counts.
    ends : ndarray, shape (2, axes)
        Where the prior has died away, or the turn ends.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> coin = Unconstrained(Layout("coin", Success("heads", Capability("p", low=0, high=1))))
    >>> profile, logs, stretch = coin.profile([np.array([coin.ends[0, 0], 0.0, coin.ends[1, 0]])])
    >>> profile["p"].round(1)
    array([0. , 0.5, 1. ])
    """

    def __init__(self, layout: Layout, deviations: frozenset[str] = frozenset()) -> None:
        with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
            variables = profile_variables(layout, deviations)
        values = [model.rvs_to_values[variable] for variable in variables.values()]
        transforms = [model.rvs_to_transforms[variable] for variable in variables.values()]
        self._shapes = {
            latent.name: tuple(map(len, latent.dims.values())) for latent in layout.latents
        }
        sizes = [int(np.prod(shape)) for shape in self._shapes.values()]
        self._splits = np.cumsum(sizes)[:-1]
        self._alone = {
            latent.name for latent in layout.latents if not latent.parents and not latent.dims
        }
        self.names = [element.name for element in elements(layout)]
        self.closed = np.repeat([getattr(t, "name", "") == "circular" for t in transforms], sizes)
        inward = [*model.replace_rvs_by_values(list(variables.values())), model.logp()]
        outward = [
            variable if transform is None else transform.forward(variable, *variable.owner.inputs)
            for variable, transform in zip(variables.values(), transforms, strict=True)
        ]
        shapes = list(self._shapes.values())
        self._inward = _compiled(inward, values, shapes)
        drawn = draw_prior(layout)
        scaled = _compiled(outward, list(variables.values()), shapes)(*map(drawn.get, variables))
        z = np.hstack([np.reshape(part, (len(part), -1)) for part in scaled])
        low, self.centre, high = np.quantile(z.clip(-_FARTHEST, _FARTHEST), [0.25, 0.5, 0.75], 0)
        self.spread = (high - low) / 1.349
        turn = np.arcsinh((np.array([[-np.pi], [np.pi]]) - self.centre) / self.spread)
        self.ends = np.where(self.closed, turn, [[-4.0], [4.0]])
        lines = [np.linspace(low, high, 8 * WIDEST + 1) for low, high in self.ends.T]
        self.ends = rim(*grow(self._prior, lines, self.names, self.closed))

    def profile(self, points: Sequence[np.ndarray]) -> tuple[Features, np.ndarray, np.ndarray]:
        """Compute profiles and their prior density.

        Parameters
        ----------
        points : sequence of ndarray
            Coordinates t, an array for each, that broadcast against each other.

        Returns
        -------
        profile : dict of str to ndarray
            By latent: the common shape, with the labels after it; a latent that depends on one
            coordinate only has the shape of that coordinate's array.
        logs : ndarray
            Log-density of the prior per unit of z, as NUTS has it, in the common shape.
        stretch : ndarray
            Log of the volume dz/dt: added to it, the density per unit of t.
        """
        whole = np.stack(np.broadcast_arrays(*points), axis=-1)
        common = whole.shape[:-1]
        z = (self.centre + self.spread * np.sinh(whole)).reshape(-1, len(points))
        parts = np.split(z, self._splits, axis=1)
        shapes = self._shapes.values()
        *found, logs = self._inward(
            *(part.reshape(-1, *shape) for part, shape in zip(parts, shapes, strict=True))
        )
        profile = {}
        for name, values, axis in zip(self._shapes, found, [0, *self._splits], strict=True):
            values = values.reshape(*common, *values.shape[1:])
            if name in self._alone:
                own = points[axis].shape
                values = values[tuple(slice(size) for size in own)]
            profile[name] = values
        stretch = np.log(self.spread * np.cosh(whole)).sum(axis=-1)
        return profile, logs.reshape(common), stretch

    def _prior(self, points: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        _, logs, stretch = self.profile(points)
        return finite(logs + stretch), logs[..., None]


@functools.lru_cache(maxsize=32)
def unconstrained(layout: Layout, deviations: frozenset[str]) -> Unconstrained:
    """Compile a layout's coordinates, once; see `Unconstrained`."""
    return Unconstrained(layout, deviations)


def finite(logs: np.ndarray) -> np.ndarray:
    """Replace a log-density that is undefined, or minus infinity, by next to nothing."""
    return np.where(np.isfinite(logs), logs, -1e10)


def _compiled(
    outputs: Sequence[Any], variables: Sequence[Any], shapes: Sequence[tuple[int, ...]]
) -> Callable[..., list[np.ndarray]]:
    """Compile for many values of the variables at once; threads take turns."""
    many = [pt.tensor(dtype="float64", shape=(None, *shape)) for shape in shapes]
    graphs = vectorize_graph(outputs, dict(zip(variables, many, strict=True)))
    by_arrays = {  # PyTensor's own takes one number at a time, uncompiled
        part: pt.maximum(part.owner.inputs[0], 0) + pt.log1p(pt.exp(-pt.abs(part.owner.inputs[0])))
        for part in ancestors(graphs)
        if part.owner is not None and part.owner.op == pt.softplus
    }
    graphs = graph_replace(graphs, by_arrays, strict=False)
    function = pytensor.function(many, graphs, mode="FAST_COMPILE", on_unused_input="ignore")
    lock = threading.Lock()

    def call(*values: np.ndarray) -> list[np.ndarray]:
        with lock, np.errstate(all="ignore"):
            return [np.asarray(value) for value in function(*values)]

    return call
