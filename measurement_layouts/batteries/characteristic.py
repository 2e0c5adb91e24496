"""Characteristic curves of subjects: abilities from the demand levels of items."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from ..common import options
from ..common.errors import FitError
from ..common.messages import many, some
from ..common.proportions import rates, wilson
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_evaluation
from ..evaluations.steps import refuse_steps
from .logistic_curves import FULL, fit_logistic, step_position, success, weights
from .slices import Slices

_POINTS = 201


@dataclass(frozen=True, eq=False)
class CharacteristicCurves:
    """Characteristic curves of subjects, one per dimension.

    Made by `characteristic_curves`.

    Attributes
    ----------
    bins : DataFrame
        One row per subject, dimension and level: ``items`` in the dominant slice that the subject
        attempted, ``trials``, ``successes``, their ``rate`` (NaN without items) with the ends
        ``rate_low`` and ``rate_high`` of Wilson's interval, and the bin's ``weight`` in least
        squares, 1 from 100 items on.
    table : DataFrame
        One row per subject and dimension: ``ability`` (area under the curve, in levels), ``slope``
        (per level; infinite for a step), ``low`` and ``high`` (the ability's interval), ``items``
        and ``reason``: why there is no curve, and which levels have no items, or fewer than 100.
    draws : Dataset
        Draws of ``ability`` and ``slope``, (subject, dimension, draw), from the bootstrap.
    prob : float
        Mass of the intervals.
    lowest : int
        Level at which the scale begins.

    Examples
    --------
    >>> items = pd.DataFrame({"logic": np.repeat(np.arange(1, 6), 100)})
    >>> solved = np.random.default_rng(1).random(500) < 1 / (1 + np.exp(2 * (items["logic"] - 3)))
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved.to_numpy()], ["Ann"]), items)
    >>> curves = characteristic_curves(evaluation, ["logic"], resamples=20)
    >>> float(curves.abilities.loc["Ann", "logic"].round(1))
    3.1
    """

    bins: pd.DataFrame
    table: pd.DataFrame
    draws: xr.Dataset
    prob: float
    lowest: int = 0

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return [str(name) for name in self.draws["subject"].to_numpy()]

    @property
    def dimensions(self) -> list[str]:
        """Names of the demands."""
        return [str(name) for name in self.draws["dimension"].to_numpy()]

    @property
    def abilities(self) -> pd.DataFrame:
        """Ability profiles: a row per subject, a column per dimension, in levels."""
        wide = self.table.pivot_table("ability", "subject", "dimension", dropna=False)
        return wide.loc[self.subjects, self.dimensions]

    def row(self, subject: object, dimension: str) -> pd.Series:
        """Find one curve's row of `table`.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        return self._of(self.table, subject, dimension).iloc[0]

    def bins_of(self, subject: object, dimension: str) -> pd.DataFrame:
        """Find one curve's rows of `bins`.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        return self._of(self.bins, subject, dimension)

    def curve(
        self, subject: object, dimension: str, levels: np.ndarray | None = None
    ) -> pd.DataFrame:
        """Compute one curve, with a band.

        Parameters
        ----------
        subject : object
            Name of the subject.
        dimension : str
            Name of the demand.
        levels : ndarray, optional
            Levels (default: 201 from the scale's lowest level to one above the highest).

        Returns
        -------
        DataFrame
            ``level``, ``success`` (the fitted curve), and ``low`` and ``high``, of mass `prob` at
            each level. NaN where there is no curve, or no interval of its ability.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        row = self.row(subject, dimension)
        if levels is None:
            levels = np.linspace(self.lowest, self.bins["level"].max() + 1, _POINTS)
        drawn = self.draws.sel(subject=row["subject"], dimension=dimension)
        ability, slope = (drawn[name].to_numpy()[:, None] for name in ("ability", "slope"))
        above = levels - self.lowest
        tail = (1 - self.prob) / 2
        band = np.full((2, len(levels)), np.nan)
        fitted = np.isfinite(ability[:, 0])
        if fitted.any() and np.isfinite(row["low"]):
            resampled = success(ability[fitted] - self.lowest, slope[fitted], above)
            band = np.quantile(resampled, [tail, 1 - tail], axis=0)
        middle = success(row["ability"] - self.lowest, row["slope"], above)
        return pd.DataFrame({"level": levels, "success": middle, "low": band[0], "high": band[1]})

    def _of(self, table: pd.DataFrame, subject: object, dimension: str) -> pd.DataFrame:
        for name, column in ((str(subject), "subject"), (dimension, "dimension")):
            names, table = table[column].astype(str), table[table[column].astype(str) == name]
            if table.empty:
                known = some(names.unique(), 20)
                raise FitError(f"no curves of the {column} {name}; there are {known}")
        return table

    def __repr__(self) -> str:
        missing = int(self.table["ability"].isna().sum())
        return (
            f"<CharacteristicCurves: {many(len(self.subjects), 'subject')}, "
            f"{many(len(self.dimensions), 'dimension')}, {missing} without a curve, "
            f"{self.prob:.0%} intervals>"
        )


def characteristic_curves(
    evaluation: Evaluation,
    columns: Iterable[str],
    *,
    resamples: int = 200,
    prob: float = 0.9,
    seed: int = 1,
    lowest: int = 0,
) -> CharacteristicCurves:
    r"""Fit curves of success over each demand, and compute each subject's abilities from them.

    For a dimension and a level, only those items count whose demand on the dimension is that level
    and whose other demands are not higher (dominant slices). A logistic is fitted to the success
    rates, and the ability is the area under it from the lowest level on, counted from there. It is
    about the level of 50 % success, and never below the lowest level. As published, the fit is by
    least squares of the rates, in which bins of 100 items or more have equal weights, smaller bins
    proportional ones, and an anchor of success 0 at 20 levels above the lowest as much as all bins
    together. Intervals are computed by drawing items with replacement.

    Each subject is fitted on its own.

    Parameters
    ----------
    evaluation : Evaluation
        Items with demand levels, and outcomes.
    columns : iterable of str
        Columns of the items' demands, with whole numbers from `lowest`. All of them define the
        slices, so that a longer list leaves fewer items in each.
    resamples : int
        Number of sets of items drawn with replacement; at least 2.
    prob : float
        Mass of the intervals.
    seed : int
        Seed of the draws.
    lowest : int, default 0
        Lowest level of the scale: 0 for demands, -5 for a scale from -5 to 5. For a scale that was
        extended upwards it is still 0, even if all items are at levels from 5 to 10.

    Returns
    -------
    CharacteristicCurves
        Bins, abilities and slopes with intervals, and draws.

    Raises
    ------
    DataError
        When `evaluation` is something else, a column is missing, or its values are not levels.
    FitError
        When an option is out of range.

    Notes
    -----
    The published text does not state all details. Here squared differences of rates are minimised,
    and the weight of a bin with n < 100 items is n/100 of that of a full one. Level 0 is a bin only
    if some items demand nothing.

    A slice contains items whose other demands are up to its level. If the highest demand determines
    success, abilities are right; if a subject may fail because of each demand, they are too low.
    With six abilities of 3.0, slopes of 2 and evenly spread levels, and success as the product of
    six logistics, abilities by curves are 2.4 for unrelated demands and 2.3 at a correlation of
    0.9.

    A small bin in which all succeed, or all fail, is the same in every resample, so that intervals
    of the bootstrap are too short there. A curve that is a step has no interval.

    An ability above the highest level with items, or of a flat curve, is an extrapolation that
    depends on the anchor; the bootstrap does not include this uncertainty. On six
    benchmarks up to level 5, an anchor at level 10 or 40 changes half of the abilities below 5 by
    less than 0.001, but those of flat curves by up to 2.4, and those above 7 by about -2.5 and 4.

    References
    ----------
    General scales paper, section 5.7 and figure 3.

    Examples
    --------
    >>> levels = np.repeat(np.arange(1, 6), 100)
    >>> items = pd.DataFrame({"logic": levels, "volume": 0})
    >>> chance = 1 / (1 + np.exp(2 * (levels - 3.2)))
    >>> solved = np.random.default_rng(1).random(500) < chance
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([solved], ["Ann"]), items)
    >>> curves = characteristic_curves(evaluation, ["logic", "volume"])
    >>> curves.table[["dimension", "ability", "low", "high", "reason"]].round(1)
      dimension  ability  low  high                             reason
    0     logic      3.2  3.0   3.3
    1    volume      NaN  NaN   NaN  no items at levels 1, 2, 3, 4, 5
    """
    refuse_no_evaluation(evaluation)
    refuse_steps(evaluation.rows, "characteristic_curves")
    resamples, prob = options.whole("resamples", resamples, 2), options.inside("prob", prob, 0.9)
    rng = np.random.default_rng(options.whole("seed", seed))
    if isinstance(lowest, bool) or not isinstance(lowest, int | np.integer):
        raise FitError(f"lowest={lowest!r}; give a whole number, such as 0 or -5")
    slices, cells = Slices.of(evaluation.items, columns, lowest), evaluation.coded
    size = len(evaluation.items)
    drawn = rng.multinomial(size, np.full(size, 1 / size), size=resamples)
    times = np.concatenate([np.ones((1, size), dtype=int), drawn])
    items, trials, successes = counts = np.stack(
        [
            slices.counts(cells, values, times)
            for values in (np.ones(len(cells)), cells.trials, cells.successes)
        ]
    )
    ability, slope = fit_logistic(slices.levels, rates(successes, trials), weights(items))
    ability = ability + lowest
    names = {"subject": evaluation.subjects, "dimension": slices.dimensions}
    draws = {
        name: ((*names, "draw"), np.moveaxis(values[1:], 0, -1))
        for name, values in (("ability", ability), ("slope", slope))
    }
    levels = slices.levels.astype(int) + int(lowest)
    return CharacteristicCurves(
        _bins(names | {"level": levels}, counts[:, 0], prob),
        _table(names, levels, counts[:, 0], ability, slope, prob),
        xr.Dataset(draws, names),
        prob,
        int(lowest),
    )


def _bins(names: dict[str, Iterable[object]], counts: np.ndarray, prob: float) -> pd.DataFrame:
    """Write items, trials and successes, and rates and weights, of all bins."""
    index = pd.MultiIndex.from_product(list(names.values()), names=list(names))
    items, trials, successes = counts.reshape(3, -1).astype(int)
    rate = rates(successes, trials)
    low, high = wilson(rate, np.where(trials > 0, trials, np.nan), prob)
    columns = {"items": items, "trials": trials, "successes": successes}
    table = pd.DataFrame(columns, index).assign(rate=rate, rate_low=low, rate_high=high)
    return table.assign(weight=weights(items)).reset_index()


def _table(
    names: dict[str, list[str]],
    levels: np.ndarray,
    counts: np.ndarray,
    ability: np.ndarray,
    slope: np.ndarray,
    prob: float,
) -> pd.DataFrame:
    """Write abilities with intervals; the first of `ability` and `slope` are not resampled."""
    items, trials, successes = counts
    step = np.isfinite(step_position(levels, rates(successes, trials), items))
    between = step & ~((successes > 0) & (successes < trials)).any(axis=-1)  # no single place
    level, steepness = (np.where(between, np.nan, values[0]) for values in (ability, slope))
    fitted = np.isfinite(steepness) & np.isfinite(ability[1:]).any(axis=0)
    ends, tail = np.full((2, *fitted.shape), np.nan), (1 - prob) / 2
    ends[:, fitted] = np.nanquantile(ability[1:, fitted], [tail, 1 - tail], axis=0)
    columns = np.stack([level, steepness, *ends, items.sum(axis=-1)]).reshape(5, -1).T
    index = pd.MultiIndex.from_product(list(names.values()), names=list(names))
    table = pd.DataFrame(columns, index, ["ability", "slope", "low", "high", "items"])
    curves = *counts.reshape(3, -1, len(levels)), between.ravel(), table["ability"], table["slope"]
    reasons = [_reason(levels, *curve) for curve in zip(*curves, strict=True)]
    return table.astype({"items": int}).assign(reason=reasons).reset_index()


def _reason(
    levels: np.ndarray,
    items: np.ndarray,
    trials: np.ndarray,
    successes: np.ndarray,
    between: bool,
    ability: float,
    slope: float,
) -> str:
    """Write why there is no curve or no interval, and which bins are not full."""
    remarks = []
    if items.any() and (items > 0).sum() < 2:
        remarks.append("no curve: items at one level only")
    elif between:
        right = levels[(trials > 0) & (successes == trials)]
        wrong = levels[(trials > 0) & (successes == 0)]
        if len(right) and len(wrong):
            side = f"lies between: all succeed up to {right.max():g} and fail from {wrong.min():g}"
        else:
            side = f"is above {right.max():g}" if len(right) else f"is below {wrong.min():g}"
        remarks.append(f"no curve: the ability {side}")
    elif np.isinf(slope):
        remarks.append(f"a step at level {ability:g}, without an interval")
    empty = [f"{level:g}" for level in levels[items == 0]]
    pairs = zip(levels, items, strict=True)
    few = [f"{level:g} ({count:g})" for level, count in pairs if 0 < count < FULL]
    for word, listed in (("no", empty), ("few", few)):
        if listed:
            plural = "s" if len(listed) > 1 else ""
            remarks.append(f"{word} items at level{plural} {', '.join(listed)}")
    return "; ".join(remarks)
