"""NUTS for a cohort, a chain at a time."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.cache import Recent
from ...common.seeds import subject_seed
from ...layouts import Latent, Layout
from ...layouts.plates import plate_name
from ..kernel.terms import UnsupportedError
from ..model.cell_parts import cell_part
from ..model.cohort import Cohort
from ..model.prior import location_and_scale
from ..model.pymc_model import compile_key
from .draws import Draws, Sampled, SamplingOptions
from .inner import Inner, find_places, single_latent, spread_of
from .inner_cells import InnerCells, find_scores, first_scores
from .joint import JointKernel, PlainJoint
from .nuts import STATISTICS, columns, run_chains
from .retries import in_one_line

_TRIALS_PER_VALUE, _FAR = 10, 10.0
_PILOT, _PILOT_SEED = SamplingOptions(draws=200, tune=300, chains=1), 20231
_forms = Recent[object, "Form"](4)


@dataclass(frozen=True, eq=False)
class Form:
    """How a cohort is sampled.

    Attributes
    ----------
    kernel : JointKernel or PlainJoint
        What NUTS moves in; the latter where an operation has no machine code.
    inner : Inner, InnerCells or None
        Draws the latent that is integrated out, if one is.
    """

    kernel: JointKernel | PlainJoint
    inner: Inner | InnerCells | None = None


def joint_form(cohort: Cohort) -> Form:
    """Choose how a joint layout is sampled for a cohort, and compile it, once in this process.

    A short run comes first. A single normal latent of each subject is integrated out, over places
    that the run finds, where there are no more than 64 of them; so is the first normal part of each
    subject on each item. Other latents whose scale is a latent are centred as far as the run says
    that the data inform each of their values.
    """
    key = compile_key(cohort.layout), cohort.digest
    return _forms.find(key, lambda: _form(cohort))


def _form(cohort: Cohort) -> Form:
    try:
        form = _fused(cohort)
        form.kernel.compiled()  # here and not by each chain: chains are threads
    except UnsupportedError:
        return Form(PlainJoint(cohort))
    return form


def _fused(cohort: Cohort) -> Form:
    scaled = [latent for latent in cohort.layout.latents if _is_scaled(latent)]
    part = cell_part(cohort.layout)
    found = None if part is None else _without_part(cohort, part, scaled)
    return _without_subjects(cohort, scaled) if found is None else found


def _without_part(cohort: Cohort, part: Latent, scaled: list[Latent]) -> Form | None:
    """Integrate a part of each subject on each item out; None where that asks for too much."""
    scaled = [latent for latent in scaled if latent is not part]
    kernel = JointKernel(cohort, _first_centring(cohort, scaled), scores=first_scores(part))
    pilot = _pilot(kernel)
    scores = None if pilot is None else find_scores(cohort, part, pilot)
    if pilot is None or scores is None:
        return None
    centring = {one.name: _informed(pilot, one, cohort) for one in scaled}
    return Form(JointKernel(cohort, centring, scores=scores), InnerCells(cohort, part, scores))


def _without_subjects(cohort: Cohort, scaled: list[Latent]) -> Form:
    """Integrate a single latent of each subject out, where there is one and places are few."""
    latent = single_latent(cohort.layout)
    if not scaled and latent is None:
        return Form(JointKernel(cohort))
    kernel = JointKernel(cohort, _first_centring(cohort, scaled))
    pilot = _pilot(kernel)
    if pilot is None:
        return Form(kernel)
    centring = {one.name: _informed(pilot, one, cohort) for one in scaled}
    spread = None if latent is None else spread_of(latent)
    if latent is None or spread is None:
        return Form(JointKernel(cohort, centring))
    places = find_places(latent, pilot[latent.name][0], pilot[spread.name][0])
    if places is None:
        return Form(JointKernel(cohort, centring))
    centring.pop(latent.name, None)
    return Form(JointKernel(cohort, centring, places=places), Inner(cohort, latent, places))


def _pilot(kernel: JointKernel) -> dict[str, np.ndarray] | None:
    """Sample a short chain; None where none starts: chains try others, and say so."""
    try:
        drawn, _ = run_chains(kernel.compiled(), _PILOT, _PILOT_SEED, 1, 1)
    except RuntimeError:  # no start with a finite density
        return None
    return levelled(kernel, drawn, _PILOT)


def _first_centring(cohort: Cohort, scaled: list[Latent]) -> dict[str, np.ndarray]:
    """Centre altogether, or not at all where there are few trials for each value."""
    trials, found = cohort.trials.sum(), {}
    for latent in scaled:
        size = cohort.size(latent.plates)
        values = math.prod([*size, *map(len, latent.dims.values())])
        few = trials < _TRIALS_PER_VALUE * values
        found[latent.name] = np.full(size, 0.0 if few else 1.0)
    return found


def _informed(pilot: Mapping[str, np.ndarray], latent: Latent, cohort: Cohort) -> np.ndarray:
    """Say how much of the variance of the values of each level the data have removed."""
    size = cohort.size(latent.plates)
    values = pilot[latent.name][0].reshape(-1, *size, math.prod(map(len, latent.dims.values())))
    plates = tuple(range(1, 1 + len(size)))
    among = values.var(axis=plates, keepdims=True).mean(axis=0, keepdims=True)
    left = values.var(axis=0) / np.maximum(among[0], 1e-300)
    return np.asarray((1 - left.mean(axis=-1)).clip(0, 1))


def _is_scaled(latent: Latent) -> bool:
    return bool(latent.plates) and any(map(location_and_scale, latent.priors))


def levelled(
    kernel: JointKernel | PlainJoint, drawn: Any, options: SamplingOptions
) -> dict[str, np.ndarray]:
    """Read draws of a kernel's latents, levels in order: (chain, draw, levels..., labels...)."""
    found = {}
    for part in kernel.parts:
        values = columns(drawn, part.latent.name, options, kernel.shape(part))
        if part.plates:
            values = values[:, :, kernel.order(part.latent.plates)]
        found[part.latent.name] = values
    return found


def _names(latent: Latent) -> tuple[str, ...]:
    return tuple(map(plate_name, latent.plates))


def sample_chain(
    cohort: Cohort,
    chain: str,
    number: int,
    options: SamplingOptions,
    seed: int,
    attempt: int = 1,
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
    attempt : int
        How often it has been sampled, with this time; each has a stream of its own.

    Returns
    -------
    Sampled
        Draws of shape (1, draw, levels..., labels...), or the reason why there are none.
    """
    try:
        return Sampled(chain, _chain(cohort, number, options, seed, attempt), attempt)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic inside nutpie is no Exception
        return Sampled(chain, None, attempt, in_one_line(error))


def _chain(cohort: Cohort, number: int, options: SamplingOptions, seed: int, attempt: int) -> Draws:
    """Draw one chain."""
    form = joint_form(cohort)
    stream = f"chain {number}" if attempt == 1 else f"chain {number}, attempt {attempt}"
    kernel, own_seed = form.kernel, subject_seed(seed, stream)
    drawn, statistics = run_chains(kernel.compiled(), options, own_seed, 1, 1)
    found = levelled(kernel, drawn, options)
    if form.inner is not None:
        found[form.inner.latent.name] = form.inner.draw(found, own_seed)
    kept = {ours: columns(statistics, theirs, options) for theirs, ours in STATISTICS.items()}
    return Draws(found, kept)


def lost_chains(chains: list[Draws]) -> list[int]:
    """Find chains whose log-densities lie far below the best chain's, by ten times their spread."""
    levels = [draws.statistics["lp"].ravel() for draws in chains]
    middles = np.array([np.median(level) for level in levels])
    best = int(middles.argmax())
    far = middles[best] - middles > _FAR * max(float(levels[best].std()), 1.0)
    return [int(number) for number in np.flatnonzero(far)]


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
