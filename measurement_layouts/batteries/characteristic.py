"""Characteristic curves of subjects: abilities from the demand levels of items."""

from collections.abc import Iterable, Sequence
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


def undecided(
    levels: np.ndarray, items: np.ndarray, trials: np.ndarray, successes: np.ndarray
) -> np.ndarray:
    """Find curves that least squares cannot fit: with one level only, or without mixed outcomes.

    Returns
    -------
    ndarray of bool, shape (curves,)
    """
    step = np.isfinite(step_position(levels, successes / np.maximum(trials, 1), items))
    mixed = ((successes > 0) & (successes < trials)).any(axis=1)
    return np.asarray((step & ~mixed) | ((items > 0).sum(axis=1) < 2))


def reasons(
    levels: np.ndarray,
    items: np.ndarray,
    trials: np.ndarray,
    successes: np.ndarray,
    step: np.ndarray,
) -> list[str]:
    """Write remarks on each curve.

    Parameters
    ----------
    levels : ndarray, shape (levels,)
        Levels in ascending order.
    items, trials, successes : ndarray, shape (curves, levels)
        Counts of all bins.
    step : ndarray, shape (curves,)
        Levels of fitted steps, NaN for other curves.

    Returns
    -------
    list of str
        Remarks; empty if all bins are full and the curve is not a step.

    Examples
    --------
    >>> counts = np.array([[100, 100, 40]]), np.array([[100, 100, 40]]), np.array([[90, 60, 10]])
    >>> reasons(np.array([1, 2, 3]), *counts, np.array([np.nan]))
    ['few items at level 3 (40)']
    """
    without = undecided(levels, items, trials, successes)
    found = []
    for row in range(len(items)):
        right = levels[(trials[row] > 0) & (successes[row] == trials[row])]
        wrong = levels[(trials[row] > 0) & (successes[row] == 0)]
        parts = _shape(step[row], bool(without[row]), items[row], right, wrong)
        found.append("; ".join([*parts, *_thin(levels, items[row])]))
    return found


def _shape(
    place: float, without: bool, items: np.ndarray, right: np.ndarray, wrong: np.ndarray
) -> list[str]:
    """Write why there is no curve, or an infinitely steep one."""
    if not items.any():
        return []
    if (items > 0).sum() < 2:
        return ["no curve: items at one level only"]
    if without:
        low = f"{right.max():g}" if len(right) else ""
        high = f"{wrong.min():g}" if len(wrong) else ""
        if not low:
            return [f"no curve: all fail, so the ability is below {high}"]
        if not high:
            return [f"no curve: all succeed, so the ability is above {low}"]
        return [f"no curve: all succeed up to {low} and fail from {high}, and it lies between"]
    return [] if np.isnan(place) else [f"a step at level {place:g}, without an interval"]


def _thin(levels: np.ndarray, items: np.ndarray) -> list[str]:
    """Write which levels have no items, and which have fewer than a full bin."""
    none = [f"{level:g}" for level in levels[items == 0]]
    few = [
        f"{level:g} ({int(count)})"
        for level, count in zip(levels, items, strict=True)
        if 0 < count < FULL
    ]
    found = [f"no items at {_levels(none)}"] if none else []
    return found + ([f"few items at {_levels(few)}"] if few else [])


def _levels(names: Sequence[str]) -> str:
    return f"level{'s' if len(names) > 1 else ''} {', '.join(names)}"


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
        who, which = self.place(subject, dimension)
        return self.table.iloc[who * len(self.dimensions) + which]

    def bins_of(self, subject: object, dimension: str) -> pd.DataFrame:
        """Find one curve's rows of `bins`.

        Raises
        ------
        FitError
            When the subject or the dimension is unknown.
        """
        who, which = self.place(subject, dimension)
        size = len(self.bins) // len(self.table)
        first = (who * len(self.dimensions) + which) * size
        return self.bins.iloc[first : first + size]

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
        known = np.isfinite(ability[:, 0])
        if known.any() and np.isfinite(row["low"]):
            resampled = success(ability[known] - self.lowest, slope[known], above)
            band = np.quantile(resampled, [tail, 1 - tail], axis=0)
        middle = success(row["ability"] - self.lowest, row["slope"], above)
        return pd.DataFrame({"level": levels, "success": middle, "low": band[0], "high": band[1]})

    def place(self, subject: object, dimension: str) -> tuple[int, int]:
        """Find the positions of a subject and a dimension.

        Raises
        ------
        FitError
            When one is unknown.
        """
        found = []
        wanted = (str(subject), self.subjects, "subject"), (dimension, self.dimensions, "dimension")
        for name, known, kind in wanted:
            if name not in known:
                raise FitError(f"no curves of the {kind} {name}; there are {some(known, 20)}")
            found.append(known.index(name))
        return found[0], found[1]

    def __repr__(self) -> str:
        missing = int(self.table["ability"].isna().sum())
        return (
            f"<CharacteristicCurves: {many(len(self.subjects), 'subject')}, "
            f"{many(len(self.dimensions), 'dimension')}, {missing} without a curve, "
            f"{self.prob:.0%} intervals>"
        )


type Counts = tuple[np.ndarray, np.ndarray, np.ndarray]


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
    lowest = _whole(lowest)
    slices = Slices.of(evaluation.items, columns, lowest)
    levels = slices.levels + lowest
    size = len(evaluation.items)
    counts = _counts(slices, evaluation, np.ones((1, size)))
    times = rng.multinomial(size, np.full(size, 1 / size), size=resamples)
    found, draws = _squares(slices.levels, counts, _counts(slices, evaluation, times), prob)
    bins = _bins(slices, levels, evaluation.subjects, counts, prob)
    names = pd.MultiIndex.from_product(
        [evaluation.subjects, slices.dimensions], names=["subject", "dimension"]
    )
    items = counts[0].sum(axis=1).astype(int)
    table = pd.DataFrame(found, names, ["ability", "slope", "low", "high"])
    table[["ability", "low", "high"]] += lowest
    step = table["ability"].where(np.isinf(table["slope"])).to_numpy()
    table = table.assign(items=items, reason=reasons(levels, *counts, step)).reset_index()
    shape = len(evaluation.subjects), len(slices.dimensions), resamples
    dims = ("subject", "dimension", "draw")
    parts = {
        name: (dims, values.reshape(shape))
        for name, values in zip(("ability", "slope"), (draws[0] + lowest, draws[1]), strict=True)
    }
    coords = {"subject": evaluation.subjects, "dimension": slices.dimensions}
    return CharacteristicCurves(bins, table, xr.Dataset(parts, coords), prob, lowest)


def _counts(slices: Slices, evaluation: Evaluation, times: np.ndarray) -> Counts:
    """Count attempted items, trials and successes in all bins; (resamples * curves, levels)."""
    trials, successes = (
        table.to_numpy(dtype=float) for table in (evaluation.trials, evaluation.successes)
    )
    width = len(slices.levels)
    items, tried, right = (
        slices.counts(values, times).reshape(-1, width)
        for values in (trials > 0, trials, successes)
    )
    return items, tried, right


def _squares(
    levels: np.ndarray, counts: Counts, drawn: Counts, prob: float
) -> tuple[np.ndarray, np.ndarray]:
    """Fit the curves and those of all resamples; (curves, 4) and (2, curves, resamples)."""
    items, trials, successes = (
        np.concatenate([own, other]) for own, other in zip(counts, drawn, strict=True)
    )
    fitted = np.stack(fit_logistic(levels, rates(successes, trials), weights(items)))
    size = len(counts[0])
    own, draws = fitted[:, :size].copy(), fitted[:, size:].reshape(2, -1, size)
    own[:, undecided(levels, *counts)] = np.nan
    ends = np.full((2, size), np.nan)
    known = np.isfinite(own[1]) & np.isfinite(draws[0]).any(axis=0)
    tail = (1 - prob) / 2
    ends[:, known] = np.nanquantile(draws[0][:, known], [tail, 1 - tail], axis=0)
    return np.vstack([own, ends]).T, draws.transpose(0, 2, 1)


def _whole(lowest: object) -> int:
    """Read the lowest level of a scale."""
    if isinstance(lowest, bool) or not isinstance(lowest, int | np.integer):
        raise FitError(f"lowest={lowest!r}; give a whole number, such as 0 or -5")
    return int(lowest)


def _bins(
    slices: Slices, levels: np.ndarray, subjects: list[str], counts: Counts, prob: float
) -> pd.DataFrame:
    """Write counts, rates and weights of all bins."""
    names = pd.MultiIndex.from_product(
        [subjects, slices.dimensions, levels.astype(int)],
        names=["subject", "dimension", "level"],
    )
    items, trials, successes = (values.ravel() for values in counts)
    rate = rates(successes, trials)
    low, high = wilson(rate, np.where(trials > 0, trials, np.nan), prob)
    columns = {"items": items, "trials": trials, "successes": successes}
    table = pd.DataFrame({name: values.astype(int) for name, values in columns.items()}, names)
    table = table.assign(rate=rate, rate_low=low, rate_high=high, weight=weights(items))
    return table.reset_index()
