"""Designed battery, and its expected reduction of uncertainty."""

from dataclasses import dataclass

import pandas as pd

from ...common.messages import many
from ...common.showing import Overview, Shown


@dataclass(frozen=True, eq=False, repr=False)
class Design(Shown):
    """Items that are expected to leave the least uncertainty about a profile.

    It is made by `design`, and plotted by `measurement_layouts.plots.design_plot`.

    Attributes
    ----------
    layout : str
        Name of the layout.
    battery : DataFrame
        The bank's rows of the chosen items, in the order of the choice. Before the columns of the
        bank there are ``order`` from 1, ``gain`` (expected reduction, when the item was chosen, of
        the mean of the target's standard deviations, as a fraction of those before any item) and
        ``cost``.
    latents : DataFrame
        Indexed by profile element: ``unit``, ``weight`` in the target, ``before`` and ``after``
        (expected standard deviations), ``low`` and ``high`` (an interval of the standard deviation
        after, for 80 % of subjects), and ``shrinkage``,
        :math:`1 - sd_{after}^2 / sd_{before}^2`.
    confounded : DataFrame
        Pairs of profile elements that the battery can hardly distinguish: ``node``, ``with`` and
        ``correlation``, whose size is above .7, with the strongest first.
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
    <Design for 'looking': 8 items of 41, sight 2.9 -> 0.96>
    """

    layout: str
    battery: pd.DataFrame
    latents: pd.DataFrame
    confounded: pd.DataFrame
    curve: pd.DataFrame
    bank: pd.DataFrame

    def __repr__(self) -> str:
        changes = [
            f"{name} {row['before']:.2g} -> {row['after']:.2g}"
            for name, row in self.latents.iterrows()
        ]
        listed = ", ".join(changes[:3] + ["..."] * (len(changes) > 3))
        items = many(len(self.battery), "item")
        return f"<Design for {self.layout!r}: {items} of {len(self.bank)}, {listed}>"

    def _overview(self) -> Overview:
        facts = {
            f"sd of {name}": f"{row['before']:.2g} before, {row['after']:.2g} expected after"
            for name, row in self.latents.iterrows()
        }
        calls = {
            "design.battery": "the chosen items, in the order in which they were chosen",
            "ml.plots.design_plot(design)": "what each further item adds",
        }
        return Overview(facts, calls, {"battery": self.battery, "confounded": self.confounded})
