"""A sampler of joint fits that compiles nothing: a chain is random numbers from its own seed."""

import numpy as np

from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.inference.population import fitting
from measurement_layouts.inference.sampling.draws import Draws, Sampled
from measurement_layouts.inference.sampling.nuts import STATISTICS


def install(monkeypatch, sample=None):
    """Let joint fits of this process take these chains, or those of another function."""
    monkeypatch.setattr(fitting, "joint_form", lambda cohort: None)
    monkeypatch.setattr(fitting, "sample_chain", sample or draw)


def draw(cohort, chain, number, options, seed, attempt=1):
    """Draw positive numbers for every level, whatever the outcomes."""
    rng = np.random.default_rng(subject_seed(seed, f"{chain}, {attempt}"))
    posterior = {}
    for latent in cohort.layout.latents:
        shape = (*cohort.size(latent.plates), *map(len, latent.dims.values()))
        posterior[latent.name] = rng.uniform(0, 1, (1, options.draws, *shape))
    statistics = {name: np.zeros((1, options.draws)) for name in STATISTICS.values()}
    statistics["diverging"] = np.zeros((1, options.draws), bool)
    return Sampled(chain, Draws(posterior, statistics), attempt)
