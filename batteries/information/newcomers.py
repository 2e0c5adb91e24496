"""Success of a newcomer as a function of its profile, given the joint fit of others."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...evaluations.evaluation import Evaluation
from ...inference.forecasts.blocks import Block
from ...inference.forecasts.reading import root
from ...inference.population.joining import Joined, shared_draws
from ...inference.population.target import Target
from ...inference.posterior.posterior import Posterior
from ...layouts.plates import ITEM
from .sensitivity import Sensitivity, evenly

_MOST = 4000  # draws of newcomers, from which some are chosen
_EFFECTS = 24  # draws of the items' effects, over which a probability is averaged


@dataclass(frozen=True, eq=False)
class Newcomers(Sensitivity):
    r"""Draws of newcomers' profiles, each with a draw of the population's parameters.

    The success probability of a profile on item i, with draw d of the population's parameters, is
    averaged over J draws of the items' effects, the same for all profiles:

    .. math:: \bar p_i(\theta, \varphi_d) = \frac{1}{J} \sum_j p_i(\theta, \varphi_d, \beta_{ij}),

    from the posterior if the item is in the fit, and otherwise from their prior given the shared
    values. An answer is therefore the less informative, the less is known of the item.

    Attributes
    ----------
    target : Target
        The newcomer on the bank, with the chosen draws of the population's parameters.
    effects : dict of str to ndarray
        J draws of each latent with values per item, shape (J, levels..., labels...).
    """

    target: Target
    effects: dict[str, np.ndarray]

    @classmethod
    def joining(
        cls,
        fit: Posterior,
        bank: pd.DataFrame,
        people: pd.DataFrame,
        draws: int,
        seed: int,
    ) -> "Newcomers":
        """Draw newcomers to the population of a joint fit.

        Parameters
        ----------
        fit : Posterior
            Joint fit of the others.
        bank : DataFrame
            Items, indexed by name; an item may be repeated.
        people : DataFrame
            Properties of the newcomers, one row.
        draws : int
            Number of draws that are chosen.
        seed : int
            Seed of all draws.

        Raises
        ------
        DataError
            When the bank or the properties do not fit the layout.
        FitError
            When new values are to be drawn from a family without quantiles in PyMC.
        """
        layout, rng = fit.layout, np.random.default_rng([seed, 5])
        first, own = np.unique(bank.index, return_index=True, return_inverse=True)[1:]
        items = bank.iloc[first]
        trials = pd.DataFrame(1, people.index, items.index)
        joined = Joined.of(fit, Evaluation(items, 0 * trials, trials, subjects=people))
        shared = shared_draws(fit, joined, rng)
        every = Target(joined, shared)
        places = rng.permutation(np.resize(rng.permutation(every.count), _MOST))
        values = every.values(rng.normal(size=(_MOST, len(every.active))), places)
        drawn = np.concatenate(
            [values[latent.name].reshape(_MOST, -1) for latent in layout.profile], axis=1
        )
        chosen = evenly(drawn, draws, rng)
        some = rng.choice(every.count, min(_EFFECTS, every.count), replace=False)
        effects, above = dict[str, np.ndarray](), dict[str, np.ndarray]()
        for latent in (latent for latent in layout.latents if latent.name in shared):
            if any(root(plate) == ITEM for plate in latent.plates):
                effects[latent.name] = shared[latent.name][some]
            else:
                above[latent.name] = shared[latent.name][places[chosen]]
        order = np.argsort(own, kind="stable")
        return cls(
            layout,
            drawn[chosen],
            drawn.std(axis=0, ddof=1),
            np.linalg.pinv(np.atleast_2d(np.cov(drawn, rowvar=False))),
            Block.of(layout, {}, order, own[order]),
            [],
            {},
            replace(every, shared=above),
            effects,
        )

    def success(self, profiles: np.ndarray, part: slice) -> np.ndarray:
        """Compute success of profiles on the different rows; shape (draws, rows)."""
        values, start = {}, 0
        for latent in self.layout.profile:
            shape = len(profiles), 1, *map(len, latent.dims.values())
            end = start + int(np.prod(shape[2:], dtype=int))
            values[latent.name] = profiles[:, start:end].reshape(shape)
            start = end
        places = np.arange(len(self.draws))[part]
        found = [target.chances_of(values, places).T for target in self._targets()]
        return np.mean(found, axis=0)

    def _targets(self) -> Iterator[Target]:
        """Take the items' effects, one draw after the other."""
        if not self.effects:
            yield self.target
            return
        for each in zip(*self.effects.values(), strict=True):
            same = {
                name: np.broadcast_to(values, (len(self.draws), *values.shape))
                for name, values in zip(self.effects, each, strict=True)
            }
            yield replace(self.target, shared={**self.target.shared, **same})
