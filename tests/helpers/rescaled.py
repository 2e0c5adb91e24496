"""Layouts that can be declared in any unit of length, with their items."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

import measurement_layouts as ml
from measurement_layouts.linking import logistic, mean_failure, mixture

UNITS = {"m": 1.0, "cm": 100.0, "km": 1e-3, "inch": 1 / 0.0254}
"""How many of them a metre is."""


@dataclass(frozen=True)
class Family:
    """A prior of a length, in any unit.

    Attributes
    ----------
    declare : callable
        From a length in metres and the factor of the unit to the options of a capability.
    moved : callable
        From an unconstrained number in metres and the factor to the one in the unit.
    constant : float
        What the log-density changes by, in logarithms of the factor: -1 where the unconstrained
        scale is the latent's own, 0 where it has no unit.
    """

    declare: Callable[[float, float], dict[str, object]]
    moved: Callable[[float, float], float]
    constant: float


def _prior(family: str, **parameters: float) -> dict[str, object]:
    return {"prior": ml.Prior(family, **parameters)}


FAMILIES = {
    "uniform": Family(
        lambda size, factor: {"low": -size * factor, "high": 3 * size * factor},
        lambda z, factor: z,
        0,
    ),
    "normal": Family(
        lambda size, factor: _prior("Normal", mu=size * factor, sigma=2 * size * factor),
        lambda z, factor: z * factor,
        -1,
    ),
    "half-normal": Family(
        lambda size, factor: _prior("HalfNormal", sigma=2 * size * factor),
        lambda z, factor: z + np.log(factor),
        0,
    ),
    "exponential": Family(
        lambda size, factor: _prior("Exponential", lam=1 / (size * factor)),
        lambda z, factor: z + np.log(factor),
        0,
    ),
    "log-normal": Family(
        lambda size, factor: _prior("LogNormal", mu=np.log(size * factor), sigma=0.8),
        lambda z, factor: z + np.log(factor),
        0,
    ),
}


def reaching(
    family: str, unit: str, size: float = 2.0, *, forgotten: str = "", factor: float | None = None
) -> ml.Layout:
    """Declare how far something reaches against a distance, in a unit; slopes are per unit.

    Parameters
    ----------
    family : str
        Of the prior.
    unit : str
        Of the capability, the distance and the slope.
    size : float
        Of the prior, in metres.
    forgotten : {"", "range", "slope"}
        What stays as it is in metres, though it should not.
    factor : float, optional
        How many units a metre is; known for those of `UNITS`.
    """
    factor = UNITS[unit] if factor is None else factor
    of_range, of_slope = (1.0 if forgotten == name else factor for name in ("range", "slope"))
    reach = ml.Capability("reach", unit=unit, **FAMILIES[family].declare(size, of_range))
    far = ml.MetaFeature("distance", low=-10 * factor, high=10 * factor, unit=unit)
    prior = ml.Prior("LogNormal", mu=-np.log(of_slope), sigma=0.5)
    slope = ml.Slope("slope", unit=f"1/{unit}", prior=prior)
    near = ml.MetaFeature("near", levels=(0, 1))
    help_ = ml.Bias("help", unit=unit, prior=ml.Prior("Normal", mu=0, sigma=factor))
    able = logistic(reach + help_ * near - far, slope)
    return ml.Layout(
        "reaching", ml.Success("reached", mixture(able, by=ml.Noise("noise"), toward=mean_failure))
    )


def moved(family: str, factor: float, layout: ml.Layout, point: np.ndarray) -> np.ndarray:
    """Give the point of the same profile in the unit."""
    how = {
        "reach": FAMILIES[family].moved,
        "slope": lambda z, factor: z - np.log(factor),
        "help": FAMILIES["normal"].moved,
        "noise": lambda z, factor: z,
    }
    names = [latent.name for latent in layout.latents]
    return np.array([how[name](z, factor) for name, z in zip(names, point, strict=True)])


def lengths(rng: np.random.Generator, items: int, factor: float = 1.0) -> pd.DataFrame:
    """Draw items in metres, or other units, for the same stream the same lengths."""
    distance = rng.uniform(-4, 6, items) * factor
    return pd.DataFrame(
        {"distance": distance, "near": np.resize([0, 1], items)},
        [f"item-{place:02d}" for place in range(items)],
    )
