"""The bands of a layout: the propensity in each band, and the values of its ends."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ... import linking
from ...common.errors import DataError
from ...common.messages import some
from ...layouts import Latent, Layout, Measured, MetaFeature, Unseen
from ...layouts.nodes import Derived
from ...linking import Expr, evaluate
from ...linking.evaluation import ancestry
from ...linking.expression import Dims, SubjectConstant, merge_dims
from ...linking.function import Call
from .alignment import Features, align, defined

_KINDS = (linking.band, linking.bilogistic, linking.uncertain_band)
_ROUNDING = 1e-9  # by this much, rounding may reverse ends that are computed


@dataclass(frozen=True, eq=False)
class Band:
    """A call of `band`, `bilogistic` or `uncertain_band` in a layout.

    Attributes
    ----------
    call : Call
        The call itself.
    latents : tuple of Latent
        Latents that what must be within the band is computed from, in order of appearance.
    latent : Latent or None
        The latent that must be within the band; None if it is a formula.
    low, high : Expr
        Ends of the band.
    min_width : float or None
        Smallest width; None for `bilogistic`.
    """

    call: Call
    latents: tuple[Latent, ...]
    latent: Latent | None
    low: Expr
    high: Expr
    min_width: float | None

    @property
    def end_dims(self) -> Dims:
        """Label dimensions of the two ends."""
        return merge_dims((self.low, self.high))


def find_bands(layout: Layout) -> tuple[Band, ...]:
    """Find the bands of a layout.

    Parameters
    ----------
    layout : Layout
        Layout with the bands.

    Returns
    -------
    tuple of Band
        One per call; a call within another one comes first.

    Examples
    --------
    >>> from measurement_layouts import Propensity, Success
    >>> risk, low = Propensity("risk", low=-4, high=4), MetaFeature("low", low=-3, high=3)
    >>> right = Success("right", linking.band(risk, low, low + 2, slope=3))
    >>> (found,) = find_bands(Layout("risk", right))
    >>> found.latent.name, found.low, found.high, found.min_width
    ('risk', MetaFeature('low', low=-3, high=3), <low + 2>, 0.1)
    """
    bands = []
    for call in layout.parts:
        if isinstance(call, Call) and call.function in _KINDS:
            arguments = dict(zip(call.names, call.arguments, strict=True))
            inside = arguments["theta"]
            nodes = ancestry(inside, stop_at=lambda of: isinstance(of, Latent))
            while isinstance(inside, Derived):
                inside = inside.expression
            bands.append(
                Band(
                    call,
                    tuple(node for node in nodes if isinstance(node, Latent)),
                    inside if isinstance(inside, Latent) else None,
                    arguments["low"],
                    arguments["high"],
                    dict(call.options).get("min_width"),
                )
            )
    return tuple(bands)


def ends(band: Band, features: Features, layout: Layout) -> tuple[np.ndarray, np.ndarray] | None:
    """Compute the ends of a band.

    Parameters
    ----------
    band : Band
        A band of the layout.
    features : dict of str to ndarray
        Values by meta-feature, shape (items,) or (items, labels).
    layout : Layout
        Layout with the band.

    Returns
    -------
    tuple of two ndarray, or None
        Low and high end, both of shape (items,), or (items, labels...) if an end has labels; None
        if an end depends on a latent, on a measured or unseen property, or on a constant of
        subjects.

    Examples
    --------
    >>> from measurement_layouts import Propensity, Success
    >>> risk, low = Propensity("risk", low=-4, high=4), MetaFeature("low", low=-3, high=3)
    >>> layout = Layout("risk", Success("right", linking.band(risk, low, 2.5)))
    >>> ends(find_bands(layout)[0], {"low": np.array([0.0, 2.0])}, layout)
    (array([0., 2.]), array([2.5, 2.5]))
    """
    nodes = [*ancestry(band.low), *ancestry(band.high)]
    if any(isinstance(node, Latent | SubjectConstant | Unseen | Measured) for node in nodes):
        return None
    dims = tuple(layout.dims)
    items = len(next(iter(features.values()))) if features else 1
    values = {
        node.name: align(features[node.name], node, dims, per_item=True)
        for node in nodes
        if isinstance(node, MetaFeature)
    }
    low, high, _ = np.broadcast_arrays(
        evaluate(band.low, values, dims),
        evaluate(band.high, values, dims),
        np.empty((items, *[1] * len(dims))),
    )
    columns = (slice(None), *(slice(None) if dim in band.end_dims else 0 for dim in dims))
    return low[columns], high[columns]


def refuse_reversed(layout: Layout, items: pd.Index, features: Features) -> None:
    """Refuse items on which a band's low end lies above its high end.

    Only ends that are computed from meta-features are checked, on the items where these are
    defined.

    Parameters
    ----------
    layout : Layout
        Layout with the bands.
    items : Index
        Names of the items, for the message.
    features : dict of str to ndarray
        Values by meta-feature, including the presence flags.

    Raises
    ------
    DataError
        When ends are reversed; the message names the items, both ends and their values.
    """
    for band in find_bands(layout):
        limits = ends(band, features, layout)
        if limits is None:
            continue
        low, high = limits
        bad = (low > high) & ~np.isclose(low, high, rtol=_ROUNDING, atol=_ROUNDING)
        for node in [*ancestry(band.low), *ancestry(band.high)]:
            if isinstance(node, MetaFeature):
                bad[~defined(node, features, len(items))] = False
        if bad.any():
            dims = [dim for dim in layout.dims if dim in band.end_dims]
            cells = [
                f"{items[row]} ({_written(band.low, dims, labels)} = {low[row, *labels]:g}, "
                f"{_written(band.high, dims, labels)} = {high[row, *labels]:g})"
                for row, *labels in np.argwhere(bad)
            ]
            raise DataError(
                f"{band.call}: the ends are reversed on {len(cells)} item(s): {some(cells)}; the "
                "low end of a band must not be above its high end; exchange the two values, "
                "correct them, or leave out those items"
            )


def _written(end: Expr, dims: list[str], labels: list[int]) -> str:
    """Format an end as the name of its column."""
    names = [end.dims[dim][at] for dim, at in zip(dims, labels, strict=True) if dim in end.dims]
    return f"{end}[{', '.join(names)}]" if names else str(end)
