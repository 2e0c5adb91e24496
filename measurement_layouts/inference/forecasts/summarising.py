"""Means, intervals and chances of being above a value, of draws of any quantity."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import FitError
from ...common.given import refuse_other
from ...common.options import inside
from ...common.threads import thread_count
from ...linking.real import real
from .streaming import SAMPLE

SUMMARY = ("mean", "low", "high")

type Cells = tuple[slice, ...]
"""Where some cells are along the dimensions other than those of draws."""


def by_block[T](
    draws: xr.DataArray, work: Callable[[np.ndarray, Cells], T]
) -> Iterator[tuple[Cells, T]]:
    """Call a function on the draws of some cells at a time, in threads.

    Parameters
    ----------
    draws : DataArray
        Draws with the dimensions ``chain`` and ``draw``; a lazy array is read in the pieces that it
        prefers, for all subjects on some items before the next items.
    work : callable
        Function of an array (*cells, draws), which it may change, and of where the cells are.

    Yields
    ------
    tuple of slice
        Where the cells are along the other dimensions.
    object
        What the function returned.
    """
    dims = [dim for dim in draws.dims if dim not in SAMPLE]
    chunks, lazy = draws.encoding.get("preferred_chunks", {}), not draws.variable._in_memory
    cuts = []
    for dim in reversed(dims):
        size = draws.sizes[dim]
        step = chunks.get(dim, size) if lazy else size
        cuts.append([slice(at, at + step) for at in range(0, size, max(1, step))])
    blocks = [block[::-1] for block in itertools.product(*cuts)]

    def read(block: Cells) -> T:
        chosen = draws[dict(zip(dims, block, strict=True))] if lazy else draws.copy()
        values = np.moveaxis(chosen.to_numpy(), [draws.dims.index(dim) for dim in SAMPLE], (-2, -1))
        return work(values.reshape(*values.shape[:-2], -1), block)

    with ThreadPoolExecutor(thread_count()) as pool:
        yield from zip(blocks, pool.map(read, blocks), strict=True)


def summary_of(
    draws: xr.DataArray, prob: float, names: Sequence[str] = SUMMARY, above: float = np.nan
) -> dict[str, np.ndarray]:
    """Compute columns of `summarise`, by name, as arrays with the dimensions of the cells."""
    shape = [draws.sizes[dim] for dim in draws.dims if dim not in SAMPLE]

    def work(values: np.ndarray, _: Cells) -> list[np.ndarray]:
        rows = values.reshape(-1, values.shape[-1])
        numbers = {}
        if "sd" in names:
            with np.errstate(invalid="ignore"):  # infinite draws
                numbers["sd"] = rows.std(axis=1, ddof=1)
        if "above" in names:
            numbers["above"] = (rows > above).mean(axis=1)
        numbers |= zip(SUMMARY, mean_and_interval(rows, prob), strict=True)
        return [numbers[name].reshape(values.shape[:-1]) for name in names]

    columns = {name: np.empty(shape) for name in names}
    for block, numbers in by_block(draws, work):
        for column, values in zip(columns.values(), numbers, strict=True):
            column[block] = values
    return columns


def summarise(
    draws: xr.DataArray, *, prob: float = 0.9, above: float | None = None
) -> pd.DataFrame:
    r"""Summarise draws of any quantity: mean, standard deviation, interval, chance of being above.

    .. math:: \bar\theta = \frac{1}{S} \sum_s \theta_s, \qquad
        P(\theta > c) \approx \frac{1}{S} \sum_s [\theta_s > c]

    over the S draws of all chains. The interval is equal-tailed, between quantiles of the draws.

    Parameters
    ----------
    draws : DataArray
        Draws with the dimensions ``chain`` and ``draw`` and any others, such as `Fit.derive` or
        `Forecast.draws` returns. A lazy array is read some cells at a time.
    prob : float, default 0.9
        Mass of the interval.
    above : float, optional
        Value to be exceeded.

    Returns
    -------
    DataFrame
        One row per cell of the other dimensions, whose names come first: ``mean``, ``sd``, ``low``,
        ``high``, and ``above``, the share of the draws above the value, where one is given.

    Raises
    ------
    FitError
        When `draws` is no such array, `prob` is not between 0 and 1, or `above` is no number.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 10.5, for functions of draws.

    Examples
    --------
    >>> draws = np.arange(8.0).reshape(2, 4)
    >>> summarise(xr.DataArray(draws, dims=("chain", "draw")), above=5)
       mean        sd   low  high  above
    0   3.5  2.44949  0.35  6.65   0.25
    """
    remedy = "give draws, such as fit.derive(expression) or forecast.draws"
    refuse_other("draws", draws, xr.DataArray, "a DataArray", remedy, FitError)
    prob, least = inside("prob", prob, such_as=0.9), None if above is None else real(above)
    if not {*SAMPLE} <= {*draws.dims} or (above is not None and least is None):
        raise FitError(
            f"draws have the dimensions {', '.join(map(str, draws.dims))}, and above={above!r}; "
            "give draws with the dimensions chain and draw, and a number"
        )
    names = ["mean", "sd", "low", "high"] + ["above"] * (least is not None)
    columns = summary_of(draws, prob, names, least or 0.0)
    dims = [dim for dim in draws.dims if dim not in SAMPLE]
    levels = [draws[dim].to_numpy() for dim in dims]
    cells = np.meshgrid(*levels, indexing="ij") if dims else []
    table = dict(zip(dims, map(np.ravel, cells), strict=True))
    return pd.DataFrame(table | {name: column.ravel() for name, column in columns.items()})


def mean_and_interval(rows: np.ndarray, prob: float) -> np.ndarray:
    """Compute every row's mean and the ends of its equal-tailed interval.

    Parameters
    ----------
    rows : ndarray of float, shape (rows, draws)
        Draws, which may be reordered.
    prob : float
        Mass of the interval.

    Returns
    -------
    ndarray, shape (3, rows)
        Mean, low and high. The ends are equal to those of `numpy.quantile`, and NaN where a draw
        is NaN.

    Examples
    --------
    >>> mean_and_interval(np.array([[4.0, 1.0, 2.0, 3.0, 5.0]]), prob=0.5).ravel()
    array([3., 2., 4.])
    """
    mean = rows.mean(axis=1)
    with np.errstate(invalid="ignore"):
        ends = np.quantile(rows, [(1 - prob) / 2, (1 + prob) / 2], axis=1, overwrite_input=True)
    return np.vstack([mean, np.where(np.isnan(ends), mean, ends)])  # between equal infinities: NaN
