"""Items of a layout, arranged so that values which items share are computed once."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...layouts import Latent, Layout, MetaFeature
from ...linking import Expr, evaluate
from ..distinct import in_order
from ..model.alignment import Features
from .factored import Cells, Factored, Frame

type Tables = Mapping[str, np.ndarray]
"""Draws of the latents, by name: shape (labels, draws), one label where a latent has none."""


@dataclass(frozen=True, eq=False)
class Levels:
    """Levels of one latent that some items have, where the latent has a value for each level.

    Attributes
    ----------
    used : ndarray of int
        Positions of these levels in a table of draws.
    cells : Cells
        Cells of the items and labels, in a table of only these levels.
    """

    used: np.ndarray
    cells: Cells

    @classmethod
    def of(cls, codes: np.ndarray, labels: tuple[int, ...], frame: Frame) -> "Levels":
        """Find the used levels from the level of each item."""
        used, which = np.unique(codes, return_inverse=True)
        if len(used) == len(codes):
            return cls(codes, frame.each((len(codes), *labels)))
        count = math.prod(labels)
        shape = (-1, *(1 for _ in labels))
        index = which.reshape(shape) * count + np.arange(count).reshape(1, *labels)
        return cls(used, Cells(index, len(used) * count))

    def take(self, table: np.ndarray) -> tuple[np.ndarray, Cells]:
        """Return these levels of a table, (levels and labels, draws), and their cells."""
        each = self.cells.count // len(self.used)
        found = table.reshape(-1, each, table.shape[1])[self.used]
        return found.reshape(-1, table.shape[1]), self.cells


@dataclass(frozen=True, eq=False)
class Block:
    """Some items of a layout, with the values that they share.

    Attributes
    ----------
    layout : Layout
        The layout.
    items : ndarray of int
        Positions of the items in the table of items.
    alike : ndarray of int
        For each item, the number of its distinct item, counted from 0. Items are distinct if their
        meta-features or levels differ.
    frame : Frame
        Positions of values: the distinct items and the layout's labels.
    features : dict of str to Factored
        Meta-features of the distinct items.
    levels : dict of str to Levels
        Used levels of each latent that has values for levels of items.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> features = {"smallness": np.array([0.5, 1.0, 1.0, 0.5])}
    >>> block = Block.of(layout, features, *group_alike(features, items=4))
    >>> (found,) = block.values([layout.outcome], {"sight": np.array([[1.0, 1.5, 2.0]])}, {})
    >>> found.table.round(2)
    array([[0.62, 0.73, 0.82],
           [0.5 , 0.62, 0.73]])
    >>> block.items, block.places(found, layout.outcome)
    (array([0, 3, 1, 2]), array([0, 0, 1, 1]))
    """

    layout: Layout
    items: np.ndarray
    alike: np.ndarray
    frame: Frame
    features: dict[str, Factored]
    levels: dict[str, Levels]

    @classmethod
    def of(
        cls,
        layout: Layout,
        features: Features,
        items: np.ndarray,
        alike: np.ndarray,
        levels: Mapping[str, np.ndarray] | None = None,
    ) -> "Block":
        """Make a block of some of the items whose meta-features are given.

        Parameters
        ----------
        layout : Layout
            The layout.
        features : dict of str to ndarray
            By meta-feature, shape (all items,) or (all items, labels). Also other numbers of items
            that targets use, by name, shape (all items,).
        items, alike : ndarray of int
            The chosen items, as `group_alike` orders and numbers them.
        levels : dict of str to ndarray of int, optional
            By latent that has values for levels of items, the level of each of all items. Items
            with the same number have the same levels.
        """
        dims = tuple(layout.dims)
        frame = Frame(1 + len(dims))
        first = items[_starts(alike)]
        labels = {feature.name: feature.label_dims for feature in layout.row_features}
        grouped = dict[str, Factored]()
        for name, values in features.items():
            own = labels.get(name, ())
            shape = (-1, *(len(layout.dims[dim]) if dim in own else 1 for dim in dims))
            grouped[name] = Factored.group(values[first].reshape(shape), frame)
        own_levels = dict[str, Levels]()
        for latent in layout.latents:
            if levels and latent.name in levels:
                own_levels[latent.name] = Levels.of(
                    levels[latent.name][first], _label_counts(latent, dims), frame
                )
        return cls(layout, items, alike, frame, grouped, own_levels)

    @property
    def count(self) -> int:
        """Number of distinct items."""
        return int(self.alike[-1]) + 1

    @property
    def starts(self) -> np.ndarray:
        """Places in `items` at which the items of each distinct item begin."""
        return _starts(self.alike)

    @property
    def number(self) -> np.ndarray:
        """Number of each item's distinct item, in the order of the table; of a block of all."""
        found = np.empty(len(self.items), dtype=int)
        found[self.items] = self.alike
        return found

    def totals(self, counts: np.ndarray) -> np.ndarray:
        """Sum counts of items, shape (subjects, items), over the items of each distinct item."""
        return np.add.reduceat(counts[:, self.items], self.starts, axis=1)

    def values(
        self,
        targets: Sequence[Expr],
        profile: Tables,
        constants: Mapping[str, float | np.ndarray],
    ) -> list[Factored]:
        """Compute derived nodes or the outcome, for draws of one subject or for several subjects.

        Parameters
        ----------
        targets : sequence of expression
            Nodes or expressions of nodes. Parents come before children, so that nothing is computed
            twice.
        profile : mapping of str to ndarray
            By latent and covariate, shape (labels, draws). Where a latent has values for levels of
            items, the rows of the levels follow one another.
        constants : mapping of str to float or ndarray
            By subject constant: a number, or one per draw.

        Returns
        -------
        list of Factored
            Tables of the targets, shape (cells, draws), or (cells,) if the target does not depend
            on draws.
        """
        dims = tuple(self.layout.dims)
        known: dict[str, object] = dict(self.features)
        for name, value in constants.items():
            known[name] = self._alone(value) if isinstance(value, np.ndarray) else value
        nodes: tuple[Latent | MetaFeature, ...] = self.layout.latents + self.layout.covariates
        for node in nodes:
            table = profile[node.name]
            if node.name in self.levels:
                table, cells = self.levels[node.name].take(table)
            else:
                cells = self.frame.each((1, *_label_counts(node, dims)))
            known[node.name] = Factored(table, cells, self.frame)
        found = []
        for target in targets:
            named: dict[str, object] = {}
            found.append(Factored.of(evaluate(target, known, dims, named=named), self.frame))
            known |= named
        return found

    def places(self, value: Factored, target: Expr) -> np.ndarray:
        """Return the position of every item's value in a computed table, (items, labels, ...)."""
        dims = self.layout.dims
        labels = [len(names) if dim in target.dims else 1 for dim, names in dims.items()]
        index = np.broadcast_to(value.cells.index, (self.count, *labels))
        own = (len(names) for dim, names in dims.items() if dim in target.dims)
        places: np.ndarray = index.reshape(self.count, *own)[self.alike]
        return places

    def _alone(self, value: np.ndarray) -> Factored:
        """Convert one number per draw to a value that is the same for all items and labels."""
        return Factored(value[None], self.frame.each((1,) * self.frame.axes), self.frame)


def _starts(alike: np.ndarray) -> np.ndarray:
    return np.flatnonzero(np.diff(alike, prepend=-1))


def _label_counts(node: Latent | MetaFeature, dims: tuple[str, ...]) -> tuple[int, ...]:
    """Return the number of labels of a node along each dimension; 1 where it has none."""
    return tuple(len(node.dims.get(dim, " ")) for dim in dims)


def group_alike(features: Features, items: int) -> tuple[np.ndarray, np.ndarray]:
    """Sort items so that neighbours share many values, and number the distinct items.

    Parameters
    ----------
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    items : int
        Number of items.

    Returns
    -------
    order : ndarray of int
        Positions of all items; items with the same meta-features are neighbours.
    number : ndarray of int
        For every item in that order, the number of its distinct item, counted from 0.

    Examples
    --------
    >>> group_alike({"size": np.array([2.0, 1.0, 2.0])}, items=3)
    (array([1, 0, 2]), array([0, 1, 1]))
    """
    columns = [
        column for values in features.values() for column in values.reshape(items, -1).T
    ] or [np.zeros(items)]
    columns.sort(key=lambda column: len(np.unique(column)))  # most values: the primary sort key
    return in_order(columns)
