"""Probabilities that a layout computes, for many profiles at once."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ....layouts import Latent, Layout
from ....linking import Expr, evaluate
from ....linking.evaluation import ancestry
from ....linking.function import Call
from ....linking.interval import UNIT
from ...model.alignment import Features, align

_NUMBERS = 2**16  # profiles times items times labels at a time, so that they stay in the cache


@dataclass(frozen=True)
class Chances:
    """A layout and items.

    Attributes
    ----------
    layout : Layout
        What computes probabilities.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        How many.
    constants : mapping of str to float
        By subject constant.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> chances = Chances(layout, {"smallness": np.array([0.0, 1.0])}, items=2, constants={})
    >>> profile = {"sight": np.array([0.0, 1.0, 2.0])}
    >>> [found.round(2).tolist() for _, found in chances.of(layout.outcome, profile, (3,))]
    [[[0.5, 0.27], [0.73, 0.5], [0.88, 0.73]]]
    >>> chances.changes(profile, (3,)).round(2)
    array([0.23, 0.23])
    """

    layout: Layout
    features: Features
    items: int
    constants: Mapping[str, float]

    def of(
        self, part: Expr, profile: Features, shape: tuple[int, ...]
    ) -> Iterator[tuple[slice, np.ndarray]]:
        """Compute a part of the layout, some profiles at a time.

        Parameters
        ----------
        part : expression
            The outcome's or one that it is computed from.
        profile : dict of str to ndarray
            By latent: arrays that broadcast to `shape`, with the labels after it.
        shape : tuple of int
            Of the profiles.

        Yields
        ------
        slice
            Which profiles, along the first axis.
        ndarray
            Values, shape (*profiles, items, labels, ...), of length one along what they do not
            depend on.
        """
        known = dict(self._known)
        labels = math.prod(len(names) for names in self.layout.dims.values())
        step = max(2, _NUMBERS // (self.items * labels * math.prod(shape[1:])))
        dims = tuple(self.layout.dims)
        for first in range(0, shape[0], step):
            some = slice(first, min(first + step, shape[0]))
            for latent in self.layout.latents:
                values = profile[latent.name]
                values = values if len(values) == 1 else values[some]
                known[latent.name] = align(values, latent, dims, leading=len(shape), per_item=False)
            with np.errstate(all="ignore"):  # far out in a prior's tail
                yield some, np.asarray(evaluate(part, known, dims))

    def changes(self, profile: Features, shape: tuple[int, ...]) -> np.ndarray:
        """Find how much a probability changes, at most, from each profile to the next.

        Every linking function between 0 and 1 counts, also inside others: a factor that changes is
        seen where the other factor is 0.

        Parameters
        ----------
        profile, shape
            As in `of`.

        Returns
        -------
        ndarray, shape (profiles - 1,)
            Along the first axis, the largest of all items, labels and profiles beside.
        """
        largest = np.zeros(shape[0] - 1)
        for part in self._parts:
            found, before = [], None
            for some, values in self.of(part, profile, shape):
                values = np.broadcast_to(values, (some.stop - some.start, *values.shape[1:]))
                joined = values if before is None else np.concatenate([before, values])
                found.append(np.abs(np.diff(joined, axis=0)).max(axis=tuple(range(1, joined.ndim))))
                before = values[-1:]
            largest = np.fmax(largest, np.concatenate(found))
        return largest

    @cached_property
    def _parts(self) -> list[Expr]:
        """The outcome, and the linking functions inside it that give probabilities."""
        outcome = self.layout.outcome.expression
        return [
            part
            for part in ancestry(outcome)
            if part is outcome
            or (
                isinstance(part, Call)
                and part.range in UNIT
                and any(isinstance(node, Latent) for node in ancestry(part))
            )
        ]

    @cached_property
    def _known(self) -> dict[str, object]:
        dims = tuple(self.layout.dims)
        aligned = {
            feature.name: align(self.features[feature.name], feature, dims, per_item=True)
            for feature in self.layout.row_features
        }
        return {**self.constants, **aligned}
