"""Points of a joint layout's machine code as points of its plain PyMC model."""

import math

import numpy as np
import pytensor
import pytensor.tensor as pt
from scipy.stats import norm

from helpers.function_cases import AS_WRITTEN
from measurement_layouts.inference.sampling.engine import shape_of


def levels(kernel, at):
    """Coordinates of a point by latent, levels in order."""
    found = {}
    for part in kernel.parts:
        size = math.prod(part.plates + part.labels)
        values = at[part.offset : part.offset + size].reshape(shape_of(part))
        found[part.latent.name] = (
            values[kernel.order(part.latent.plates)] if part.plates else values
        )
    return found


def plain_point(model, coordinates):
    """The same point of PyMC's model, and the log-density of the coordinates that idle."""
    point, idle = {}, 0.0
    for variable in model.free_RVs:
        value, values = model.rvs_to_values[variable], coordinates[variable.name]
        if "ZeroSum" in str(variable.owner.op):
            axes = values.ndim if variable.name == "favour" else 1
            kept = (..., *[slice(-1)] * axes)
            point[value.name] = values[kept]
            rest = np.ones(values.shape, bool)
            rest[kept] = False
            idle += norm.logpdf(values[rest]).sum()
        else:
            point[value.name] = values
    return point, idle


def plain_density(model):
    """PyMC's log-density as a function of a point, with the slope of each value by its name."""
    points = [model.rvs_to_values[variable] for variable in model.free_RVs]
    density = model.logp()
    outputs = [density, *pt.grad(density, points)]
    compute = pytensor.function(points, outputs, mode=AS_WRITTEN, on_unused_input="ignore")

    def at(point):
        value, *slopes = compute(**point)
        names = [variable.name for variable in points]
        return float(value), dict(zip(names, slopes, strict=True))

    return at
