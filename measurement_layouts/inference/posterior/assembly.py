"""Assembly of the subjects' draws into one tree of arrays."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import xarray as xr

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...layouts import Latent, Layout
from ...layouts.plates import SUBJECT, plate_name
from ..model.alignment import Features
from ..model.cohort import Cohort
from ..sampling.draws import Sampled, SamplingOptions
from .posterior import Posterior, observed_data

SAMPLED = ("subject", "chain", "draw")
FAULTS = "faults"  # attribute of a fit without NUTS chains: faults of its draws
FORMAT = 2  # of fits; other versions' formats are not read


@dataclass(frozen=True, eq=False)
class Training:
    """The data that subjects were fitted to.

    Attributes
    ----------
    subjects, items : list of str
        Names of the subjects and of the items.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    cells : Cells
        Outcomes of the attempted cells.
    constants : dict of str to ndarray
        By subject constant, shape (subjects,).
    """

    subjects: list[str]
    items: list[str]
    features: Features
    cells: Cells
    constants: dict[str, np.ndarray]

    @classmethod
    def of(
        cls,
        layout: Layout,
        features: Mapping[str, np.ndarray],
        evaluation: Evaluation,
        subjects: Iterable[str] | None = None,
    ) -> Self:
        """Read subjects of an evaluation (default: all) and the meta-features of its items."""
        who = evaluation.subjects if subjects is None else list(subjects)
        cells = evaluation.coded.select(evaluation.subject_table.index.get_indexer(pd.Index(who)))
        return cls(
            who,
            list(evaluation.items.index),
            dict(features),
            cells,
            {constant.name: 1 - cells.rates for constant in layout.constants},
        )

    def take(self, rows: Iterable[int]) -> "Training":
        """Keep some subjects, given by position, in this order."""
        chosen = list(rows)
        return Training(
            [self.subjects[row] for row in chosen],
            self.items,
            self.features,
            self.cells.select(np.array(chosen, dtype=int)),
            {name: values[chosen] for name, values in self.constants.items()},
        )


class Tried(NamedTuple):
    """Attempts at sampling one subject, and whether they failed.

    Attributes
    ----------
    attempts : int
        Number of times that the subject was sampled.
    failure : str or None
        The reason why there are no draws; None if there are draws.
    """

    attempts: int
    failure: str | None

    @classmethod
    def of(cls, sampled: Sampled) -> "Tried":
        """Read attempts and failure from a result of sampling."""
        return cls(sampled.attempts, sampled.reason if sampled.draws is None else None)


def marks(layout: Layout, options: SamplingOptions, seed: int, method: str) -> dict[str, Any]:
    """Return a fit's attributes: its layout, and how it was made."""
    return {
        "format": FORMAT,
        "layout": json.dumps(layout.to_dict()),
        "fingerprint": layout.fingerprint,
        "measurement_layouts": version("measurement-layouts"),
        "method": method,
        "seed": seed,
        "tune": options.tune,
        "target_accept": options.target_accept,
    }


def sampled_dims(latent: Latent) -> tuple[str, ...]:
    """Return the dimensions of a latent's draws: subjects first, other plates after the draws."""
    plates = [plate_name(plate) for plate in latent.plates]
    others = [plate for plate in plates if plate != SUBJECT]
    first = [SUBJECT] if SUBJECT in plates else []
    return (*first, "chain", "draw", *others, *latent.label_dims)


def assemble(
    layout: Layout,
    training: Training,
    prior: Mapping[str, np.ndarray],
    posterior: Mapping[str, Any],
    statistics: Mapping[str, Any],
    attributes: Mapping[str, Any],
    tried: Mapping[str, Tried],
    cohort: Cohort | None = None,
) -> Posterior:
    """Assemble the subjects' draws, their data and the attributes as one tree.

    Parameters
    ----------
    layout : Layout
        The layout that was fitted.
    training : Training
        The data that it was fitted to, for the subjects of the fit.
    prior : mapping of str to ndarray
        By latent, shape (1, draws) or (1, draws, labels).
    posterior : mapping of str to array
        By latent, with the dimensions of `sampled_dims`, in memory or read on access.
    statistics : mapping of str to array
        Sampler statistics, shape (subjects, chains, draws).
    attributes : mapping of str to object
        Attributes from `marks`.
    tried : mapping of str to Tried
        Attempts by subject, including failed subjects.
    cohort : Cohort, optional
        Levels of the plates of a joint fit.

    Returns
    -------
    Posterior
        The posterior, whose tree has ArviZ's groups.
    """
    _, chains, draws = next(iter(statistics.values())).shape
    labels = {dim: list(names) for dim, names in layout.labels.items()}
    who, items = {"subject": training.subjects}, {"item": training.items}
    sampled = who | {"chain": np.arange(chains), "draw": np.arange(draws)}
    levels = {} if cohort is None else dict(cohort.levels)
    constant_data = {
        feature.name: (("item", *feature.label_dims), training.features[feature.name])
        for feature in layout.row_features
    }
    if cohort is not None:
        for category in layout.categories:
            constant_data[category.name] = ((category.root,), cohort.of[category.name])
        for node in layout.covariates:
            own = ("subject", *node.label_dims)
            constant_data[node.name] = (own, cohort.covariates[node.name])
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    latent.name: (sampled_dims(latent), posterior[latent.name])
                    for latent in layout.latents
                },
                sampled | labels | levels,
            ),
            "sample_stats": xr.Dataset(
                {name: (SAMPLED, values) for name, values in statistics.items()}, sampled
            ),
            "prior": xr.Dataset(
                {
                    latent.name: (
                        ("chain", "draw", *latent.label_dims),
                        np.array(prior[latent.name]),
                    )
                    for latent in layout.latents
                },
                labels,
            ),
            "observed_data": observed_data(training.cells, training.subjects, training.items),
            "constant_data": xr.Dataset(
                constant_data
                | {name: (("subject",), values) for name, values in training.constants.items()},
                who | items | labels,
            ),
        }
    )
    failures = {subject: one.failure for subject, one in tried.items() if one.failure is not None}
    attempts = {subject: one.attempts for subject, one in tried.items() if one.attempts > 1}
    tree.attrs = {
        **attributes,
        "failures": json.dumps(failures),
        "attempts": json.dumps(attempts),
    }
    return Posterior(layout, tree, failures, attempts)
