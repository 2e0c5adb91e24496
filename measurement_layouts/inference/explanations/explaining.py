"""The forecast of one subject on one item: its derived nodes, what-ifs, and the nearest items."""

import itertools
import math
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from ...common.digits import short
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import inside, whole
from ...evaluations.tables import named
from ...layouts import Success
from ...layouts.elements import Element, find_elements
from ...layouts.outcomes.unseen import scores
from ...layouts.plates import ITEM, SUBJECT, Category, plate_name, root
from ...linking import Expr, units
from ...linking.interval import Interval
from ..forecasts.reading import Drawn, Reader
from ..forecasts.scope import Part, Scope, all_draws
from ..forecasts.streaming import mean_and_interval
from ..forecasts.support import Support, defined_columns, features_of_items
from ..model.cohort import plate_feature
from ..model.features import read_features
from ..posterior.posterior import Posterior
from .explanation import Estimate, Explanation, ends_of

type Amounts = Mapping[Element, float]
"""Amounts that a what-if adds to elements of the profile."""


def explain(
    fit: Posterior,
    item: object,
    subject: object = None,
    *,
    changes: Mapping[str, float] | None = None,
    instead: Mapping[str, float] | None = None,
    neighbours: int = 5,
    prob: float = 0.9,
    memory_mib: float = 256,
) -> Explanation:
    r"""Explain the forecast of one subject's success on one item.

    The forecast is accompanied by the layout's derived nodes whose values are probabilities, each
    with the probability that it fails, by the success probability after what-if changes, and by the
    subject's outcomes on the training items that are most like the item.

    Parameters
    ----------
    fit : Posterior
        A fit of a layout with one `Success`.
    item : str, DataFrame, Series or mapping
        Name of an item of the fit, or the properties of any item as a table of one row.
    subject : str, optional
        Name of the subject; may be left out if the fit has only one. With a joint fit also a table
        of one row with the covariates and categories of a new subject.
    changes : mapping of str to float, optional
        What-if changes: an amount to add to a demand (by its column) or to an element of the
        profile, in its unit. An element stays in its range. Each change is tried alone; if there
        are several, also all together.
    instead : mapping of str to float, optional
        What-if changes that set a demand, by its column, to another value.
    neighbours : int, default 5
        Number of nearest training items to list, among those that the subject attempted.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).
    memory_mib : float, default 256
        Bound of the memory used during the computation, in MiB. It changes no result.

    Returns
    -------
    Explanation
        The explanation as tables; in words when printed.

    Raises
    ------
    DataError
        When the item lacks a column that the layout needs, has more than one row, or does not
        permit a change.
    FitError
        When the layout has several outcomes, graded outcomes or scores; when the subject or the
        named item is not in the fit; when a change names neither a demand nor an element of the
        profile; or when an option is out of range.

    Notes
    -----
    What-ifs are forecasts on the same draws, so that the gain has an interval. Nearest items have
    the same level of every category of items that the layout uses. Their distance is

    .. math:: d_i = \sqrt{\frac{1}{C} \sum_c \left(\frac{x_c - x_{ic}}{s_c}\right)^2}

    over the columns c that are defined on at least one of the two items, with the column's standard
    deviation s on the training items. A column that is defined on only one of them contributes 1.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> why = explain(result, aaio.battery(seed=2).iloc[[3]], changes={"visualAbility": 1.0})
    >>> why.nodes.index.tolist()
    ['navigationPerformance', 'visualPerformance']
    """
    prob, neighbours = inside("prob", prob, such_as=0.9), whole("neighbours", neighbours)
    refused = fit.layout.measured or (fit.layout.outcomes if fit.layout.steps is not None else ())
    if refused:
        what = "is measured" if fit.layout.measured else "is not a single Success"
        raise FitError(
            f"explain: {some(node.name for node in refused)} of layout {fit.layout.name!r} {what}, "
            "and only a single Success of known demands can be explained; use `derived`"
        )
    table = _table_of(fit, item)
    if subject is None and len(fit.subjects) != 1:
        raise FitError(
            f"explain: the fit has {len(fit.subjects)} subjects ({some(fit.subjects)}); name one "
            "of them as subject="
        )
    one = fit.subjects if subject is None else subject
    scope = Scope.of(fit, table, one if isinstance(one, pd.DataFrame | list) else [one])
    if len(scope.names) != 1:
        raise DataError(f"explain: subject= has {len(scope.names)} rows; give one subject")
    return _Forecast(scope, prob, memory_mib).explanation(changes or {}, instead or {}, neighbours)


@dataclass(frozen=True, eq=False)
class _Moved:
    """A reader whose subjects have amounts added to elements of their profiles."""

    reader: Reader
    amounts: Amounts

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def read(self, row: int) -> Drawn:
        drawn = self.reader.read(row)
        values = dict(drawn.values)
        for element, amount in self.amounts.items():
            latent = element.latent
            draws = values[latent.name].copy()
            by_label = draws.reshape(len(draws), -1, draws.shape[-1])[:, element.label_index]
            by_label[:] = np.clip(by_label + amount, latent.range.low, latent.range.high)
            values[latent.name] = draws
        return replace(drawn, values=values)


@dataclass(frozen=True, eq=False)
class _Forecast:
    """A subject and an item, which may be new to the fit."""

    scope: Scope
    prob: float
    memory_mib: float

    def explanation(
        self, amounts: Mapping[str, float], instead: Mapping[str, float], neighbours: int
    ) -> Explanation:
        """Assemble the explanation."""
        scope, items = self.scope, self.scope.items.index
        support = Support.of(scope.fit, scope.names, scope.rows, items, scope.features)
        success = self.draws(scope.fit.layout.outcome)
        return Explanation(
            subject=scope.names[0],
            item=str(items[0]),
            outcome=scope.fit.layout.outcome.name,
            prob=self.prob,
            success=self.estimate(success),
            nodes=self.nodes(),
            changes=self.changes(amounts, instead, success),
            nearest=self.nearest(neighbours),
            remark=str(support.remarks(scope.names, items)[0, 0]),
        )

    def draws(
        self,
        target: Expr,
        values: Mapping[str, float] | None = None,
        amounts: Amounts | None = None,
    ) -> np.ndarray:
        """Forecast a probability, by draw, with other values of columns or a moved profile."""
        scope = self.scope
        table = scope.items.assign(**{name: [float(x)] for name, x in (values or {}).items()})
        features = scope.features | read_features(scope.fit.layout, table)

        def readers() -> Iterator[Part]:
            for reader, some_features, count in scope.readers(features, 1, self.memory_mib):
                yield _Moved(reader, amounts or {}), some_features, count  # type: ignore[misc]

        every = all_draws(readers(), 0, target, memory_mib=self.memory_mib)
        return np.asarray(every[0])

    def estimate(self, draws: np.ndarray) -> Estimate:
        """Summarise draws."""
        return Estimate(*map(float, mean_and_interval(draws[None].copy(), self.prob)[:, 0]))

    def nodes(self) -> pd.DataFrame:
        """Table of the derived nodes that are probabilities, by node and label."""
        layout, rows = self.scope.fit.layout, dict[str, dict[str, float]]()
        nodes = [node for node in layout.derived if node.range in Interval(0, 1)]
        labelled = [node for node in nodes if not scores(node)]
        summaries = self.scope.summaries(
            self.scope.features, 1, labelled, prob=self.prob, memory_mib=self.memory_mib
        )
        values = dict(zip([node.name for node in labelled], summaries, strict=True))
        for node in nodes:
            if node.name in values:
                names = itertools.product(*node.dims.values())
                for labels, (mean, low, high) in zip(
                    names, values[node.name].reshape(3, -1).T.tolist(), strict=True
                ):
                    name = f"{node.name}[{', '.join(labels)}]" if labels else node.name
                    rows[name] = Estimate(1 - mean, 1 - high, 1 - low).named("fails")
            elif set(node.dims) == scores(node):  # averaged over what is unseen of the item
                chance = Success(layout.outcome.name, node.expression)
                rows[node.name] = self.estimate(1 - self.draws(chance)).named("fails")
        table = pd.DataFrame(list(rows.values()), list(rows), ends_of("fails"))
        return table.rename_axis("node")

    def changes(
        self, amounts: Mapping[str, float], instead: Mapping[str, float], before: np.ndarray
    ) -> pd.DataFrame:
        """Table of what-ifs: each change, and all of them together."""
        layout, scope = self.scope.fit.layout, self.scope
        columns = {name: node for node in layout.meta_features for name in node.columns}
        own = dict(
            zip(columns, defined_columns(layout, scope.features, 1)[0].tolist(), strict=True)
        )
        unknown = [name for name in instead if name not in columns or name in amounts]
        if unknown:
            raise FitError(
                f"explain: instead names {some(unknown)}; it sets columns of the item "
                f"({some(columns, 20)}), each in either instead or changes"
            )
        versions = dict[str, tuple[dict[str, float], dict[Element, float]]]()
        for name, amount in {**amounts, **instead}.items():
            if isinstance(amount, bool) or not _is_finite(amount):
                raise FitError(f"explain: {name}: {amount!r} is no amount; give a finite number")
            if name not in columns:
                chosen = find_elements(self.scope.fit.elements, name)
                moved = {one: float(amount) for one in chosen if self.has_levels_of(one)}
                unit = units.name(chosen[0].latent.unit)
                versions[_in_words(name, amount, unit)] = {}, moved
                continue
            if math.isnan(own[name]) and name in amounts:
                raise FitError(
                    f"explain: {name} is undefined on item {scope.items.index[0]!r}, so no amount "
                    "can be added to it; give an item on which it is defined, or use instead="
                )
            value = float(amount) if name in instead else own[name] + amount
            text = f"{name} {short(value)}"
            if not math.isnan(own[name]):
                unit = units.name(columns[name].unit)
                text = f"{_in_words(name, value - own[name], unit)} ({short(value)})"
            versions[text] = {name: value}, {}
        if len(versions) > 1:
            every: Any = [dict(ChainMap(*parts)) for parts in zip(*versions.values(), strict=True)]
            versions["all of these"] = tuple(every)
        rows = []
        for values, moves in versions.values():
            after = self.draws(layout.outcome, values, moves)
            gain = self.estimate(after - before).named("gain")
            rows.append({**self.estimate(after).named("success"), **gain})
        index = pd.Index(list(versions), name="change")
        return pd.DataFrame(rows, index, [*ends_of("success"), *ends_of("gain")])

    def has_levels_of(self, element: Element) -> bool:
        """Whether the item is of an element's levels, so that its success depends on it."""
        scope, plates = self.scope, [p for p in element.latent.plates if p != SUBJECT]
        codes = [int(scope.features[plate_feature(plate_name(plate))][0]) for plate in plates]
        names = [scope.fit.levels[plate_name(plate)] for plate in plates]
        return element.levels == tuple(
            own[code] if code < len(own) else "" for own, code in zip(names, codes, strict=True)
        )

    def nearest(self, count: int) -> pd.DataFrame:
        """Table of the training items that are most like this one, with the subject's outcomes."""
        scope, constants = self.scope, self.scope.fit.constants
        layout, names = scope.fit.layout, constants.indexes["item"].map(str)
        (row,) = scope.rows
        counts = scope.fit.coded.counts(row) if row >= 0 else np.zeros((2, len(names)))
        successes, trials = counts
        like = (trials > 0) & np.asarray(names != str(scope.items.index[0]))
        for plate in layout.plates:
            if isinstance(plate, Category) and root(plate) == ITEM:
                level = scope.features[plate_feature(plate.name)][0]
                like &= constants[plate.name].to_numpy() == level
        training = defined_columns(layout, features_of_items(scope.fit), len(names))
        far = _distances(
            defined_columns(layout, scope.features, 1)[0], training[trials > 0], training
        )
        order = np.flatnonzero(like)[np.argsort(far[like], kind="stable")][:count]
        columns = {
            "distance": far,
            "successes": successes.astype(int),
            "trials": trials.astype(int),
        }
        table = {name: values[order] for name, values in columns.items()}
        return pd.DataFrame(table, pd.Index(names[order], name="item"))


def _distances(own: np.ndarray, attempted: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Root mean square of the differences, in standard deviations of the attempted items."""
    apart = np.zeros(training.shape)
    for column, value in enumerate(own):
        values, finite = training[:, column], attempted[np.isfinite(attempted[:, column]), column]
        spread = float(finite.std()) if len(finite) else 0.0
        both = np.isfinite(values) & np.isfinite(value)
        apart[:, column] = np.where(np.isnan(values) & np.isnan(value), 0.0, 1.0)
        apart[values == value, column] = 0.0
        apart[both, column] = np.abs(values[both] - value) / (spread or 1.0)
    counted = ~(np.isnan(training) & np.isnan(own))
    return np.asarray(np.sqrt((apart**2).sum(axis=1) / np.maximum(counted.sum(axis=1), 1)))


def _table_of(fit: Posterior, item: object) -> pd.DataFrame:
    """Read an item, given by its name in the fit or by its properties, as a table of one row."""
    if isinstance(item, Mapping):
        values = {str(name): value for name, value in item.items()}
        item = pd.DataFrame([values], index=[str(values.pop("item", "new item"))])
    elif isinstance(item, pd.Series):
        item = item.to_frame().T
    elif not isinstance(item, pd.DataFrame):
        return _trained(fit, str(item))
    if len(item) != 1:
        raise DataError(
            f"explain: the table of the item has {len(item)} rows; give one, as in "
            "items.loc[['name']]"
        )
    return named(item, "item", "item")


def _trained(fit: Posterior, name: str) -> pd.DataFrame:
    """Return the properties of an item of the fit as a table of one row."""
    constants, layout = fit.constants, fit.layout
    names = constants.indexes["item"].map(str)
    if name not in names:
        raise FitError(
            f"explain: the fit has no item {name!r}; its items are {some(names)}; name one of "
            "these, or give the properties of a new item as a table of one row"
        )
    (place,) = np.flatnonzero(names == name)
    values = defined_columns(layout, features_of_items(fit), len(names))[place]
    columns = [column for node in layout.meta_features for column in node.columns]
    table = pd.DataFrame([values], [name], columns)
    for category in layout.categories:
        if category.root == ITEM:
            levels = fit.posterior.indexes[category.name].map(str)
            table[category.name] = [levels[int(constants[category.name].to_numpy()[place])]]
    return named(table, "item", "item")


def _is_finite(amount: object) -> bool:
    return isinstance(amount, int | float | np.integer | np.floating) and math.isfinite(amount)


def _in_words(name: str, amount: float, unit: str) -> str:
    """Describe an added amount in words."""
    of = f"{short(abs(amount))}{' ' * bool(unit)}{unit}"
    return f"{name} {of} {'more' if amount > 0 else 'less'}"
