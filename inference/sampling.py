"""NUTS for one subject."""

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np

from .compiler import Sampler, SubjectData
from .errors import FitError
from .features import Features

STATISTICS = {"diverging": "diverging", "energy": "energy", "depth": "tree_depth", "logp": "lp"}


@dataclass(frozen=True)
class SamplingOptions:
    """How long and how carefully to sample.

    Parameters
    ----------
    draws, tune : int
        Kept and discarded draws of each chain.
    chains : int
        Independent chains.
    target_accept : float
        Aim of the step size, in (0, 1); higher is slower and safer.

    Raises
    ------
    FitError
        When a number is out of range.
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.8

    def __post_init__(self) -> None:
        for name, least in (("draws", 4), ("tune", 1), ("chains", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
                raise FitError(f"{name}={value!r}; give a whole number of at least {least}")
        if not 0 < self.target_accept < 1:
            raise FitError(
                f"target_accept={self.target_accept!r}; give a number between 0 and 1, such as 0.8"
            )


@dataclass(frozen=True)
class Draws:
    """Posterior draws of one subject, each array of shape (chain, draw, ...)."""

    posterior: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]


def subject_seed(seed: int, subject: str) -> int:
    """Return a seed that depends on the seed and the subject's name only."""
    name = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8])
    return int(np.random.SeedSequence([seed, name]).generate_state(1, np.uint64)[0] >> 1)


def sample(
    sampler: Sampler,
    features: Features,
    subject: SubjectData,
    options: SamplingOptions,
    seed: int,
    cores: int = 1,
) -> Draws:
    """Draw from one subject's posterior."""
    import nutpie

    trace: Any = nutpie.sample(
        sampler.on(features, subject),
        draws=options.draws,
        tune=options.tune,
        chains=options.chains,
        cores=cores,
        seed=seed,
        target_accept=options.target_accept,
        progress_bar=False,
        save_warmup=False,
    )
    return Draws(
        {
            latent.name: trace["posterior"][latent.name].to_numpy()
            for latent in sampler.layout.latents
        },
        {ours: trace["sample_stats"][theirs].to_numpy() for theirs, ours in STATISTICS.items()},
    )
