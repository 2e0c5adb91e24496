"""The profile before the data: its variables in PyMC, and draws from them."""

import functools
import inspect
import io
import math
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pymc.distributions.transforms import Transform

from ...common.cache import cached, check_pytensor_folder
from ...common.messages import some
from ...layouts import Latent, Layout
from ...linking import LayoutError, evaluate

_DRAWS = 4000
_SEED = 20231
_LOCATIONS = {  # families of location and scale on the whole line, by the location's name
    **dict.fromkeys(("Gumbel", "Laplace", "Logistic", "Normal", "StudentT"), "mu"),
    "Cauchy": "alpha",
}
_ITEMS_PER_VALUE = 10


class NonCentred(Transform):  # type: ignore[misc]
    r"""A latent as deviations from its location, in units of its scale.

    .. math:: z = (x - \mu) / \sigma, \qquad p(z) = \sigma\, p(x)

    The latent keeps its name, its prior and its posterior; NUTS moves along z.
    """

    name = "noncentred"

    def forward(self, value: Any, *inputs: Any) -> Any:
        """Deviation of a value."""
        *_, location, scale = inputs
        return (value - location) / scale

    def backward(self, value: Any, *inputs: Any) -> Any:
        """Value of a deviation."""
        *_, location, scale = inputs
        return location + scale * value

    def log_jac_det(self, value: Any, *inputs: Any) -> Any:
        """Log-derivative of the value by its deviation."""
        return pt.broadcast_to(pt.log(inputs[-1]), value.shape)


def noncentred(layout: Layout, items: int) -> frozenset[str]:
    """Name the latents that are sampled as deviations from their location; see `NonCentred`.

    Those of a family of location and scale whose scale is another latent, with fewer than 10 items
    for each of their values. Where few items inform them, their posterior is a funnel, as narrow as
    the scale is small, which no step size fits; their deviations are about independent of the
    scale. Where many do, it is the other way round: items say where the values are, and location
    and scale follow from these.

    Parameters
    ----------
    layout : Layout
        Whose latents.
    items : int
        How many the battery has.

    Returns
    -------
    frozenset of str
        Names of latents.

    References
    ----------
    Betancourt and Girolami (2015), Hamiltonian Monte Carlo for hierarchical models.

    Examples
    --------
    >>> from measurement_layouts.scenarios.adele import capability_layout
    >>> noncentred(capability_layout(), items=100), noncentred(capability_layout(), items=1000)
    (frozenset({'ability'}), frozenset())
    """
    return frozenset(
        latent.name
        for latent in layout.latents
        if _has_latent_scale(latent)
        and items < _ITEMS_PER_VALUE * math.prod(map(len, latent.dims.values()))
    )


def _has_latent_scale(latent: Latent) -> bool:
    prior = latent.distribution
    location = _LOCATIONS.get(prior.family)
    return location is not None and any(
        isinstance(value, Latent)
        for name, value in prior.parameters
        if name not in (location, "nu")
    )


def profile_variables(layout: Layout, deviations: frozenset[str] = frozenset()) -> dict[str, Any]:
    """Write a layout's latents as random variables of the current PyMC model.

    Parameters
    ----------
    layout : Layout
        Whose latents.
    deviations : frozenset of str
        Those sampled as deviations from their location, as `noncentred` names them.

    Returns
    -------
    dict of str to variable
        By latent, shape () or (labels,).

    Raises
    ------
    LayoutError
        When PyMC has no such family, does not take its parameters, or has it for whole numbers or
        vectors.
    FitError
        When PyTensor has no folder to compile in.
    """
    check_pytensor_folder()
    variables: dict[str, Any] = {}
    for latent in layout.latents:
        variables[latent.name] = _variable(latent, variables, latent.name in deviations)
    return variables


@functools.lru_cache(maxsize=32)
def draw_prior(layout: Layout) -> dict[str, np.ndarray]:
    """Draw the profile from its prior, the yardstick of what the data taught.

    Parameters
    ----------
    layout : Layout
        The same layout always gives the same draws.

    Returns
    -------
    dict of str to ndarray
        By latent, shape (4000,) or (4000, labels); not to be written to.

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, or a parameter is out of range.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> draws = draw_prior(layout)["p"]
    >>> draws.shape, bool(abs(draws.mean() - 0.5) < 0.02)
    ((4000,), True)
    """
    versions = [f"{name} {version(name)}" for name in ("numpy", "pymc", "pytensor")]
    key = "\n".join(["prior", layout.fingerprint, str(_DRAWS), str(_SEED), *versions])
    drawn = np.load(io.BytesIO(cached(key, ".npz", lambda: _draw(layout))))
    found = {latent.name: drawn[str(place)] for place, latent in enumerate(layout.latents)}
    for values in found.values():
        values.setflags(write=False)
    return found


def _draw(layout: Layout) -> bytes:
    """Draw the yardstick; an archive of arrays by the latents' places."""
    archive = io.BytesIO()
    drawn = sample_prior(layout, _DRAWS, _SEED).values()
    numbered = {f"{place}": values for place, values in enumerate(drawn)}
    np.savez(archive, **numbered)  # type: ignore[arg-type]
    return archive.getvalue()


def sample_prior(layout: Layout, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw the profile from its prior, afresh.

    Parameters
    ----------
    layout : Layout
        Whose latents.
    draws : int
        How many; at least 2.
    seed : int
        Of the draws.

    Returns
    -------
    dict of str to ndarray
        By latent, shape (draws,) or (draws, labels).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, or a parameter is out of range.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> sample_prior(layout, 3, seed=1)["p"].shape
    (3,)
    """
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}):
        variables = profile_variables(layout)
    try:  # by NumPy's generators: Numba's draw from impossible parameters, too
        drawn = pm.draw(
            list(variables.values()), draws=draws, random_seed=seed, mode="FAST_COMPILE"
        )
    except (ValueError, NotImplementedError) as error:
        priors = ", ".join(f"{latent.name} ~ {latent.distribution}" for latent in layout.latents)
        raise LayoutError(
            f"layout {layout.name!r}: its priors cannot be drawn from ({error}); give each a "
            f"proper distribution with parameters in their range: {priors}"
        ) from error
    found = dict(zip(variables, map(np.asarray, drawn), strict=True))
    for latent in layout.latents:
        values = found[latent.name]
        if not (np.isfinite(values).all() and (np.ptp(values, axis=0) > 0).all()):
            raise LayoutError(
                f"{latent.name}: the prior {latent.distribution} does not spread over finite "
                "values; give it a positive width"
            )
    return found


def _variable(latent: Latent, variables: Mapping[str, Any], deviates: bool) -> Any:
    prior = latent.distribution
    family: Any = getattr(pm, prior.family, None)
    if not (isinstance(family, type) and hasattr(family, "dist")):
        raise LayoutError(
            f"{latent.name}: PyMC has no distribution {prior.family!r}; write its name as PyMC "
            "does, such as 'Normal', 'Beta' or 'HalfNormal'"
        )
    if not issubclass(family, pm.Continuous | pm.LogitNormal):
        raise LayoutError(f"{latent.name}: {_not_for_nuts(prior.family)}")
    taken = inspect.signature(family.dist).parameters.values()
    names = [
        part.name for part in taken if part.kind not in (part.VAR_POSITIONAL, part.VAR_KEYWORD)
    ]
    unknown = [name for name, _ in prior.parameters if name not in names]
    if unknown:  # PyMC itself would leave them unheard
        raise LayoutError(
            f"{latent.name}: pymc.{prior.family} has no parameter {some(unknown)}; it has "
            f"{some(names, 12) or 'none'}"
        )
    parameters = {name: _exact(evaluate(value, variables)) for name, value in prior.parameters}
    try:
        moved = {"default_transform": NonCentred()} if deviates else {}
        variable = family(latent.name, **parameters, **moved, dims=latent.label_dims or None)
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise LayoutError(
            f"{latent.name}: PyMC does not take the prior {prior} ({error}); it takes "
            f"{some(names, 12)}, as numbers or other latents"
        ) from error
    if variable.owner.op.ndim_supp:
        raise LayoutError(f"{latent.name}: {_not_for_nuts(prior.family)}")
    return variable


def _exact(parameter: Any) -> Any:
    """Keep a plain number in double precision: PyTensor takes logarithms of a 2 in single."""
    return np.float64(parameter) if isinstance(parameter, int | float) else parameter


def _not_for_nuts(family: str) -> str:
    return (
        f"{family} is no distribution of single continuous numbers, which NUTS needs; choose "
        "another, such as 'Normal' or 'Beta'"
    )
