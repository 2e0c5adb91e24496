"""The forecast of one subject on one item: its derived nodes, what-ifs, and the nearest items."""

import itertools
import math
from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...common.digits import short
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import inside, whole
from ...evaluations.tables import named
from ...layouts import Latent, Success
from ...layouts.elements import Element, find_elements
from ...layouts.outcomes.unseen import scores
from ...layouts.plates import ITEM, SUBJECT, Category, plate_name, root
from ...linking import units
from ...linking.interval import Interval
from ...linking.real import real
from ..forecasts.scope import Block, Scope
from ..forecasts.streaming import all_draws, mean_and_interval, summaries
from ..forecasts.training import Training, defined_columns, features_of_items
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
    layout = fit.layout
    refused = layout.measured or (layout.outcomes if layout.steps is not None else ())
    if refused:
        what = "is measured" if layout.measured else "is not a single Success"
        raise FitError(
            f"explain: {some(node.name for node in refused)} of layout {layout.name!r} {what}, "
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
    forecast, items = _Forecast(scope, prob, memory_mib), scope.items.index
    success = forecast.success()
    return Explanation(
        subject=scope.names[0],
        item=str(items[0]),
        outcome=layout.outcome.name,
        prob=prob,
        success=forecast.estimate(success),
        nodes=forecast.nodes(),
        changes=forecast.changes(changes or {}, instead or {}, success),
        nearest=_nearest(scope, neighbours),
        remark=str(Training.of(scope).remarks(scope.names, items)[0, 0]),
    )


@dataclass(frozen=True, eq=False)
class _Forecast:
    """A subject and an item, which may be new to the fit."""

    scope: Scope
    prob: float
    memory_mib: float

    def blocks(self, values: Mapping[str, float], amounts: Amounts) -> Iterator[Block]:
        """Yield the subject and the item, with other values of columns and a moved profile."""
        scope = self.scope
        table = scope.items.assign(**{name: [value] for name, value in values.items()})
        features = scope.features | read_features(scope.fit.layout, table)
        for block in scope.blocks(features, 1, self.memory_mib):

            def moved(latent: Latent, codes: np.ndarray, block: Block = block) -> np.ndarray:
                draws, ends = block.at(latent, codes), (latent.range.low, latent.range.high)
                for element, amount in amounts.items():
                    if element.latent.name == latent.name:
                        draws = draws.copy()
                        of_label = draws.reshape(*draws.shape[:2], -1)[..., element.label_index]
                        of_label[:] = np.clip(of_label + amount, *ends)
                return draws

            yield replace(block, at=moved)

    def success(
        self, values: Mapping[str, float] | None = None, amounts: Amounts | None = None
    ) -> np.ndarray:
        """Forecast the success probability, by draw, after what-if changes."""
        blocks = self.blocks(values or {}, amounts or {})
        outcome = self.scope.fit.layout.outcome
        return np.asarray(all_draws(blocks, 0, outcome, memory_mib=self.memory_mib)[0])

    def estimate(self, draws: np.ndarray) -> Estimate:
        """Summarise draws."""
        return Estimate(*map(float, mean_and_interval(draws[None].copy(), self.prob)[:, 0]))

    def nodes(self) -> pd.DataFrame:
        """Table of the derived nodes that are probabilities, by node and label."""
        layout = self.scope.fit.layout
        nodes = [
            node
            for node in layout.derived
            if node.range in Interval(0, 1) and scores(node) in (set(), set(node.dims))
        ]
        targets = [
            Success(layout.outcome.name, node.expression) if scores(node) else node
            for node in nodes
        ]
        results = summaries(
            self.blocks({}, {}), [0], targets, prob=self.prob, memory_mib=self.memory_mib
        )
        rows, numbers = list[str](), [np.zeros((3, 0))]
        for node, target, values in zip(nodes, targets, results, strict=True):
            labels = [", ".join(names) for names in itertools.product(*target.dims.values())]
            rows += [f"{node.name}[{label}]" if label else node.name for label in labels]
            numbers.append(1 - values.reshape(3, -1)[[0, 2, 1]])
        table = pd.DataFrame(np.hstack(numbers).T, rows, ends_of("fails"))
        return table.rename_axis("node")

    def changes(
        self, amounts: Mapping[str, float], instead: Mapping[str, float], before: np.ndarray
    ) -> pd.DataFrame:
        """Table of what-ifs: each change, and all of them together."""
        columns = [name for node in self.scope.fit.layout.meta_features for name in node.columns]
        unknown = [name for name in instead if name not in columns or name in amounts]
        if unknown:
            raise FitError(
                f"explain: instead names {some(unknown)}; it sets columns of the item "
                f"({some(columns, 20)}), each in either instead or changes"
            )
        versions = dict[str, tuple[dict[str, float], dict[Element, float]]]()
        for name, amount in {**amounts, **instead}.items():
            number = None if isinstance(amount, bool) else real(amount)
            if number is None or not math.isfinite(number):
                raise FitError(f"explain: {name}: {amount!r} is no amount; give a finite number")
            if name in columns:
                text, value = self._of_column(name, amount, setting=name in instead)
                versions[text] = {name: value}, {}
            else:
                elements = find_elements(self.scope.fit.elements, name)
                text = _in_words(name, amount, units.name(elements[0].latent.unit))
                moved = (one for one in elements if self._has_levels_of(one))
                versions[text] = {}, dict.fromkeys(moved, float(amount))
        if len(versions) > 1:
            values, moves = zip(*versions.values(), strict=True)
            versions["all of these"] = dict(ChainMap(*values)), dict(ChainMap(*moves))
        rows = []
        for version in versions.values():
            after = self.success(*version)
            gain = self.estimate(after - before).named("gain")
            rows.append({**self.estimate(after).named("success"), **gain})
        index = pd.Index(list(versions), name="change")
        return pd.DataFrame(rows, index, [*ends_of("success"), *ends_of("gain")])

    def _of_column(self, name: str, amount: float, *, setting: bool) -> tuple[str, float]:
        """Describe a change of a column, and return its value after the change."""
        scope, layout = self.scope, self.scope.fit.layout
        nodes = {column: node for node in layout.meta_features for column in node.columns}
        values = defined_columns(layout, scope.features, 1)[0]
        before = float(values[list(nodes).index(name)])
        if math.isnan(before):
            if not setting:
                raise FitError(
                    f"explain: {name} is undefined on item {scope.items.index[0]!r}, so no amount "
                    "can be added to it; give an item on which it is defined, or use instead="
                )
            return f"{name} {short(float(amount))}", float(amount)
        after = float(amount) if setting else before + amount
        unit = units.name(nodes[name].unit)
        return f"{_in_words(name, after - before, unit)} ({short(after)})", after

    def _has_levels_of(self, element: Element) -> bool:
        """Whether the item is of an element's levels, so that its success depends on it."""
        scope, levels = self.scope, []
        for plate in map(plate_name, (one for one in element.latent.plates if one != SUBJECT)):
            code, fitted = int(scope.features[plate_feature(plate)][0]), scope.fit.levels[plate]
            levels.append(fitted[code] if code < len(fitted) else "")
        return element.levels == tuple(levels)


def _nearest(scope: Scope, count: int) -> pd.DataFrame:
    """Table of the attempted items that are most like the item, with the subject's outcomes."""
    fit, layout, (row,) = scope.fit, scope.fit.layout, scope.rows
    cells = fit.coded.take(fit.coded.subject == row)
    names = fit.item_names[cells.item]
    like = np.asarray(names != str(scope.items.index[0]))
    for plate in layout.plates:
        if isinstance(plate, Category) and root(plate) == ITEM:
            level = scope.features[plate_feature(plate.name)][0]
            like &= fit.constants[plate.name].to_numpy()[cells.item] == level
    training = defined_columns(layout, features_of_items(fit), len(fit.item_names))
    distance = _distances(defined_columns(layout, scope.features, 1)[0], training[cells.item])
    columns = {"distance": distance, "successes": cells.successes, "trials": cells.trials}
    table = pd.DataFrame(columns, pd.Index(names, name="item"))
    return table[like].sort_values("distance", kind="stable").head(count)


def _distances(item: np.ndarray, training: np.ndarray) -> np.ndarray:
    """Root mean square of the differences, in standard deviations of the attempted items."""
    spread = np.ma.masked_invalid(training).std(axis=0).filled(0.0)
    with np.errstate(invalid="ignore"):
        differences = np.abs(training - item) / np.where(spread > 0, spread, 1.0)
    differences[~np.isfinite(differences)] = 1.0  # defined, or finite, on only one of the two
    undefined = np.isnan(training) & np.isnan(item)
    differences[(training == item) | undefined] = 0.0
    counted = np.maximum((~undefined).sum(axis=1), 1)
    return np.asarray(np.sqrt((differences**2).sum(axis=1) / counted))


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
    names = fit.item_names
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


def _in_words(name: str, amount: float, unit: str) -> str:
    """Describe an added amount in words."""
    of = f"{short(abs(amount))}{' ' * bool(unit)}{unit}"
    return f"{name} {of} {'more' if amount > 0 else 'less'}"
