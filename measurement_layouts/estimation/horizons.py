"""Time horizons: capabilities that are logarithms of hours, and how they grow."""

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..common.digits import significant
from ..common.errors import DataError, FitError
from ..common.given import refuse_other
from ..common.messages import some
from ..common.options import inside, whole
from ..evaluations.tables import need_columns, texts
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..layouts.elements import find_elements

_SCATTERS, _DRAWS = 400, 4000
_MONTHS, _DAYS = 12, 365.25
_LEAST = 3  # least points for a line and the scatter about it


def time_horizons(
    fit: Fit,
    released: pd.Series | None = None,
    *,
    node: str | None = None,
    base: float = 2.0,
    prob: float = 0.9,
) -> pd.DataFrame:
    """Convert a capability into a time horizon in hours.

    Parameters
    ----------
    fit : Fit
        A fit of a layout in which a capability is the logarithm of the hours that people need.
    released : Series, optional
        Release dates, indexed by subject. If given, subjects without a date are left out.
    node : str, optional
        Name of the capability (default: the only one).
    base : float, default 2
        Base of the logarithm, above 1: 2 for doublings, 10 for orders of magnitude.
    prob : float, default 0.9
        Mass of the equal-tailed interval, in (0, 1).

    Returns
    -------
    DataFrame
        Indexed by subject: ``hours`` (posterior median) with the interval ``low`` to ``high``;
        ``doublings``, the posterior mean of the binary logarithm of the hours, and its ``sd``; and
        ``released``, if given. With a joint fit, ``attrs["covariance"]`` has the posterior
        covariances of the doublings, by subject and subject, which `horizon_trend` uses.

    Raises
    ------
    DataError
        When no subject has a date.
    FitError
        When `fit` is something else, an option is out of range, or the capability is unknown or one
        of several.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import weirdml
    >>> cohort = weirdml.simulated_cohort()
    >>> result = fit(weirdml.published_layout(), cohort.evaluation, subjects=["sim-24"],
    ...              method="grid", seed=1, progressbar=False)
    >>> time_horizons(result)[["hours", "low", "high"]].round()
             hours   low  high
    subject
    sim-24    24.0  20.0  28.0
    """
    refuse_no_fit(fit)
    prob = inside("prob", prob, such_as=0.9)
    if not base > 1:
        raise FitError(f"base={base}; give a number above 1, such as 2 or 10")
    draws = np.log2(base) * fit.posterior[_capability_of(fit, node)].stack(draw_=("chain", "draw"))
    values = draws.transpose("subject", "draw_").to_numpy()
    tail = (1 - prob) / 2
    low, middle, high = np.exp2(np.quantile(values, [tail, 0.5, 1 - tail], axis=1))
    table = pd.DataFrame(
        {
            "hours": middle,
            "low": low,
            "high": high,
            "doublings": values.mean(axis=1),
            "sd": values.std(axis=1, ddof=1),
        },
        pd.Index(fit.subjects, name="subject"),
    )
    if fit.layout.joint:
        covariance = np.atleast_2d(np.cov(values))
        table.attrs["covariance"] = pd.DataFrame(covariance, table.index, table.index).to_dict()
    return table if released is None else _dated(table, released)


def _capability_of(fit: Fit, node: str | None) -> str:
    """Return the name of the capability that is a time horizon (default: the only one)."""
    known = [element for element in fit.elements if element.latent.kind == "capability"]
    found = known if node is None else find_elements(fit.elements, node)
    if len(found) != 1 or found[0].label:
        raise FitError(
            f"a time horizon needs one capability without labels, and there are "
            f"{some(element.name for element in found)}; name one with node="
        )
    return found[0].latent.name


def _dated(table: pd.DataFrame, released: pd.Series) -> pd.DataFrame:
    named = released.set_axis(texts(released.index, "released")).dropna()
    known = table[table.index.isin(named.index)]
    if known.empty:
        raise DataError(
            f"the dates are indexed by {some(named.index)}, and the fit has the subjects "
            f"{some(table.index)}; index released by subject"
        )
    return known.assign(released=pd.to_datetime(named[known.index]))


@dataclass(frozen=True, eq=False)
class HorizonTrend:
    """Trend of time horizons over release dates, with its doubling time.

    Attributes
    ----------
    months, low, high : float
        Doubling time in months, and its interval. An end is infinite if the horizons may not grow.
    scatter : float
        Standard deviation of horizons about the line, in doublings, without their own errors.
    line : DataFrame
        The line at evenly spaced dates: ``released``, ``hours``, ``low`` and ``high``.
    prob : float
        Mass of the intervals.

    Examples
    --------
    >>> dates = pd.to_datetime(["2024-01-01", "2024-07-01", "2025-01-01", "2025-07-01"])
    >>> table = pd.DataFrame({"released": dates, "doublings": [0.0, 1.1, 1.9, 3.0], "sd": 0.1})
    >>> trend = horizon_trend(table)
    >>> trend
    <HorizonTrend: doubling every 6.12 months (90 % interval 5.40 to 7.12)>
    >>> trend.line[["hours", "low", "high"]].iloc[-1].round(1).tolist()
    [7.8, 6.5, 9.3]
    """

    months: float
    low: float
    high: float
    scatter: float
    line: pd.DataFrame
    prob: float

    def __repr__(self) -> str:
        months, low, high = self.texts()
        return (
            f"<HorizonTrend: doubling every {months} months ({100 * self.prob:g} % "
            f"interval {low} to {high})>"
        )

    def texts(self) -> tuple[str, str, str]:
        """Write the months and the ends of their interval, with three significant digits."""
        wide = self.high - self.low
        return (
            significant(self.months, wide),
            significant(self.low, wide),
            significant(self.high, wide),
        )


def horizon_trend(horizons: pd.DataFrame, *, prob: float = 0.9, seed: int = 1) -> HorizonTrend:
    r"""Fit a line through time horizons that are known with errors.

    .. math:: y \sim N(a + b t, s^2 I + \Sigma)

    where y are the horizons in doublings of an hour, :math:`\Sigma` their posterior covariances and
    t the release dates. The priors of a, b and s are flat; s is summed over, and a and b are drawn.
    A table that `time_horizons` made of a joint fit has the covariances. Otherwise subjects were
    fitted apart, errors are independent, and :math:`\Sigma` is diagonal, with the squares of
    ``sd``. An error that all subjects share and no posterior contains (such as estimates of hours
    that are all too long) shifts the whole line and is not in the intervals. A joint fit draws
    horizons towards their mean; if the mean of its prior depends on the date, take the rate from
    the fit.

    Parameters
    ----------
    horizons : DataFrame
        Result of `time_horizons` with release dates.
    prob : float, default 0.9
        Mass of the intervals, in (0, 1).
    seed : int
        Seed of the draws.

    Returns
    -------
    HorizonTrend
        Doubling time and line.

    Raises
    ------
    DataError
        When `horizons` is something else, a column is missing, there are fewer than three subjects
        or two dates, or a subject is not among those of the covariances.
    FitError
        When an option is out of range.

    References
    ----------
    Gelman et al. (2013), Bayesian Data Analysis, section 5.4, for the sum over the scatter.

    Examples
    --------
    >>> dates = pd.to_datetime(["2024-01-01", "2024-07-01", "2025-01-01", "2025-07-01"])
    >>> table = pd.DataFrame({"released": dates, "doublings": [0.0, 1.1, 1.9, 3.0], "sd": 0.1})
    >>> round(horizon_trend(table).months)
    6
    """
    prob, seed = inside("prob", prob, such_as=0.9), whole("seed", seed)
    remedy = "give the result of ml.estimation.time_horizons(fit), with the column released"
    refuse_other("horizons", horizons, pd.DataFrame, "a DataFrame", remedy)
    need_columns(horizons.columns, ["released", "doublings", "sd"], "the table of horizons has")
    dates = pd.to_datetime(horizons["released"])
    if len(horizons) < _LEAST or dates.nunique() < 2:
        raise DataError(
            f"{len(horizons)} horizon(s) at {dates.nunique()} date(s); a trend needs at least "
            f"{_LEAST}, at two dates"
        )
    middle = dates.mean()
    years = ((dates - middle).dt.days / _DAYS).to_numpy()
    y = horizons["doublings"].to_numpy(dtype=float)
    scatter, coefficients = _lines(years, y, _errors(horizons), np.random.default_rng(seed))
    at = np.linspace(years.min(), years.max(), 60)
    drawn = coefficients[:, :1] + coefficients[:, 1:] * at
    when = middle + pd.to_timedelta(at * _DAYS, unit="D")
    tail = [(1 - prob) / 2, 0.5, (1 + prob) / 2]
    slow, usual, fast = (_doubling(rate) for rate in np.quantile(coefficients[:, 1], tail))
    low, line, high = np.exp2(np.quantile(drawn, tail, axis=0))
    table = pd.DataFrame({"released": when, "hours": line, "low": low, "high": high})
    return HorizonTrend(usual, fast, slow, float(scatter.mean()), table, prob)


def _doubling(rate: float) -> float:
    """Convert a rate in doublings a year to a doubling time in months; infinite without growth."""
    return _MONTHS / float(rate) if rate > 0 else math.inf


def _errors(horizons: pd.DataFrame) -> np.ndarray:
    """Return the covariances of the horizons' errors."""
    if "covariance" not in horizons.attrs:
        return np.diag(horizons["sd"].to_numpy(dtype=float) ** 2)
    covariance = pd.DataFrame(horizons.attrs["covariance"])
    others = [name for name in horizons.index if name not in covariance.index]
    if others:
        raise DataError(
            f"horizons: {some(others)} is not in the joint fit of {some(covariance.index)}; keep "
            "the subjects' names in the index of what time_horizons returned"
        )
    return covariance.loc[horizons.index, horizons.index].to_numpy()


def _lines(
    t: np.ndarray, y: np.ndarray, covariance: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw scatters, shape (draws,), and intercepts and slopes, shape (draws, 2)."""
    design = np.column_stack([np.ones_like(t), t])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    variances, axes = np.linalg.eigh(covariance)  # along its axes, errors are independent
    error = np.sqrt(np.maximum(variances, 0))
    design, y = axes.T @ design, axes.T @ y
    top = 4 * max(float(residual.std(ddof=1)), float(error.min()), 1e-6)
    grid = (np.arange(_SCATTERS) + 0.5) / _SCATTERS * top
    weight = 1 / (grid[:, None] ** 2 + error**2)
    precision = np.einsum("gi,ij,ik->gjk", weight, design, design)
    pull = np.einsum("gi,ij,i->gj", weight, design, y)
    best = np.linalg.solve(precision, pull[..., None])[..., 0]
    squares = (weight * (y - best @ design.T) ** 2).sum(axis=1)
    log = 0.5 * (np.log(weight).sum(axis=1) - np.linalg.slogdet(precision)[1] - squares)
    chance = np.exp(log - log.max())
    chosen = rng.choice(_SCATTERS, _DRAWS, p=chance / chance.sum())
    spread = np.linalg.cholesky(np.linalg.inv(precision))[chosen]
    moved = np.einsum("dij,dj->di", spread, rng.normal(size=(_DRAWS, 2)))
    return grid[chosen], best[chosen] + moved
