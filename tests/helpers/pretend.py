"""Samplers that compile nothing: random draws from the seed of each attempt or chain."""

import numpy as np

from measurement_layouts.common.seeds import subject_seed
from measurement_layouts.inference import loop
from measurement_layouts.inference.sampling.draws import Draws
from measurement_layouts.inference.sampling.nuts import STATISTICS


def install(monkeypatch, sample=None):
    """Let fits of subjects alone take these draws, or those of another function."""
    monkeypatch.setattr(loop, "compile_sampler", lambda battery: battery)
    monkeypatch.setattr(loop, "alone", _pair)
    monkeypatch.setattr(loop, "sample", _of_pairs(sample or draw))


def install_jointly(monkeypatch, sample=None):
    """Let joint fits take these chains, or those of another function."""
    monkeypatch.setattr(loop, "joint_form", lambda cohort: None)
    monkeypatch.setattr(loop.Jointly, "sample", sample or draw_chain)


def install_in_a_worker():
    """Let both kinds of fits of a process take these draws, from now on."""
    loop.compile_sampler = lambda battery: battery
    loop.alone, loop.sample = _pair, _of_pairs(draw)
    loop.joint_form, loop.Jointly.sample = (lambda cohort: None), draw_chain


def _pair(battery, data):
    """Stand for the form in which a subject is sampled."""
    return battery, data


def _of_pairs(sample):
    """Make a function of such forms."""
    return lambda form, *arguments: sample(*form, *arguments)


def draw(battery, data, options, seed, attempt=1, cores=1, starts=()):
    """Draw independent numbers within each latent's range, whatever the outcomes."""
    rng = np.random.default_rng(seed)
    shape = (options.chains, options.draws)
    posterior = {
        latent.name: rng.uniform(0, 1, (*shape, *map(len, latent.dims.values())))
        for latent in battery.layout.latents
    }
    return Draws(posterior, _statistics(rng, shape))


def draw_chain(model, name, data, unit, seed):
    """Draw positive numbers for every level of one chain, whatever the outcomes."""
    rng = np.random.default_rng(subject_seed(seed, f"chain {unit.block}, {unit.attempt}"))
    posterior, cohort, options = {}, model.cohort, model.options
    for latent in cohort.layout.latents:
        shape = (*cohort.size(latent.plates), *map(len, latent.dims.values()))
        posterior[latent.name] = rng.uniform(0, 1, (1, options.draws, *shape))
    return Draws(posterior, _statistics(rng, (1, options.draws)))


def _statistics(rng, shape):
    """Make statistics of chains that mix."""
    statistics = {name: rng.normal(size=shape) for name in STATISTICS.values()}
    return statistics | {"diverging": np.zeros(shape, bool), "lp": np.zeros(shape)}
