"""Refusal of arguments that are not a fit, or not a forecast."""

from ..common.errors import FitError
from ..common.given import refuse_other
from ..common.messages import many
from .forecasts.forecasting import Forecast
from .posterior.posterior import Posterior


def refuse_no_fit(fit: object) -> None:
    """Refuse what is given as a fit and is something else.

    Raises
    ------
    FitError
        When it is not a `Fit`; the message states how to make one.

    Examples
    --------
    >>> refuse_no_fit("fit.nc")
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.FitError: fit: this is a str, not a Fit; the ...
    """
    remedy = "the first argument is the result of ml.fit(layout, evaluation), or of ml.load(path)"
    refuse_other("fit", fit, Posterior, "a Fit", remedy, FitError)


def refuse_few_draws(fit: Posterior, verb: str, least: int = 100) -> int:
    """Count the draws of a fit, and refuse fewer than are needed.

    Raises
    ------
    FitError
        When there are fewer; the message states how many there are.
    """
    count: int = fit.posterior.sizes["chain"] * fit.posterior.sizes["draw"]
    if count < least:
        raise FitError(
            f"the fit has {many(count, 'draw')}; {verb} needs at least {least}, and 1000 are "
            "advised: fit with more draws"
        )
    return count


def refuse_no_forecast(forecast: object) -> None:
    """Refuse what is given as a forecast and is something else.

    Raises
    ------
    DataError
        When it is not a `Forecast`; the message states how to make one.

    Examples
    --------
    >>> refuse_no_forecast(None)
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: forecast: this is None, not a Forecast; ...
    """
    remedy = "give the result of fit.forecast(items)"
    refuse_other("forecast", forecast, Forecast, "a Forecast", remedy)
