"""A designed battery, and what it is expected to teach."""

from dataclasses import dataclass

import pandas as pd

from ...common.messages import many


@dataclass(frozen=True, eq=False, repr=False)
class Design:
    """Items that are expected to leave the least uncertainty.

    Made by `design`. Drawn by `measurement_layouts.plots.design_plot` and
    `measurement_layouts.plots.chosen_items_plot`.

    Attributes
    ----------
    layout : str
        Name of the layout.
    battery : DataFrame
        The bank's rows of the items chosen, in their order, an item as often as it is repeated;
        before its columns ``order`` from 1, ``gain`` (by how much the item was expected to lower
        the mean of the target's standard deviations, as a part of those before any item, when it
        was chosen) and ``cost``.
    latents : DataFrame
        Indexed by profile element: ``unit``, ``weight`` in the target, ``before`` and ``after``
        (expected standard deviations), ``low`` and ``high`` (of what remains after, between which
        80 % of subjects lie), and ``shrinkage``, :math:`1 - sd_{after}^2 / sd_{before}^2`.
    confounded : DataFrame
        Pairs of profile elements that the battery hardly tells apart: ``node``, ``with``,
        ``correlation``, beyond .7 in size, the strongest first.
    curve : DataFrame
        Indexed by ``n``, the number of items: the expected standard deviation of each element.
    bank : DataFrame
        The columns of the bank that the layout uses, of all items.

    Examples
    --------
    >>> import numpy as np
    >>> import measurement_layouts as ml
    >>> from measurement_layouts.linking import logistic
    >>> sight = ml.Capability("sight", low=0, high=10)
    >>> smallness = ml.MetaFeature("smallness", low=0, high=10)
    >>> layout = ml.Layout("looking", ml.Success("found", logistic(sight - smallness)))
    >>> bank = pd.DataFrame({"smallness": np.linspace(0, 10, 41)}, index=range(41))
    >>> ml.batteries.design(layout, bank, n=8)
    <Design for 'looking': 8 items of 41, sight 2.9 -> 0.95>
    """

    layout: str
    battery: pd.DataFrame
    latents: pd.DataFrame
    confounded: pd.DataFrame
    curve: pd.DataFrame
    bank: pd.DataFrame

    def __repr__(self) -> str:
        told = ", ".join(
            f"{name} {row['before']:.2g} -> {row['after']:.2g}"
            for name, row in self.latents.head(3).iterrows()
        )
        more = ", ..." if len(self.latents) > 3 else ""
        items = many(len(self.battery), "item")
        return f"<Design for {self.layout!r}: {items} of {len(self.bank)}, {told}{more}>"

    def __str__(self) -> str:
        parts = [
            f"Battery for layout {self.layout!r}: {many(len(self.battery), 'item')} of "
            f"{len(self.bank)}, cost {self.battery['cost'].sum():g}",
            "Expected standard deviations (low and high: 80 % of subjects)\n"
            + self.latents.round(3).to_string(),
        ]
        if len(self.confounded):
            told = self.confounded.round(2).to_string(index=False)
            parts.append("Hardly told apart by this battery\n" + told)
        return "\n\n".join(parts)
