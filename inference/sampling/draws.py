"""How a subject is sampled, and what comes of it."""

import dataclasses
from dataclasses import dataclass

import numpy as np

from ...common import options


@dataclass(frozen=True)
class SamplingOptions:
    """How long and how carefully to sample.

    Parameters
    ----------
    draws, tune : int
        Kept and discarded draws of each chain; at least 4 are kept, so that R-hat can halve them,
        and 1 is discarded. At most 2**63 - 1.
    chains : int
        Independent chains, from 1 to 2**63 - 1.
    target_accept : float
        Aim of the step size, in (0, 1); higher is slower and safer.

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
    r"""Options of an attempt.

    Each attempt tunes and draws twice as long as the one before, and aims at
    :math:`1 - (1 - a) / 4` where that aimed at :math:`a`.

    Parameters
    ----------
    options : SamplingOptions
        Of the first attempt.
    attempt : int
        Its number, 1 upwards.

    Returns
    -------
    SamplingOptions
        Those of the attempt.

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
    """Posterior draws of one subject, each array of shape (chain, draw, ...).

    Attributes
    ----------
    posterior : dict of str to ndarray
        By latent.
    statistics : dict of str to ndarray
        By name of the statistic.
    """

    posterior: dict[str, np.ndarray]
    statistics: dict[str, np.ndarray]


@dataclass(frozen=True)
class Sampled:
    """Result of sampling one subject.

    Attributes
    ----------
    subject : str
        Name of the subject.
    draws : Draws or None
        None when sampling failed.
    attempts : int
        How often it was sampled; the draws are the last attempt's.
    reason : str
        Why it did not converge, or failed; empty when nothing is wrong with its sampling.
    """

    subject: str
    draws: Draws | None
    attempts: int = 1
    reason: str = ""
