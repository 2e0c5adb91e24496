"""Functions of the chance of success, such as pass@k, averaged over draws and groups of items."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.options import whole
from ...evaluations.tables import need_columns, texts
from ..model.alignment import Features
from .scope import Scope
from .streaming import SAMPLE, Function, computed
from .summarising import Cells, by_block, summarise

type Grouping = str | pd.Series | Mapping[Hashable, object]


@dataclass(frozen=True, eq=False)
class Chances:
    """Chances of success of a forecast, computed when they are read.

    Attributes
    ----------
    scope : Scope
        Subjects and items.
    features : dict of str to ndarray
        Features of the rows.
    rows : list of str
        Names of the items, or of their steps.
    memory_mib : float
        Bound of the memory, in MiB.
    """

    scope: Scope
    features: Features
    rows: list[str]
    memory_mib: float

    def draws(self, function: Function | None = None) -> xr.DataArray:
        """Return the chances, or a function of them, as a lazy array."""
        fit, block = self.scope.fit, self.scope.block(self.features, len(self.rows))
        outcome = fit.layout.outcome
        values = computed(fit, block, outcome, function, memory_mib=self.memory_mib)
        return values.to_array({"subject": self.scope.names, "item": self.rows})


class FunctionsOfSuccess:
    """Numbers that are functions of the draws of the chance of success."""

    source: Chances | None
    prob: float

    @property
    def draws(self) -> xr.DataArray:
        """Draws of the chance of success, (chain, draw, subject, item).

        The array is lazy: what is selected of it is computed when it is used, and
        ``forecast.draws.sel(subject=..., item=...)`` needs memory for the selection only. Where
        rows are steps, the chance is that of reaching the step.

        Raises
        ------
        DataError
            When this is the forecast of a baseline, which has no draws.
        """
        return self._source().draws()

    def summary(
        self,
        function: Function | None = None,
        *,
        by: Grouping | None = None,
        total: bool = False,
        above: float | None = None,
    ) -> pd.DataFrame:
        r"""Summarise a function of the chance of success, averaged over items or groups of them.

        .. math:: \bar f_{sg} = \frac{1}{n_g} \sum_{i \in g} f(p_{si})

        Each draw has one mean over the items of a group, so that its interval has what the items
        share, such as the subject's ability or the effect of a new group. The mean of f over the
        draws is not f of the mean chance. Where an outcome has an `Unseen` property or `Measured`
        demands, f is averaged over their values, which all attempts at an item share.

        Parameters
        ----------
        function : callable, optional
            Function of an array of chances, element by element (default: the chance itself).
        by : str, Series or mapping, optional
            A column of the items, or the group of each item by its name; ``"item"`` for each item
            alone (default: all items together).
        total : bool, default False
            Whether to add up the items instead of averaging.
        above : float, optional
            Value to be exceeded.

        Returns
        -------
        DataFrame
            One row per subject and group: ``subject``; ``group``, or ``item``, if asked for;
            ``items`` (their number); ``mean``, ``sd``, ``low`` and ``high`` with the mass `prob` of
            the forecast; and ``above``, the chance that the number is above the value.

        Raises
        ------
        DataError
            When an item has no group, `function` does not return one number for each chance, the
            layout has outcomes of several steps, or this is the forecast of a baseline.
        FitError
            When `above` is no number.

        Notes
        -----
        Chances are computed some items at a time. Draws of each subject's groups are in memory.

        References
        ----------
        Gelman et al. (2013), Bayesian Data Analysis, section 10.5, for functions of draws.

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
        >>> forecast = found.forecast(new)
        >>> forecast.summary(by="kind")[["group", "items", "mean", "low", "high"]].round(1)
          group  items  mean  low  high
        0   new      2   0.5  0...   0.8
        >>> forecast.summary(lambda p: p * (1 - p), by="item")[["item", "mean"]].round(2)
          item  mean
        0    e  0.19
        1    f  0.19
        """
        values = self._values(function)
        if isinstance(by, str) and by == "item":
            return summarise(values, prob=self.prob, above=above)
        items = self._source().scope.items
        groups = pd.Series("", items.index) if by is None else groups_of(items, by)
        codes, names = pd.factorize(groups.to_numpy(dtype=object))
        counts = np.bincount(codes, minlength=len(names))
        weights = np.equal.outer(np.arange(len(names)), codes) / (1 if total else counts[:, None])
        table = summarise(_pooled(values, weights, names), prob=self.prob, above=above)
        table.insert(2, "items", np.tile(counts, values.sizes["subject"]))
        return table.drop(columns="group") if by is None else table

    def pass_at(
        self, k: int, *, by: Grouping | None = None, above: float | None = None
    ) -> pd.DataFrame:
        r"""Forecast the chance that at least one of k attempts succeeds, pass@k.

        .. math:: \text{pass@}k = \frac{1}{n} \sum_i \left(1 - (1 - p_{si})^k\right)

        Attempts are independent given the draw and the item.

        Parameters
        ----------
        k : int
            Number of attempts, at least 1.
        by, above
            As in `summary`, which also describes the result.

        Returns
        -------
        DataFrame
            As `summary` returns.

        Raises
        ------
        DataError, FitError
            As in `summary`, and when `k` is not a whole number of at least 1.

        References
        ----------
        Chen et al. (2021), Evaluating Large Language Models Trained on Code, for pass@k.

        Examples
        --------
        The function of a chance of success of one in ten:

        >>> round(1 - (1 - 0.1) ** 8, 2)
        0.57
        """
        attempts = whole("k", k, 1)
        return self.summary(lambda p: 1 - (1 - p) ** attempts, by=by, above=above)

    def all_of(
        self, k: int, *, by: Grouping | None = None, above: float | None = None
    ) -> pd.DataFrame:
        r"""Forecast the chance that all of k attempts succeed, pass^k.

        .. math:: \text{pass}^k = \frac{1}{n} \sum_i p_{si}^k

        Parameters, results and errors are those of `pass_at`.

        References
        ----------
        Yao et al. (2024), tau-bench: A Benchmark for Tool-Agent-User Interaction in Real-World
        Domains, for pass^k.

        Examples
        --------
        The function of a chance of success of nine in ten:

        >>> round(0.9**8, 2)
        0.43
        """
        attempts = whole("k", k, 1)
        return self.summary(lambda p: p**attempts, by=by, above=above)

    def total(self, *, by: Grouping | None = None, above: float | None = None) -> pd.DataFrame:
        r"""Forecast the expected number of items that are solved, with one attempt at each.

        .. math:: T_{sg} = \sum_{i \in g} p_{si}

        The interval is that of the expected number. The number in one run also varies by chance,
        with the variance :math:`\sum_i p_{si} (1 - p_{si})` given the chances.

        Parameters, results and errors are those of `summary`.

        Examples
        --------
        The expected number of three items of given chances:

        >>> round(sum([0.9, 0.5, 0.2]), 1)
        1.6
        """
        return self.summary(by=by, total=True, above=above)

    def _source(self) -> Chances:
        if self.source is None:
            raise DataError(
                "this is a forecast of a baseline, which has no draws; take those of the forecast "
                "of a fit"
            )
        return self.source

    def _values(self, function: Function | None) -> xr.DataArray:
        """Return a function of chances as a lazy array; refuse chances of steps."""
        source = self._source()
        layout = source.scope.fit.layout
        if layout.steps is not None:
            raise DataError(
                f"layout {layout.name!r} has outcomes of several steps; functions of success need "
                "a layout with a single Success: use forecast.expected, or forecast.draws"
            )
        return source.draws(function)


def _pooled(values: xr.DataArray, weights: np.ndarray, names: np.ndarray) -> xr.DataArray:
    """Add up values of items with weights, (groups, items), draw by draw."""
    sizes = [values.sizes[dim] for dim in ("subject", *SAMPLE)]
    pooled = np.zeros((sizes[0], len(names), sizes[1] * sizes[2]))

    def weighted(draws: np.ndarray, cells: Cells) -> np.ndarray:
        return np.asarray(weights[:, cells[1]] @ draws)

    for cells, sums in by_block(values, weighted):
        pooled[cells[0]] += sums
    coordinates = {"subject": values["subject"], "group": names}
    pooled = pooled.reshape(*pooled.shape[:2], *sizes[1:])
    return xr.DataArray(pooled, coordinates, ("subject", "group", *SAMPLE))


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
