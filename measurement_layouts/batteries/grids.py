"""Agent characteristic grids: one subject's success over two properties of the items."""

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import whole
from ..evaluations.evaluation import Evaluation
from ..evaluations.steps import refuse_steps
from ..evaluations.tables import known_names, need_columns


def characteristic_grid(
    evaluation: Evaluation,
    subject: object,
    x: str,
    y: str,
    *,
    bins: int = 6,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Count one subject's successes and trials over cells of two properties of the items.

    A property with few values, or whose values are not numbers, has one cell per value. Others are
    divided into intervals of equal width between their smallest and largest value.

    Parameters
    ----------
    evaluation : Evaluation
        Items and outcomes.
    subject : object
        Name of the subject.
    x, y : str
        Columns of the items.
    bins : int
        Number of cells. A property that does not have more different values than this number has
        one cell per value. For other cells, cut the property with `pandas.cut`.

    Returns
    -------
    successes, trials : DataFrame of int
        Counts, with a row for each cell of `y` and a column for each of `x`: an `IntervalIndex` if
        the property was divided into intervals, which include their lower border and the last one
        both; else the names of the values.

    Raises
    ------
    DataError
        When the subject or a column is unknown, both columns are the same, values are missing or
        infinite, or `bins` is no positive number.

    References
    ----------
    Burnell et al. (2022), Not a number: identifying instance features for capability-oriented
    evaluation; Burden et al. (2023), appendix C.1.

    Examples
    --------
    >>> items = pd.DataFrame({"far": [0, 1, 0, 1], "small": [0, 0, 1, 1]}, index=list("abcd"))
    >>> outcomes = pd.DataFrame([[1, 1, 1, 0]], index=["Ann"], columns=list("abcd"))
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> successes, trials = characteristic_grid(evaluation, "Ann", "far", "small")
    >>> (successes / trials).to_numpy().tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    refuse_steps(evaluation.rows, "characteristic_grid")
    (known,) = known_names([subject], evaluation.subject_table.index, "subject")
    if x == y:
        raise DataError(f"x and y are both {x!r}; a grid needs two different columns of the items")
    need_columns(evaluation.items.columns, [x, y], "the items have")
    bins = whole("bins", bins, 1, DataError)
    cells = evaluation.cells
    attempted = cells[cells["subject"] == known]
    rows, columns = (_cut(evaluation.items[name], bins) for name in (y, x))
    in_cells = [cut.loc[attempted["item"]].array for cut in (rows, columns)]
    grouped = attempted.groupby(in_cells, observed=False)
    successes, trials = (
        grouped[name]
        .sum()
        .unstack()
        .set_axis(rows.cat.categories)
        .set_axis(columns.cat.categories, axis=1)
        for name in ("successes", "trials")
    )
    return successes, trials


def edge_labels(numbers: np.ndarray | pd.Index) -> list[str]:
    """Write ascending numbers with the decimals needed to distinguish them, and one more.

    Examples
    --------
    >>> edge_labels(np.array([-1.8621, -0.0068, 1.5]))
    ['-1.9', '0', '1.5']
    """
    numbers = np.asarray(numbers, dtype=float)
    gap = np.diff(numbers).min() if len(numbers) > 1 else 1.0
    decimals = int(max(0, 1 - np.floor(np.log10(gap)))) if np.isfinite(gap) and gap > 0 else 1
    texts = [f"{number:.{decimals}f}" for number in np.round(numbers, decimals) + 0.0]
    return [text.rstrip("0").rstrip(".") if "." in text else text for text in texts]


def _cut(values: pd.Series, bins: int) -> pd.Series:
    """Find the cell of each item, as a categorical."""
    if values.isna().any():
        raise DataError(
            f"{values.name} is missing (NaN) on {some(values.index[values.isna()])}; fill it in, "
            "or drop those items with Evaluation.select"
        )
    is_number = pd.api.types.is_numeric_dtype(values)
    if not is_number or values.nunique() <= bins:
        levels = values.astype("category").cat
        names = (
            edge_labels(levels.categories)
            if is_number
            else [str(level) for level in levels.categories]
        )
        return levels.rename_categories(names)
    numbers = values.to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        raise DataError(f"{values.name} has infinite values; drop those items")
    edges = np.linspace(numbers.min(), numbers.max(), bins + 1)
    cells = np.digitize(numbers, edges[1:-1])
    intervals = pd.IntervalIndex.from_breaks(edges, closed="left")
    dtype = pd.CategoricalDtype(intervals, ordered=True)
    return pd.Series(intervals[cells], values.index, dtype=dtype)
