"""NUTS: chains of draws from the posterior of a cohort, of one subject or of several."""

import dataclasses
import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from ..model.cohort import Cohort
from .directions import Directions
from .draws import MODES_SEARCHED, Draws, SamplingOptions, thinned, with_more_care
from .engine import Battery, Compiled, compile_sampler, shape_of
from .scan import Maxima
from .stopping import stop_if_told

STATISTICS = {"diverging": "diverging", "energy": "energy", "depth": "tree_depth", "logp": "lp"}
"""Names of the sampler statistics in nutpie, with those in ArviZ."""

MOST_DOUBLINGS = 10  # of a trajectory, which ends where it turns
_SLICE = 0.1  # seconds between two checks whether to stop
_USUAL = SamplingOptions().target_accept


@dataclass(frozen=True, eq=False)
class Form:
    """Compiled form in which a cohort is sampled.

    Attributes
    ----------
    cohort : Cohort
        Layout and data.
    kernel : Kernel or Plain
        The log-density; `Plain` if the kernel does not support an operation of the layout.
    directions : Directions or None
        Directions along which the coordinates are stretched, if there are any.
    doublings : int
        Most doublings of a trajectory.
    """

    cohort: Cohort
    kernel: Compiled
    directions: Directions | None = None
    doublings: int = MOST_DOUBLINGS

    @property
    def longest(self) -> float:
        """Return the largest factor by which coordinates are stretched."""
        return 1.0 if self.directions is None else self.directions.longest

    def compiled(self) -> Any:
        """Return nutpie's compiled model."""
        model = self.kernel.on(self.cohort)
        return model if self.directions is None else self.directions.stretched(model)

    def doublings_at(self, target_accept: float) -> int:
        """Return the most doublings; smaller steps than in the short run need more."""
        smaller = math.log((1 - _USUAL) / (1 - target_accept), 4)
        more = max(0, math.ceil(smaller - 1e-9))
        return min(self.doublings + more, MOST_DOUBLINGS)


def alone(battery: Battery, data: SubjectData) -> Form:
    """Return the form in which a subject is sampled alone; the layout is compiled once."""
    cohort = battery.alone(data)
    return Form(cohort, compile_sampler(battery).compiled(cohort))


def sample(
    form: Form,
    options: SamplingOptions,
    seed: int,
    attempt: int = 1,
    cores: int = 1,
    maxima: Maxima | None = None,
) -> Draws:
    """Draw from the posterior of a cohort.

    Parameters
    ----------
    form : Form
        The compiled layout and the data.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    seed : int
        Seed of the chains.
    attempt : int
        Number of the attempt, from 1. One with more draws is thinned to their number.
    cores : int
        Number of chains at a time; the draws do not depend on it.
    maxima : Maxima, optional
        Maxima of a posterior that bands may give several modes. Chains start beside them in turn,
        and whether all chains were near each of them is noted in the statistics. By default, chains
        start near the middle of the prior.

    Returns
    -------
    Draws
        Draws without the tuning phase: (chain, draw, levels..., labels...), without levels for a
        subject that is fitted alone.
    """
    kept, options = options.draws, with_more_care(options, attempt)
    model, doublings = form.compiled(), form.doublings_at(options.target_accept)
    starts = maxima.starts[: options.chains] if maxima else []
    starts = starts or [model.initial_point_func]
    runs = [
        run_chains(
            dataclasses.replace(model, initial_point_func=start),
            options,
            seed if number == 0 else subject_seed(seed, f"start {number + 1}"),
            cores,
            len(range(number, options.chains, len(starts))),
            points=maxima is not None,
            doublings=doublings,
        )
        for number, start in enumerate(starts)
    ]
    order = [divmod(chain, len(starts)) for chain in range(options.chains)]
    drawn, steps = ([runs[start][kind][number] for number, start in order] for kind in (0, 1))
    statistics = {ours: columns(steps, theirs, options) for theirs, ours in STATISTICS.items()}
    if maxima is not None:
        points = columns(steps, "unconstrained_draw", options, (model.n_dim,))
        complete = maxima.entered(points)
        statistics[MODES_SEARCHED] = np.full(statistics["diverging"].shape, complete)
    draws = Draws(levelled(form.kernel, drawn, options), statistics)
    return thinned(draws, options.draws // kept)


def levelled(kernel: Compiled, drawn: Any, options: SamplingOptions) -> dict[str, np.ndarray]:
    """Return draws of a kernel's latents by level: (chain, draw, levels..., labels...)."""
    by_latent = {}
    for part in kernel.parts:
        values = columns(drawn, part.latent.name, options, shape_of(part))
        if part.plates:
            values = values[:, :, kernel.order(part.latent.plates)]
        by_latent[part.latent.name] = values
    return by_latent


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
    trace = None
    try:
        while trace is None:
            stop_if_told()
            with suppress(TimeoutError):
                trace = background.wait(timeout=_SLICE)
    except BaseException:
        background.cancel()  # waits for its threads, which run code that Python would free
        raise
    drawn, statistics = trace.get_arrow_trace()
    return drawn, statistics


def columns(
    batches: Any, name: str, options: SamplingOptions, shape: tuple[int, ...] = ()
) -> np.ndarray:
    """Join a column of all chains' batches, without the tuning phase: (chain, draw, *shape)."""
    import pyarrow

    chains = []
    for batch in batches:
        column = pyarrow.array(batch.column(name))
        values = (column.flatten() if shape else column).to_numpy(zero_copy_only=False)
        chains.append(values.reshape(-1, *shape)[-options.draws :])
    return np.stack(chains)
