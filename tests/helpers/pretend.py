"""A sampler that compiles nothing: random draws from the seed of each attempt, known names only."""

import numpy as np

from measurement_layouts.inference import fitting
from measurement_layouts.inference.sampling import retries
from measurement_layouts.inference.sampling.draws import Draws

STATISTICS = ("diverging", "energy", "depth", "lp")


def install(monkeypatch, sample=None):
    """Let fits of this process take these draws, or those of another function."""
    monkeypatch.setattr(fitting, "compile_sampler", lambda battery: battery)
    monkeypatch.setattr(retries, "compile_sampler", lambda battery: battery)
    monkeypatch.setattr(retries, "sample", sample or draw)


def draw(battery, data, options, seed, cores=1, starts=()):
    """Draw independent numbers within each latent's range, whatever the outcomes."""
    rng = np.random.default_rng(seed)
    shape = (options.chains, options.draws)
    posterior = {
        latent.name: rng.uniform(0, 1, (*shape, *map(len, latent.dims.values())))
        for latent in battery.layout.latents
    }
    statistics = {name: rng.normal(size=shape) for name in STATISTICS}
    same = {"diverging": np.zeros(shape, bool), "lp": np.zeros(shape)}  # no chain is lost
    return Draws(posterior, statistics | same)
