"""Scores of benchmarks without a number of items, rounded to places between 0 and 1."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.given import refuse_other
from ..common.messages import some
from .evaluation import Evaluation
from .outcome_tables import properties
from .tables import is_missing, named, need_columns, need_frame, read_numbers, texts

_BENCHMARK, _SCORE, _LOW, _WIDTH = ADDED = ("benchmark", "score", "low", "width")
_FAR = 30.0  # log-odds of the ends of the outermost places
_MOST = 10_000


def read_scores(
    table: pd.DataFrame,
    *,
    places: int = 1000,
    subject: str = "subject",
    benchmark: str = "benchmark",
    score: str = "score",
) -> Evaluation:
    r"""Read one score per row, such as the share of a benchmark that a model solves.

    A score without a number of items is one observation with unknown scatter. It is rounded to one
    of K + 1 places,

    .. math:: t_k = k / K, \qquad \text{from } \operatorname{logit}\frac{k - 1/2}{K}
        \text{ to } \operatorname{logit}\frac{k + 1/2}{K} \text{ in log-odds}, \qquad
        k = 0, \dots, K

    and the outermost places have no outer end, so that scores of 0 and 1 count like all others. An
    item of the evaluation is a place of a benchmark, with one trial and one success for each
    subject with a score in this place. A layout's `Success` is then the probability of the place.

    Parameters
    ----------
    table : DataFrame
        One row per subject and benchmark. Scores are shares in [0, 1]; rows without a score are
        left out. A further column is a property of the benchmarks if it is the same in all rows of
        each benchmark, and otherwise a property of the subjects, if it is the same in all rows of
        each subject.
    places : int, default 1000
        Number K of places.
    subject, benchmark, score : str
        Names of the columns.

    Returns
    -------
    Evaluation
        Evaluation whose items are the places with at least one score. They have the columns
        ``benchmark``, ``score`` (the middle of the place), ``low`` (its lower end in log-odds),
        ``width`` (distance to the upper end), and the properties of the benchmarks.

    Raises
    ------
    DataError
        When a column is missing, a score is not a number in [0, 1], a subject has two scores on one
        benchmark, a property varies within benchmarks and within subjects, or `places` is not a
        whole number from 2 to 10,000.

    See Also
    --------
    score_places : All places of some benchmarks, for forecasts.

    Examples
    --------
    >>> table = pd.DataFrame({"subject": ["Ann", "Ann", "Bob"], "benchmark": ["sums", "words",
    ...                       "sums"], "score": [0.914, 0.3, 0.914], "year": [2024, 2024, 2025]})
    >>> evaluation = read_scores(table, places=100)
    >>> evaluation
    <Evaluation: 2 subjects, 2 items, 3 trials, properties benchmark, score, low, width,
    of subjects year>
    >>> evaluation.items.round(2)
                benchmark  score   low  width
    item
    sums = 0.91      sums   0.91  2.25   0.12
    words = 0.3     words   0.30 -0.87   0.05
    """
    columns = (subject, benchmark, score)
    need_frame(table, "scores")
    need_columns(table.columns, list(columns), "the table of scores has")
    kept = table[[not is_missing(value) for value in table[score]]].reset_index(drop=True)
    who = texts(kept[subject], f"column {subject!r}")
    what = texts(kept[benchmark], f"column {benchmark!r}")
    values = _shares(kept[[score]], who, what)
    twice = pd.DataFrame({"who": who, "what": what}).duplicated().to_numpy()
    if twice.any():
        pairs = [f"{who[row]} on {what[row]}" for row in np.flatnonzero(twice)]
        raise DataError(
            f"{twice.sum()} repeated row(s): {some(pairs)}; keep one score of each subject on each "
            "benchmark, such as their mean"
        )
    own, people = properties(kept, *columns)
    every = score_places(own, places=places)
    which = own.index.get_indexer(pd.Index(what))
    fell = np.rint(values * places).astype(int) + (places + 1) * which
    met, item = np.unique(fell, return_inverse=True)
    names = list(dict.fromkeys(who))
    counts = np.zeros((len(names), len(met)), dtype="int64")
    counts[pd.Index(names).get_indexer(pd.Index(who)), item.ravel()] = 1
    successes = pd.DataFrame(counts, names, every.index[met])
    return Evaluation(every.iloc[met], successes, successes.copy(), subjects=people)


def score_places(benchmarks: pd.DataFrame | Iterable[str], *, places: int = 1000) -> pd.DataFrame:
    """List all places of some benchmarks, as items for forecasts or simulations.

    Parameters
    ----------
    benchmarks : DataFrame or sequence of str
        Properties, indexed by benchmark, or names only.
    places : int, default 1000
        Number of places, as in `read_scores` for the fit.

    Returns
    -------
    DataFrame
        `places` + 1 rows per benchmark, with the columns of the items of `read_scores`.

    Raises
    ------
    DataError
        When a name occurs twice, a property has the name of a column that is added, or `places` is
        not a whole number from 2 to 10,000.

    Examples
    --------
    >>> score_places(["sums"], places=2).round(2)
               benchmark  score   low  width
    sums = 0        sums    0.0 -30.0   28.9
    sums = 0.5      sums    0.5  -1.1    2.2
    sums = 1        sums    1.0   1.1   28.9
    """
    count = _check_places(places)
    if not isinstance(benchmarks, pd.DataFrame):
        refuse_other("benchmarks", benchmarks, Iterable, "a list", "give names, or a DataFrame")
        benchmarks = pd.DataFrame(index=list(benchmarks))
    table = named(benchmarks, "benchmarks", "benchmark")
    taken = [name for name in ADDED if name in table.columns]
    if taken:
        raise DataError(
            f"the benchmarks have the column(s) {some(taken)}, which are names of columns of "
            "places; give the benchmarks' properties other names"
        )
    scores = np.arange(count + 1) / count
    cuts = (np.arange(count) + 0.5) / count
    ends = np.concatenate([[-_FAR], np.log(cuts) - np.log1p(-cuts), [_FAR]])
    each, size = len(table), count + 1
    added = {
        _BENCHMARK: np.repeat(table.index.to_numpy(), size),
        _SCORE: np.tile(scores, each),
        _LOW: np.tile(ends[:-1], each),
        _WIDTH: np.tile(np.diff(ends), each),
    }
    names = [
        f"{name} = {value:.6g}"
        for name, value in zip(added[_BENCHMARK], added[_SCORE], strict=True)
    ]
    own = table.iloc[np.repeat(np.arange(each), size)].set_axis(pd.Index(names), axis=0)
    return pd.concat([pd.DataFrame(added, own.index), own], axis=1)


def _check_places(places: object) -> int:
    """Read the number of places."""
    whole = isinstance(places, int | np.integer) and not isinstance(places, bool)
    if not whole or not 2 <= places <= _MOST:  # type: ignore[operator]
        raise DataError(f"places={places!r}; give a whole number from 2 to {_MOST:,}, such as 1000")
    return int(places)  # type: ignore[call-overload,no-any-return]


def _shares(column: pd.DataFrame, who: list[str], what: list[str]) -> np.ndarray:
    """Read the scores as numbers in [0, 1]."""
    values, _ = read_numbers(column)
    flat = values[:, 0]
    wrong = np.flatnonzero(~((flat >= 0) & (flat <= 1)))
    if len(wrong):
        told = [f"{who[row]} on {what[row]}: {column.iloc[int(row), 0]!s}" for row in wrong]
        raise DataError(
            f"{len(wrong)} score(s) are no shares in [0, 1]: {some(told)}; divide percentages by "
            "100, and points by the highest possible number"
        )
    return flat
