"""Check that a figure is given results of the kinds that it takes."""

import functools
import inspect
from collections.abc import Callable, Mapping
from types import UnionType
from typing import Any, TypeAliasType, get_args, get_origin

from ..common.errors import DataError

_MAKERS = {
    "AdaptiveTest": "ml.AdaptiveTest",
    "CharacteristicCurves": "ml.batteries.characteristic_curves",
    "Criticism": "ml.validation.criticise",
    "CrossValidation": "ml.validation.cross_validate",
    "DataFrame": "pandas",
    "DemandCorrelations": "ml.batteries.demand_correlations",
    "DemandProfile": "ml.batteries.demand_profile",
    "Design": "ml.batteries.design",
    "DividedRates": "ml.dispositions.rates_by_group",
    "Estimates": "ml.estimation.estimate",
    "Evaluation": "ml.Evaluation.from_wide or from_long",
    "Explained": "ml.validation.explained",
    "Explanation": "fit.explain",
    "Fit": "ml.fit",
    "Forecast": "fit.forecast",
    "GroupAlignment": "ml.dispositions.alignment_by_group",
    "GroupCurves": "ml.dispositions.confidence_by_group",
    "GroupReports": "ml.dispositions.self_reports_by_group",
    "HorizonTrend": "ml.estimation.horizon_trend",
    "Importance": "ml.validation.permutation_importance",
    "LayoutComparison": "ml.validation.compare_layouts",
    "PopulationAlignment": "ml.dispositions.alignment_by_population",
    "PopulationCriticism": "ml.validation.criticise",
    "ProfileComparison": "ml.validation.compare_profiles",
    "RaterModel": "ratings.rater_model",
    "RiskCoverage": "ml.decisions.risk_coverage",
    "Series": "pandas",
    "SimulationBasedCalibration": "ml.validation.sbc",
}
"""Functions that return each kind."""

_MAKERS_FOR = {
    ("brier_against_success", "DataFrame"): "ml.score_forecast",
    ("caterpillar_plot", "DataFrame"): "fit.items",
    ("collapse_plot", "DataFrame"): "ml.estimation.point_collapse",
    ("firmness_plot", "DataFrame"): "ml.estimation.firmness",
    ("horizon_plot", "DataFrame"): "ml.estimation.time_horizons",
    ("misalignment_plot", "GroupCurves"): "ml.dispositions.misalignment_by_group",
    ("scaling_plot", "DataFrame"): "evaluation.group_rates or fit.group_means",
    ("weights_plot", "DataFrame"): "fit.population",
}
"""Functions that return a kind for a certain figure."""


def of_its_kind[**P, R](draw: Callable[P, R]) -> Callable[P, R]:
    """Make a figure refuse values of other kinds than those in its signature.

    Parameters
    ----------
    draw : callable
        Function that draws the figure. Parameters are checked if their types are results, data
        frames, or mappings of names to those.

    Returns
    -------
    callable
        The same function with the check.

    Raises
    ------
    DataError
        When the figure is called with another kind. The message names the figure, the kind it
        takes, the function that returns that kind, and the kind that was given.

    Examples
    --------
    >>> from measurement_layouts import Forecast
    >>> @of_its_kind
    ... def forecast_map(forecast: Forecast) -> str:
    ...     return "drawn"
    >>> forecast_map([0.2, 0.9])
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: forecast_map takes a Forecast, from fit.forecast;
    you gave a list as forecast
    """
    signature = inspect.signature(draw)
    wanted = {
        name: kinds
        for name, parameter in signature.parameters.items()
        if (kinds := _kinds(parameter.annotation))
    }

    @functools.wraps(draw)
    def checked(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            given = signature.bind(*args, **kwargs).arguments
        except TypeError:
            return draw(*args, **kwargs)  # Python raises the error about arguments
        for name, kinds in wanted.items():
            if name in given:
                _refuse_others(draw.__name__, name, kinds, given[name])
        return draw(*args, **kwargs)

    return checked


def _kinds(annotation: Any) -> list[Any]:
    """List the types that a parameter takes, if all of them are known here."""
    if isinstance(annotation, TypeAliasType):
        annotation = annotation.__value__
    parts = get_args(annotation) if isinstance(annotation, UnionType) else (annotation,)
    known = [getattr(_named(part) or part, "__name__", "") in _MAKERS for part in parts]
    optional = type(None) in parts
    return list(parts) if any(known) and sum(known) + optional == len(parts) else []


def _named(kind: Any) -> Any:
    """Return the type of a mapping's values; None for another type."""
    return get_args(kind)[1] if get_origin(kind) is Mapping else None


def _fits(kind: Any, value: object) -> bool:
    of = _named(kind)
    if of is None:
        return isinstance(value, kind)
    return isinstance(value, Mapping) and all(isinstance(each, of) for each in value.values())


def _refuse_others(figure: str, name: str, kinds: list[Any], value: object) -> None:
    """Refuse a value that is of none of the kinds."""
    if any(_fits(kind, value) for kind in kinds):
        return
    known = [kind for kind in kinds if kind is not type(None)]
    takes = ", or ".join(_said(figure, kind) for kind in known)
    raise DataError(f"{figure} takes {takes}; you gave {_given(value)} as {name}")


def _said(figure: str, kind: Any) -> str:
    """Write a kind, and the function that returns it."""
    own = (_named(kind) or kind).__name__
    source = _MAKERS_FOR.get((figure, own), _MAKERS[own])
    what = f"a mapping of names to {own}" if _named(kind) else _a(own)
    return f"{what}, from {source}"


def _given(value: object) -> str:
    if isinstance(value, Mapping) and value:
        return f"{_a(type(value).__name__)} of {_a(type(next(iter(value.values()))).__name__)}"
    return "nothing (None)" if value is None else _a(type(value).__name__)


def _a(name: str) -> str:
    """Write a type with its article; most plurals have none."""
    if name.endswith("s") and name != "Series":
        return name
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"
