"""One subject's draws carried on to more outcomes: weighted, chosen anew, and moved."""

from dataclasses import dataclass

import numpy as np

from ...common.messages import many
from ...common.seeds import subject_seed
from ...evaluations.evaluation import SubjectData
from ...layouts.elements import elements
from ..model.prior import noncentred
from ..sampling.convergence import ESS_PER_CHAIN, RHAT_LIMIT, convergence, faults, status
from ..sampling.draws import Draws
from ..sampling.engine import Battery, compile_sampler
from ..sampling.unbounded import LogDensity, points

_WORST_K = 0.7  # Pareto k from which weights are not to be trusted
_FEWEST, _MOST = 4, 32  # moves of each draw
_ENOUGH = 1.5  # times the effective draws that are asked of chains
_ACCEPTED = 0.574  # of Langevin steps, the best part for many elements
_REACH = 1.65  # standard deviations of such a step, times elements to the power of -1/6


@dataclass(frozen=True, eq=False)
class Carried:
    """Result of carrying a subject's draws on to more outcomes.

    Attributes
    ----------
    draws : Draws or None
        None where they would not be accurate.
    why : str
        The measures that say that they are, or the one that says that they are not.
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
    r"""Carry a subject's draws on to more outcomes.

    Draw s of the profile, :math:`\theta_s`, has the weight

    .. math:: w_s \propto \frac{p(y_{all} \mid \theta_s)}{p(y_{old} \mid \theta_s)},

    smoothed by a Pareto distribution. Draws of each chain are chosen anew by their weights and
    moved by Langevin steps, which Metropolis's rule accepts by the posterior of all outcomes, so
    that they are distinct. They are given up where Pareto k is above 0.7, where fewer than 100
    draws a chain stay effective, where the draws had not converged, and where they do not mix after
    32 steps.

    Parameters
    ----------
    battery : Battery
        The layout and all items.
    subject : str
        Its name.
    before, after : SubjectData
        Outcomes that were fitted, and all, on the items of the battery.
    draws : Draws
        Of the posterior given the outcomes that were fitted.
    seed : int
        Of the choice and the moves, beside the subject's name and the number of its trials.

    Returns
    -------
    Carried
        As many chains of as many draws.

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
    moving = _Moving(density, at[_chosen(weights.reshape(chains, length), rng)], rng)
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
    """Smooth weights' tail by a Pareto distribution; they sum to 1, and k says how heavy it is."""
    from arviz_stats.base import array_stats  # takes a while to import

    if np.ptp(ratios) == 0:
        return np.full(ratios.size, 1 / ratios.size), 0.0
    try:
        with np.errstate(all="ignore"):  # of a tail whose values are almost alike
            logs, k = array_stats.psislw(-ratios, r_eff=efficiency)  # it turns the sign
    except ValueError:  # the largest weights are all alike: bounded, and nothing to smooth
        logs, k = ratios, 0.0
    weights = np.exp(logs - logs.max())
    return weights / weights.sum(), float(k)


def _chosen(weights: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Choose draws by their weights within each chain, evenly; places among all draws, in order."""
    size = weights.shape[1]
    ends = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    at = (np.arange(size) + rng.random((len(weights), 1))) / size
    return np.concatenate(
        [
            chain * size + np.searchsorted(end, where).clip(max=size - 1)
            for chain, (end, where) in enumerate(zip(ends, at, strict=True))
        ]
    )


class _Moving:
    """Draws that take steps by which their distribution stays as it is."""

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
        """Offer every draw a step up the density's slope and at random, by Metropolis's rule."""
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
