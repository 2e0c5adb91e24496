"""The log-density of a layout and one subject's outcomes: by the kernel and by PyTensor."""

import ctypes

import numpy as np
import pytensor
import pytensor.tensor as pt

from helpers.function_cases import AS_WRITTEN
from measurement_layouts.evaluations.subject_data import SubjectData
from measurement_layouts.inference.model.cohort import Cohort
from measurement_layouts.inference.model.pymc_model import build_model
from measurement_layouts.inference.sampling.engine import Battery, compile_sampler, compiled

STATUS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, *[ctypes.c_size_t] * 4)
LATENTS = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_uint64, ctypes.c_uint64, *[ctypes.c_size_t] * 3)


class Fused:
    """Value and gradient by machine code."""

    def __init__(self, layout, features, data):
        cohort = alone(layout, features, data)
        self.kernel = compiled(cohort)
        self.model = self.kernel.on(cohort)
        self.start = self.kernel.start

    def __call__(self, point):
        value, gradient = np.full(1, np.nan), np.full(len(point), np.nan)
        status = STATUS(self.model.compiled_logp_func.address)(
            len(point),
            *(array.ctypes.data for array in (point, gradient, value, self.model.user_data)),
        )
        return float(value[0]), gradient, status

    def latents(self, point):
        """The latents' values, one after the other."""
        found = np.full(len(point), np.nan)
        LATENTS(self.model.compiled_expand_func.address)(
            len(point),
            len(point),
            *(array.ctypes.data for array in (point, found, self.model.user_data)),
        )
        return found


def alone(layout, features, data):
    """A cohort of one subject."""
    return Cohort.alone(layout, features, range(len(data.trials)), data)


def first_compiled(layout, evaluation):
    """The compiled layout of an evaluation's first subject."""
    battery = Battery.of(layout, evaluation)
    data = SubjectData.of(evaluation, evaluation.subjects[0])
    return compile_sampler(battery).compiled(battery.alone(data))


class Plain:
    """The same by the model that users get, without any of our rewriting."""

    def __init__(self, layout, features, data):
        model = build_model(alone(layout, features, data))
        latents = [model[latent.name] for latent in layout.latents]
        points = [model.rvs_to_values[latent] for latent in latents]
        density = model.logp()
        self.chance = self._chance(model, points)
        self.trials = data.successes, data.trials - data.successes
        self.shapes = [tuple(map(len, latent.dims.values())) for latent in layout.latents]
        self.density = pytensor.function(
            points,
            [density, *pt.grad(density, points), *model.replace_rvs_by_values(latents)],
            mode=AS_WRITTEN,
            on_unused_input="ignore",
        )

    def __call__(self, point):
        found = self._all(point)
        return float(found[0]), np.concatenate([np.ravel(part) for part in found[1 : self._half()]])

    def latents(self, point):
        return np.concatenate([np.ravel(part) for part in self._all(point)[self._half() :]])

    def rounding(self, point):
        """How far rounding beside 1 takes it off: four numbers of a chance, 2**-53 each.

        Of the value, in nats, and of slopes in parts of an item's: in proportion to one over what
        happened.
        """
        p, (won, lost) = self.chance(*self._split(point)), self.trials
        return 2.0**-51 * float((won / p + lost / (1 - p)).sum())

    @staticmethod
    def _chance(model, points):
        (outcome,) = model.observed_RVs
        if type(outcome.owner.op).__name__ != "BinomialRV":  # averaged over what is unseen
            return lambda *parts: np.array([0.5])
        (p,) = model.replace_rvs_by_values([outcome.owner.op.dist_params(outcome.owner)[1]])
        return pytensor.function(points, p, mode=AS_WRITTEN, on_unused_input="ignore")

    def _half(self):
        return 1 + len(self.shapes)

    def _all(self, point):
        return self.density(*self._split(point))

    def _split(self, point):
        sizes = [np.prod(shape, dtype=int) for shape in self.shapes]
        parts = np.split(point, np.cumsum(sizes)[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self.shapes, strict=True)]


def random_features(layout, rng, items):
    """Values of the layout's meta-features that repeat: few of each, for some items."""
    found = {}
    for feature in layout.meta_features:
        low, high = feature.range.low, feature.range.high
        low = low if np.isfinite(low) else min(-5.0, high - 3)
        high = high if np.isfinite(high) else max(5.0, low + 3)
        shape = (items, *map(len, feature.dims.values()))
        few = rng.uniform(low, high, rng.integers(1, 6) if rng.random() < 0.7 else items)
        found[feature.name] = rng.choice(feature.levels or few, shape).astype(float)
    return found


def random_outcomes(layout, rng, items, most=3):
    """Counts, some items not attempted."""
    trials = rng.integers(0, most + 1, items)
    trials[0] = most
    constants = {constant.name: float(rng.uniform()) for constant in layout.constants}
    return SubjectData(rng.binomial(trials, 0.6), trials, constants)
