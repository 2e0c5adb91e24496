"""Draws of latents with plates, with the chains joined."""

import numpy as np

from ...layouts import Latent
from ...layouts.plates import plate_name
from ..posterior.posterior import Posterior


def some_draws(fit: Posterior, most: int) -> np.ndarray:
    """Return positions of evenly spaced draws among those of all chains, at most `most` of them."""
    sizes = fit.posterior.sizes
    count = sizes["chain"] * sizes["draw"]
    return np.unique(np.linspace(0, count - 1, min(count, most)).round().astype(int))


def stacked(fit: Posterior, latent: Latent, draws: np.ndarray) -> np.ndarray:
    """Read some draws of a latent; shape (draws, *plates, *labels)."""
    plates = map(plate_name, latent.plates)
    array = fit.posterior[latent.name].transpose("chain", "draw", *plates, *latent.label_dims)
    return np.asarray(array.to_numpy().reshape(-1, *array.shape[2:])[draws])
