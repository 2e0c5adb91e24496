"""Whether a subject's draws can be trusted: divergences, R-hat and effective sample size."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...common.messages import many
from .draws import Draws
from .modes_apart import stay_apart
from .rhat_ess import Mixing, mixing

RHAT_LIMIT = 1.01  # Vehtari et al. (2021)
ESS_PER_CHAIN = 100  # same source


@dataclass(frozen=True)
class Convergence:
    """How well one subject's chains converged.

    Attributes
    ----------
    divergences : int
        Draws whose trajectory diverged.
    rhat : float
        Largest rank-normalised R-hat of its profile elements; NaN when one is unknown.
    ess : float
        Smallest effective sample size, of bulk or tail; NaN when one is unknown.
    apart : str
        In which modes the chains stay, in words; empty where their draws overlap.
    """

    divergences: int
    rhat: float
    ess: float
    apart: str = ""


def convergence(draws: Draws, names: Sequence[str] | None = None) -> Convergence:
    """Measure how well one subject's chains converged.

    Parameters
    ----------
    draws : Draws
        Each array of shape (chain, draw, ...), with at least 4 draws.
    names : sequence of str, optional
        Of the profile elements; of the latents, where each is one, by default.

    Returns
    -------
    Convergence
        The same numbers as `diagnostics.diagnose` gives.

    References
    ----------
    Vehtari et al. (2021) for the rank-normalised R-hat and the effective sample sizes.

    Examples
    --------
    >>> from measurement_layouts.inference.sampling.draws import Draws
    >>> independent = np.random.default_rng(1).normal(size=(4, 250))
    >>> never = np.zeros((4, 250), dtype=bool)
    >>> found = convergence(Draws({"skill": independent}, {"diverging": never}))
    >>> found.divergences, round(found.rhat, 2), found.ess > 400
    (0, 1.01, True)
    """
    elements = np.concatenate([by_element(values[None])[0] for values in draws.posterior.values()])
    found = mixing(elements)
    rhat, ess = worst(found)
    apart = stay_apart(elements, found.rhat, RHAT_LIMIT, names or list(draws.posterior))
    return Convergence(int(draws.statistics["diverging"].sum()), float(rhat), float(ess), apart)


def faults(convergence: Convergence, chains: int) -> list[str]:
    """Say what is wrong with one subject's sampling.

    Parameters
    ----------
    convergence : Convergence
        As measured.
    chains : int
        How many there are.

    Returns
    -------
    list of str
        Each with what to do, or where the chains stay; none when R-hat is at most 1.01, the
        effective sample size at least 100 per chain, and nothing diverged.

    Examples
    --------
    >>> faults(Convergence(divergences=0, rhat=1.02, ess=900), chains=4)
    ['R-hat 1.0200 above 1.01: draw more']
    >>> faults(Convergence(0, 1.7, 900, "the chains stay in 2 separate modes"), chains=4)
    ['R-hat 1.7000 above 1.01: the chains stay in 2 separate modes']
    """
    found = []
    if convergence.divergences:
        diverged = many(convergence.divergences, "divergence")
        found.append(f"{diverged}: raise target_accept or reparametrise")
    if np.isnan(convergence.rhat):
        found.append("R-hat unknown: it needs at least 2 chains that move")
    elif convergence.rhat > RHAT_LIMIT:
        found.append(
            f"R-hat {convergence.rhat:.4f} above {RHAT_LIMIT}: {convergence.apart or 'draw more'}"
        )
    least = ESS_PER_CHAIN * chains
    if np.isnan(convergence.ess):
        found.append("effective sample size unknown: it needs chains that move")
    elif convergence.ess < least:
        more = "" if convergence.apart else ": draw more"
        found.append(f"effective sample size {convergence.ess:.0f} below {least}{more}")
    return found


def by_element(draws: np.ndarray) -> np.ndarray:
    """Turn a latent's draws, (subject, chain, draw, labels...), to (subject, element, chain, draw).

    Examples
    --------
    >>> by_element(np.zeros((5, 4, 100, 3))).shape, by_element(np.zeros((5, 4, 100))).shape
    ((5, 3, 4, 100), (5, 1, 4, 100))
    """
    return draws.reshape(*draws.shape[:3], math.prod(draws.shape[3:])).transpose(0, 3, 1, 2)


def worst(found: Mixing) -> tuple[np.ndarray, np.ndarray]:
    """Largest R-hat and smallest effective sample size along the last axis; unknown if one is."""
    return found.rhat.max(axis=-1), np.minimum(found.ess_bulk, found.ess_tail).min(axis=-1)
