"""The form in which a joint posterior is sampled: centring and directions from a short run."""

import itertools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ...common.cache import Recent
from ...common.memory import return_free_memory
from ...layouts import Latent
from ...layouts.plates import SUBJECT, plate_name
from ..model.cohort import Cohort
from ..model.density import Part
from ..model.pymc_model import compile_key, few_outcomes
from ..model.variables import is_scaled
from .directions import find_directions
from .draws import SamplingOptions
from .engine import Kernel, compiled
from .nuts import Form, columns, levelled, run_chains
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

    def chosen() -> Form:
        form = _form(cohort)
        return_free_memory()  # that the short runs took
        return form

    return _forms.find(key, chosen)


def _form(cohort: Cohort) -> Form:
    scaled = [latent for latent in cohort.layout.latents if latent.plates and is_scaled(latent)]
    few = few_outcomes(cohort)
    kernel = compiled(cohort, {latent.name: None for latent in scaled if latent.name in few})
    pilot = None if isinstance(kernel, Plain) else _pilot(kernel)
    if isinstance(kernel, Plain) or pilot is None:
        return Form(cohort, kernel)
    if not scaled:
        return _along(kernel, pilot)
    informed = Kernel(cohort, {one.name: _informed(pilot.draws, one, cohort) for one in scaled})
    form = _stretched(informed) or Form(cohort, informed)
    if form.longest > _STRETCHED:
        other = _stretched(Kernel(cohort, dict.fromkeys(latent.name for latent in scaled)))
        if other is not None and other.longest < form.longest:
            return other
    return form


class _Pilot(NamedTuple):
    """Draws of a short chain by level, the sampler's points, and the usual doublings."""

    draws: dict[str, np.ndarray]
    points: np.ndarray
    doublings: int


def _pilot(kernel: Kernel) -> _Pilot | None:
    """Sample a short chain; None if it cannot start, which the chains of the fit then report."""
    try:
        drawn, steps = run_chains(kernel.on(), _PILOT, _PILOT_SEED, 1, 1, points=True)
    except RuntimeError:  # the density is not finite at the start
        return None
    points = columns(steps, "unconstrained_draw", _PILOT, (len(kernel.start),))[0]
    doublings = int(np.median(columns(steps, "depth", _PILOT)))
    draws = levelled(kernel, drawn, _PILOT)
    del drawn, steps
    return_free_memory()  # that the short run took
    return _Pilot(draws, points, doublings)


def _stretched(kernel: Kernel) -> Form | None:
    """Stretch coordinates along the directions that a short run shows; None if it cannot start."""
    pilot = _pilot(kernel)
    return None if pilot is None else _along(kernel, pilot)


def _along(kernel: Kernel, pilot: _Pilot) -> Form:
    """Stretch coordinates along the directions of shared values, with a limit on doublings."""
    coordinates = _coordinates(kernel)
    if coordinates is not None:
        directions = find_directions(LogDensity(kernel.on()), pilot.points, *coordinates)
        if directions is not None:
            return Form(kernel.cohort, kernel, directions, pilot.doublings + 1)
    return Form(kernel.cohort, kernel)


def _coordinates(kernel: Kernel) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the coordinates of shared values, and of each subject's, (subjects, values).

    None if values of subjects sum to zero, or if second derivatives would take too much memory.
    """
    shared = [np.zeros(0, dtype=int)]
    by_subject = [np.zeros((*kernel.cohort.size([SUBJECT]), 0), dtype=int)]
    for part, after in itertools.zip_longest(kernel.parts, kernel.parts[1:]):
        end = len(kernel.start) if after is None else after.offset
        if SUBJECT in map(plate_name, part.latent.plates):
            by_subject.append(_by_subject(kernel, part))
            if by_subject[-1].size != end - part.offset:  # values that sum to zero
                return None
        else:
            shared.append(np.arange(part.offset, end))
    coordinates = np.concatenate(shared), np.concatenate(by_subject, axis=1)
    varied = len(coordinates[0]) + coordinates[1].shape[1]
    return None if varied * len(kernel.start) > _MOST_DERIVATIVES else coordinates


def _by_subject(kernel: Kernel, part: Part) -> np.ndarray:
    """Return the coordinates of a latent's values, shape (subjects, values)."""
    latent, labels = part.latent, np.arange(math.prod(part.labels))
    axis = [plate_name(plate) for plate in latent.plates].index(SUBJECT)
    order = np.moveaxis(kernel.order(latent.plates), axis, 0)
    order = order.reshape(len(order), -1, 1)
    if isinstance(latent.prior, tuple):  # the values of each label are together
        columns_of = order + order.size * labels
    else:
        columns_of = order * len(labels) + labels
    return np.asarray(part.offset + columns_of.reshape(len(order), -1))


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
