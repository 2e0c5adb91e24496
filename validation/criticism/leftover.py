"""What a layout leaves over of one subject's outcomes."""

from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from ...inference.fit import Fit
from ...inference.forecasts.likelihood import Attempted
from ...inference.forecasts.streaming import probabilities
from ...inference.posterior.posterior import posterior_draws
from ...layouts.elements import elements
from .expansion import Columns, Expansion, constant, expand, log_odds, tangent
from .overdispersion import Repeated

_DRAWS = 256  # posterior draws that are kept, evenly spaced
_MEMORY_MIB = 64.0


@dataclass(frozen=True, eq=False)
class Leftover:
    """One subject's outcomes beside a layout's forecast of them.

    Attributes
    ----------
    names : Index of str
        Items it attempted.
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    mean : ndarray, shape (items,)
        The layout's forecast: posterior mean of the probability of success.
    draws : ndarray, shape (items, draws)
        That probability for some hundred posterior draws.
    own : Columns
        A constant, and what the layout's own elements can do.
    groups : ndarray of int, shape (items,)
        Which item each row is of; where rows are steps, which outcome of which item.
    profiles : ndarray, shape (draws, elements)
        The same draws of the profile.
    offset : ndarray, shape (items,)
        Log-odds of the forecast.
    """

    names: pd.Index
    successes: np.ndarray
    trials: np.ndarray
    mean: np.ndarray
    draws: np.ndarray
    own: Columns
    groups: np.ndarray
    profiles: np.ndarray
    offset: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "offset", log_odds(self.mean))

    @classmethod
    def of(cls, fit: Fit, row: int) -> "Leftover":
        """Read a subject's outcomes and posterior from a fit, by its place."""
        items = Attempted.of(fit, row)
        sizes = fit.posterior.sizes
        every = sizes["chain"] * sizes["draw"]
        kept = np.linspace(0, every - 1, min(every, _DRAWS)).round().astype(int)
        mean, draws = np.empty(len(items.names)), np.empty((len(items.names), len(kept)))
        parts = probabilities(fit, row, items.features, len(mean), memory_mib=_MEMORY_MIB)
        for places, chances in parts:
            mean[places], draws[places] = chances.mean(axis=1), chances[:, kept]
        known, who = elements(fit.layout), fit.subjects[row]
        own = constant(len(mean)).beside(tangent(draws, items.trials, len(known)))
        groups = np.arange(len(mean)) if items.steps is None else items.steps.first
        profiles = np.stack([posterior_draws(fit, each, who)[kept] for each in known], axis=1)
        counts = items.successes, items.trials
        return cls(items.names, *counts, mean, draws, own, groups, profiles)

    def expand(self, *columns: Columns, start: Expansion | None = None) -> Expansion:
        """Infer the coefficients of columns beside the layout's forecast.

        Parameters
        ----------
        *columns : Columns
            What is added, besides what the layout's own elements can do.
        start : Expansion, optional
            One of the same columns but the last ones, to begin with.
        """
        first = None if start is None else start.coefficients
        return expand(self.offset, self.successes, self.trials, self.own.beside(*columns), first)

    def repeated(self) -> Repeated:
        """Hold outcomes against the layout alone, to see how they spread over items."""
        centred = self.profiles - self.profiles.mean(axis=0)
        pulls = log_odds(self.draws) @ centred / (len(centred) - 1)
        variances = np.maximum(centred.var(axis=0, ddof=1), np.finfo(float).tiny)
        counts = self.successes, self.trials, self.groups
        return Repeated(*counts, self.expand(), pulls, variances)
