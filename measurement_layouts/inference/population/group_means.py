"""Mean success of each subject on groups of items."""

from collections.abc import Hashable, Iterable, Mapping

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.options import inside
from ...evaluations.tables import named, need_columns, texts
from ..forecasts.scope import Scope
from ..forecasts.streaming import chances, mean_and_interval
from ..posterior.posterior import Posterior

type Grouping = str | pd.Series | Mapping[Hashable, object]


def group_means(
    fit: Posterior,
    items: pd.DataFrame,
    groups: Grouping,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> pd.DataFrame:
    r"""Forecast each subject's mean success on groups of items.

    .. math:: \bar p_{sg} = \frac{1}{n_g} \sum_{i \in g} p_{si}

    Each draw has one mean over the items of a group. An effect that a joint layout has for each
    group is the same for all items of the group, so that the mean of a new group is less certain
    than that of items with independent errors.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    items : DataFrame
        Meta-features, and for a joint fit categories, indexed by item.
    groups : str, Series or mapping
        A column of the items, or the group of each item by the item's name.
    subjects, prob, memory_mib
        As in `forecasting.forecast`.

    Returns
    -------
    DataFrame
        One row per subject and group: ``subject``, ``group``, ``items`` (number of items), and
        ``mean``, ``low`` and ``high`` of the mean success probability.

    Raises
    ------
    DataError
        When the items do not fit the layout, an item has no group, or the outcomes have several
        steps.
    FitError
        In the same cases as `forecasting.forecast`.

    Notes
    -----
    The success probabilities of one subject on all items are in memory at a time, 8 bytes for each
    item and draw.

    Examples
    --------
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill, size = Capability("skill", low=0, high=5), MetaFeature("size", low=0, high=5)
    >>> layout = Layout("one", Success("done", logistic(skill - size)))
    >>> items = pd.DataFrame({"size": [1, 2, 3, 4]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 0, 0]], index=["Ann"], columns=items.index)
    >>> found = fit(layout, Evaluation.from_wide(outcomes, items), method="grid", seed=1)
    >>> new = pd.DataFrame({"size": [2, 3], "kind": "new"}, index=["e", "f"])
    >>> group_means(found, new, "kind")[["group", "items", "mean", "low", "high"]].round(1)
      group  items  mean  low  high
    0   new      2   0.5  0...   0.8
    """
    prob = inside("prob", prob, such_as=0.9)
    if fit.layout.steps is not None:
        raise DataError(
            f"layout {fit.layout.name!r} has outcomes of several steps; group_means needs a layout "
            "with a single Success"
        )
    table = named(items, "items", "item")
    groups_by_item = groups_of(table, groups)
    codes, names = pd.factorize(groups_by_item.to_numpy(dtype=object))
    cells = Scope.of(fit, table, subjects)
    rows = []
    for subject, draws in zip(cells.names, chances(cells, memory_mib=memory_mib), strict=True):
        means = np.stack([draws[codes == code].mean(axis=0) for code in range(len(names))])
        summary = mean_and_interval(means, prob).T
        for name, count, numbers in zip(names, np.bincount(codes), summary, strict=True):
            rows.append((subject, name, count, *numbers))
    return pd.DataFrame(rows, columns=["subject", "group", "items", "mean", "low", "high"])


def groups_of(items: pd.DataFrame, groups: Grouping) -> pd.Series:
    """Read the group of each item as a string."""
    if isinstance(groups, str):
        need_columns(items.columns, [groups], "the items have")
        return pd.Series(texts(items[groups], f"the items' {groups}"), items.index)
    by_name = pd.Series(groups)
    by_item = by_name.set_axis(by_name.index.map(str)).reindex(items.index)
    if by_item.isna().any():
        lacking = by_item.index[by_item.isna()][0]
        raise DataError(f"groups: item {lacking} has no group; give one to each item by its name")
    return pd.Series(texts(by_item, "the groups"), items.index)
