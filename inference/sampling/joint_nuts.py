"""NUTS for a cohort, a chain at a time."""

import math
from typing import Any

import numpy as np

from ...common.cache import Recent
from ...common.seeds import subject_seed
from ...layouts import Latent, Layout
from ...layouts.plates import plate_name
from ..model.cohort import Cohort
from ..model.prior import has_latent_scale
from ..model.pymc_model import compile_key
from .draws import Draws, Sampled, SamplingOptions
from .joint import JointKernel
from .nuts import STATISTICS, columns, run_chains

_TRIALS_PER_VALUE = 10
_kernels = Recent[object, JointKernel](4)


def joint_kernel(cohort: Cohort) -> JointKernel:
    """Compile a joint layout for a cohort, once in this process."""
    key = compile_key(cohort.layout), cohort.digest
    return _kernels.find(key, lambda: JointKernel(cohort, deviations(cohort)))


def deviations(cohort: Cohort) -> frozenset[str]:
    """Name the latents that are sampled as deviations from their location; see `NonCentred`.

    Those whose scale is a latent, where there are fewer than 10 trials for each of the values that
    one level of their plates has of such latents.
    """
    scaled = [latent for latent in cohort.layout.latents if _is_scaled(latent)]
    values: dict[tuple[str, ...], int] = {}
    for latent in scaled:
        labels = math.prod(map(len, latent.dims.values()))
        values[_names(latent)] = values.get(_names(latent), 0) + labels
    trials = cohort.trials.sum()
    return frozenset(
        latent.name
        for latent in scaled
        if trials / math.prod(cohort.size(latent.plates))
        < _TRIALS_PER_VALUE * values[_names(latent)]
    )


def _is_scaled(latent: Latent) -> bool:
    return bool(latent.plates) and any(map(has_latent_scale, latent.priors))


def _names(latent: Latent) -> tuple[str, ...]:
    return tuple(map(plate_name, latent.plates))


def sample_chain(
    cohort: Cohort, chain: str, number: int, options: SamplingOptions, seed: int
) -> Sampled:
    """Draw one chain from the posterior of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and data; compiled at most once in a process.
    chain : str
        Its name.
    number : int
        Its place, from 0.
    options : SamplingOptions
        How long and how carefully.
    seed : int
        Of the fit; every chain has its own.

    Returns
    -------
    Sampled
        Draws of shape (1, draw, levels..., labels...).
    """
    kernel = joint_kernel(cohort)
    drawn, statistics = run_chains(
        kernel.compiled(), options, subject_seed(seed, f"chain {number}"), 1, 1
    )
    found = {}
    for part in kernel.parts:
        values = columns(drawn, part.latent.name, options, kernel.shape(part))
        if part.plates:
            values = values[:, :, kernel.order(part.latent.plates)]
        found[part.latent.name] = values
    kept = {ours: columns(statistics, theirs, options) for theirs, ours in STATISTICS.items()}
    return Sampled(chain, Draws(found, kept))


def joined(chains: list[Draws], layout: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
    """Join chains; subjects come first, where a latent has one value for each."""
    posterior = {}
    for latent in layout.latents:
        values = np.concatenate([draws.posterior[latent.name] for draws in chains])
        names = _names(latent)
        if "subject" in names:
            values = np.moveaxis(values, 2 + names.index("subject"), 0)
        posterior[latent.name] = values
    statistics = {
        name: np.concatenate([draws.statistics[name] for draws in chains])
        for name in STATISTICS.values()
    }
    return posterior, statistics
