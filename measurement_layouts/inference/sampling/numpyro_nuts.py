"""NUTS of NumPyro on the PyMC model of a joint layout: all chains at once, on a GPU or a CPU."""

import importlib.util
import warnings

from ...common.errors import FitError
from ...layouts.plates import plate_name
from ..model.cohort import Cohort
from ..model.pymc_model import build_model
from .draws import Draws, SamplingOptions, thinned, with_more_care


def refuse_no_numpyro() -> None:
    """Refuse to sample without NumPyro and JAX.

    Raises
    ------
    FitError
        When one of them is not installed; the message names the extra that has them.
    """
    missing = [name for name in ("jax", "numpyro") if importlib.util.find_spec(name) is None]
    if missing:
        raise FitError(
            f"sampler='numpyro' needs {' and '.join(missing)}, which is not installed; "
            "pip install 'measurement-layouts[gpu]', or leave sampler out"
        )


def sample_numpyro(cohort: Cohort, options: SamplingOptions, seed: int, attempt: int = 1) -> Draws:
    """Draw all chains of a cohort as one vectorised computation.

    The model is that of `to_pymc`, compiled by JAX, with PyMC's starting points. The posterior is
    that of the other sampler; centring is not chosen from a short run, and no coordinates are
    stretched.

    Parameters
    ----------
    cohort : Cohort
        Layout, levels and outcomes.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    seed : int
        Seed of the chains.
    attempt : int
        Number of the attempt, from 1. One with more draws is thinned to their number.

    Returns
    -------
    Draws
        Draws without the tuning phase: (chain, draw, levels..., labels...).
    """
    from pymc.sampling.jax import sample_numpyro_nuts

    used, latents = with_more_care(options, attempt), cohort.layout.latents
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Explicitly requested dtype")  # with numbers of 32 bits
        tree = sample_numpyro_nuts(
            used.draws,
            tune=used.tune,
            chains=used.chains,
            target_accept=used.target_accept,
            random_seed=seed,
            model=build_model(cohort),
            var_names=[latent.name for latent in latents],
            chain_method="vectorized",
            quiet=True,
            compute_convergence_checks=False,
        )
    posterior, steps = tree["posterior"], tree["sample_stats"]
    draws = {}
    for latent in latents:
        dims = ("chain", "draw", *map(plate_name, latent.plates), *latent.label_dims)
        draws[latent.name] = posterior[latent.name].transpose(*dims).to_numpy().astype(float)
    statistics = {name: steps[name].to_numpy() for name in ("diverging", "energy", "tree_depth")}
    statistics["lp"] = -steps["lp"].to_numpy()  # NumPyro gives the potential energy
    return thinned(Draws(draws, statistics), used.draws // options.draws)
