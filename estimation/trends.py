"""Trends that are part of a joint fit: how a capability grows with a date of its subjects."""

import math

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import some
from ..common.options import inside
from ..inference.fit import Fit
from ..inference.model.alignment import align
from ..inference.population.priors import Around, around
from ..layouts import Latent, MetaFeature
from ..layouts.plates import SUBJECT
from ..linking import Expr, evaluate
from ..linking.evaluation import ancestry
from .horizons import HorizonTrend, capability_of, doubling

_STEPS = 60
_HINT = "declare its prior as in Prior('Normal', mu=start + rate * released, sigma=spread)"


def joint_trend(
    fit: Fit,
    since: str | pd.Timestamp,
    *,
    node: str | None = None,
    between: tuple[str | pd.Timestamp, str | pd.Timestamp] | None = None,
    base: float = 2.0,
    prob: float = 0.9,
) -> HorizonTrend:
    r"""Read the trend that is the mean of a capability's prior, with its doubling time.

    .. math:: \theta_s \sim N(f(t_s), \tau^2), \qquad
        d = 12 \, \frac{t_2 - t_1}{\log_2(\mathrm{base}) \, (f(t_2) - f(t_1))}

    for each posterior draw of f and :math:`\tau`, with t in years: the doubling time d in months is
    that of the mean rate between two dates. What is not known of subjects' capabilities, of items
    and of the scatter is in its interval, since all are one posterior; `horizon_trend` draws a line
    through horizons that were fitted before, as if their errors were normal and independent.

    Parameters
    ----------
    fit : Fit
        Of a joint layout in which the capability's prior has a mean that depends on one covariate
        of subjects, in a unit of time, and on what all share: a line, a kink or a `walk`.
    since : str or Timestamp
        Day at which that covariate is 0.
    node : str, optional
        The capability, a logarithm of hours; the only one by default.
    between : (str or Timestamp, str or Timestamp), optional
        Dates of the doubling time and the ends of the line, within the covariate's range; the first
        and the last date of the fit's subjects by default.
    base : float, default 2
        Of the logarithm, above 1: 2 for doublings, 10 for orders of magnitude.
    prob : float, default 0.9
        Mass of the equal-tailed intervals.

    Returns
    -------
    HorizonTrend
        Doubling time, scatter (posterior mean, in doublings) and the line, for `horizon_plot`.

    Raises
    ------
    FitError
        When an option is out of range, the capability is unknown or one of several, or the mean of
        its prior is no course over one date that all subjects share.

    References
    ----------
    Gelman and Hill (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models,
    section 12.6: predictors of groups inside one model.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import weirdml
    >>> models = weirdml.dated(weirdml.simulated_cohort().evaluation, weirdml.release_dates())
    >>> result = fit(weirdml.trend_layout("line"), models, draws=200, tune=200, chains=2, seed=1,
    ...              progressbar=False)
    >>> trend = joint_trend(result, weirdml.SINCE)
    >>> bool(trend.low < 5 < trend.high)
    True
    """
    prob = inside("prob", prob, such_as=0.9)
    if not base > 1:
        raise FitError(f"base={base}; give a number above 1, as 2 or 10")
    name = capability_of(fit, node)
    course, date = _course(fit, name)
    origin, days = pd.Timestamp(since), _days(date)
    if between is None:
        seen = fit.constants[date.name].to_numpy()
        first, last = float(seen.min()), float(seen.max())
    else:
        first, last = ((pd.Timestamp(day) - origin).days / days for day in between)
    if not date.range.low <= first < last <= date.range.high:
        raise FitError(
            f"the trend is asked for from {first:g} to {last:g}, and {date.name} ranges over "
            f"{date.range} in the layout; give between= two dates in rising order, within it"
        )
    at = np.linspace(first, last, _STEPS)
    line, scatter = (
        np.log2(base) * _drawn(fit, part, date, at) for part in (course.location, course.scale)
    )
    years = (last - first) * days / 365.25
    rates = (line[:, -1] - line[:, 0]) / years
    tail = [(1 - prob) / 2, 0.5, (1 + prob) / 2]
    slow, usual, fast = map(doubling, np.quantile(rates, tail))
    low, middle, high = np.exp2(np.quantile(line, tail, axis=0))
    when = origin + pd.to_timedelta(at * days, unit="D")
    table = pd.DataFrame({"released": when, "hours": middle, "low": low, "high": high})
    return HorizonTrend(usual, fast, slow, float(scatter.mean()), table, prob)


def _course(fit: Fit, name: str) -> tuple[Around, MetaFeature]:
    """Find the mean and scatter of a capability's prior, and the date that the mean depends on."""
    latent = next(one for one in fit.layout.latents if one.name == name)
    found = around(latent.priors[0])
    parts = [] if found is None else [*_parts(found.location), *_parts(found.scale)]
    dates = {part.name: part for part in parts if isinstance(part, MetaFeature)}
    own = [part.name for part in parts if isinstance(part, Latent) and part.plates]
    if found is None or len(dates) != 1:
        raise FitError(
            f"{name}: its prior {latent.priors[0]} has no mean over one property of subjects (it "
            f"depends on {some(dates) if dates else 'none'}), and a trend is one; {_HINT}"
        )
    if own:
        raise FitError(
            f"{name}: its prior depends on {some(own)}, of which each {SUBJECT} or category has "
            "one, and the trend of all is asked for; take these out of its prior and add them "
            "where the capability is used"
        )
    return found, next(iter(dates.values()))


def _parts(expression: Expr) -> list[Expr]:
    return list(ancestry(expression, stop_at=lambda of: isinstance(of, Latent | MetaFeature)))


def _days(date: MetaFeature) -> float:
    """Days in one unit of a date."""
    try:
        return float((1 * date.unit.pint).to("day").magnitude)
    except Exception as error:  # pint has several, and no unit has no pint
        raise FitError(
            f"{date.name}: it is in {date.unit or 'no unit'}, which is no time, and a doubling "
            "time needs one; declare it with unit='year', 'month' or 'day'"
        ) from error


def _drawn(fit: Fit, expression: Expr, date: MetaFeature, at: np.ndarray) -> np.ndarray:
    """Compute an expression for all draws at some dates: (draws, dates)."""
    dims, posterior = tuple(fit.layout.dims), fit.posterior
    known: dict[str, np.ndarray] = {
        date.name: align(at[None], date, dims, leading=1, per_item=True)
    }
    for part in _parts(expression):
        if isinstance(part, Latent):
            values = posterior[part.name].to_numpy()
            values = values.reshape(math.prod(values.shape[:2]), *values.shape[2:])
            known[part.name] = align(values, part, dims, leading=1, per_item=False)
    found = np.asarray(evaluate(expression, known, dims), dtype=float)
    found = found.reshape(found.shape[:2]) if found.ndim else found[None, None]
    count = posterior.sizes["chain"] * posterior.sizes["draw"]
    return np.broadcast_to(found, (count, len(at)))
