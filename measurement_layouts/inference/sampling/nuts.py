"""NUTS for one subject."""

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from .draws import Draws, SamplingOptions
from .engine import Sampler
from .stopping import stop_if_told

type Start = Callable[[int], np.ndarray]
"""Function that returns a chain's starting point on PyMC's unbounded scale, given its seed."""

STATISTICS = {"diverging": "diverging", "energy": "energy", "depth": "tree_depth", "logp": "lp"}
"""Names of the sampler statistics in nutpie, with those in ArviZ."""

MOST_DOUBLINGS = 10  # of a trajectory, which ends where it turns
_SLICE = 0.1  # seconds between two checks whether to stop


def sample(
    sampler: Sampler,
    subject: SubjectData,
    options: SamplingOptions,
    seed: int,
    cores: int = 1,
    starts: Sequence[Start] = (),
) -> Draws:
    """Draw from one subject's posterior.

    Parameters
    ----------
    sampler : Sampler
        The compiled layout.
    subject : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        Options of sampling.
    seed : int
        Seed of the chains.
    cores : int
        Number of chains at a time; the draws do not depend on it.
    starts : sequence of callable
        Functions that return the starting point of a chain, given its seed; chains use them in
        turn. By default, chains start near the middle of the prior.

    Returns
    -------
    Draws
        Draws without the tuning phase.
    """
    model = sampler.on(subject)
    dealt = list(starts) or [model.initial_point_func]
    found = [
        run_chains(
            dataclasses.replace(model, initial_point_func=start),
            options,
            seed if place == 0 else subject_seed(seed, f"start {place + 1}"),
            cores,
            len(range(place, options.chains, len(dealt))),
        )
        for place, start in enumerate(dealt)
    ]
    places = [divmod(chain, len(dealt)) for chain in range(options.chains)]
    drawn, statistics = (
        [found[start][kind][number] for number, start in places] for kind in (0, 1)
    )
    shapes = {
        latent.name: tuple(map(len, latent.dims.values())) for latent in sampler.layout.latents
    }
    return Draws(
        {name: columns(drawn, name, options, shape) for name, shape in shapes.items()},
        {ours: columns(statistics, theirs, options) for theirs, ours in STATISTICS.items()},
    )


def run_chains(
    model: Any,
    options: SamplingOptions,
    seed: int,
    cores: int,
    chains: int,
    points: bool = False,
    doublings: int = MOST_DOUBLINGS,
) -> tuple[list[Any], list[Any]]:
    """Run chains; returns their draws and statistics, with one batch for each chain.

    With `points`, the statistics contain the sampler's points as ``unconstrained_draw``. A
    trajectory has at most as many `doublings`.
    """
    import nutpie

    background: Any = nutpie.sample(
        model,
        draws=options.draws,
        tune=options.tune,
        chains=chains,
        cores=cores,
        seed=seed,
        target_accept=options.target_accept,
        progress_bar=False,
        save_warmup=False,
        return_raw_trace=True,  # the conversion would take a third of the time
        blocking=False,
        store_unconstrained=points,
        maxdepth=doublings,
    )
    try:
        trace = _finished(background)
    except BaseException:
        background.cancel()  # waits for its threads, which run code that Python would free
        raise
    drawn, statistics = trace.get_arrow_trace()
    return drawn, statistics


def _finished(background: Any) -> Any:
    """Wait for nutpie's threads, unless the job must stop."""
    while True:
        stop_if_told()
        with suppress(TimeoutError):
            return background.wait(timeout=_SLICE)


def columns(
    batches: Any, name: str, options: SamplingOptions, shape: tuple[int, ...] = ()
) -> np.ndarray:
    """Join a column of all chains' batches, without the tuning phase: (chain, draw, *shape)."""
    import pyarrow

    found = []
    for batch in batches:
        column = pyarrow.array(batch.column(name))
        values = (column.flatten() if shape else column).to_numpy(zero_copy_only=False)
        found.append(values.reshape(-1, *shape)[-options.draws :])
    return np.stack(found)
