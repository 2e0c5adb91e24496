"""Success chances and log-likelihoods on the cells of a cohort, for many draws of the latents."""

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import logsumexp

from ..evaluations.subject_data import EDGE
from ..layouts import Latent
from .evaluator import Draws, Evaluator
from .model.cohort import Cohort

_TOGETHER = 2**16  # numbers of an intermediate result that are computed at a time


class CellEvaluator:
    """The outcome of a layout, prepared for the cells of a cohort.

    Methods take draws by latent as `draws_by_level` returns them, and optionally other values of
    subject constants than the cohort has, shape (subjects, draws or 1).

    Parameters
    ----------
    cohort : Cohort
        Cells, levels and outcomes.

    Examples
    --------
    >>> import pandas as pd
    >>> from measurement_layouts import Capability, Evaluation, Layout, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness)))
    >>> outcomes = pd.DataFrame([[1, 0]], ["Ann"], ["a", "b"])
    >>> items = pd.DataFrame({"smallness": [0.5, 1.0]}, outcomes.columns)
    >>> cohort = Cohort.of_evaluation(layout, Evaluation.from_wide(outcomes, items))
    >>> cells = CellEvaluator(cohort)
    >>> draws = cells.draws_by_level({"sight": np.array([[1.0], [2.0]])})
    >>> cells.chances(draws).round(2)
    array([[0.62, 0.82],
           [0.5 , 0.73]])
    >>> cells.log_likelihood(draws).round(2)
    array([-1.17, -1.51])
    """

    def __init__(self, cohort: Cohort) -> None:
        layout, outcome = cohort.layout, cohort.layout.outcome
        features, covariates = cohort.features, cohort.covariates
        columns = {node.name: features[node.name][cohort.row] for node in layout.row_features}
        columns |= {node.name: covariates[node.name][cohort.subject] for node in layout.covariates}
        codes = {one.name: cohort.subject for one in layout.constants}
        self._constants = {name: covariates[name][:, None] for name in codes if name in covariates}
        self._levels = dict[str, np.ndarray]()
        for latent in layout.latents:
            if latent.plates:
                of_plates = [cohort.codes(plate) for plate in latent.plates]
                flat = np.ravel_multi_index(of_plates, cohort.size(latent.plates))
                self._levels[latent.name], codes[latent.name] = np.unique(flat, return_inverse=True)
        self._cohort, unseen = cohort, outcome.unseen
        averaged = [] if unseen is None else [outcome.expression, unseen.weights]
        targets = [*averaged, outcome]
        self._evaluator = Evaluator(
            layout, targets, columns, len(cohort.row), codes, together=_TOGETHER
        )

    def draws_by_level(self, values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Arrange draws of latents by the levels that occur in the cells.

        Parameters
        ----------
        values : mapping of str to ndarray
            By latent, shape (draws, levels..., labels...).

        Returns
        -------
        dict of str to ndarray
            By latent, shape (levels in the cells, *labels, draws).
        """
        latents = [one for one in self._cohort.layout.latents if one.name in values]
        return {one.name: self._by_level(one, values[one.name]) for one in latents}

    def _by_level(self, latent: Latent, values: np.ndarray) -> np.ndarray:
        labels = [len(names) for names in latent.dims.values()]
        levels = math.prod(self._cohort.size(latent.plates))
        flat = values.reshape(len(values), levels, *labels)
        return np.moveaxis(flat[:, self._levels.get(latent.name, [0])], 0, -1)

    def chances(self, draws: Draws) -> np.ndarray:
        """Compute success probabilities, averaged over what is unseen; shape (cells, draws)."""
        return np.asarray(self._computed(draws)[-1][self._evaluator.row])

    def chances_by_place(self, draws: Draws) -> tuple[np.ndarray, np.ndarray]:
        """Compute success probabilities at each place of what is unseen, and the places' weights.

        Returns
        -------
        ndarray, ndarray
            Both of shape (cells, places, draws).
        """
        chances, weights, _ = self._computed(draws)
        row = self._evaluator.row
        return chances[row], weights[row]

    def log_likelihood(self, draws: Draws) -> np.ndarray:
        """Compute the log-probability of all outcomes, without binomial coefficients.

        Returns
        -------
        ndarray, shape (draws,)
            In nats; NaN where a success probability is undefined.
        """
        won, lost = self._cohort.successes, self._cohort.trials - self._cohort.successes
        if self._cohort.layout.outcome.unseen is not None:
            by_place = self.chances_by_place(draws)
            return np.asarray(log_likelihoods(won, lost, *by_place).sum(axis=0))
        (chances,) = self._computed(draws)
        total = np.zeros(chances.shape[-1])
        for counts, log in ((won, np.log), (lost, _log_of_failure)):
            of_row = np.bincount(self._evaluator.row, counts, len(chances))
            rows = np.flatnonzero(of_row)
            total += of_row[rows] @ log(chances[rows].clip(EDGE, 1 - EDGE))
        return total

    def _computed(self, draws: Draws) -> list[np.ndarray]:
        with np.errstate(all="ignore"):
            return self._evaluator({**self._constants, **draws})


def _log_of_failure(chances: np.ndarray) -> np.ndarray:
    return np.log1p(-chances)


def log_likelihoods(
    successes: np.ndarray,
    failures: np.ndarray,
    chances: np.ndarray,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    r"""Compute log-likelihoods of counts, averaged over the places of what is unseen.

    .. math:: \log \sum_k w_k p_k^{y} (1 - p_k)^{n - y}

    with the weight :math:`w_k` of a place, and the success probability :math:`p_k` given this
    place, which is kept 1e-12 away from 0 and 1. Binomial coefficients are not included.

    Parameters
    ----------
    successes, failures : ndarray of int, shape (cells,)
        Outcomes.
    chances : ndarray, shape (cells, draws), or (cells, places, draws) with weights
        Success probabilities.
    weights : ndarray, shape (cells, places or 1, draws or 1), optional
        Weights of the places, which sum to 1.

    Returns
    -------
    ndarray, shape (cells, draws)
        In nats.

    Examples
    --------
    >>> log_likelihoods(np.array([1]), np.array([1]), np.array([[0.5]])).round(2)
    array([[-1.39]])
    """
    chances = chances.clip(EDGE, 1 - EDGE)
    won, lost = (counts.reshape(-1, *[1] * (chances.ndim - 1)) for counts in (successes, failures))
    logs = won * np.log(chances) + lost * np.log1p(-chances)
    return logs if weights is None else np.asarray(logsumexp(logs, axis=1, b=weights))
