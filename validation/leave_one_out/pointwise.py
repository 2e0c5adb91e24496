"""Log-likelihood of each item that a subject attempted, for every draw of its profile."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import gammaln, xlog1py, xlogy

from ...evaluations.evaluation import EDGE
from ...evaluations.steps import Rows
from ...inference.forecasts.blocks import group_alike
from ...inference.forecasts.streaming import every_draw, probabilities
from ...inference.model.alignment import Features
from ...inference.posterior.posterior import Posterior
from .averaged import FAILURES, SUCCESSES, Averaged

_MEMORY_MIB = 8.0  # on the way to the probabilities; the logarithms take as much again
_ITEMS_AT_A_TIME = 2**21  # times draws: 16 MiB
_AVERAGED_MIB = 32.0  # with 121 places for each item and draw


@dataclass(frozen=True, eq=False)
class Attempted:
    """Training items that one subject attempted, and what came of them.

    Attributes
    ----------
    names : Index of str
        The items, in the fit's order.
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    steps : Rows or None
        What they are steps of, where they are not items.
    """

    names: pd.Index
    successes: np.ndarray
    trials: np.ndarray
    features: Features

    steps: Rows | None = None

    @property
    def items(self) -> pd.Index:
        """The items, each once."""
        return self.names if self.steps is None else self.steps.items

    @classmethod
    def of(cls, fit: Posterior, row: int) -> "Attempted":
        """Read them from a fit, by the subject's place."""
        observed, constants = fit.observed, fit.constants
        own = {name: observed[name][row].to_numpy() for name in ("successes", "trials")}
        names = observed.indexes["item"].map(str)
        features = {
            feature.name: constants[feature.name].to_numpy() for feature in fit.layout.row_features
        }
        steps = None if fit.layout.steps is None else Rows.read(names)
        everything = cls(names, **own, features=features, steps=steps)
        return everything.take(np.flatnonzero(own["trials"] > 0))

    def take(self, places: np.ndarray) -> "Attempted":
        """Keep some of them."""
        return Attempted(
            self.names[places],
            self.successes[places],
            self.trials[places],
            {name: values[places] for name, values in self.features.items()},
            None if self.steps is None else Rows.read(self.names[places]),
        )

    def different(self) -> tuple["Attempted", np.ndarray]:
        """Keep one of those alike in properties and outcomes, and say which one stands for each."""
        told_apart = {**self.features, "": np.stack([self.successes, self.trials], axis=1)}
        order, number = group_alike(told_apart, len(self.names))
        which = np.empty(len(order), dtype=int)
        which[order] = number
        return self.take(order[np.flatnonzero(np.diff(number, prepend=-1))]), which


def log_likelihood(
    fit: Posterior, row: int, items: Attempted
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""Stream a subject's log-likelihood, some items at a time.

    .. math:: \log p(y_i \mid \theta_s) = \log \binom{n_i}{y_i} + y_i \log p_{is}
        + (n_i - y_i) \log(1 - p_{is})

    with the success probability :math:`p_{is}` of item i under draw s kept 1e-12 away from 0 and 1,
    as the fitted model has it. Where the item has something unseen, which its trials share, the
    likelihood is averaged over that; see `Averaged`.

    Parameters
    ----------
    fit : Posterior
        Draws; this subject's are read once.
    row : int
        Place of the subject in the fit.
    items : Attempted
        Items and outcomes.

    Yields
    ------
    places : ndarray of int
        Which of the items.
    values : ndarray, shape (places, chains, draws)
        In nats; a few MiB at a time.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> [values.shape for _, values in log_likelihood(result, 0, Attempted.of(result, 0))]
    [(69, 2, 100)]
    """
    sizes = fit.posterior.sizes
    failures = items.trials - items.successes
    ways = gammaln(items.trials + 1) - gammaln(items.successes + 1) - gammaln(failures + 1)
    for places, values in _in_one_order(fit, row, items, failures):
        values += ways[places, None]
        yield places, values.reshape(len(places), sizes["chain"], sizes["draw"])


def whole_items(fit: Posterior, row: int, rows: Attempted, steps: Rows) -> Iterator[np.ndarray]:
    """Stream the log-likelihood of items with all their steps, (chains, draws), in order."""
    sizes = fit.posterior.sizes
    drawn = sizes["chain"], sizes["draw"]
    together = max(1, _ITEMS_AT_A_TIME // (drawn[0] * drawn[1]))
    for start in range(0, len(steps.items), together):
        stop = min(start + together, len(steps.items))
        own = np.flatnonzero((steps.places >= start) & (steps.places < stop))
        total = np.zeros((stop - start, *drawn))
        for places, values in log_likelihood(fit, row, rows.take(own)):
            np.add.at(total, steps.places[own[places]] - start, values)
        yield from total


def _in_one_order(
    fit: Posterior, row: int, items: Attempted, failures: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Stream the log-likelihood of outcomes that came in one order, (places, all draws)."""
    outcome, count = fit.layout.outcome, len(items.names)
    if outcome.unseen is not None:
        known = {SUCCESSES.name: items.successes, FAILURES.name: failures, **items.features}
        target = Averaged(outcome, outcome.unseen)
        yield from every_draw(fit, row, known, count, target, memory_mib=_AVERAGED_MIB)
        return
    parts = probabilities(fit, row, items.features, count, memory_mib=_MEMORY_MIB)
    for places, chances in parts:
        np.clip(chances, EDGE, 1 - EDGE, out=chances)
        values = xlogy(items.successes[places, None], chances)
        values += xlog1py(failures[places, None], np.negative(chances, out=chances))
        yield places, values
