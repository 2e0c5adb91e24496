"""Success probabilities for items, with intervals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import xarray as xr

from ...layouts.steps import Leaf
from ..features import outside_range, read_features
from ..ladders import Rows, of_rows, row_names
from ..options import inside
from ..tables import named
from ..wording import many
from .seen import Seen
from .streaming import SUMMARY, summaries

if TYPE_CHECKING:
    from ..results import Fit


@dataclass(frozen=True, eq=False)
class Forecast:
    """Probabilities of success of some subjects on some items.

    Attributes
    ----------
    data : xarray.Dataset
        ``mean``, ``low`` and ``high`` of the success probability (subject, item); ``trained``:
        whether the subject's fit saw that item (subject, item): its name, or, where nobody gave
        names (0, 1, ...), its meta-features; ``extrapolated``: whether the item lies outside a
        declared range (item). Where outcomes are several, graded or scores,
        there is a row along ``item`` for every step, as in `Evaluation.of_outcomes`, and the
        probability is that of an outcome of at least so much.
    prob : float
        Mass of the intervals.
    expected : DataFrame or None
        Where rows are steps, the expected outcomes: ``subject``, ``item``, ``outcome``, and
        ``mean``, ``low`` and ``high`` of a probability of success, of a score in [0, 1], or of a
        grade's number from 0.
    seen : Seen or None
        What the fit has seen, for `score`; None where a forecast is of no fit.

    Examples
    --------
    >>> cells = ("subject", "item")
    >>> numbers = {name: (cells, [[p]]) for name, p in (("mean", 0.6), ("low", 0.4), ("high", 0.9))}
    >>> flags = {"trained": (cells, [[False]]), "extrapolated": ("item", [True])}
    >>> Forecast(xr.Dataset(numbers | flags, {"subject": ["Ann"], "item": ["pin"]}), prob=0.9)
    <Forecast: 1 subject, 1 item, 1 of them outside a declared range, 90% intervals>
    """

    data: xr.Dataset
    prob: float
    expected: pd.DataFrame | None = None
    seen: Seen | None = field(default=None, repr=False)

    @cached_property
    def rows(self) -> Rows | None:
        """What its rows are steps of; None where a row is an item."""
        return None if self.expected is None else Rows.read(self.data["item"].to_numpy())

    def to_frame(self) -> pd.DataFrame:
        """Write the forecast as a table.

        Returns
        -------
        DataFrame
            One row per subject and item: ``subject``, ``item``, ``mean``, ``low``, ``high``,
            ``trained`` and ``extrapolated``. Where rows are steps, also ``outcome`` and ``step``,
            after the item.
        """
        frame = self.data.to_dataframe(dim_order=["subject", "item"]).reset_index()
        columns = ["subject", "item", "mean", "low", "high", "trained", "extrapolated"]
        if self.rows is not None:
            for name in ("item", "outcome", "step"):
                frame[name] = np.tile(getattr(self.rows, name), self.data.sizes["subject"])
            columns[2:2] = ["outcome", "step"]
        return frame[columns]

    def __repr__(self) -> str:
        sizes = self.data.sizes
        items, flagged = sizes["item"], self.data["extrapolated"].to_numpy()
        if self.rows is not None:
            items = len(self.rows.items)
            flagged = flagged[np.unique(self.rows.places, return_index=True)[1]]
        outside = int(flagged.sum())
        return (
            f"<Forecast: {many(sizes['subject'], 'subject')}, {many(items, 'item')}, "
            f"{outside} of them outside a declared range, {self.prob:.0%} intervals>"
        )


def forecast(
    fit: "Fit",
    items: pd.DataFrame,
    *,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> Forecast:
    """Forecast success on items, run or not.

    Parameters
    ----------
    fit : Fit
        Profiles.
    items : DataFrame
        Meta-features, indexed by item; columns in any order, others are ignored.
    subjects : iterable, optional
        Whose success; everybody's by default.
    prob : float, default 0.9
        Mass of the equal-tailed interval of the success probability.
    memory_mib : float, default 256
        Bound of the memory used on the way, by all threads together, in MiB; it changes no result.
        The result itself, and what a single item needs, come on top.

    Returns
    -------
    Forecast
        Posterior means and intervals. An item outside a declared range is forecast and flagged.
        Where outcomes are several, graded or scores, of the probability of reaching each step, and
        of the expected outcomes.

    Raises
    ------
    DataError
        When a column is missing, a value is missing, infinite or none of the levels, or a name
        occurs twice.
    FitError
        When a subject is not in the fit, `prob` is not between 0 and 1, or `memory_mib` is no
        positive number.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast(result, aaio.battery(seed=2).head(3))
    <Forecast: 1 subject, 3 items, 0 of them outside a declared range, 90% intervals>
    """
    prob = inside("prob", prob, such_as=0.9)
    items = named(items, "items", "item")
    features = read_features(fit.layout, items)
    rows, names = fit.places(subjects), fit.subjects
    steps = fit.layout.steps
    summarise = partial(summaries, fit, rows, prob=prob, memory_mib=memory_mib)
    outside = outside_range(fit.layout, features).any(axis=1)
    flagged = outside.reindex(range(len(items)), fill_value=False).to_numpy(dtype=bool)
    seen = Seen.of(fit, rows, items.index, features)
    trained = seen.flags()
    who, cells = [names[row] for row in rows], ("subject", "item")
    if steps is None:
        (found,) = summarise(features, len(items), [fit.layout.outcome])
        what, expected = list(items.index), None
    else:
        each = len(steps.rows)
        spread = of_rows(steps, features, len(items), cumulative=True)
        (found,) = summarise(spread, each * len(items), [steps])
        leaves = fit.layout.outcomes
        expected = _expected(who, items.index, leaves, summarise(features, len(items), leaves))
        what = row_names(items.index, steps)
        trained, flagged = np.repeat(trained, each, axis=1), np.repeat(flagged, each)
    data = xr.Dataset(
        {
            **{name: (cells, values) for name, values in zip(SUMMARY, found, strict=True)},
            "trained": (cells, trained),
            "extrapolated": ("item", flagged),
        },
        {"subject": who, "item": what},
    )
    return Forecast(data, prob, expected, seen)


def _expected(
    who: list[str], items: pd.Index, leaves: Sequence[Leaf], found: list[np.ndarray]
) -> pd.DataFrame:
    """Write summaries of each outcome, (3, subjects, items), as a table."""
    names = [leaf.name for leaf in leaves]
    axes = pd.MultiIndex.from_product([who, items, names], names=["subject", "item", "outcome"])
    values = np.stack(found, axis=-1).reshape(len(SUMMARY), -1)
    return pd.DataFrame(values.T, axes, list(SUMMARY)).reset_index()
