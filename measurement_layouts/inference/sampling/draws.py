"""Options of sampling, and draws of a block of chains."""

import dataclasses
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...common import options

NUTS = ("nuts", "numpyro")
"""Methods of a fit whose draws are those of NUTS."""

MODES_SEARCHED = "modes_searched"
"""Statistic of layouts with bands: whether every chain was in each maximum of the scan."""


@dataclass(frozen=True)
class SamplingOptions:
    """Options of sampling.

    Parameters
    ----------
    draws, tune : int
        Numbers of kept draws (at least 4, which R-hat needs) and of discarded draws (at least 1) of
        each chain. At most 2**63 - 1.
    chains : int
        Number of independent chains, from 1 to 2**63 - 1.
    target_accept : float
        Mean acceptance probability at which the step size aims, in (0, 1). Larger values are slower
        and lead to fewer divergences.

    Raises
    ------
    FitError
        When a number is out of range.

    Examples
    --------
    >>> SamplingOptions(draws=500)
    SamplingOptions(draws=500, tune=1000, chains=4, target_accept=0.8)
    """

    draws: int = 1000
    tune: int = 1000
    chains: int = 4
    target_accept: float = 0.8

    def __post_init__(self) -> None:
        for name, least in (("draws", 4), ("tune", 1), ("chains", 1)):
            object.__setattr__(self, name, options.whole(name, getattr(self, name), least))
        aim = options.inside("target_accept", self.target_accept, such_as=0.8)
        object.__setattr__(self, "target_accept", aim)


def with_more_care(options: SamplingOptions, attempt: int) -> SamplingOptions:
    r"""Return the options of an attempt.

    Each attempt has twice the tuning and the draws of the previous one, and the target
    :math:`1 - (1 - a) / 4` if :math:`a` was the previous ``target_accept``.

    Parameters
    ----------
    options : SamplingOptions
        Options of the first attempt.
    attempt : int
        Number of the attempt, from 1.

    Returns
    -------
    SamplingOptions
        Options of the attempt.

    Examples
    --------
    >>> with_more_care(SamplingOptions(draws=500), attempt=2)
    SamplingOptions(draws=1000, tune=2000, chains=4, target_accept=0.95)
    >>> with_more_care(SamplingOptions(draws=500), attempt=3).target_accept
    0.9875
    """
    longer = 2 ** (attempt - 1)
    return dataclasses.replace(
        options,
        draws=options.draws * longer,
        tune=options.tune * longer,
        target_accept=1 - (1 - options.target_accept) / longer**2,
    )


@dataclass(frozen=True)
class Draws:
    """Posterior draws of some chains, each array of shape (chain, draw, ...).

    Attributes
    ----------
    posterior : dict of str to ndarray
        Draws by latent.
    statistics : dict of str to ndarray
        Sampler statistics by name.
    """

    posterior: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]


class Unit(NamedTuple):
    """What one job samples: some chains of a problem, in one attempt.

    Attributes
    ----------
    problem : int
        Position of the problem in the fit.
    attempt : int
        Number of the attempt, from 1.
    block : int
        Number of the block of chains, from 0: all chains of a subject that is fitted alone, or one
        chain of a joint fit.
    """

    problem: int
    attempt: int
    block: int


def thinned(draws: Draws, every: int) -> Draws:
    """Keep the last one of each group of consecutive draws.

    Parameters
    ----------
    draws : Draws
        Draws, whose number in each chain is a multiple of `every`.
    every : int
        Number of draws in a group.

    Returns
    -------
    Draws
        The remaining draws; one counts as diverging if any draw of its group diverged.

    Examples
    --------
    >>> drawn = Draws({"noise": np.array([[0.1, 0.2, 0.3, 0.4]])},
    ...               {"diverging": np.array([[True, False, False, False]])})
    >>> halved = thinned(drawn, 2)
    >>> halved.posterior["noise"].tolist(), halved.statistics["diverging"].tolist()
    ([[0.2, 0.4]], [[True, False]])
    """
    if every == 1:
        return draws
    last = slice(every - 1, None, every)
    statistics = {name: values[:, last] for name, values in draws.statistics.items()}
    diverging = draws.statistics["diverging"]
    statistics["diverging"] = diverging.reshape(len(diverging), -1, every).any(axis=-1)
    return Draws({name: values[:, last] for name, values in draws.posterior.items()}, statistics)
