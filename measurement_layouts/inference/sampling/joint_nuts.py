"""NUTS for a cohort, with one call for each chain."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...common.cache import Recent
from ...common.seeds import subject_seed
from ...layouts import Latent, Layout
from ...layouts.plates import SUBJECT, plate_name
from ..kernel.terms import UnsupportedError
from ..model.cohort import Cohort
from ..model.joint_terms import Part
from ..model.prior import location_and_scale
from ..model.pymc_model import compile_key
from .convergence import (
    UNTRUSTED,
    Convergence,
    RhatEss,
    by_element,
    faults,
    rhat_ess,
    status,
    worst,
)
from .directions import Directions, find_directions
from .draws import Draws, Sampled, SamplingOptions, with_more_care
from .joint import JointKernel, PlainJoint
from .nuts import MOST_DOUBLINGS, STATISTICS, columns, run_chains
from .retries import in_one_line, thinned
from .unbounded import LogDensity

_TRIALS_PER_VALUE = 10
_PILOT, _PILOT_SEED = SamplingOptions(draws=200, tune=300, chains=1), 20231
_MOST_DERIVATIVES = 2**25  # second derivatives from which directions are found: 256 MiB
_LOW = 0.25  # quantile of the variance among levels at which the degree of centring is computed
_STRETCHED = 5.0  # longest direction up to which no other centring is tried
_forms = Recent[object, "Form"](4)


@dataclass(frozen=True, eq=False)
class Form:
    """Compiled form in which a cohort is sampled.

    Attributes
    ----------
    kernel : JointKernel or PlainJoint
        The log-density; `PlainJoint` if the kernel does not support an operation of the layout.
    directions : Directions or None
        Directions along which the coordinates are stretched, if there are any.
    doublings : int
        Most doublings of a trajectory.
    """

    kernel: JointKernel | PlainJoint
    directions: Directions | None = None
    doublings: int = MOST_DOUBLINGS

    @property
    def longest(self) -> float:
        """Return the largest factor by which coordinates are stretched."""
        return 1.0 if self.directions is None else self.directions.longest

    def compiled(self) -> Any:
        """Return nutpie's compiled model."""
        model = self.kernel.compiled()
        return model if self.directions is None else self.directions.stretched(model)

    def doublings_at(self, target_accept: float) -> int:
        """Return the most doublings; smaller steps than in the short run need more."""
        smaller = math.log((1 - _PILOT.target_accept) / (1 - target_accept), 4)
        more = max(0, math.ceil(smaller - 1e-9))
        return min(self.doublings + more, MOST_DOUBLINGS)


def joint_form(cohort: Cohort) -> Form:
    """Choose the form in which a cohort is sampled, and compile it, once in a process.

    The choice depends on a short run. Values whose scale is a latent are centred to the degree to
    which the data reduce their variance. Coordinates are stretched along directions in which shared
    values vary more than the other coordinates let them (`find_directions`). If these directions
    are long, deviations from the location are tried, which are taken if their directions are
    shorter. No trajectory is then more than twice as long as is usual in the short run.
    """
    key = compile_key(cohort.layout), cohort.digest
    return _forms.find(key, lambda: _form(cohort))


def _form(cohort: Cohort) -> Form:
    try:
        form = _fused(cohort)
        form.compiled()  # once, and not in each chain's thread
    except UnsupportedError:
        return Form(PlainJoint(cohort))
    return form


def _fused(cohort: Cohort) -> Form:
    scaled = [latent for latent in cohort.layout.latents if _is_scaled(latent)]
    kernel = JointKernel(cohort, _first_centring(cohort, scaled))
    pilot, points, usual = _pilot(kernel)
    if pilot is None:
        return Form(kernel)
    if not scaled:
        return _along(kernel, points, usual)
    centring = {latent.name: _informed(pilot, latent, cohort) for latent in scaled}
    kernel = JointKernel(cohort, centring)
    form = _stretched(kernel) or Form(kernel)
    if form.longest > _STRETCHED:
        deviations = {name: np.zeros_like(degrees) for name, degrees in centring.items()}
        other = _stretched(JointKernel(cohort, deviations))
        if other is not None and other.longest < form.longest:
            return other
    return form


def _stretched(kernel: JointKernel) -> Form | None:
    """Stretch coordinates along the directions that a short run shows; None if it cannot start."""
    pilot, points, usual = _pilot(kernel)
    return None if pilot is None else _along(kernel, points, usual)


def _along(kernel: JointKernel, points: np.ndarray, usual: int) -> Form:
    """Stretch coordinates along the directions that points show, with a limit on doublings."""
    directions = _directions(kernel, points)
    return Form(kernel) if directions is None else Form(kernel, directions, usual + 1)


def _pilot(kernel: JointKernel) -> tuple[dict[str, np.ndarray] | None, np.ndarray, int]:
    """Sample a short chain; returns draws by level, the sampler's points and usual doublings.

    The draws are None if it cannot start, which the chains of the fit then report. There are no
    points if no directions are sought.
    """
    length, wide = len(kernel.start), _coordinates(kernel) is None
    try:
        drawn, steps = run_chains(kernel.compiled(), _PILOT, _PILOT_SEED, 1, 1, points=not wide)
    except RuntimeError:  # the density is not finite at the start
        return None, np.zeros((0, length)), 0
    draws = levelled(kernel, drawn, _PILOT)
    usual = int(np.median(columns(steps, "depth", _PILOT)))
    if wide:
        return draws, np.zeros((0, length)), usual
    return draws, columns(steps, "unconstrained_draw", _PILOT, (length,))[0], usual


def _directions(kernel: JointKernel, points: np.ndarray) -> Directions | None:
    """Find directions of shared values, along which subjects' values are moved."""
    coordinates = _coordinates(kernel)
    if coordinates is None or not len(points):
        return None
    return find_directions(LogDensity(kernel.compiled()), points, *coordinates)


def _coordinates(kernel: JointKernel) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the coordinates of shared values, and of each subject's, (subjects, values).

    None if values of subjects sum to zero, or if second derivatives would take too much memory.
    """
    ends = [*(part.offset for part in kernel.parts[1:]), len(kernel.start)]
    shared = [np.zeros(0, dtype=int)]
    by_subject = [np.zeros((*kernel.cohort.size([SUBJECT]), 0), dtype=int)]
    for part, end in zip(kernel.parts, ends, strict=True):
        if SUBJECT not in _names(part.latent):
            shared.append(np.arange(part.offset, end))
            continue
        by_subject.append(_by_subject(kernel, part))
        if by_subject[-1].size != end - part.offset:  # values that sum to zero
            return None
    coordinates = np.concatenate(shared), np.concatenate(by_subject, axis=1)
    varied = len(coordinates[0]) + coordinates[1].shape[1]
    return None if varied * len(kernel.start) > _MOST_DERIVATIVES else coordinates


def _by_subject(kernel: JointKernel, part: Part) -> np.ndarray:
    """Return the coordinates of a latent's values, shape (subjects, values)."""
    latent, labels = part.latent, np.arange(math.prod(part.labels))
    order = np.moveaxis(kernel.order(latent.plates), _names(latent).index(SUBJECT), 0)
    order = order.reshape(len(order), -1, 1)
    apart = isinstance(latent.prior, tuple)  # the values of each label are together
    places = order + order.size * labels if apart else order * len(labels) + labels
    return np.asarray(part.offset + places.reshape(len(order), -1))


def _first_centring(cohort: Cohort, scaled: list[Latent]) -> dict[str, np.ndarray]:
    """Return the centring of the short run: 0 for latents with few trials per value, else 1."""
    trials, found = cohort.trials.sum(), {}
    for latent in scaled:
        size = cohort.size(latent.plates)
        values = math.prod([*size, *map(len, latent.dims.values())])
        few = trials < _TRIALS_PER_VALUE * values
        found[latent.name] = np.full(size, 0.0 if few else 1.0)
    return found


def _informed(pilot: Mapping[str, np.ndarray], latent: Latent, cohort: Cohort) -> np.ndarray:
    r"""Return the degree of centring of the values of each level.

    With the variance v among levels of a draw, and the variance that the data alone would leave a
    value, :math:`r = \bar v u / (\bar v - u)` for the posterior variance u, it is
    :math:`v / (v + r)` at the lower quartile of v: centred values are hard to sample where they
    hardly vary among levels.
    """
    size = cohort.size(latent.plates)
    values = pilot[latent.name][0].reshape(-1, *size, math.prod(map(len, latent.dims.values())))
    plates = tuple(range(1, 1 + len(size)))
    among = np.maximum(values.var(axis=plates, keepdims=True), 1e-300)
    mean, low = among.mean(axis=0), np.quantile(among, _LOW, axis=0)
    reduced = (1 - values.var(axis=0) / mean).clip(0, 1)
    degrees = low * reduced / (low * reduced + mean * (1 - reduced))
    return np.asarray(degrees.mean(axis=-1))


def _is_scaled(latent: Latent) -> bool:
    return bool(latent.plates) and any(map(location_and_scale, latent.priors))


def levelled(
    kernel: JointKernel | PlainJoint, drawn: Any, options: SamplingOptions
) -> dict[str, np.ndarray]:
    """Return draws of a kernel's latents by level: (chain, draw, levels..., labels...)."""
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
        Name of the chain.
    number : int
        Number of the chain, from 0.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    seed : int
        Seed of the fit. Each chain and attempt has its own random stream.
    attempt : int
        Number of the attempt, from 1.

    Returns
    -------
    Sampled
        Draws of shape (1, draw, levels..., labels...), or the reason why there are none.
    """
    try:
        return Sampled(chain, _chain(cohort, number, options, seed, attempt), attempt)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of nutpie is not an Exception
        return Sampled(chain, None, attempt, in_one_line(error))


def _chain(cohort: Cohort, number: int, options: SamplingOptions, seed: int, attempt: int) -> Draws:
    """Draw one chain; an attempt with more draws is thinned to their number."""
    form = joint_form(cohort)
    stream = f"chain {number}" if attempt == 1 else f"chain {number}, attempt {attempt}"
    own_seed, used = subject_seed(seed, stream), with_more_care(options, attempt)
    doublings = form.doublings_at(used.target_accept)
    drawn, statistics = run_chains(form.compiled(), used, own_seed, 1, 1, doublings=doublings)
    draws = Draws(
        levelled(form.kernel, drawn, used),
        {ours: columns(statistics, theirs, used) for theirs, ours in STATISTICS.items()},
    )
    return thinned(draws, used.draws // options.draws)


def mixes(chains: list[Draws]) -> bool:
    """Return whether chains agree on all values, with few divergences at most."""
    names = chains[0].posterior
    values = (np.concatenate([chain.posterior[name] for chain in chains]) for name in names)
    measures = [rhat_ess(by_element(each[None])[0]) for each in values]
    rhat, ess = worst(RhatEss(*map(np.concatenate, zip(*measures, strict=True))))
    diverging = np.concatenate([chain.statistics["diverging"] for chain in chains])
    measured = Convergence(int(diverging.sum()), float(rhat), float(ess), "", diverging.shape[1])
    return status(faults(measured, len(chains))) not in UNTRUSTED


def joined(chains: list[Draws], layout: Layout) -> tuple[dict[str, Any], dict[str, Any]]:
    """Join chains; the first axis of a latent per subject is that of the subjects."""
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
