"""From the subjects' draws to one tree of arrays."""

import json
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
import xarray as xr

from ..layouts import Layout
from .compiler import SubjectData
from .data import Evaluation
from .features import Features
from .prior import draw_prior
from .results import Fit
from .sampling import Draws, SamplingOptions

_SAMPLED = ("subject", "chain", "draw")


def assemble(
    layout: Layout,
    evaluation: Evaluation,
    features: Features,
    found: Mapping[str, Draws],
    failures: Mapping[str, str],
    options: SamplingOptions,
    seed: int,
) -> Fit:
    """Put the subjects' draws, their data and what made them into one tree.

    Parameters
    ----------
    layout : Layout
        What was fitted.
    evaluation : Evaluation
        To what.
    features : dict of str to ndarray
        Its meta-features, shape (items,) or (items, labels).
    found : mapping of str to Draws
        By subject; emptied, so that the draws of many subjects lie in memory once.
    failures : mapping of str to str
        By subject, why there are none.
    options : SamplingOptions
        How they were sampled.
    seed : int
        From which seed.

    Returns
    -------
    Fit
        Subjects in the evaluation's order.
    """
    subjects = [subject for subject in evaluation.subjects if subject in found]
    labels = {dim: list(names) for dim, names in layout.dims.items()}
    who = {"subject": subjects}
    items = {"item": list(evaluation.items.index)}
    sampled = who | {"chain": np.arange(options.chains), "draw": np.arange(options.draws)}
    posterior = {
        latent.name: (
            (*_SAMPLED, *latent.label_dims),
            np.stack([found[subject].posterior.pop(latent.name) for subject in subjects]),
        )
        for latent in layout.latents
    }
    statistics = {
        name: (_SAMPLED, np.stack([found[subject].statistics.pop(name) for subject in subjects]))
        for name in list(found[subjects[0]].statistics)
    }
    prior = {
        name: (("chain", "draw", *layout.nodes[name].label_dims), np.array(drawn[None]))
        for name, drawn in draw_prior(layout).items()
    }
    outcomes = {
        name: (("subject", "item"), getattr(evaluation, name).loc[subjects].to_numpy())
        for name in ("successes", "trials")
    }
    constant_data: dict[str, Any] = {
        feature.name: (("item", *feature.label_dims), features[feature.name])
        for feature in layout.meta_features
    }
    brought = [SubjectData.of(evaluation, subject).constants for subject in subjects]
    constant_data |= {
        constant.name: ("subject", np.array([own[constant.name] for own in brought]))
        for constant in layout.constants
    }
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(posterior, sampled | labels),
            "sample_stats": xr.Dataset(statistics, sampled),
            "prior": xr.Dataset(prior, labels),
            "observed_data": xr.Dataset(outcomes, who | items),
            "constant_data": xr.Dataset(constant_data, who | items | labels),
        }
    )
    tree.attrs = {
        "layout": json.dumps(layout.to_dict()),
        "fingerprint": layout.fingerprint,
        "measurement_layouts": version("measurement-layouts"),
        "seed": seed,
        "tune": options.tune,
        "target_accept": options.target_accept,
        "failures": json.dumps(dict(failures)),
    }
    return Fit(layout, tree, dict(failures))
