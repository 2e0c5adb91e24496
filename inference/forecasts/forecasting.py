"""Success probabilities for items, run or not, with intervals."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import many
from ...common.options import inside
from ...common.showing import Overview, Shown
from ...evaluations.steps import Rows, of_rows, row_names
from ...evaluations.tables import named
from ...layouts.outcomes.steps import Observed
from ..model.alignment import Features
from ..model.features import outside_range, read_features
from ..posterior.posterior import Posterior
from .elsewhere import Away, Transfer, Trust, read_trust
from .reading import reader_of
from .seen import Seen
from .streaming import SUMMARY, summaries
from .support import Support

OUTSIDE = ("outside_training", "new_combination")
"""Variables that say what lies outside a subject's training items: values, or pairs of them."""


PARTS = ("distance", "profile_sd", "items_sd", "elsewhere_sd")
"""Variables that say how far from home a cell lies, and what its log-odds' spread consists of."""


CASES = ("known_subject", "known_item", "new_level")
"""Variables that say what of a cell a joint fit knows."""


@dataclass(frozen=True, eq=False)
class Forecast(Shown):
    """Probabilities of success of some subjects on some items.

    Attributes
    ----------
    data : xarray.Dataset
        ``mean``, ``low`` and ``high`` of the success probability (subject, item); ``trained``:
        whether the subject's fit saw that item (subject, item): its name, or, where nobody gave
        names (0, 1, ...), its meta-features; ``extrapolated``: whether the item lies outside a
        declared range (item); ``outside_training`` and ``new_combination``: whether it lies outside
        the subject's training items, as `outside` tells (subject, item; not of baselines, which
        have no `support`; of a subject that the fit does not know, all items of the fit). Of a
        fit also ``distance`` (subject, item), how far the item lies from the subject's training
        items, in their standard deviations (1 for a level, or a group of `Transfer`, that is on
        none of them), and three standard deviations in log-odds (subject, item): ``profile_sd``,
        what the posterior leaves open; ``items_sd``, what items have of their own, of a joint
        fit's new items or as `Transfer` says; and ``elsewhere_sd``, what is added because the item
        lies away from home. Of a
        joint fit also ``known_subject`` (subject) and ``known_item`` (item): whether it is in the
        fit, by its name, and ``new_level``: whether the cell has a level of a category that the
        fit has not met (subject, item). Where outcomes are several, graded or scores,
        there is a row along ``item`` for every step, as in `Evaluation.of_outcomes`, and the
        probability is that of an outcome of at least so much.
    prob : float
        Mass of the intervals.
    expected : DataFrame or None
        Where rows are steps, the expected outcomes: ``subject``, ``item``, ``outcome``, and
        ``mean``, ``low`` and ``high`` of a probability of success, of a score in [0, 1], or of a
        grade's number from 0.
    support : Support or None
        What the items are held against: each subject's training items.
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
    support: Support | None = None
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
            ``trained`` and ``extrapolated``; of a fit's forecast also ``outside_training``,
            ``new_combination``, ``remark``, which says in words what lies outside the subject's
            training items, ``distance``, ``profile_sd``, ``items_sd`` and ``elsewhere_sd``; of a
            joint fit's, ``known_subject``, ``known_item`` and
            ``new_level``. Where rows are steps, also ``outcome`` and ``step``, after the item.
        """
        frame = self.data.to_dataframe(dim_order=["subject", "item"]).reset_index()
        columns = ["subject", "item", "mean", "low", "high", "trained", "extrapolated"]
        if self.rows is not None:
            for name in ("item", "outcome", "step"):
                frame[name] = np.tile(getattr(self.rows, name), self.data.sizes["subject"])
            columns[2:2] = ["outcome", "step"]
        if self.support is not None:
            told = self.support.remarks(self.data["subject"].to_numpy(), self.items)
            if self.rows is not None:
                told = told[:, self.rows.places]
            frame["remark"] = pd.array(told.ravel(), dtype="str")
            columns += [*OUTSIDE, "remark", *(name for name in PARTS if name in frame)]
        return frame[[*columns, *(name for name in CASES if name in frame)]]

    @property
    def items(self) -> pd.Index:
        """Names of the items, each once, also where rows are steps."""
        return self.data.indexes["item"] if self.rows is None else self.rows.items

    def outside(self) -> pd.DataFrame:
        """List what lies outside each subject's training items, those that it attempted.

        An item may lie inside every declared range, and yet beyond all that a subject was fitted
        on: the forecast then rests on the layout's formula alone. Which items are compared, per
        subject, column by column (a labelled meta-feature has one for each label):

        - ``beyond``: the value is below the lowest or above the highest training value;
        - ``level``: of a meta-feature with ``levels=``, the value lies between these and is on no
          training item (a number of a range between them is interpolated, and not listed);
        - ``undefined``: the meta-feature is defined on no training item, and is on this one;
        - ``combination``: two values are on training items, and on none of them together. Compared
          are pairs of columns with at most 12 different values on the training items.

        Where a meta-feature is undefined, because what it is ``given`` is 0, it is not compared.
        Differences of 1e-7 of a column's largest training value are rounding.

        Returns
        -------
        DataFrame
            One row per finding: ``subject``, ``item``, ``kind``, ``meta_feature`` (the column),
            ``value``; ``low`` and ``high``, the training values' ends; ``beyond``, the distance
            from the nearer end, in the meta-feature's ``unit``: positive above, negative below, 0
            between them. Of a combination also the ``other`` column, and ``other_value``.

        Raises
        ------
        DataError
            When the forecast is of a baseline, which has no training items to compare with.

        Notes
        -----
        Pairs, not whole rows of values: with many meta-features nearly every new item is a row
        never met, and pairs can be read. Of more than 12 values most pairs are never met either;
        then, as of values that never occur twice, nothing is said of combinations.

        References
        ----------
        Kuhn, Kacker and Lei (2013), Introduction to Combinatorial Testing, for the coverage of
        pairs; Montgomery, Peck and Vining (2021), Introduction to Linear Regression Analysis,
        chapter 3, for extrapolation that no single range shows.

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
        if self.support is None:
            raise DataError(
                "outside(): this is a forecast of a baseline, which knows no training items; give "
                "the forecast of a fit"
            )
        return self.support.table(self.data["subject"].to_numpy(), self.items)

    def _overview(self) -> Overview:
        means = self.data["mean"].to_numpy()
        outside = self.data["extrapolated"].to_numpy().mean()
        facts = {
            "success": f"{means.min():.2f} to {means.max():.2f}, mean {means.mean():.2f}",
            "outside a declared range": f"{outside:.0%} of the items",
        }
        calls = {
            "forecast.to_frame()": "a row for each subject and item",
            "forecast.outside()": "which items lie outside a subject's training items",
            "ml.score_forecast(forecast, evaluation)": "how good it is, on outcomes not fitted",
        }
        return Overview(facts, calls)

    def __repr__(self) -> str:
        flagged = self.data["extrapolated"].to_numpy()
        told = [f"{self._count(flagged)} of them outside a declared range"]
        if self.support is not None:
            found = [self._count(self.data[name].to_numpy().any(axis=0)) for name in OUTSIDE]
            beyond, combined = found
            told += [f"{beyond} outside a subject's training items"] * bool(beyond)
            told += [f"{combined} with combinations new to a subject"] * bool(combined)
        told += self._cases()
        return (
            f"<Forecast: {many(self.data.sizes['subject'], 'subject')}, "
            f"{many(len(self.items), 'item')}, {', '.join(told)}, {self.prob:.0%} intervals>"
        )

    def _cases(self) -> list[str]:
        """Say how many cells are of known and of new subjects and items."""
        if CASES[0] not in self.data:
            return []
        who, what, level = (self.data[name].to_numpy() for name in CASES)
        counts = {
            f"of {old} subjects on {kind} items": int(mine.sum() * theirs.sum())
            for old, mine in (("known", who), ("new", ~who))
            for kind, theirs in (("known", what), ("new", ~what))
        } | {"with a new level": int(level.sum())}
        return [f"{many(count, 'cell')} {case}" for case, count in counts.items() if count]

    def _count(self, flagged: np.ndarray) -> int:
        """Count items, given their rows."""
        if self.rows is not None:
            flagged = flagged[np.unique(self.rows.places, return_index=True)[1]]
        return int(flagged.sum())


def forecast(
    fit: Posterior,
    items: pd.DataFrame,
    *,
    subjects: Iterable[object] | None = None,
    prob: float = 0.9,
    memory_mib: float = 256,
    trust: Trust = None,
) -> Forecast:
    """Forecast success on items, run or not.

    Parameters
    ----------
    fit : Posterior
        Profiles.
    items : DataFrame
        Meta-features, indexed by item; columns in any order, others are ignored.
    subjects : iterable, optional
        Subjects to forecast (default: all).
    prob : float, default 0.9
        Mass of the equal-tailed interval of the success probability.
    memory_mib : float, default 256
        Bound of the memory used on the way, by all threads together, in MiB; it changes no result.
        The result itself, and what a single item needs, come on top.
    trust : Transfer, float or "home", optional
        What is said of items unlike those that a subject was trained on: how far forecasts of
        groups left out were off, as `measurement_layouts.validation.transfer` estimates it; the
        standard deviation of a group's common offset in log-odds, for all items that a subject was
        not trained on; or "home", for forecasts by the layout's formula alone. By default items
        outside a subject's training items are widened by an offset whose spread has the prior
        HalfNormal(1), in proportion to their ``distance``, up to 1.

    Returns
    -------
    Forecast
        Posterior means and intervals. An item outside a declared range is forecast and flagged, and
        so is one that lies outside a subject's training items; `Forecast.outside` tells by how far.
        Where outcomes are several, graded or scores, of the probability of reaching each step, and
        of the expected outcomes.

    Raises
    ------
    DataError
        When a column is missing, a value is missing, infinite or none of the levels, or a name
        occurs twice.
    FitError
        When a subject is not in the fit, `prob` is not between 0 and 1, `memory_mib` is no
        positive number, or `trust` is none of these, or is given for outcomes of several steps.

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
    rows = fit.places(subjects)
    reader = reader_of(fit, features)
    summarise = partial(summaries, reader, rows, prob=prob, memory_mib=memory_mib)
    return forecast_of(fit, fit.names(rows), rows, items, features, summarise, prob, trust)


def forecast_of(
    fit: Posterior,
    who: list[str],
    rows: np.ndarray,
    table: pd.DataFrame,
    features: Features,
    summarise: Callable[..., list[np.ndarray]],
    prob: float,
    trust: Trust,
) -> Forecast:
    """Put a forecast together, with what a fit has seen of its items.

    Parameters
    ----------
    fit : Posterior
        The fit.
    who : list of str
        Names of the subjects.
    rows : ndarray of int
        Their places in the fit; -1 for those that are not in it.
    table : DataFrame
        The items, by name.
    features : dict of str to ndarray
        Their meta-features.
    summarise : callable
        From features, how many rows they have, targets, and what cells elsewhere are told, to
        summaries as `summaries` makes them.
    prob : float
        Mass of the intervals.
    trust : Transfer, float or "home", optional
        As in `forecast`.
    """
    cells, steps, items = ("subject", "item"), fit.layout.steps, table.index
    outside = outside_range(fit.layout, features).any(axis=1)
    flagged = outside.reindex(range(len(items)), fill_value=False).to_numpy(dtype=bool)
    seen = Seen.of(fit, who, rows, items, features)
    trained = seen.flags()
    support = Support.of(fit, who, rows, items, features)
    unmet = list(support.flags())
    distance = support.distances()
    transfer = read_trust(trust, fit.layout)
    if isinstance(trust, Transfer):
        distance = np.maximum(distance, trust.unmet(fit, rows, table))
    elif trust is not None and transfer is not None:
        distance = np.maximum(distance, ~trained)
    away = Away(np.minimum(distance, 1) * ~trained, transfer)
    if steps is None:
        (found,) = summarise(features, len(items), [fit.layout.outcome], away=away)
        what, expected = list(items), None
    else:
        each = len(steps.rows)
        spread = of_rows(steps, features, len(items), cumulative=True)
        away = Away(np.repeat(away.share, each, axis=1), transfer)
        (found,) = summarise(spread, each * len(items), [steps], away=away)
        outcomes = fit.layout.outcomes
        expected = _expected(who, items, outcomes, summarise(features, len(items), outcomes))
        what = row_names(items, steps)
        trained, distance, *unmet = (
            np.repeat(flags, each, axis=1) for flags in (trained, distance, *unmet)
        )
        flagged = np.repeat(flagged, each)
    data = xr.Dataset(
        {
            **{name: (cells, values) for name, values in zip(SUMMARY, found[:3], strict=True)},
            "trained": (cells, trained),
            "extrapolated": ("item", flagged),
            **{name: (cells, values) for name, values in zip(OUTSIDE, unmet, strict=True)},
            "distance": (cells, distance),
            "profile_sd": (cells, found[3]),
            "items_sd": (cells, away.sd("item_sd")),
            "elsewhere_sd": (cells, away.sd("group_sd", "subject_sd")),
        },
        {"subject": who, "item": what},
    )
    return Forecast(data, prob, expected, support, seen)


def _expected(
    who: list[str], items: pd.Index, outcomes: Sequence[Observed], found: list[np.ndarray]
) -> pd.DataFrame:
    """Write summaries of each outcome, (3, subjects, items), as a table."""
    names = [outcome.name for outcome in outcomes]
    axes = pd.MultiIndex.from_product([who, items, names], names=["subject", "item", "outcome"])
    values = np.stack(found, axis=-1).reshape(len(SUMMARY), -1)
    return pd.DataFrame(values.T, axes, list(SUMMARY)).reset_index()
