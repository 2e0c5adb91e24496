"""Chains that start beside the modes of a posterior."""

from typing import Any

import numpy as np

from .data import SubjectData
from .draws import Draws, SamplingOptions
from .engine import Battery, compile_sampler
from .modes import LogDensity, Mode, find_modes
from .sampling import Start, sample

_HALVINGS = 40  # of a start's distance


def sample_modes(
    battery: Battery, data: SubjectData, options: SamplingOptions, seed: int, cores: int = 1
) -> Draws:
    """Draw from one subject's posterior by chains that start beside its modes.

    Parameters
    ----------
    battery : Battery
        Layout and items.
    data : SubjectData
        Outcomes and constants.
    options : SamplingOptions
        How long and how carefully; as many modes are started from as there are chains.
    seed : int
        Of modes and chains.
    cores : int
        Chains at a time; the draws do not depend on it.

    Returns
    -------
    Draws
        Chain c starts beside mode c modulo their number, the heaviest being mode 0. It may leave
        while it tunes, by a long step: of two sharp modes, about one chain in fifty did.
    """
    sampler = compile_sampler(battery)
    modes = find_modes(battery, data, options.chains, seed)
    starts = [starting_beside(sampler.on(data), mode) for mode in modes]
    return sample(sampler, data, options, seed, cores, starts)


def starting_beside(model: Any, mode: Mode) -> Start:
    """Make the function from a chain's seed to its start.

    A fifth to half of a width away from the mode along every axis: the gradient there tells the
    sampler how wide the mode is, and at the mode itself nothing. Nearer where the log-density falls
    by more than a nat for each axis, as it does beyond a cliff.
    """
    density = LogDensity(model)

    def start(seed: int) -> np.ndarray:
        rng = np.random.default_rng(seed)
        step = mode.widths * rng.uniform(0.2, 0.5, density.size) * rng.choice([-1, 1], density.size)
        for _ in range(_HALVINGS):
            if density(mode.at + step) > mode.height - density.size:
                break
            step /= 2
        return np.asarray(mode.at + step)

    return start
