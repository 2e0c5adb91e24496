"""Trends estimated inside a joint fit: how a capability grows with a date of its subjects."""

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import some
from ..common.options import inside
from ..inference.fit import Fit
from ..inference.given import refuse_no_fit
from ..inference.model.alignment import align, leaves
from ..inference.population.priors import Around, around
from ..inference.posterior.posterior import stacked
from ..layouts import Latent, MetaFeature
from ..layouts.plates import SUBJECT
from ..linking import Expr, evaluate
from .horizons import HorizonTrend, capability_of, trend_of

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
    r"""Compute the trend in the mean of a capability's prior, with its doubling time.

    .. math:: \theta_s \sim N(f(t_s), \tau^2), \qquad
        d = 12 \, \frac{t_2 - t_1}{\log_2(\mathrm{base}) \, (f(t_2) - f(t_1))}

    for each posterior draw of f and :math:`\tau`, with t in years. The doubling time d, in months,
    is that of the mean rate between two dates. Its interval includes the uncertainty about
    subjects' capabilities, items and scatter, since all of them have one joint posterior.
    `horizon_trend`, by contrast, fits a line through horizons of an earlier fit and treats their
    errors as normal.

    Parameters
    ----------
    fit : Fit
        A fit of a joint layout in which the mean of the capability's prior depends only on one
        covariate of subjects, in a unit of time, and on latents that all subjects share: a line, a
        kink or a `walk`.
    since : str or Timestamp
        Day at which that covariate is 0.
    node : str, optional
        Name of the capability, a logarithm of hours (default: the only one).
    between : (str or Timestamp, str or Timestamp), optional
        The two dates between which the doubling time and the line are computed, within the
        covariate's range (default: the first and the last date of the fit's subjects).
    base : float, default 2
        Base of the logarithm, above 1: 2 for doublings, 10 for orders of magnitude.
    prob : float, default 0.9
        Mass of the equal-tailed intervals, in (0, 1).

    Returns
    -------
    HorizonTrend
        Doubling time, scatter (posterior mean, in doublings) and the line, for `horizon_plot`.

    Raises
    ------
    FitError
        When `fit` is something else, an option is out of range, the capability is unknown or one of
        several, or the mean of its prior is not a function of one date that is the same for all
        subjects.

    References
    ----------
    Gelman and Hill (2007), Data Analysis Using Regression and Multilevel/Hierarchical Models,
    section 12.6, on predictors of groups inside one model.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import weirdml
    >>> models = weirdml.dated(weirdml.simulated_cohort().evaluation, weirdml.release_dates())
    >>> result = fit(weirdml.trend_layout("line"), models, draws=200, tune=200, chains=2, seed=1,
    ...              progressbar=False)
    >>> joint_trend(result, weirdml.SINCE)
    <HorizonTrend: doubling every 4... months (90 % interval 3... to 6...)>
    """
    refuse_no_fit(fit)
    prob = inside("prob", prob, such_as=0.9)
    if not base > 1:
        raise FitError(f"base={base}; give a number above 1, such as 2 or 10")
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
            f"the trend is requested from {first:g} to {last:g}, and {date.name} has the range "
            f"{date.range} in the layout; give between= two dates in rising order within that range"
        )
    at = np.linspace(first, last, _STEPS)
    line, scatter = (
        np.log2(base) * _drawn(fit, part, date, at) for part in (course.location, course.scale)
    )
    years = (last - first) * days / 365.25
    rates = (line[:, -1] - line[:, 0]) / years
    when = origin + pd.to_timedelta(at * days, unit="D")
    return trend_of(rates, line, when, scatter, prob)


def _course(fit: Fit, name: str) -> tuple[Around, MetaFeature]:
    """Find the mean and scatter of a capability's prior, and the date on which they depend."""
    latent = next(one for one in fit.layout.latents if one.name == name)
    found = around(latent.priors[0])
    parts = [] if found is None else [*leaves(found.location), *leaves(found.scale)]
    dates = {part.name: part for part in parts if isinstance(part, MetaFeature)}
    own = [part.name for part in parts if isinstance(part, Latent) and part.plates]
    if found is None or len(dates) != 1:
        raise FitError(
            f"{name}: a trend needs a prior whose mean depends on one property of subjects, and "
            f"the prior {latent.priors[0]} depends on {some(dates) if dates else 'none'}; {_HINT}"
        )
    if own:
        raise FitError(
            f"{name}: its prior depends on {some(own)}, of which each {SUBJECT} or category has a "
            "value of its own, and a trend is the same for all subjects; take these out of the "
            "prior and add them where the capability is used"
        )
    return found, next(iter(dates.values()))


def _days(date: MetaFeature) -> float:
    """Return the number of days in one unit of a date."""
    try:
        return float((1 * date.unit.pint).to("day").magnitude)
    except Exception as error:  # pint raises several kinds; a date may have no unit
        raise FitError(
            f"{date.name} is in {date.unit or 'no unit'}, and a doubling time needs a unit of "
            "time; declare it with unit='year', 'month' or 'day'"
        ) from error


def _drawn(fit: Fit, expression: Expr, date: MetaFeature, at: np.ndarray) -> np.ndarray:
    """Compute an expression for all draws at given dates, shape (draws, dates)."""
    dims, posterior = tuple(fit.layout.dims), fit.posterior
    count = posterior.sizes["chain"] * posterior.sizes["draw"]
    known = {date.name: align(at[None], date, dims, leading=1, per_item=True)}
    for part in leaves(expression):
        if isinstance(part, Latent):
            values = stacked(fit, part, np.arange(count))
            known[part.name] = align(values, part, dims, leading=1, per_item=False)
    found = np.asarray(evaluate(expression, known, dims), dtype=float)
    found = found.reshape(found.shape[:2]) if found.ndim else found[None, None]
    return np.broadcast_to(found, (count, len(at)))
