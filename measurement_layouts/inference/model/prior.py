"""Draws from the prior of a layout, with which posteriors are compared."""

import functools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pymc as pm

from ...common.messages import some
from ...layouts import Layout
from ...layouts.elements import Element
from ...linking import LayoutError
from .variables import profile_variables

_DRAWS = 4000
_SEED = 20231


@functools.lru_cache(maxsize=32)
def draw_prior(layout: Layout) -> dict[str, np.ndarray]:
    """Draw profiles from the prior, with which posteriors are compared.

    The draws are kept, and are the same whenever the layout is the same.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (4000,) or (4000, labels). The arrays are read-only.

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, a parameter is out of range, or the draws
        are infinite or all the same.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> draws = draw_prior(layout)["p"]
    >>> draws.shape, bool(abs(draws.mean() - 0.5) < 0.02)
    ((4000,), True)
    """
    by_latent = sample_prior(layout, _DRAWS, _SEED)
    for values in by_latent.values():
        values.setflags(write=False)
    return by_latent


def prior_profiles(layout: Layout, choice: Sequence[Element]) -> np.ndarray:
    """Return the draws of `draw_prior` for elements of a profile, shape (4000, elements)."""
    drawn = draw_prior(layout)
    flat = {name: values.reshape(len(values), -1) for name, values in drawn.items()}
    return np.stack([flat[one.latent.name][:, one.label_index] for one in choice], axis=1)


def sample_prior(layout: Layout, draws: int, seed: int) -> dict[str, np.ndarray]:
    """Draw profiles from the prior with a given seed.

    Parameters
    ----------
    layout : Layout
        Layout with the latents.
    draws : int
        Number of draws; at least 2, so that a prior without spread is detected.
    seed : int
        Seed of the draws.

    Returns
    -------
    dict of str to ndarray
        Draws by latent, shape (draws,) or (draws, labels).

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from: it is improper, a parameter is out of range, or the draws
        are infinite or all the same.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> layout = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> sample_prior(layout, 3, seed=1)["p"].shape
    (3,)
    """
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}):
        variables = profile_variables(layout)
    drawn = draw_variables(layout, variables, draws, seed)
    for latent in layout.latents:
        values = drawn[latent.name]
        if not (np.isfinite(values).all() and (np.ptp(values, axis=0) > 0).all()):
            raise LayoutError(
                f"{latent.name}: draws of the prior {some(latent.priors)} are infinite or all the "
                "same; give it a positive, finite width"
            )
    return drawn


def draw_variables(
    layout: Layout, variables: Mapping[str, Any], draws: int, seed: int
) -> dict[str, np.ndarray]:
    """Draw random variables of a layout together; the first axis is that of the draws.

    Raises
    ------
    LayoutError
        When a prior cannot be drawn from.
    """
    try:  # with NumPy's generators, because Numba's accept parameters out of range
        drawn = pm.draw(
            list(variables.values()), draws=draws, random_seed=seed, mode="FAST_COMPILE"
        )
    except (ValueError, NotImplementedError) as error:
        priors = ", ".join(f"{latent.name} ~ {some(latent.priors)}" for latent in layout.latents)
        raise LayoutError(
            f"layout {layout.name!r}: its priors cannot be drawn from ({error}); give each a "
            f"proper distribution with parameters in their range: {priors}"
        ) from error
    values = [np.asarray(value) if draws > 1 else np.asarray(value)[None] for value in drawn]
    return dict(zip(variables, values, strict=True))
