"""The forecast of one subject on one item: its derived nodes, what-ifs, and the nearest items."""

import itertools
import math
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...common.digits import short
from ...common.errors import DataError, FitError
from ...common.messages import some
from ...common.options import inside, whole
from ...layouts import Latent, MetaFeature, Success
from ...layouts.elements import Element, find_elements
from ...layouts.outcomes.unseen import scores
from ...layouts.plates import ITEM, SUBJECT, Category, plate_name, root
from ...linking import Expr, units
from ...linking.interval import Interval
from ...linking.real import real
from ..forecasts.scope import Block, Scope
from ..forecasts.streaming import computed
from ..forecasts.summarising import mean_and_interval
from ..forecasts.training import Training, defined_columns, features_of_items
from ..model.cohort import plate_feature
from ..model.features import read_features
from ..posterior.posterior import Posterior
from .explanation import Estimate, Explanation, ends_of


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

    over the columns c that are defined on both items, with the column's standard deviation s on the
    training items that the subject attempted.

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
            "and only a single Success of known demands can be explained; use fit.derive"
        )
    names = fit.subjects if subject is None else subject
    scope = Scope.of(
        fit, _table_of(fit, item), names if isinstance(names, pd.DataFrame | list) else [names]
    )
    if len(scope.names) != 1:
        raise FitError(
            f"explain: there are {len(scope.names)} subjects ({some(scope.names)}); give one, as "
            "in subject='name'"
        )
    forecast = _Forecast(scope, prob, memory_mib)
    return Explanation(
        subject=scope.names[0],
        item=str(scope.items.index[0]),
        outcome=layout.outcome.name,
        prob=prob,
        success=Estimate(*forecast.summary(forecast.draws(layout.outcome, {}, {}))),
        nodes=forecast.nodes(),
        changes=forecast.changes(changes or {}, instead or {}),
        nearest=_nearest(scope, neighbours),
        remark=str(Training.of(scope).remarks(scope.names, scope.items.index)[0, 0]),
    )


@dataclass(frozen=True, eq=False)
class _Forecast:
    """A subject and an item, which may be new to the fit."""

    scope: Scope
    prob: float
    memory_mib: float

    def block(self, values: Mapping[str, float], amounts: Mapping[Element, float]) -> Block:
        """Return the subject and the item, with other values of columns and a moved profile."""
        scope = self.scope
        features = scope.features | read_features(scope.fit.layout, scope.items.assign(**values))
        block = scope.block(features, 1)

        def moved(latent: Latent, codes: np.ndarray) -> np.ndarray:
            draws = block.at(latent, codes)
            for element, amount in amounts.items():
                if element.latent.name == latent.name:
                    draws = draws.copy()
                    of_label = draws.reshape(*draws.shape[:2], -1)[..., element.label_index]
                    of_label[:] = np.clip(of_label + amount, latent.range.low, latent.range.high)
            return draws

        return replace(block, at=moved)

    def draws(
        self, target: Expr, values: Mapping[str, float], amounts: Mapping[Element, float]
    ) -> np.ndarray:
        """Compute a node of the item by draw, after what-if changes; shape (*labels, draws)."""
        block = self.block(values, amounts)
        numbers = computed(self.scope.fit, block, target, memory_mib=self.memory_mib)
        return np.asarray(numbers.rows(0, np.arange(1))[0])

    def summary(self, draws: np.ndarray) -> list[float]:
        """Summarise draws by their mean and the ends of their interval."""
        ends: list[float] = mean_and_interval(draws[None].copy(), self.prob)[:, 0].tolist()
        return ends

    def nodes(self) -> pd.DataFrame:
        """Table of the derived nodes that are probabilities, by node and label."""
        columns = {}
        for node in self.scope.fit.layout.derived:
            if node.range in Interval(0, 1) and scores(node) in (set(), set(node.dims)):
                target = Success("mean", node.expression) if scores(node) else node
                draws = self.draws(target, {}, {})
                labels = map(", ".join, itertools.product(*target.dims.values()))
                for label, chances in zip(labels, draws.reshape(-1, draws.shape[-1]), strict=True):
                    name = f"{node.name}[{label}]" if label else node.name
                    columns[name] = self.summary(1 - chances)
        table = pd.DataFrame.from_dict(columns, "index", columns=ends_of("fails"))
        return table.rename_axis("node")

    def changes(self, amounts: Mapping[str, float], instead: Mapping[str, float]) -> pd.DataFrame:
        """Table of what-ifs: each change, and all of them together."""
        scope, layout = self.scope, self.scope.fit.layout
        nodes = {name: node for node in layout.meta_features for name in node.columns}
        values = dict(zip(nodes, defined_columns(layout, scope.features, 1)[0], strict=True))
        unknown = [name for name in instead if name not in nodes or name in amounts]
        if unknown:
            raise FitError(
                f"explain: instead names {some(unknown)}; it sets columns of the item "
                f"({some(nodes, 20)}), each in either instead or changes"
            )
        versions = dict[str, tuple[dict[str, float], dict[Element, float]]]()
        for name, amount in {**amounts, **instead}.items():
            number = None if isinstance(amount, bool) else real(amount)
            old = 0.0 if name in instead else values.get(name, 0.0)
            if number is None or not math.isfinite(old + number):
                raise FitError(
                    f"explain: {name}: {amount!r} is no amount that can be added to {old:g}; "
                    "give a finite number, or instead= where the item has no value"
                )
            if name in nodes:
                value, there = old + number, values[name]
                text = _in_words(name, value - (0 if math.isnan(there) else there), nodes[name])
                versions[f"{text} ({short(value)})"] = {name: value}, {}
            else:
                elements = find_elements(scope.fit.elements, name)
                text = _in_words(name, number, elements[0].latent)
                versions[text] = {}, {one: number for one in elements if self._is_met(one)}
        if len(versions) > 1:
            columns, moves = zip(*versions.values(), strict=True)
            versions["all of these"] = dict(ChainMap(*columns)), dict(ChainMap(*moves))
        outcome, changed = layout.outcome, [({}, {}), *versions.values()]
        before, *after = (self.draws(outcome, *version) for version in changed)
        rows = [[*self.summary(draws), *self.summary(draws - before)] for draws in after]
        index = pd.Index(list(versions), name="change")
        return pd.DataFrame(rows, index, [*ends_of("success"), *ends_of("gain")])

    def _is_met(self, element: Element) -> bool:
        """Whether the item is of an element's levels, so that its success depends on it."""
        features, fitted = self.scope.features, self.scope.fit.levels
        plates = [plate_name(plate) for plate in element.latent.plates if plate != SUBJECT]
        codes = [int(features[plate_feature(plate)][0]) for plate in plates]
        pairs = zip(plates, element.levels, strict=True)
        return codes == [fitted[plate].index(level) for plate, level in pairs]


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
    training = defined_columns(layout, features_of_items(fit), len(fit.item_names))[cells.item]
    spread = np.ma.masked_invalid(training).std(axis=0).filled(0.0)
    with np.errstate(invalid="ignore"):  # infinite and undefined values are not compared
        differences = training - defined_columns(layout, scope.features, 1)
    scaled = np.ma.masked_invalid(differences / np.where(spread > 0, spread, 1.0))
    distance = np.ma.filled(np.sqrt((scaled**2).mean(axis=1)), 0.0)
    columns = {"distance": distance, "successes": cells.successes, "trials": cells.trials}
    table = pd.DataFrame(columns, pd.Index(names, name="item"))
    return table[like].sort_values("distance", kind="stable").head(count)


def _table_of(fit: Posterior, item: object) -> pd.DataFrame:
    """Read an item, given by its name in the fit or by its properties, as a table of one row."""
    if isinstance(item, Mapping):
        values = {str(name): value for name, value in item.items()}
        item = pd.DataFrame([values], index=[str(values.pop("item", "new item"))])
    elif isinstance(item, pd.Series):
        item = item.to_frame().T
    elif not isinstance(item, pd.DataFrame):
        item = _trained(fit, str(item))
    if len(item) != 1:
        raise DataError(
            f"explain: the table of the item has {len(item)} rows; give one, as in "
            "items.loc[['name']]"
        )
    return item


def _trained(fit: Posterior, name: str) -> pd.DataFrame:
    """Return the properties of an item of the fit as a table of one row."""
    constants, layout, names = fit.constants, fit.layout, fit.item_names
    if name not in names:
        raise FitError(
            f"explain: the fit has no item {name!r}; its items are {some(names)}; name one of "
            "these, or give the properties of a new item as a table of one row"
        )
    (place,) = np.flatnonzero(names == name)
    columns = [column for node in layout.meta_features for column in node.columns]
    values = defined_columns(layout, features_of_items(fit), len(names))[[place]]
    table = pd.DataFrame(values, [name], columns)
    for category in layout.categories:
        if category.root == ITEM:
            levels = fit.posterior.indexes[category.name].map(str)
            table[category.name] = levels[int(constants[category.name].to_numpy()[place])]
    return table


def _in_words(name: str, amount: float, node: Latent | MetaFeature) -> str:
    """Describe an added amount in words."""
    text = f"{short(abs(amount))} {units.name(node.unit)}".rstrip()
    return f"{name} {text} {'more' if amount > 0 else 'less'}"
