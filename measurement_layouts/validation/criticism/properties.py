"""Properties of items divided into levels, and tests of whether they explain residuals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...common.errors import DataError
from ...common.messages import some
from ...common.progress import track
from ...evaluations.steps import STEP
from ...evaluations.tables import need_columns, refuse_repeats, texts
from ...inference.fit import Fit
from ...linking.real import real
from .scores import Cells, Outcomes, holm, score, shares

MOST_VALUES = 8  # a property with more different numbers is divided into bins
_BINS = 6  # number of bins, with equal numbers of items up to ties
_RATES = 1000  # replicated outcomes of a table of residuals
_MOST_NAMES = 30  # texts with more different values are names of items, not a property
MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Property:
    """A property of items, divided into levels.

    Attributes
    ----------
    name : str
        Column of the items.
    levels : tuple of str
        Values, or bins of values; the last one is ``"missing"`` if some items lack the property.
    codes : ndarray of int, shape (items,)
        Level of each item.

    Examples
    --------
    >>> items = pd.DataFrame({"colour": ["red", None, "blue", "red"]}, index=list("abcd"))
    >>> read_property(items, "colour")
    Property('colour', levels=('blue', 'red', 'missing'))
    """

    name: str
    levels: tuple[str, ...]
    codes: np.ndarray

    def indicators(self) -> np.ndarray:
        """Return a column per level except the most frequent one, shape (items, levels - 1)."""
        counts = np.bincount(self.codes, minlength=len(self.levels))
        others = np.delete(np.arange(len(self.levels)), counts.argmax())
        return np.asarray(self.codes[:, None] == others, dtype=float)

    def take(self, places: np.ndarray) -> "Property":
        """Select items, and keep only their levels."""
        kept, codes = np.unique(self.codes[places], return_inverse=True)
        return Property(self.name, tuple(self.levels[code] for code in kept), codes)

    def __repr__(self) -> str:
        return f"Property({self.name!r}, levels={self.levels})"


def read_property(items: pd.DataFrame, name: str) -> Property:
    """Divide a column into levels.

    The levels are the values or, for more than 8 different numbers, 6 bins with equal numbers of
    items up to ties.

    Parameters
    ----------
    items : DataFrame
        Properties of the items, indexed by item.
    name : str
        A column of numbers, truth values or texts; cells may be missing.

    Returns
    -------
    Property
        The property, which has one level if all items have the same value.

    Raises
    ------
    DataError
        When there is no such column, or it has more than 30 different texts.

    Examples
    --------
    >>> items = pd.DataFrame({"size": np.arange(12.0)})
    >>> read_property(items, "size").levels
    ('0 to 1', '2 to 3', '4 to 5', '6 to 7', '8 to 9', '10 to 11')
    """
    need_columns(items.columns, [name], "the items have")
    column = items[name]
    missing = column.isna().to_numpy()
    known = column[~missing]
    numbers = _as_numbers(known)
    if numbers.isna().any():
        found, codes = _texts(name, known.map(str))
    else:
        found, codes = _numbers(numbers.to_numpy(dtype=float))
    every = np.full(len(items), len(found))
    every[~missing] = codes
    return Property(name, (*found, MISSING) if missing.any() else tuple(found), every)


def is_kind(column: pd.Series) -> bool:
    """Return whether a column has numbers or at most 30 different texts, unlike names of items."""
    numbers = _as_numbers(column)
    kinds = column.map(str) if column.dtype == object else column
    return bool(numbers.notna().eq(column.notna()).all()) or kinds.nunique() <= _MOST_NAMES


def _as_numbers(column: pd.Series) -> pd.Series:
    """Read numbers, including those written as texts; other cells, such as lists, are NaN."""
    if pd.api.types.is_complex_dtype(column):
        return pd.Series(np.nan, column.index)
    if column.dtype == object:
        column = column.map(lambda cell: cell if isinstance(cell, str | np.bool) else real(cell))
    return pd.to_numeric(column, errors="coerce")


def _texts(name: str, values: pd.Series) -> tuple[list[str], np.ndarray]:
    found, codes = np.unique(values.to_numpy(dtype=str), return_inverse=True)
    if len(found) > _MOST_NAMES:
        raise DataError(
            f"{name} has {len(found)} different texts on {len(values)} items, too many to compare; "
            "group them into a column of at most "
            f"{_MOST_NAMES} kinds, or leave the column out of the candidates"
        )
    return [str(value) for value in found], codes


def _numbers(values: np.ndarray) -> tuple[list[str], np.ndarray]:
    found, codes = np.unique(values, return_inverse=True)
    if len(found) <= MOST_VALUES:
        return [f"{value:g}" for value in found], codes
    edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, values, side="left")
    kept, codes = np.unique(bins, return_inverse=True)
    inside = [values[codes == place] for place in range(len(kept))]
    return [_between(part.min(), part.max()) for part in inside], codes


def _between(low: float, high: float) -> str:
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


def places_of(names: Iterable[str], known: pd.Index, what: str) -> np.ndarray:
    """Find fitted subjects or items among those of an evaluation, by position."""
    wanted = pd.Index(names)
    found = known.get_indexer(wanted)
    if (found < 0).any():
        raise DataError(
            f"the evaluation lacks the fitted {what}(s) {some(wanted[found < 0])}; give the "
            "evaluation that was fitted"
        )
    return np.asarray(found)


def used_columns(fit: Fit) -> list[str]:
    """Return the columns of the items that the layout uses."""
    return [column for feature in fit.layout.meta_features for column in feature.columns]


def candidate_columns(fit: Fit, items: pd.DataFrame, asked: Iterable[str] | None) -> list[str]:
    """Check the given candidates; without any, return all possible ones, if there are any.

    Raises
    ------
    DataError
        When an empty list is given, a name is repeated, or the layout uses a candidate.
    """
    used = [*used_columns(fit), STEP]
    if asked is None:
        need_columns(items.columns, list(items.columns), "the items have")
        names = [str(name) for name in items.columns if name not in used and is_kind(items[name])]
    else:
        names = [asked] if isinstance(asked, str) else texts(asked, "the candidates")
        refuse_repeats(names, "property", "the candidates")
        both = [name for name in names if name in used]
        if both:
            raise DataError(
                f"the layout uses {some(both)}, so that it is not a candidate; leave it out of "
                "candidates=: Criticism.table always has a row for the form of its effect"
            )
        if not names:
            raise DataError(
                "candidates= is empty; name columns of the items that the layout does not use, or "
                "leave out candidates= to test all of them"
            )
    return names


def why_none(fit: Fit, items: pd.DataFrame) -> str:
    """Return the reason why no property of the items is a candidate.

    Parameters
    ----------
    fit : Fit
        Fit of a layout that uses some properties.
    items : DataFrame
        Properties of the items, none of which can be tested.
    """
    used = [*used_columns(fit), STEP]
    others = [str(name) for name in items.columns if name not in used]
    why = "the layout uses every property of the items"
    if others:
        why = (
            f"what the layout does not use ({some(others)}) has over {_MOST_NAMES} different texts"
            ", which are names of items rather than a property"
        )
    return why


ALIKE = "the same on all items that the subject attempted"
_RARITY = 0.1
_COLUMNS = ["subject", "property", "kind", "level", "observed", "expected", "effect", "low", "high"]
_COLUMNS += ["gain", "gain_se", "statistic", "df", "p", "p_adjusted", "flagged", "cell", "remark"]


def property_table(
    outcomes: Outcomes,
    used: Sequence[Property],
    candidates: Sequence[Property],
    *,
    alpha: float,
    prob: float,
    progressbar: bool,
) -> pd.DataFrame:
    """Test whether levels of properties explain each subject's residuals; see `scores.score`.

    A candidate is tested beside free effects of the levels of all properties that the layout uses,
    and one of these without.

    Parameters
    ----------
    outcomes : Outcomes
        All cells.
    used, candidates : sequence of Property
        Properties of the items in `outcomes`.
    alpha : float
        Probability of any false alarm, over all properties of a kind and all subjects.
    prob : float
        Mass of the intervals.
    progressbar : bool
        Whether to show the progress over subjects.

    Returns
    -------
    DataFrame
        Columns as in `Criticism.table`.
    """
    rows: list[dict[str, Any]] = []
    least = alpha / max(len(outcomes.subjects) * max(len(used), len(candidates)), 1)
    progress = track(outcomes.by_subject, len(outcomes.subjects), progressbar)
    for subject, where in zip(outcomes.subjects, progress, strict=True):
        cells, items = outcomes.cells(where), outcomes.item[where]
        varying = [kept for kept in (one.take(items) for one in used) if len(kept.levels) > 1]
        forms = np.concatenate(
            [np.ones((len(items), 1)), *(one.indicators() for one in varying)], axis=1
        )
        for kind, tested in (("candidate", candidates), ("used", used)):
            for full in tested:
                one = full.take(items)
                row = {"subject": subject, "property": one.name, "kind": kind, "cell": -1}
                if len(one.levels) < 2:
                    rows.append(row | {"remark": ALIKE})
                    continue
                beside = forms if kind == "candidate" else np.ones((len(items), 1))
                rng = outcomes.rng(f"{subject} {one.name}")
                result = score(cells, one.indicators(), rng, least=least, prob=prob, beside=beside)
                if not result["remark"]:
                    result |= _most_deviating(cells, one, beside, prob)
                    result["cell"] = int(where[result["cell"]]) if result["cell"] >= 0 else -1
                rows.append(row | result)
    table = pd.DataFrame(rows).reindex(columns=_COLUMNS)
    for kind in ("candidate", "used"):
        own = table["kind"] == kind
        table.loc[own, "p_adjusted"] = holm(table.loc[own, "p"].to_numpy(dtype=float))
    table["flagged"] = (table["p_adjusted"] <= alpha) & (table["gain"] > 0)
    order = pd.Categorical(table["subject"], outcomes.subjects, ordered=True)
    table = table.assign(order=order).sort_values(
        ["order", "flagged", "gain"], ascending=[True, False, False], kind="stable"
    )
    return table.drop(columns="order").reset_index(drop=True)


def _most_deviating(
    cells: Cells, one: Property, beside: np.ndarray, prob: float
) -> dict[str, float | str]:
    """Compare the success rates of the level that deviates most with the expected ones."""
    levels = [code for code, level in enumerate(one.levels) if level != MISSING]
    inside = (one.codes[:, None] == levels).astype(float)
    columns = inside - beside @ shares(cells, inside, beside)
    scores = columns.T @ cells.residuals.mean(axis=1)
    variances = columns.T**2 @ cells.weights - (columns.T @ cells.expected).var(axis=1)
    errors = np.sqrt(np.maximum(variances, 1e-9))
    rarity = 1 - _RARITY * inside.mean(axis=0)  # the rarer of two equal levels
    most = int(np.argmax(np.abs(scores) / errors * rarity))
    trials = cells.trials @ inside[:, most]
    observed, effect = cells.successes @ inside[:, most] / trials, scores[most] / trials
    # the level was chosen for its deviation
    half = norm.isf((1 - prob) / 2 / len(levels)) * errors[most] / trials
    return {
        "level": one.levels[levels[most]],
        "observed": float(observed),
        "expected": float(np.clip(observed - effect, 0, 1)),
        "effect": float(effect),
        "low": float(effect - half),
        "high": float(effect + half),
    }


def residual_table(
    cells: Cells, properties: Sequence[Property], prob: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare success rates with the posterior predictive distribution, by combination of levels.

    Parameters
    ----------
    cells : Cells
        The cells.
    properties : sequence of Property
        Properties of the cells' items.
    prob : float
        Mass of the equal-tailed interval.
    rng : Generator
        Random generator of the replicated outcomes.

    Returns
    -------
    DataFrame
        One row per combination that occurs, indexed by the levels: ``items`` (cells), ``trials``,
        ``observed`` and ``expected`` success rates, the ends ``low`` and ``high`` of the interval
        in which the layout expects the observed rate, and ``surprising`` where it lies outside.
    """
    codes = np.stack([one.codes for one in properties])
    combinations, of_cell = np.unique(codes, axis=1, return_inverse=True)
    inside = (of_cell == np.arange(combinations.shape[1])[:, None]).astype(float)
    trials = inside @ cells.trials
    draws = rng.integers(cells.chances.shape[1], size=_RATES)
    passed = rng.binomial(cells.trials[:, None].astype(int), cells.chances[:, draws])
    rates = (inside @ passed) / trials[:, None]
    low, high = np.quantile(rates, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    observed = inside @ cells.successes / trials
    names = [
        [one.levels[code] for code in row]
        for one, row in zip(properties, combinations, strict=True)
    ]
    index = pd.MultiIndex.from_arrays(names, names=[one.name for one in properties])
    return pd.DataFrame(
        {
            "items": inside.sum(axis=1).astype(int),
            "trials": trials.astype(int),
            "observed": observed,
            "expected": inside @ cells.expected.mean(axis=1) / trials,
            "low": low,
            "high": high,
            "surprising": (observed < low) | (observed > high),
        },
        index if len(properties) > 1 else index.get_level_values(0),
    )
