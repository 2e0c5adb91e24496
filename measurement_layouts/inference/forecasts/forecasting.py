"""Success probabilities with intervals, for items of the fit and for new items."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import many
from ...common.options import inside
from ...common.showing import Overview, Shown
from ...evaluations.steps import Rows, of_rows, row_names, rows_per_item
from ..model.features import outside_range
from ..posterior.posterior import Posterior
from .functions import Chances, FunctionsOfSuccess
from .scope import Scope
from .streaming import computed
from .summarising import SUMMARY, summary_of
from .training import Training

CASES = ("known_subject", "known_item", "new_level")
"""Variables that mark whether a cell's subject, item and levels are in a joint fit."""


@dataclass(frozen=True, eq=False)
class Forecast(FunctionsOfSuccess, Shown):
    """Probabilities of success of some subjects on some items.

    Attributes
    ----------
    data : xarray.Dataset
        The forecast, with these variables:

        - ``mean``, ``low`` and ``high`` of the success probability (subject, item);
        - ``trained`` (subject, item): whether the subject was fitted to the item. Items are
          compared by name, or by meta-features where items have no given names (0, 1, ...);
        - ``extrapolated`` (item): whether the item lies outside a declared range;
        - ``outside_training`` (subject, item): whether the item lies outside the subject's training
          items, as `outside` lists. For a subject that is not in the fit, these are the items that
          any subject attempted. Forecasts of baselines lack it.

        The forecast of a joint fit also has ``known_subject`` (subject) and ``known_item`` (item):
        whether the name is in the fit; and ``new_level`` (subject, item): whether a category of the
        cell has a level that is not in the fit.

        With several outcomes, graded outcomes or scores, there is one row along ``item`` for every
        step, as in `Evaluation.of_outcomes`, and the probability is that of reaching the step.
    prob : float
        Mass of the intervals.
    expected : DataFrame or None
        The expected outcomes where rows are steps: ``subject``, ``item``, ``outcome``, and
        ``mean``, ``low`` and ``high`` of a success probability, of a score in [0, 1], or of a
        grade's number counted from 0.
    training : Training or None
        Training items of the fit, with which the items are compared; None for a baseline.
    source : Chances or None
        Draws, of which all numbers are functions; see `draws` and `summary`. None for a baseline.

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
    training: Training | None = field(default=None, repr=False)
    source: Chances | None = field(default=None, repr=False)

    @cached_property
    def rows(self) -> Rows | None:
        """Items and outcomes of which the rows are steps; None where a row is an item."""
        return None if self.expected is None else Rows.read(self.data["item"].to_numpy())

    def to_frame(self) -> pd.DataFrame:
        """Write the forecast as a table.

        Returns
        -------
        DataFrame
            One row per subject and item: ``subject``, ``item``, ``mean``, ``low``, ``high``,
            ``trained`` and ``extrapolated``. The forecast of a fit also has ``outside_training``
            and ``remark`` (a description of the values outside the subject's training items). The
            forecast of a joint fit also has ``known_subject``, ``known_item`` and ``new_level``.
            Where rows are steps, ``outcome`` and ``step`` follow the item.
        """
        frame = self.data.to_dataframe(dim_order=["subject", "item"]).reset_index()
        columns = ["subject", "item", "mean", "low", "high", "trained", "extrapolated"]
        if self.rows is not None:
            for name in ("item", "outcome", "step"):
                frame[name] = np.tile(getattr(self.rows, name), self.data.sizes["subject"])
            columns[2:2] = ["outcome", "step"]
        if self.training is not None:
            remarks = self.training.remarks(self.data["subject"].to_numpy(), self.items)
            if self.rows is not None:
                remarks = remarks[:, self.rows.places]
            frame["remark"] = pd.array(remarks.ravel(), dtype="str")
            columns += ["outside_training", "remark"]
        return frame[[*columns, *(name for name in CASES if name in frame)]]

    @property
    def items(self) -> pd.Index:
        """Names of the items; each occurs once, also where rows are steps."""
        return self.data.indexes["item"] if self.rows is None else self.rows.items

    def outside(self) -> pd.DataFrame:
        """List the values of items that lie outside each subject's training items.

        A subject's training items are those that it attempted. An item may lie inside every
        declared range and still beyond all training items of a subject. The forecast then depends
        on the layout's formula alone. Each item is compared with each subject's training items,
        column by column (a labelled meta-feature has one column for each label):

        - ``beyond``: the value is below the lowest or above the highest training value;
        - ``level``: the meta-feature has ``levels=``, and the value lies between the lowest and
          the highest training value but is on no training item (values of a meta-feature with a
          range are interpolated there, and not listed);
        - ``undefined``: the meta-feature is defined on this item, but on no training item.

        A meta-feature that is undefined on an item, because the one that it is ``given`` is 0, is
        not compared. Differences of up to 1e-7 of a column's largest training value are ignored.

        Returns
        -------
        DataFrame
            One row per finding: ``subject``, ``item``, ``kind``, ``meta_feature`` (the column),
            ``value``; ``low`` and ``high``, the lowest and highest training value; ``beyond``, the
            distance from the nearer of them in the meta-feature's ``unit``: positive above,
            negative below, 0 between them.

        Raises
        ------
        DataError
            When this is the forecast of a baseline, which has no training items.

        References
        ----------
        Montgomery, Peck and Vining (2021), Introduction to Linear Regression Analysis, chapter 3,
        for extrapolation that no single range shows.

        Examples
        --------
        >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
        >>> from measurement_layouts.inference.fitting import fit
        >>> from measurement_layouts.linking import logistic
        >>> objects = MetaFeature("objects", low=1, high=9)
        >>> memory = Capability("memory", low=0, high=9)
        >>> layout = Layout("counting", Success("right", logistic(memory - objects)))
        >>> items = pd.DataFrame({"objects": [3, 5]}, index=["three", "five"])
        >>> outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
        >>> fitted = fit(layout, Evaluation.from_wide(outcomes, items), method="grid")
        >>> seven = fitted.forecast(pd.DataFrame({"objects": [4, 7]}, index=["four", "seven"]))
        >>> seven.outside()[["subject", "item", "kind", "value", "low", "high", "beyond"]]
          subject   item    kind  value  low  high  beyond
        0     Ann  seven  beyond    7.0  3.0   5.0     2.0
        >>> seven.to_frame().loc[1, "remark"]
        'objects 7 is 2 above the training items (3 to 5)'
        """
        if self.training is None:
            raise DataError(
                "outside(): this is a forecast of a baseline, which has no training items; call "
                "outside() on the forecast of a fit"
            )
        return self.training.table(self.data["subject"].to_numpy(), self.items)

    def _overview(self) -> Overview:
        means = self.data["mean"].to_numpy()
        outside = self.data["extrapolated"].to_numpy().mean()
        facts = {
            "success": f"{means.min():.2f} to {means.max():.2f}, mean {means.mean():.2f}",
            "outside a declared range": f"{outside:.0%} of the items",
        }
        calls = {
            "forecast.to_frame()": "a table with one row per subject and item",
            "forecast.summary(by=column)": "mean success on groups of items; also pass_at(k)",
            "forecast.outside()": "values of items outside a subject's training items",
            "ml.score_forecast(forecast, evaluation)": "scores on outcomes that were not fitted",
        }
        return Overview(facts, calls)

    def __repr__(self) -> str:
        counts = [f"{self._count('extrapolated')} of them outside a declared range"]
        if self.training is not None and (outside := self._count("outside_training")):
            counts.append(f"{outside} outside a subject's training items")
        for flag, kind in (("known_subject", "subjects"), ("known_item", "items")):
            if flag in self.data and (new := int((~self.data[flag]).sum())):
                counts.append(f"{new} new {kind}")
        return (
            f"<Forecast: {many(self.data.sizes['subject'], 'subject')}, "
            f"{many(len(self.items), 'item')}, {', '.join(counts)}, {self.prob:.0%} intervals>"
        )

    def _count(self, flag: str) -> int:
        """Count the items that are flagged, for at least one subject."""
        flagged = self.data[flag].to_numpy()
        flagged = flagged if flagged.ndim == 1 else flagged.any(axis=0)
        numbers = np.arange(len(flagged)) if self.rows is None else self.rows.places
        return len(np.unique(numbers[flagged]))


def forecast(
    fit: Posterior,
    items: pd.DataFrame,
    *,
    subjects: Iterable[object] | pd.DataFrame | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> Forecast:
    r"""Forecast success of subjects on items, which may be new; in a joint fit, so may subjects.

    .. math:: p(y_{si} \mid D) = \int p(y_{si} \mid \theta_s, \beta_i, \phi)\,
        p(\theta_s, \beta_i, \phi \mid D)

    with the values :math:`\theta_s` of the subject and, in a joint fit, the values
    :math:`\beta_i` of the item. For subjects and items of the fit these are posterior draws. For
    new ones they are drawn from their prior given the shared values :math:`\phi`; see
    `new_levels.Levels`.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    items : DataFrame
        Meta-features, indexed by item, and with a joint fit also categories; items of a joint fit
        are found by name. Columns may be in any order, and others are ignored.
    subjects : iterable or DataFrame, optional
        Names of subjects of the fit to forecast (default: all); or, with a joint fit, covariates
        and categories of subjects, in the fit or new, indexed by name.
    prob : float, default 0.9
        Mass of the equal-tailed interval of the success probability.
    memory_mib : float, default 256
        Bound of the memory used during the computation, by all threads together, in MiB. It changes
        no result. The result itself and the memory needed for a single item are not included.

    Returns
    -------
    Forecast
        Posterior means and intervals. Items outside a declared range or outside a subject's
        training items are forecast and flagged; `Forecast.outside` lists by how far they are
        outside. With several outcomes, graded outcomes or scores, the forecast has the probability
        of reaching each step, and the expected outcomes. That of a joint fit also has
        ``known_subject``, ``known_item`` and ``new_level``.

    Raises
    ------
    DataError
        When a column is missing, a value is missing, infinite or none of the levels, a name occurs
        twice, or a subject or an item of a joint fit is given other properties.
    FitError
        When a subject is not in the fit, `prob` is not between 0 and 1, `memory_mib` is not a
        positive number, or values of new levels cannot be drawn from their prior.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> forecast(result, aaio.battery(seed=2).head(3))
    <Forecast: 1 subject, 3 items, 0 of them outside a declared range, 90% intervals>

    A joint fit, in which subjects share how they vary, also forecasts a new subject:

    >>> from measurement_layouts import Capability, Effect, Evaluation, Layout
    >>> from measurement_layouts import Prior, Spread, Success
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.linking import logistic
    >>> skill = Capability("skill", prior=Prior("Normal", mu=0, sigma=Spread("spread")))
    >>> ease = Effect("ease", per="item", prior=Prior("Normal", mu=0, sigma=1))
    >>> layout = Layout("quiz", Success("solved", logistic(skill + ease)))
    >>> solved = pd.DataFrame([[1, 0], [1, 1], [0, 0]], ["Ann", "Bob", "Cy"], ["sum", "product"])
    >>> found = fit(layout, Evaluation.from_wide(solved, pd.DataFrame(index=solved.columns)),
    ...             draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> people = pd.DataFrame(index=["Ann", "Dee"])
    >>> forecast(found, pd.DataFrame(index=["sum", "root"]), subjects=people)
    <Forecast: 2 subjects, 2 items, 0 of them outside a declared range, 1 new subjects, 1 new items,
    90% intervals>
    """
    prob = inside("prob", prob, such_as=0.9)
    scope = Scope.of(fit, items, subjects)
    layout, features, training = fit.layout, scope.features, Training.of(scope)
    names, steps, each = scope.items.index, layout.steps, rows_per_item(layout)

    spread = features if steps is None else of_rows(steps, features, len(names), cumulative=True)
    rows = list(names) if steps is None else row_names(names, steps)
    source = Chances(scope, spread, rows, memory_mib)
    success = summary_of(source.draws(), prob)
    expected = None if steps is None else _expected(scope, prob, memory_mib)
    cells = ["subject", "item"]
    beyond = outside_range(layout, features).any(axis=1)
    beyond = beyond.reindex(range(len(names)), fill_value=False)  # also without meta-features
    flags = {
        "trained": (cells, training.trained()),
        "extrapolated": (["item"], beyond.to_numpy(dtype=bool)),
        "outside_training": (cells, training.outside()),
    }
    if scope.extended is not None:
        flags["known_subject"] = ["subject"], ~scope.extended.new_subjects
        flags["known_item"] = ["item"], ~scope.extended.new_items
        flags["new_level"] = cells, scope.extended.new_levels
    variables: dict[str, Any] = {name: (cells, success[name]) for name in SUMMARY}
    for name, (dims, flag) in flags.items():
        variables[name] = dims, np.repeat(flag, each, axis=-1) if "item" in dims else flag
    data = xr.Dataset(variables, {"subject": scope.names, "item": rows})
    return Forecast(data, prob, expected, training, source)


def _expected(scope: Scope, prob: float, memory_mib: float) -> pd.DataFrame:
    """Write the expected value of each outcome, with its interval, as a table."""
    outcomes, items = scope.fit.layout.outcomes, scope.items.index
    names = {"subject": scope.names, "item": list(items)}
    block = scope.block(scope.features, len(items))
    summaries = []
    for outcome in outcomes:
        draws = computed(scope.fit, block, outcome, memory_mib=memory_mib).to_array(names)
        numbers = summary_of(draws, prob)
        summaries.append([numbers[name] for name in SUMMARY])
    index = pd.MultiIndex.from_product(
        [*names.values(), [outcome.name for outcome in outcomes]],
        names=["subject", "item", "outcome"],
    )
    values = np.stack(summaries, axis=-1).reshape(len(SUMMARY), -1)
    return pd.DataFrame(values.T, index, list(SUMMARY)).reset_index()
