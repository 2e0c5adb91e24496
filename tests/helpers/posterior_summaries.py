"""Summaries of posteriors with their Monte Carlo errors, and what it takes for two to agree."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import xarray as xr
from arviz_stats.base import array_stats

import measurement_layouts as ml

QUANTILES = {"5 %": 0.05, "50 %": 0.5, "95 %": 0.95}
STATISTICS = ("mean", "sd", *QUANTILES)

ERRORS = 5.0
"""First gate: Monte Carlo standard errors, of both sides together, that a difference may be. All of
140 differences pass by chance in all but 1 of 12,000 seeds (Bonferroni's bound for a normal
distribution); what is wrong by a fifth of a standard deviation does not."""

MARGINS = dict.fromkeys(("mean", "sd", "50 %"), 0.1) | dict.fromkeys(("5 %", "95 %"), 0.25)
"""Second gate: posterior standard deviations that a difference may be, however large the errors
are. With 8,000 effective draws against the 10,000 of a reference one standard error is 0.015 for a
mean, 0.019 for a median, 0.011 to 0.021 for a standard deviation and 0.03 to 0.065 for the upper
quantile, of a normal and of an exponential posterior: so it is four to nine of them."""

type Summary = dict[str, dict[str, Any]]
"""By profile element: statistics as [value, Monte Carlo standard error], R-hat, sample sizes."""


class Difference(NamedTuple):
    """Of one statistic of one element, between two summaries.

    Attributes
    ----------
    element, statistic : str
        Which.
    errors : float
        In Monte Carlo standard errors of both.
    deviations : float
        In posterior standard deviations of the reference.
    """

    element: str
    statistic: str
    errors: float
    deviations: float

    @property
    def held(self) -> bool:
        """Both gates, which not-a-number passes neither."""
        return self.errors < ERRORS and self.deviations < MARGINS[self.statistic]


def summarise(layout: ml.Layout, posterior: xr.Dataset) -> Summary:
    """Summarise one subject's draws, with ArviZ's errors and diagnostics."""
    return {name: _statistics(draws) for name, draws in _elements(layout, posterior)}


def _elements(layout: ml.Layout, posterior: xr.Dataset) -> Iterator[tuple[str, np.ndarray]]:
    for latent in layout.latents:
        drawn = posterior[latent.name].transpose("chain", "draw", ...)
        if not latent.dims:
            yield latent.name, drawn.to_numpy()
        for place, label in enumerate(latent.labels or ()):
            yield f"{latent.name}[{label}]", np.ascontiguousarray(drawn.to_numpy()[..., place])


def _statistics(draws: np.ndarray) -> dict[str, Any]:
    """Summarise draws of shape (chain, draw)."""
    found: dict[str, Any] = {
        "mean": [draws.mean(), array_stats.mcse(draws)],
        "sd": [draws.std(ddof=1), array_stats.mcse(draws, method="sd")],
    }
    for name, prob in QUANTILES.items():
        error = array_stats.mcse(draws, method="quantile", prob=prob)
        found[name] = [np.quantile(draws, prob), error]
    found["ess_bulk"] = array_stats.ess(draws, method="bulk")
    found["ess_tail"] = array_stats.ess(draws, method="tail", prob=(0.05, 0.95))
    found["rhat"] = array_stats.rhat(draws)
    return {
        key: [float(part) for part in value] if isinstance(value, list) else float(value)
        for key, value in found.items()
    }


def differences(found: Summary, reference: Mapping[str, Mapping[str, Any]]) -> list[Difference]:
    """Compare all statistics of all elements; the elements must be the same."""
    if list(found) != list(reference):
        raise ValueError(f"elements {', '.join(found)}, but of {', '.join(reference)} is known")
    return [_difference(found, reference, name, kind) for name in found for kind in STATISTICS]


def _difference(
    found: Summary, reference: Mapping[str, Mapping[str, Any]], name: str, kind: str
) -> Difference:
    (one, error), (other, other_error) = found[name][kind], reference[name][kind]
    gap = abs(one - other)
    return Difference(
        name, kind, gap / np.hypot(error, other_error), gap / reference[name]["sd"][0]
    )
