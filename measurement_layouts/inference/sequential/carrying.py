"""Update of one subject's draws with more outcomes: weighting, resampling and moves."""

from dataclasses import dataclass

import numpy as np

from ...common.messages import many
from ...common.seeds import subject_seed
from ...evaluations.subject_data import SubjectData
from ...layouts.elements import elements
from ..model.prior import noncentred
from ..sampling.convergence import ESS_PER_CHAIN, RHAT_LIMIT, convergence, faults, status
from ..sampling.draws import Draws
from ..sampling.engine import Battery, compile_sampler
from ..sampling.particles import resampled
from ..sampling.unbounded import LogDensity, points

_WORST_K = 0.7  # weights with a larger Pareto k are not reliable
_FEWEST, _MOST = 4, 32  # moves of each draw, at least and at most
_ENOUGH = 1.5  # required effective draws, as a multiple of those required of chains
_ACCEPTED = 0.574  # optimal acceptance rate of Langevin steps with many elements
_REACH = 1.65  # standard deviation of such a step, times the number of elements to the power -1/6


@dataclass(frozen=True, eq=False)
class Carried:
    """Result of updating a subject's draws with more outcomes.

    Attributes
    ----------
    draws : Draws or None
        The updated draws, or None if they would not be accurate.
    why : str
        The diagnostics of accurate draws, or the diagnostic that failed.
    """

    draws: Draws | None
    why: str


def carry_on(
    battery: Battery,
    subject: str,
    before: SubjectData,
    after: SubjectData,
    draws: Draws,
    seed: int,
) -> Carried:
    r"""Update a subject's draws with more outcomes.

    Draw s of the profile, :math:`\theta_s`, has the weight

    .. math:: w_s \propto \frac{p(y_{all} \mid \theta_s)}{p(y_{old} \mid \theta_s)},

    smoothed by a Pareto distribution. The draws of each chain are resampled by their weights. They
    are then moved by Langevin steps with Metropolis acceptance for the posterior of all outcomes,
    which makes them distinct. The update fails if Pareto k is above 0.7, if fewer than 100
    effective draws per chain remain, if the draws had not converged, or if they do not mix within
    32 steps.

    Parameters
    ----------
    battery : Battery
        The layout and all items.
    subject : str
        Name of the subject.
    before, after : SubjectData
        The outcomes that were fitted, and all outcomes, on the items of the battery.
    draws : Draws
        Posterior draws given the outcomes that were fitted.
    seed : int
        Seed of the resampling and the moves, which also depend on the subject's name and its number
        of trials.

    Returns
    -------
    Carried
        The updated draws, with the same numbers of chains and draws.

    References
    ----------
    Chopin (2002), A sequential particle filter method for static models; Vehtari, Simpson, Gelman,
    Yao and Gabry (2024), Pareto smoothed importance sampling.
    """
    layout, names = battery.layout, [element.name for element in elements(battery.layout)]
    measured = convergence(draws, names)
    chains, length = draws.statistics["diverging"].shape
    found = faults(measured, chains)
    if status(found) == "not converged":
        return Carried(None, f"its draws had not converged ({found[-1].partition(':')[0]})")
    at = points(
        layout,
        noncentred(layout, battery.items),
        {name: drawn.reshape(-1, *drawn.shape[2:]) for name, drawn in draws.posterior.items()},
    )
    sampler = compile_sampler(battery)
    density, old = (LogDensity(sampler.on(data)) for data in (after, before))
    ratios = density.at_all(at)[0] - old.at_all(at)[0]
    weights, k = _smoothed(ratios, min(1.0, measured.ess / ratios.size))
    if not k <= _WORST_K:
        return Carried(None, f"Pareto k {k:.2f} above {_WORST_K}")
    effective = min(1.0, measured.ess / ratios.size) / float((weights**2).sum())
    told = f"{effective:,.0f} effective draws"
    if effective < ESS_PER_CHAIN * chains:
        return Carried(None, f"{told} left by the weights, below {ESS_PER_CHAIN * chains}")
    rng = np.random.default_rng(subject_seed(seed, f"{subject} at {after.trials.sum()} trials"))
    moving = _Moving(density, at[resampled(weights.reshape(chains, length), rng)], rng)
    for number in range(1, _MOST + 1):
        moving.move()
        if number < _FEWEST or number % 2:
            continue
        profile = density.profiles(moving.points)
        carried = Draws(
            {
                name: values.reshape(chains, length, *values.shape[1:])
                for name, values in profile.items()
            },
            {
                "diverging": np.zeros((chains, length), dtype=bool),
                "lp": moving.levels.reshape(chains, length),
            },
        )
        reached = convergence(carried, names)
        if reached.rhat <= RHAT_LIMIT and reached.ess >= _ENOUGH * ESS_PER_CHAIN * chains:
            return Carried(carried, f"Pareto k {k:.2f}, {told}, {many(number, 'move')}")
    doubt = faults(reached, chains)
    if not doubt:
        return Carried(carried, f"Pareto k {k:.2f}, {told}, {many(_MOST, 'move')}")
    return Carried(None, f"after {_MOST} moves {doubt[-1].partition(':')[0]}")


def _smoothed(ratios: np.ndarray, efficiency: float) -> tuple[np.ndarray, float]:
    """Smooth the weights' tail by a Pareto distribution; return weights of sum 1, and Pareto k."""
    from arviz_stats.base import array_stats  # takes a while to import

    if np.ptp(ratios) == 0:
        return np.full(ratios.size, 1 / ratios.size), 0.0
    try:
        with np.errstate(all="ignore"):  # the values of the tail may be almost equal
            logs, k = array_stats.psislw(-ratios, r_eff=efficiency)  # it takes negative log ratios
    except ValueError:  # the largest weights are equal, so there is no tail to smooth
        logs, k = ratios, 0.0
    weights = np.exp(logs - logs.max())
    return weights / weights.sum(), float(k)


class _Moving:
    """Draws that are moved by steps which leave the posterior invariant."""

    def __init__(self, density: LogDensity, at: np.ndarray, rng: np.random.Generator) -> None:
        self._density, self._rng = density, rng
        self.points = at
        self.levels, self._slopes = density.at_all(at)
        covariance = np.atleast_2d(np.cov(at, rowvar=False))
        scale = np.sqrt(np.diag(covariance).clip(1e-18))
        correlation = covariance / np.outer(scale, scale)
        self._root = scale[:, None] * np.linalg.cholesky(correlation + 1e-9 * np.eye(len(scale)))
        self._step = _REACH * len(scale) ** (-1 / 6)

    def move(self) -> None:
        """Propose a Langevin step for every draw, and accept it by Metropolis's rule."""
        noise = self._rng.normal(size=self.points.shape)
        ahead = self._step * noise + self._step**2 / 2 * self._slopes @ self._root
        offered = self.points + ahead @ self._root.T
        levels, slopes = self._density.at_all(offered)
        back = (ahead + self._step**2 / 2 * slopes @ self._root) / self._step
        gain = levels - self.levels + ((noise**2).sum(axis=1) - (back**2).sum(axis=1)) / 2
        taken = np.log(self._rng.random(len(gain))) < gain
        self.points = np.where(taken[:, None], offered, self.points)
        self._slopes = np.where(taken[:, None], slopes, self._slopes)
        self.levels = np.where(taken, levels, self.levels)
        self._step *= float(np.exp(taken.mean() - _ACCEPTED))
