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
    prob: float = 0.9,
) -> pd.DataFrame:
    """Convert a capability into a time horizon in hours.

    Parameters
    ----------
    fit : Fit
        A fit of a layout in which a capability is the binary logarithm of the hours that people
        need.
    released : Series, optional
        Release dates, indexed by subject. If given, subjects without a date are left out.
    node : str, optional
        Name of the capability (default: the only one).
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
    capabilities = [each for each in fit.elements if each.latent.kind == "capability"]
    chosen = capabilities if node is None else find_elements(fit.elements, node)
    if len(chosen) != 1 or chosen[0].label:
        raise FitError(
            f"a time horizon needs one capability without labels, and there are "
            f"{some(element.name for element in chosen)}; name one with node="
        )
    draws = fit.posterior[chosen[0].latent.name].stack(draw_=("chain", "draw"))
    doublings = draws.transpose("subject", "draw_").to_numpy()
    low, middle, high = np.exp2(np.quantile(doublings, _ends(prob), axis=1))
    table = pd.DataFrame({"hours": middle, "low": low, "high": high}, fit.subjects)
    table = table.rename_axis("subject").assign(
        doublings=doublings.mean(axis=1), sd=doublings.std(axis=1, ddof=1)
    )
    if fit.layout.joint:
        covariance = np.atleast_2d(np.cov(doublings))
        table.attrs["covariance"] = pd.DataFrame(covariance, table.index, table.index).to_dict()
    if released is None:
        return table
    dates = released.set_axis(texts(released.index, "released")).dropna()
    dated = table[table.index.isin(dates.index)]
    if dated.empty:
        raise DataError(
            f"the dates are indexed by {some(dates.index)}, and the fit has the subjects "
            f"{some(table.index)}; index released by subject"
        )
    return dated.assign(released=pd.to_datetime(dates[dated.index]))


def _ends(prob: float) -> list[float]:
    """Return the quantiles of an equal-tailed interval, and the median between them."""
    return [(1 - prob) / 2, 0.5, (1 + prob) / 2]


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

    def texts(self) -> list[str]:
        """Write the months and the ends of their interval, with three significant digits."""
        width = self.high - self.low
        return [significant(number, width) for number in (self.months, self.low, self.high)]


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
    doublings = horizons["doublings"].to_numpy(dtype=float)
    rng = np.random.default_rng(seed)
    scatter, intercepts, rates = _lines(years, doublings, _errors(horizons), rng)
    at = np.linspace(years.min(), years.max(), 60)
    drawn = intercepts[:, None] + rates[:, None] * at
    low, line, high = np.exp2(np.quantile(drawn, _ends(prob), axis=0))
    when = middle + pd.to_timedelta(at * _DAYS, unit="D")
    table = pd.DataFrame({"released": when, "hours": line, "low": low, "high": high})
    slow, usual, fast = (
        _MONTHS / float(rate) if rate > 0 else math.inf for rate in np.quantile(rates, _ends(prob))
    )
    return HorizonTrend(usual, fast, slow, float(scatter.mean()), table, prob)


def _errors(horizons: pd.DataFrame) -> np.ndarray:
    """Return the covariances of the horizons' errors."""
    if "covariance" not in horizons.attrs:
        return np.diag(horizons["sd"].to_numpy(dtype=float) ** 2)
    covariance = pd.DataFrame(horizons.attrs["covariance"])
    unknown = [name for name in horizons.index if name not in covariance.index]
    if unknown:
        raise DataError(
            f"horizons: {some(unknown)} is not in the joint fit of {some(covariance.index)}; keep "
            "the subjects' names in the index of what time_horizons returned"
        )
    return covariance.loc[horizons.index, horizons.index].to_numpy()


def _lines(
    years: np.ndarray, doublings: np.ndarray, errors: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scatters, intercepts and rates; each has the shape (draws,)."""
    design = np.column_stack([np.ones_like(years), years])
    residual = doublings - design @ np.linalg.lstsq(design, doublings, rcond=None)[0]
    least = math.sqrt(max(np.linalg.eigvalsh(errors)[0], 0))
    top = 4 * max(float(residual.std(ddof=1)), least, 1e-6)
    scatter = (np.arange(_SCATTERS) + 0.5) / _SCATTERS * top
    covariance = errors + scatter[:, None, None] ** 2 * np.eye(len(years))
    precision = np.linalg.inv(covariance)
    information = design.T @ precision @ design
    best = np.linalg.solve(information, design.T @ precision @ doublings[:, None])[..., 0]
    residuals = (doublings - best @ design.T)[:, None, :]
    squares = (residuals @ precision @ residuals.swapaxes(1, 2))[:, 0, 0]
    logs = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(information)[1] + squares
    weights = np.exp((logs.min() - logs) / 2)
    chosen = rng.choice(_SCATTERS, _DRAWS, p=weights / weights.sum())
    root = np.linalg.cholesky(np.linalg.inv(information))[chosen]
    coefficients = best[chosen] + (root @ rng.normal(size=(_DRAWS, 2, 1)))[..., 0]
    return scatter[chosen], coefficients[:, 0], coefficients[:, 1]
