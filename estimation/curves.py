"""Log-likelihoods of subjects along the range of a layout's only latent."""

from collections.abc import Callable, Iterator

import numpy as np

from ..evaluations.evaluation import EDGE, Evaluation, SubjectData
from ..inference.sampling.engine import Battery
from ..inference.sampling.grid.posterior import Chances
from ..layouts import Latent

UNDEFINED = -1e10  # nats of a likelihood that has no value


class Curves:
    r"""Log-likelihoods of outcomes, in the order in which they came.

    .. math:: \ell(\theta) = \sum_i k_i \log P_i(\theta) + (n_i - k_i) \log(1 - P_i(\theta))

    Probabilities stay 1e-12 away from 0 and 1, as in `fit`. Items alike are one.

    Parameters
    ----------
    battery : Battery
        A layout of one latent without labels, and items.
    evaluation : Evaluation
        Outcomes of the subjects.

    Attributes
    ----------
    latent : Latent
        Whose values are the places.
    subjects : list of str
        Numbered in this order.
    chances : Chances
        Of the items that differ, with constants that stand for any subject's.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Layout, Success
    >>> coin = Layout("coin", Success("heads", Capability("p", low=0, high=1)))
    >>> counts = [pd.DataFrame({"toss": [number]}, index=["Ann"]) for number in (3, 4)]
    >>> tosses = Evaluation(pd.DataFrame(index=["toss"]), *counts)
    >>> curves = Curves(Battery.of(coin, tosses), tosses)
    >>> curves.over(np.array([0.5, 0.75])).round(2)
    array([[-2.77, -2.25]])
    """

    def __init__(self, battery: Battery, evaluation: Evaluation) -> None:
        layout = battery.layout
        (self.latent,) = layout.latents
        self.subjects = evaluation.subjects
        features, kind = battery.kinds
        everybody = [SubjectData.of(evaluation, subject) for subject in self.subjects]
        right = [np.bincount(kind, one.successes) for one in everybody]
        wrong = [np.bincount(kind, one.trials - one.successes) for one in everybody]
        self._right, self._wrong = np.stack(right).astype(float), np.stack(wrong).astype(float)
        size = int(kind.max()) + 1
        own = [tuple(one.constants[name.name] for name in layout.constants) for one in everybody]
        known = list(dict.fromkeys(own))
        self._group = np.array([known.index(constants) for constants in own])
        names = [constant.name for constant in layout.constants]
        self._chances = [
            Chances(layout, features, size, dict(zip(names, constants, strict=True)))
            for constants in known
        ]
        self.chances = Chances(layout, features, size, dict.fromkeys(names, 0.5))

    def over(self, places: np.ndarray, who: np.ndarray | None = None) -> np.ndarray:
        """Compute log-likelihoods of subjects, all by default, at the same places.

        Returns
        -------
        ndarray, shape (subjects, places)
            In nats.
        """
        rows = np.arange(len(self.subjects)) if who is None else who
        found = np.empty((len(rows), len(places)))
        for number in np.unique(self._group[rows]):
            mine = np.flatnonzero(self._group[rows] == number)
            right, wrong = self._right[rows[mine]], self._wrong[rows[mine]]
            for some, chance in bounded(self._chances[number], self.latent, places):
                found[mine, some] = right @ np.log(chance).T + wrong @ np.log1p(-chance).T
        return defined(found)

    def at(self, places: np.ndarray, who: np.ndarray) -> np.ndarray:
        """Compute log-likelihoods, each at a place and of a subject of its own.

        Parameters
        ----------
        places, who : ndarray, shape (places,)
            Values of the latent, and numbers of subjects.

        Returns
        -------
        ndarray, shape (places,)
            In nats.
        """
        found = np.empty(len(places))
        who = np.asarray(who, dtype=int)
        groups = self._group[who]
        for number in np.unique(groups):
            mine = np.flatnonzero(groups == number)
            for some, chance in bounded(self._chances[number], self.latent, places[mine]):
                rows = who[mine[some]]
                found[mine[some]] = np.vecdot(np.log(chance), self._right[rows])
                found[mine[some]] += np.vecdot(np.log1p(-chance), self._wrong[rows])
        return defined(found)

    def among(self, some: np.ndarray) -> Callable[[np.ndarray, np.ndarray], np.ndarray]:
        """Give `at` with subjects numbered as they are in a part of all."""
        return lambda places, rows: self.at(places, some[rows])

    def of(self, number: int) -> Callable[[np.ndarray], np.ndarray]:
        """Give one subject's curve, from values of any shape to log-likelihoods."""

        def curve(values: np.ndarray) -> np.ndarray:
            places = np.asarray(values, dtype=float)
            found = self.at(places.ravel(), np.full(places.size, number))
            return found.reshape(places.shape)

        return curve


def bounded(
    chances: Chances, latent: Latent, places: np.ndarray
) -> Iterator[tuple[slice, np.ndarray]]:
    """Compute success probabilities away from 0 and 1; some places at a time, (places, items)."""
    outcome, dims = chances.layout.outcome.expression, len(chances.layout.dims)
    for some, found in chances.of(outcome, {latent.name: places}, places.shape):
        chance = found.reshape(found.shape[: found.ndim - dims])
        chance = np.broadcast_to(chance, (some.stop - some.start, chances.items))
        yield some, np.clip(chance, EDGE, 1 - EDGE)


def defined(logs: np.ndarray) -> np.ndarray:
    """Put next to nothing where a logarithm has no value."""
    return np.where(np.isfinite(logs), logs, UNDEFINED)
