"""The form in which a joint posterior is sampled: centring and directions from a short run."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...common.cache import Recent
from ...common.seeds import subject_seed
from ...layouts import Latent
from ...layouts.plates import SUBJECT, plate_name
from ..model.cohort import Cohort
from ..model.density import Part
from ..model.prior import is_scaled
from ..model.pymc_model import compile_key, few_outcomes
from .directions import Directions, find_directions
from .draws import Draws, SamplingOptions, thinned, with_more_care
from .engine import Kernel, compiled
from .nuts import Form, columns, levelled, run_chains, sample
from .plain import Plain
from .unbounded import LogDensity

_PILOT, _PILOT_SEED = SamplingOptions(draws=200, tune=300, chains=1), 20231
_MOST_DERIVATIVES = 2**25  # second derivatives from which directions are found: 256 MiB
_LOW = 0.25  # quantile of the variance among levels at which the degree of centring is computed
_STRETCHED = 5.0  # longest direction up to which no other centring is tried
_forms = Recent[object, Form](4)


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
    scaled = [latent for latent in cohort.layout.latents if latent.plates and is_scaled(latent)]
    few = few_outcomes(cohort)
    kernel = compiled(cohort, {latent.name: None for latent in scaled if latent.name in few})
    if isinstance(kernel, Plain):
        return Form(cohort, kernel)
    pilot, points, usual = _pilot(kernel)
    if pilot is None:
        return Form(cohort, kernel)
    if not scaled:
        return _along(kernel, points, usual)
    kernel = Kernel(cohort, {latent.name: _informed(pilot, latent, cohort) for latent in scaled})
    form = _stretched(kernel) or Form(cohort, kernel)
    if form.longest > _STRETCHED:
        other = _stretched(Kernel(cohort, dict.fromkeys(latent.name for latent in scaled)))
        if other is not None and other.longest < form.longest:
            return other
    return form


def _stretched(kernel: Kernel) -> Form | None:
    """Stretch coordinates along the directions that a short run shows; None if it cannot start."""
    pilot, points, usual = _pilot(kernel)
    return None if pilot is None else _along(kernel, points, usual)


def _along(kernel: Kernel, points: np.ndarray, usual: int) -> Form:
    """Stretch coordinates along the directions that points show, with a limit on doublings."""
    directions = _directions(kernel, points)
    if directions is None:
        return Form(kernel.cohort, kernel)
    return Form(kernel.cohort, kernel, directions, usual + 1)


def _pilot(kernel: Kernel) -> tuple[dict[str, np.ndarray] | None, np.ndarray, int]:
    """Sample a short chain; returns draws by level, the sampler's points and usual doublings.

    The draws are None if it cannot start, which the chains of the fit then report. There are no
    points if no directions are sought.
    """
    length, wide = len(kernel.start), _coordinates(kernel) is None
    try:
        drawn, steps = run_chains(kernel.on(), _PILOT, _PILOT_SEED, 1, 1, points=not wide)
    except RuntimeError:  # the density is not finite at the start
        return None, np.zeros((0, length)), 0
    draws = levelled(kernel, drawn, _PILOT)
    usual = int(np.median(columns(steps, "depth", _PILOT)))
    if wide:
        return draws, np.zeros((0, length)), usual
    return draws, columns(steps, "unconstrained_draw", _PILOT, (length,))[0], usual


def _directions(kernel: Kernel, points: np.ndarray) -> Directions | None:
    """Find directions of shared values, along which subjects' values are moved."""
    coordinates = _coordinates(kernel)
    if coordinates is None or not len(points):
        return None
    return find_directions(LogDensity(kernel.on()), points, *coordinates)


def _coordinates(kernel: Kernel) -> tuple[np.ndarray, np.ndarray] | None:
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


def _by_subject(kernel: Kernel, part: Part) -> np.ndarray:
    """Return the coordinates of a latent's values, shape (subjects, values)."""
    latent, labels = part.latent, np.arange(math.prod(part.labels))
    order = np.moveaxis(kernel.order(latent.plates), _names(latent).index(SUBJECT), 0)
    order = order.reshape(len(order), -1, 1)
    apart = isinstance(latent.prior, tuple)  # the values of each label are together
    places = order + order.size * labels if apart else order * len(labels) + labels
    return np.asarray(part.offset + places.reshape(len(order), -1))


def _informed(pilot: Mapping[str, np.ndarray], latent: Latent, cohort: Cohort) -> np.ndarray:
    r"""Return the degree of centring of the values of each level.

    With the variance v among levels of a draw, and the variance that the data alone would leave a
    value, :math:`r = \bar v u / (\bar v - u)` for the posterior variance u, it is
    :math:`v / (v + r)` at the lower quartile of v: centred values are hard to sample where they
    hardly vary among levels. Variances of a LogNormal are those of the logarithm.
    """
    size = cohort.size(latent.plates)
    values = pilot[latent.name][0].reshape(-1, *size, math.prod(map(len, latent.dims.values())))
    positive = np.array([prior.family == "LogNormal" for prior in latent.priors])
    values = np.where(positive, np.log(np.maximum(values, 1e-300)), values)
    plates = tuple(range(1, 1 + len(size)))
    among = np.maximum(values.var(axis=plates, keepdims=True), 1e-300)
    mean, low = among.mean(axis=0), np.quantile(among, _LOW, axis=0)
    reduced = (1 - values.var(axis=0) / mean).clip(0, 1)
    degrees = low * reduced / (low * reduced + mean * (1 - reduced))
    return np.asarray(degrees.mean(axis=-1))


def _names(latent: Latent) -> tuple[str, ...]:
    return tuple(map(plate_name, latent.plates))


def sample_chain(
    cohort: Cohort, number: int, options: SamplingOptions, seed: int, attempt: int = 1
) -> Draws:
    """Draw one chain from the posterior of a cohort.

    Parameters
    ----------
    cohort : Cohort
        Layout and data; compiled at most once in a process.
    number : int
        Number of the chain, from 0.
    options : SamplingOptions
        Options of the first attempt; see `with_more_care` for those of the others.
    seed : int
        Seed of the fit. Each chain and attempt has its own random stream.
    attempt : int
        Number of the attempt, from 1. One with more draws is thinned to their number.

    Returns
    -------
    Draws
        Draws of shape (1, draw, levels..., labels...).
    """
    stream = f"chain {number}" if attempt == 1 else f"chain {number}, attempt {attempt}"
    used = replace(with_more_care(options, attempt), chains=1)
    draws = sample(joint_form(cohort), used, subject_seed(seed, stream))
    return thinned(draws, used.draws // options.draws)
