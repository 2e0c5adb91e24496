"""Values of latents at levels: draws of a fit, and draws from the prior at levels that are new."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import numpy as np

from ...common.seeds import subject_seed
from ...layouts import Latent, Node, Prior
from ...layouts.plates import SUBJECT, plate_name
from ...linking import Expr, evaluate
from .alignment import align, leaves
from .cohort import Cohort, indices
from .families import from_scores


def parents(expression: Expr) -> list[Latent]:
    """Return the latents that a prior's parameter depends on directly."""
    return [leaf for leaf in leaves(expression) if isinstance(leaf, Latent)]


type ValuesOf = Callable[[Node], np.ndarray]
"""Function that returns a node's values at levels: (draws or 1, levels..., labels...)."""


def parameter_at(
    cohort: Cohort, expression: Expr, axes: int, labels: Collection[str], values_of: ValuesOf
) -> np.ndarray:
    """Compute a parameter of a prior at levels of its latent.

    Parameters
    ----------
    cohort : Cohort
        Cohort with the layout.
    expression : Expr
        The parameter.
    axes : int
        Number of axes of draws and levels.
    labels : collection of str
        Label dimensions of the prior; empty for the prior of one label.
    values_of : callable
        Function that returns the values of a latent or covariate at these levels.

    Returns
    -------
    ndarray, shape (draws or 1, levels or 1..., labels or 1...)
        Values of the parameter.
    """
    dims = tuple(cohort.layout.dims)
    values = {
        node.name: align(values_of(node), node, dims, leading=axes - 1, per_item=True)
        for node in leaves(expression)
    }
    computed = np.asarray(evaluate(expression, values, dims), dtype=float)
    computed = computed.reshape((1,) * (axes + len(dims) - computed.ndim) + computed.shape)
    absent = (axes + axis for axis, dim in enumerate(dims) if dim not in labels)
    return computed.squeeze(tuple(absent))


def at_all_levels(cohort: Cohort, latent: Latent, values: Mapping[str, np.ndarray]) -> ValuesOf:
    """Return a function for `parameter_at`: values of nodes at all levels of a latent.

    Parameters
    ----------
    cohort : Cohort
        Levels of the plates.
    latent : Latent
        The latent whose prior has the parameter.
    values : mapping of str to ndarray
        By latent and covariate, shape (draws or 1, levels..., labels...).
    """

    def values_of(node: Node) -> np.ndarray:
        levels = indices(cohort, node, latent.plates) or (None,) * len(latent.plates)
        return np.asarray(values[node.name][(slice(None), *levels)])

    return values_of


def new_values(
    latent: Latent,
    scores: np.ndarray,
    known: Mapping[str, np.ndarray],
    cohort: Cohort,
    fitted: Mapping[str, float],
    unseen: Collection[str] = (SUBJECT,),
) -> np.ndarray:
    r"""Transform standard normal numbers into values of a latent at all levels of a cohort.

    Values that sum to zero over the n fitted levels of a plate, with standard deviation s, are

    .. math:: s (z_k - \bar z) \quad\text{(fitted)}, \qquad s \sqrt{1 + 1/n}\, z \quad\text{(new)}

    Parameters
    ----------
    latent : Latent
        The latent.
    scores : ndarray, shape (draws, levels..., labels...)
        Standard normal numbers.
    known : mapping of str to ndarray
        Values of the latents and covariates that its prior depends on, shape (draws or 1,
        levels..., labels...).
    cohort : Cohort
        Levels of the plates; fitted levels come first.
    fitted : mapping of str to float
        Number of fitted levels by plate.
    unseen : collection of str
        Plates of which all levels of the cohort are new (default: subjects).

    Returns
    -------
    ndarray
        Values, of the shape of `scores`.

    Raises
    ------
    FitError
        When the prior's family has no quantile function here; see `families.from_scores`.
    """

    def summing_to_zero(scores: np.ndarray, plates: int) -> np.ndarray:
        for axis, plate in list(enumerate(latent.plates, start=1))[len(latent.plates) - plates :]:
            name = plate_name(plate)
            count = 0 if name in unseen else int(fitted[name])
            old, new = np.split(scores, [count], axis=axis)
            mean = old.mean(axis=axis, keepdims=True) if count else 0.0
            scores = np.concatenate([old - mean, new * (1 + 1 / fitted[name]) ** 0.5], axis=axis)
        return scores

    axes, values_of = 1 + len(latent.plates), at_all_levels(cohort, latent, known)
    return _of_priors(cohort, latent, scores, axes, values_of, summing_to_zero)


def _of_priors(
    cohort: Cohort,
    latent: Latent,
    scores: np.ndarray,
    axes: int,
    values_of: ValuesOf,
    summing_to_zero: Callable[[np.ndarray, int], np.ndarray],
) -> np.ndarray:
    """Transform scores by the prior of all labels, or by that of each label."""

    def of_prior(prior: Prior, scores: np.ndarray, labels: tuple[str, ...]) -> np.ndarray:
        parameters = {
            name: parameter_at(cohort, value, axes, labels, values_of)
            for name, value in prior.shown
        }
        if prior.zero_sum_axes:
            scores = summing_to_zero(scores, prior.zero_sum_axes)
        return from_scores(latent.name, prior, parameters, scores)

    if not isinstance(latent.prior, tuple):
        return of_prior(latent.priors[0], scores, latent.label_dims)
    by_label = zip(latent.priors, np.moveaxis(scores, -1, 0), strict=True)
    return np.stack([of_prior(prior, label, ()) for prior, label in by_label], axis=-1)


@dataclass(frozen=True, eq=False)
class Levels:
    r"""Draws of a joint fit's latents, also at levels that are not in the fit.

    A new level has one value per posterior draw, drawn from its prior given the other values of
    that draw. The value depends only on the seed and on the names of the latent and of the level,
    so that it is the same in every forecast. If the latent sums to zero over n levels, the value of
    a new level has the distribution

    .. math:: \mathrm{Normal}(0, s \sqrt{1 + 1/n})

    which is that of the difference between another independent value and the mean of n. If the
    latent sums to zero over several plates, each contributes such a factor, which is
    :math:`\sqrt{1 - 1/n}` where the level of that plate is in the fit.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, followed by new levels.
    fitted : dict of str to int
        By plate, the number of levels of the fit.
    fit_draws : callable
        Function of a latent and of levels of the fit that returns draws, as `at` does.
    draws : int
        Number of draws.
    seed : int
        Seed of the draws from the prior.
    """

    cohort: Cohort
    fitted: Mapping[str, int]
    fit_draws: Callable[[Latent, np.ndarray], np.ndarray]
    draws: int
    seed: int

    def at(self, latent: Latent, codes: np.ndarray) -> np.ndarray:
        """Return draws at levels of a latent's plates.

        Parameters
        ----------
        latent : Latent
            The latent.
        codes : ndarray of int, shape (levels, plates)
            Positions of the levels in the cohort.

        Returns
        -------
        ndarray, shape (draws, levels, labels)
            Draws; the last axis is absent if the latent has no labels.

        Raises
        ------
        FitError
            When values at a new level cannot be drawn from the prior.
        """
        counts = np.array([self.fitted[plate_name(plate)] for plate in latent.plates], dtype=int)
        new = (codes >= counts).any(axis=1)
        if not new.any():
            return self.fit_draws(latent, codes)
        drawn = self._draw(latent, codes[new], counts)
        values = np.empty((len(drawn), len(codes), *drawn.shape[2:]))
        values[:, new] = drawn
        values[:, ~new] = self.fit_draws(latent, codes[~new])
        return values

    def _draw(self, latent: Latent, codes: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """Draw values at new levels from the prior, given the draws of its parameters."""
        names = [plate_name(plate) for plate in latent.plates]
        shape = (self.draws, *map(len, latent.dims.values()))
        scores = np.zeros((self.draws, len(codes), *shape[1:]))
        for column, level in enumerate(codes):
            named = [
                self.cohort.levels[name][code] for name, code in zip(names, level, strict=True)
            ]
            rng = np.random.default_rng(subject_seed(self.seed, repr((latent.name, *named))))
            scores[:, column] = rng.standard_normal(shape)

        def values_of(node: Node) -> np.ndarray:
            levels = indices(self.cohort, node, latent.plates, tuple(codes.T))
            if isinstance(node, Latent):
                none = np.zeros((1, 0), dtype=int)
                return self.at(node, np.stack(levels, axis=1) if levels else none)
            return np.asarray(self.cohort.covariates[node.name][levels][None])

        def summing_to_zero(scores: np.ndarray, plates: int) -> np.ndarray:
            factors = 1 + np.where(codes >= counts, 1, -1) / counts
            scale = np.sqrt(factors[:, -plates:]).prod(axis=1)
            return np.asarray(scores * scale.reshape(-1, *(1 for _ in scores.shape[2:])))

        return _of_priors(self.cohort, latent, scores, 2, values_of, summing_to_zero)
