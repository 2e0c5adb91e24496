"""Values of a latent at levels that are not in a fit, given the values that it depends on."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from ...layouts import Latent, Prior
from ...layouts.plates import SUBJECT, plate_name
from ...linking import evaluate
from .alignment import leaves
from .cohort import Cohort, indices
from .quantiles import from_scores


def new_values(
    latent: Latent,
    scores: np.ndarray,
    known: Mapping[str, np.ndarray],
    cohort: Cohort,
    fitted: Mapping[str, float],
    unseen: Collection[str] = (SUBJECT,),
) -> np.ndarray:
    r"""Transform standard normal numbers into values of a latent, distributed as its prior.

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
        When PyMC has no quantile function for the prior's family.
    """
    if not isinstance(latent.prior, tuple):
        return _of_prior(latent, latent.priors[0], scores, known, cohort, fitted, unseen)
    each = [
        _of_prior(latent, prior, scores[..., at], known, cohort, fitted, unseen)
        for at, prior in enumerate(latent.priors)
    ]
    return np.stack(each, axis=-1)


def _of_prior(
    latent: Latent,
    prior: Prior,
    scores: np.ndarray,
    known: Mapping[str, np.ndarray],
    cohort: Cohort,
    fitted: Mapping[str, float],
    unseen: Collection[str],
) -> np.ndarray:
    """Compute values of one prior, with the labels of the scores."""
    dims = tuple(cohort.layout.dims)
    plates = len(latent.plates)
    labels = latent.label_dims if scores.ndim > 1 + plates else ()
    parts: dict[str, Any] = {
        part.name: _laid(part, known[part.name], latent, cohort)
        for value in prior.parents
        for part in leaves(value)
    }
    parameters = {}
    for name, value in prior.shown:
        found: Any = np.asarray(evaluate(value, parts, dims))
        absent = [1 + plates + axis for axis, dim in enumerate(dims) if dim not in labels]
        parameters[name] = found.squeeze(tuple(absent)) if found.ndim else found
    if not prior.zero_sum_axes:
        return from_scores(latent.name, prior, parameters, scores)
    for axis, plate in list(enumerate(latent.plates, start=1))[plates - prior.zero_sum_axes :]:
        name = plate_name(plate)
        old, new = np.split(scores, [0 if name in unseen else int(fitted[name])], axis=axis)
        mean = old.mean(axis=axis, keepdims=True) if old.size else 0.0
        scores = np.concatenate([old - mean, new * (1 + 1 / fitted[name]) ** 0.5], axis=axis)
    return np.asarray(parameters["sigma"] * scores)


def _laid(part: Any, values: np.ndarray, latent: Latent, cohort: Cohort) -> np.ndarray:
    """Return a node's values for each level of a latent: (draws, levels..., layout's labels)."""
    at = indices(cohort, part, latent.plates)
    plates = (None,) * len(latent.plates)
    taken = values[(slice(None), *(at or plates))]
    has = [dim in part.label_dims for dim in cohort.layout.dims]
    return np.asarray(taken[(..., *(slice(None) if there else None for there in has))])
