"""Scores of methods by subjects' success rates, and smooth curves through them."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.tables import need_columns

type Scores = pd.DataFrame | Mapping[str, pd.DataFrame]


def by_subject(
    scores: Scores, column: str = "brier", success: pd.Series | None = None
) -> dict[str, pd.DataFrame]:
    """Collect the scores of one or several methods by subject.

    Parameters
    ----------
    scores : DataFrame or mapping of str to DataFrame
        Tables from `score` by name of the method; or one table with a column ``method`` (and
        ``subject``), such as `CrossValidation.scores`, whose repeats are averaged.
    column : str
        Name of the score.
    success : Series, optional
        Success rate by subject (default: that of the scored items).

    Returns
    -------
    dict of str to DataFrame
        By method, in the given order: ``success`` and `column`, indexed by subject, in ascending
        order of success.

    Raises
    ------
    DataError
        When a column is missing or empty, or a subject has no success rate.

    Examples
    --------
    >>> scores = pd.DataFrame({"success": [0.8, 0.4], "brier": [0.1, 0.2]}, index=["Ann", "Bob"])
    >>> by_subject({"layout": scores})["layout"].index.tolist()
    ['Bob', 'Ann']
    """
    if isinstance(scores, Mapping):
        frames = {str(method): frame for method, frame in scores.items()}
    elif "method" in scores.columns:
        frames = {
            str(method): frame
            for method, frame in scores.groupby("method", sort=False, dropna=False)
        }
    else:
        frames = {"": scores}
    if not frames:
        raise DataError("there are no scores; give those of at least one method, from score()")
    return {method: _one(method, frame, column, success) for method, frame in frames.items()}


def _one(method: str, frame: pd.DataFrame, column: str, success: pd.Series | None) -> pd.DataFrame:
    needed = [column] if success is not None else ["success", column]
    whose = f"the scores{f' of {method}' if method else ''} have"
    need_columns(frame.columns, needed, whose, "give the frame that score() returns")
    keys = frame["subject"] if "subject" in frame.columns else frame.index
    table = frame[needed].groupby(np.asarray(keys, dtype=object), sort=False).mean()
    table.index = pd.Index([str(name) for name in table.index], name="subject")
    if success is not None:
        rates = success.set_axis([str(name) for name in success.index])
        unknown = [name for name in table.index if name not in rates.index]
        if unknown:
            raise DataError(f"success= has no rate for {some(unknown)}; it has {some(rates.index)}")
        table.insert(0, "success", rates.loc[table.index].to_numpy())
    table = table.dropna().sort_values("success", kind="stable")
    if table.empty:
        raise DataError(f"{whose} no value of {column}")
    return table


ENOUGH = 10
"""Number of subjects from which on a smooth curve replaces the line between points."""


def trend(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute a curve of scores over success rates.

    Parameters
    ----------
    x, y : ndarray, shape (subjects,)
        Success rates in ascending order, and scores.

    Returns
    -------
    ndarray and ndarray, shape (points,)
        Success rates and levels of the curve. With at least 10 subjects, these are local averages
        at 101 places (`smooth` with a width of 0.08); otherwise, they are `x` and `y`.

    Examples
    --------
    >>> rates = np.linspace(0, 1, 11)
    >>> at, level = trend(rates, 2 - rates)
    >>> level[[0, 50, 100]].round(12)
    array([2. , 1.5, 1. ])
    """
    if len(x) < ENOUGH:
        return x, y
    at = np.linspace(x.min(), x.max(), 101)
    return at, smooth(x, y, at, 0.08)


def smooth(x: np.ndarray, y: np.ndarray, at: np.ndarray, width: float) -> np.ndarray:
    r"""Smooth points by local linear regression with a Gaussian kernel.

    .. math:: \hat y(a) = \arg_{b_0} \min_{b_0, b_1} \sum_i \exp\left(-\frac{(x_i - a)^2}{2 h^2}
        \right) (y_i - b_0 - b_1 (x_i - a))^2

    Parameters
    ----------
    x, y : ndarray, shape (points,)
        Points to smooth.
    at : ndarray, shape (places,)
        Values of `x` at which the curve is computed.
    width : float
        Width h of the kernel, in the unit of `x`.

    Returns
    -------
    ndarray, shape (places,)
        Levels of the curve; the local mean if all weight is on one value of `x`.

    References
    ----------
    Cleveland (1979), JASA 74(368), 829-836; Fan and Gijbels (1996), Local Polynomial Modelling.

    Examples
    --------
    >>> x = np.linspace(0, 1, 9)
    >>> smooth(x, 2 * x + 1, np.array([0.0, 0.5]), width=0.1).round(12)
    array([1., 2.])
    """
    gap = x[None, :] - at[:, None]
    weight = np.exp(-0.5 * (gap / width) ** 2 + 0.5 * np.min((gap / width) ** 2, axis=1)[:, None])
    total = weight.sum(axis=1)
    centre = (weight * gap).sum(axis=1) / total
    mean = (weight * y).sum(axis=1) / total
    offset = gap - centre[:, None]
    spread = (weight * offset**2).sum(axis=1)
    slope = (weight * offset * y).sum(axis=1) / np.where(spread > 0, spread, 1)
    return np.asarray(mean - slope * centre)
