"""The published Animal-AI layout's log-density, written by hand.

What a good engineer writes for this one layout: what the items alone determine is computed
beforehand, and one loop over them computes success and its derivatives together, with nothing
allocated and the mathematical library's exp and log.
"""

import math
from functools import cache

import numba
import numpy as np
from log_density import LogDensity

import measurement_layouts as ml

NAVIGATION, VISUAL = 5.3, 1.9  # upper ends of the capabilities' ranges, from 0
_POINTER = numba.types.CPointer(numba.types.float64)
_SIGNATURE = numba.types.int64(
    numba.types.uint64, _POINTER, _POINTER, _POINTER, numba.types.voidptr
)


def by_hand(evaluation: ml.Evaluation, subject: str) -> LogDensity:
    """Return the kernel over one subject's outcomes."""
    items, successes = evaluation.items, evaluation.successes.loc[subject].to_numpy()
    trials = evaluation.trials.loc[subject].to_numpy()
    demand = items["rewardDistance"] * (0.5 * items["rewardBehind"] + 1)
    table = [items["rewardSize"], demand, items["XPos"], successes, trials - successes]
    failure = 1 - successes.sum() / trials.sum()
    data = np.concatenate([[len(items), failure], *table]).astype(float)
    return LogDensity(_compiled().address, data.ctypes.data, 4, owner=data)


@numba.njit
def _sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x))


def _kernel(size, point_, gradient_, value_, data_):
    point, gradient = numba.carray(point_, 4), numba.carray(gradient_, 4)
    head = numba.carray(data_, 2, np.float64)
    items, failure = int(head[0]), head[1]
    table = numba.carray(data_, 2 + 5 * items, np.float64)[2:].reshape((5, items))
    smallness, demand, side, successes, failures = table
    navigating, seeing, noise = _sigmoid(point[0]), _sigmoid(point[2]), _sigmoid(point[3])
    navigation, bias, visual = NAVIGATION * navigating, point[1], VISUAL * seeing
    value, d_navigation, d_bias, d_visual, d_noise = -0.5 * bias * bias, 0.0, 0.0, 0.0, 0.0
    for part in (navigating, seeing, noise):  # uniform priors, on the unconstrained scale
        value += math.log(part * (1 - part))
    for item in range(items):
        navigate = _sigmoid(navigation - demand[item] + bias * side[item])
        see = _sigmoid(visual - smallness[item])
        both = navigate * see
        p = (1 - noise) * both + noise * failure
        p = min(max(p, 1e-12), 1 - 1e-12)
        slope = 0.0
        if successes[item] > 0:
            value += successes[item] * math.log(p)
            slope += successes[item] / p
        if failures[item] > 0:
            value += failures[item] * math.log(1 - p)
            slope -= failures[item] / (1 - p)
        d_noise += slope * (failure - both)
        slope *= (1 - noise) * both
        margin = slope * (1 - navigate)
        d_navigation += margin
        d_bias += margin * side[item]
        d_visual += slope * (1 - see)
    gradient[0] = d_navigation * navigation * (1 - navigating) + 1 - 2 * navigating
    gradient[1] = d_bias - bias
    gradient[2] = d_visual * visual * (1 - seeing) + 1 - 2 * seeing
    gradient[3] = d_noise * noise * (1 - noise) + 1 - 2 * noise
    numba.carray(value_, 1)[0] = value
    return 0


@cache
def _compiled():
    """Compile it, which takes seconds, when it is first needed."""
    return numba.cfunc(_SIGNATURE, error_model="numpy")(_kernel)
