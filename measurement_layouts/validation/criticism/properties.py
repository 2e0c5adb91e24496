"""Properties of items divided into levels, and tests of whether they explain residuals."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.steps import STEP
from ...evaluations.tables import need_columns, refuse_repeats, texts
from ...inference.fit import Fit
from ...linking.real import real
from .cells import Cells, Outcomes
from .scores import Change, judged, score, shares

MOST_VALUES = 8  # a property with more different numbers is divided into bins
_BINS = 6  # number of bins, with equal numbers of items up to ties
_RATES = 1000  # replicated outcomes of a table of residuals
_MOST_NAMES = 30  # texts with more different values are names of items, not a property
MISSING = "missing"


def read_property(items: pd.DataFrame, name: str) -> pd.Series:
    """Divide a column into levels.

    The levels are the values or, for more than 8 different numbers, 6 bins with equal numbers of
    items up to ties. The last one is ``"missing"`` if some items lack the property.

    Parameters
    ----------
    items : DataFrame
        Properties of the items, indexed by item.
    name : str
        A column of numbers, truth values or texts; cells may be missing.

    Returns
    -------
    Series
        Level of each item, categorical; one level if all items have the same value.

    Raises
    ------
    DataError
        When there is no such column, or it has more than 30 different texts.

    Examples
    --------
    >>> items = pd.DataFrame({"size": np.arange(12.0), "colour": ["red", None, "blue"] * 4})
    >>> read_property(items, "size").cat.categories.tolist()
    ['0 to 1', '2 to 3', '4 to 5', '6 to 7', '8 to 9', '10 to 11']
    >>> read_property(items, "colour").cat.categories.tolist()
    ['blue', 'red', 'missing']
    """
    need_columns(items.columns, [name], "the items have")
    column = items[name]
    levels, numbers = column.dropna().map(str), _as_numbers(column)
    names = sorted(levels.unique())
    if numbers.isna().equals(column.isna()):
        levels, names = _level_of_numbers(numbers.dropna().astype(float))
    elif len(names) > _MOST_NAMES:
        raise DataError(
            f"{name} has {len(names)} different texts on {len(levels)} items, too many to compare; "
            "group them into a column of at most "
            f"{_MOST_NAMES} kinds, or leave the column out of the candidates"
        )
    names += [MISSING] * bool(column.isna().any())
    every = levels.astype(object).rename(name).reindex(column.index, fill_value=MISSING)
    return every.astype(pd.CategoricalDtype(list(dict.fromkeys(names)), ordered=True))


def _level_of_numbers(values: pd.Series) -> tuple[pd.Series, list[str]]:
    """Name the level of each number, and list the levels in order."""
    group = values
    if values.nunique() > MOST_VALUES:
        edges = np.unique(np.quantile(values, np.linspace(0, 1, _BINS + 1)[1:-1]))
        group = pd.Series(np.searchsorted(edges, values), values.index)
    groups = values.groupby(group)
    ends = groups.agg(["min", "max"]).to_numpy()
    names = [f"{low:g}" if low == high else f"{low:g} to {high:g}" for low, high in ends]
    return groups.ngroup().map(dict(enumerate(names))), names


def taken(levels: pd.Series, positions: np.ndarray) -> pd.Series:
    """Select items, and keep only their levels."""
    return levels.iloc[positions].cat.remove_unused_categories()


def indicators(levels: pd.Series) -> np.ndarray:
    """Return a column per level except the most frequent one, shape (items, levels - 1)."""
    columns = pd.get_dummies(levels, dtype=float)
    return columns.drop(columns=columns.sum().idxmax()).to_numpy()


def is_kind(column: pd.Series) -> bool:
    """Return whether a column has numbers or at most 30 different texts, unlike names of items."""
    if _as_numbers(column).isna().equals(column.isna()):
        return True
    kinds = column.map(str) if column.dtype == object else column
    return bool(kinds.nunique() <= _MOST_NAMES)


def _as_numbers(column: pd.Series) -> pd.Series:
    """Read numbers, including those written as texts; other cells, such as lists, are NaN."""
    if pd.api.types.is_complex_dtype(column):
        return pd.Series(np.nan, column.index)
    if column.dtype == object:
        column = column.map(lambda cell: cell if isinstance(cell, str | np.bool) else real(cell))
    return pd.to_numeric(column, errors="coerce")


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


ALIKE = "the same on all items that the subject attempted"
_RARITY = 0.1
_COLUMNS = ["subject", "property", "kind", "level", "observed", "expected", "effect", "low", "high"]
_COLUMNS += ["gain", "gain_se", "statistic", "df", "p", "p_adjusted", "flagged", "cell", "remark"]


def property_table(
    outcomes: Outcomes, used: Sequence[pd.Series], candidates: Sequence[pd.Series]
) -> pd.DataFrame:
    """Test whether levels of properties explain each subject's residuals; see `scores.score`.

    A candidate is tested beside free effects of the levels of all properties that the layout uses,
    and one of these without.

    Parameters
    ----------
    outcomes : Outcomes
        All cells; the probability of any false alarm is that over all properties of a kind and all
        subjects.
    used, candidates : sequence of Series
        Levels of the items in `outcomes`, by property.

    Returns
    -------
    DataFrame
        Columns as in `Criticism.table`.
    """
    rows: list[dict[str, Any]] = []
    count = len(outcomes.criticised) * max(len(used), len(candidates))
    for subject, cells in outcomes.each(outcomes.by_criticised):
        items = outcomes.item[cells.position]
        ones = np.ones((len(items), 1))
        forms, others = ([taken(one, items) for one in of] for of in (used, candidates))
        free = [indicators(one) for one in forms if one.nunique() > 1]
        besides = {"candidate": np.concatenate([ones, *free], axis=1), "used": ones}
        alternatives: list[tuple[dict[str, Any], Change | str]] = [
            (
                {"subject": subject, "property": one.name, "kind": kind, "levels": one},
                Change(indicators(one), besides[kind]) if one.nunique() > 1 else ALIKE,
            )
            for kind, properties in (("candidate", others), ("used", forms))
            for one in properties
        ]
        tests = outcomes.test(f"properties {subject}", count)
        for row in score(cells, alternatives, **tests):
            if not row["remark"]:
                beside = besides[row["kind"]]
                row |= _most_deviating(cells, row["levels"], beside, outcomes.prob)
            rows.append(row)
    table = judged(rows, _COLUMNS, outcomes.alpha, within="kind")
    table["flagged"] &= table["gain"] > 0
    table = table.sort_values(["flagged", "gain"], ascending=False, kind="stable")
    order = pd.Index(outcomes.criticised).get_indexer(pd.Index(table["subject"]))
    return table.iloc[np.argsort(order, kind="stable")].reset_index(drop=True)


def _most_deviating(
    cells: Cells, levels: pd.Series, beside: np.ndarray, prob: float
) -> dict[str, float | str]:
    """Compare the success rates of the level that deviates most with the expected ones."""
    dummies = pd.get_dummies(levels, dtype=float).drop(columns=MISSING, errors="ignore")
    inside = dummies.to_numpy()
    columns = inside - beside @ shares(cells, inside, beside)
    scores = columns.T @ cells.residuals.mean(axis=1)
    variances = columns.T**2 @ cells.weights - (columns.T @ cells.expected).var(axis=1)
    errors = np.sqrt(np.maximum(variances, 1e-9))
    rarity = 1 - _RARITY * inside.mean(axis=0)  # the rarer of two equal levels
    most = int(np.argmax(np.abs(scores) / errors * rarity))
    trials = cells.trials @ inside[:, most]
    observed, effect = cells.successes @ inside[:, most] / trials, scores[most] / trials
    # the level was chosen for its deviation
    half = norm.isf((1 - prob) / 2 / inside.shape[1]) * errors[most] / trials
    return {
        "level": str(dummies.columns[most]),
        "observed": float(observed),
        "expected": float(np.clip(observed - effect, 0, 1)),
        "effect": float(effect),
        "low": float(effect - half),
        "high": float(effect + half),
    }


def residual_table(
    cells: Cells, properties: Sequence[pd.Series], prob: float, rng: np.random.Generator
) -> pd.DataFrame:
    """Compare success rates with the posterior predictive distribution, by combination of levels.

    Parameters
    ----------
    cells : Cells
        The cells.
    properties : sequence of Series
        Levels of the cells' items, by property.
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
    draws = rng.integers(cells.chances.shape[1], size=_RATES)
    passed = rng.binomial(cells.trials[:, None].astype(int), cells.chances[:, draws])
    counts = [np.ones(len(passed)), cells.trials, cells.successes, cells.expected.mean(axis=1)]
    numbers = pd.DataFrame(np.column_stack([*counts, passed]))
    sums = numbers.groupby([one.array for one in properties], observed=True).sum()
    items, trials, successes, expected = sums.to_numpy().T[:4]
    rates = sums.to_numpy()[:, 4:] / trials[:, None]
    low, high = np.quantile(rates, [(1 - prob) / 2, (1 + prob) / 2], axis=1)
    observed = successes / trials
    names = [one.name for one in properties]
    index = pd.MultiIndex.from_frame(sums.index.to_frame().astype(str), names=names)
    return pd.DataFrame(
        {
            "items": items.astype(int),
            "trials": trials.astype(int),
            "observed": observed,
            "expected": expected / trials,
            "low": low,
            "high": high,
            "surprising": (observed < low) | (observed > high),
        },
        index if len(names) > 1 else index.get_level_values(0),
    )
