"""A layout's log-density as terms."""

from typing import Any

import numpy as np
import pymc as pm
import pytensor.tensor as pt
from pytensor.graph import rewrite_graph

from ...layouts import Layout
from ...layouts.outcomes.unseen import SCORES
from ...linking import evaluate
from ..kernel.terms import LogDensity
from .alignment import align
from .prior import profile_variables
from .translate import Translator

_REWRITES = ("canonicalize", "stabilize", "local_remove_check_parameter")


def log_density(
    layout: Layout, deviations: frozenset[str] = frozenset()
) -> tuple[LogDensity, np.ndarray]:
    """Translate a layout.

    Parameters
    ----------
    layout : Layout
        What joins items and profile.
    deviations : frozenset of str
        Latents sampled as deviations from their location, as `noncentred` names them.

    Returns
    -------
    LogDensity
        Its terms.
    ndarray, shape (length,)
        Where PyMC would start the sampler.

    Raises
    ------
    UnsupportedError
        When an operation has no term; PyMC's own compilation then serves.
    LayoutError
        When PyMC does not take a prior.
    """
    dims = tuple(layout.dims)
    known: dict[str, Any] = {}
    with pm.Model(coords={dim: list(labels) for dim, labels in layout.dims.items()}) as model:
        translator = Translator({dim: len(labels) for dim, labels in layout.dims.items()})
        for feature in layout.row_features:
            shape = (None, *map(len, feature.dims.values()))
            variable = pt.tensor(feature.name, dtype="float64", shape=shape)
            translator.feature(variable, feature.name, feature.label_dims)
            known[feature.name] = align(variable, feature, dims, per_item=True)
        for constant in layout.constants:
            known[constant.name] = pt.dscalar(constant.name)
            translator.own(known[constant.name], constant.name)
        unseen = layout.outcome.unseen
        if unseen is not None:
            scores = pt.tensor(unseen.scores.name, dtype="float64", shape=(len(SCORES),))
            translator.numbers(scores, SCORES, unseen.dim)
            places = [slice(None) if dim == unseen.dim else None for dim in dims]
            known[unseen.scores.name] = scores[tuple(places)]
        variables = profile_variables(layout, deviations)
        for latent in layout.latents:
            known[latent.name] = align(variables[latent.name], latent, dims, per_item=False)
        parts = [evaluate(layout.outcome.expression, known, dims)]
        if unseen is not None:
            parts.append(evaluate(unseen.weights, known, dims))
        prior = model.logp(vars=model.free_RVs, jacobian=True)
        latents = [variables[latent.name] for latent in layout.latents]
        for latent, variable in zip(layout.latents, latents, strict=True):
            translator.point(model.rvs_to_values[variable], latent.label_dims)
        start = model.initial_point()
        parts = [pt.as_tensor(part) for part in parts]
        graphs = model.replace_rvs_by_values([*latents, *parts])
    outputs = rewrite_graph([prior, *graphs], include=_REWRITES)
    found = translator.run(outputs)
    profile, (probability, *weights) = found[1 : 1 + len(latents)], found[1 + len(latents) :]
    density = LogDensity(
        translator.terms,
        found[0],
        probability,
        tuple(profile),
        translator.length,
        weights[0] if weights else None,
    )
    first = [np.ravel(start[model.rvs_to_values[variable].name]) for variable in latents]
    return density, np.concatenate(first).astype(float)
