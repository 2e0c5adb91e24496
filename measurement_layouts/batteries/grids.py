"""Agent characteristic grids: one subject's success over two properties of the items."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import whole
from ..common.proportions import rates
from ..evaluations.evaluation import Evaluation
from ..evaluations.steps import refuse_steps
from ..evaluations.tables import known_names, need_columns


@dataclass(frozen=True, eq=False)
class GridAxis:
    """Cells of one property of the items.

    Attributes
    ----------
    name : str
        Column of the items.
    edges : ndarray, shape (cells + 1,)
        Borders of the cells, ascending. A cell includes its lower border; the last one both.
    levels : tuple of str
        Names of the cells if each is one value (edges then count from -0.5); empty if the property
        was divided into intervals.
    """

    name: str
    edges: np.ndarray
    levels: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CharacteristicGrid:
    """One subject's outcomes, counted over cells of two properties.

    Attributes
    ----------
    subject : str
        Name of the subject.
    x, y : GridAxis
        Cells of the two properties.
    successes, trials : ndarray of int, shape (cells of y, cells of x)
        Counts.
    """

    subject: str
    x: GridAxis
    y: GridAxis
    successes: np.ndarray
    trials: np.ndarray

    @property
    def rates(self) -> np.ndarray:
        """Success rate per cell, in [0, 1]; NaN for cells without attempts."""
        return rates(self.successes, self.trials)


def characteristic_grid(
    evaluation: Evaluation,
    subject: object,
    x: str,
    y: str,
    *,
    bins: int = 6,
) -> CharacteristicGrid:
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
    CharacteristicGrid
        The counts.

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
    >>> characteristic_grid(evaluation, "Ann", "far", "small").rates.tolist()
    [[1.0, 1.0], [1.0, 0.0]]
    """
    refuse_steps(evaluation.rows, "characteristic_grid")
    (known,) = known_names([subject], evaluation.subject_table.index, "subject")
    if x == y:
        raise DataError(f"x and y are both {x!r}; a grid needs two different columns of the items")
    need_columns(evaluation.items.columns, [x, y], "the items have")
    bins = whole("bins", bins, 1, DataError)
    (across, x_values), (up, y_values) = (_cut(evaluation.items[name], bins) for name in (x, y))
    cells = evaluation.coded
    chosen = cells.of_subject(evaluation.subjects.index(known))
    places = y_values[cells.item[chosen]], x_values[cells.item[chosen]]
    successes, trials = (
        np.histogram2d(*places, bins=[up.edges, across.edges], weights=counts[chosen])[0]
        for counts in (cells.successes, cells.trials)
    )
    return CharacteristicGrid(known, across, up, successes.astype(int), trials.astype(int))


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


def _cut(values: pd.Series, bins: int) -> tuple[GridAxis, np.ndarray]:
    """Divide a property into cells; the axis, and the place of each item on it."""
    if values.isna().any():
        raise DataError(
            f"{values.name} is missing (NaN) on {some(values.index[values.isna()])}; fill it in, "
            "or drop those items with Evaluation.select"
        )
    is_number = pd.api.types.is_numeric_dtype(values)
    if not is_number or values.nunique() <= bins:
        levels = values.astype("category").cat
        names = edge_labels(levels.categories) if is_number else map(str, levels.categories)
        axis = GridAxis(str(values.name), np.arange(len(levels.categories) + 1) - 0.5, tuple(names))
        return axis, levels.codes.to_numpy()
    numbers = values.to_numpy(dtype=float)
    if not np.isfinite(numbers).all():
        raise DataError(f"{values.name} has infinite values; drop those items")
    return GridAxis(str(values.name), np.linspace(numbers.min(), numbers.max(), bins + 1)), numbers
