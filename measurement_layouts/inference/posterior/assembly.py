"""Assembly of the subjects' draws into one tree of arrays."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, Self

import numpy as np
import xarray as xr

from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ...layouts.plates import ITEM, SUBJECT
from ..model.cohort import Cohort
from ..sampling.draws import SamplingOptions
from .posterior import Posterior, observed_data, sampled_dims

FORMAT = 3  # of fits and stores; other versions' formats are not read


@dataclass(frozen=True, eq=False)
class Training:
    """The data that subjects were fitted to, by attempted cell.

    Attributes
    ----------
    levels : dict of str to list of str
        Names of the subjects and items, and in a joint fit of the levels of categories.
    properties : dict of str to ndarray
        By name: meta-features, shape (items,) or (items, labels); covariates and constants of
        subjects, shape (subjects,) or (subjects, labels); and the level of each item or subject in
        a category.
    cells : Cells
        Outcomes of the attempted cells.
    rows : list of str, optional
        Names of the steps of items in a joint fit, which then take the place of items in cells and
        properties.
    """

    levels: Mapping[str, list[str]]
    properties: Mapping[str, np.ndarray]
    cells: Cells
    rows: list[str] | None = None

    @classmethod
    def alone(
        cls, layout: Layout, features: Mapping[str, np.ndarray], evaluation: Evaluation
    ) -> Self:
        """Read the subjects of an evaluation, each of which is fitted alone."""
        cells = evaluation.coded
        constants = {constant.name: 1 - cells.rates for constant in layout.constants}
        levels = {SUBJECT: evaluation.subjects, ITEM: list(evaluation.items.index)}
        return cls(levels, {**features, **constants}, cells)

    @classmethod
    def jointly(cls, cohort: Cohort, rows: Sequence[str] | None = None) -> Self:
        """Read a cohort, whose subjects are fitted jointly; `rows` names steps of outcomes."""
        item_of_row, categories = cohort.item_of_row, dict(cohort.of)
        for category in cohort.layout.categories:
            if category.root == ITEM and item_of_row is not None:
                categories[category.name] = cohort.of[category.name][item_of_row]
        levels = {name: list(names) for name, names in cohort.levels.items()}
        shape = len(levels[SUBJECT]), len(levels[ITEM] if rows is None else rows)
        return cls(
            levels,
            {**cohort.features, **cohort.covariates, **categories},
            Cells.of(cohort.subject, cohort.row, cohort.successes, cohort.trials, shape=shape),
            None if rows is None else list(rows),
        )

    @property
    def subjects(self) -> list[str]:
        """Names of the subjects."""
        return self.levels[SUBJECT]

    @property
    def items(self) -> list[str]:
        """Names of the items, or of their steps."""
        return self.levels[ITEM] if self.rows is None else self.rows

    def take(self, layout: Layout, rows: Iterable[int]) -> "Training":
        """Select subjects that were fitted alone, given by position, in this order."""
        chosen = np.array(list(rows), dtype=int)
        constants = {
            constant.name: self.properties[constant.name][chosen] for constant in layout.constants
        }
        levels = {**self.levels, SUBJECT: [self.subjects[row] for row in chosen]}
        return Training(levels, {**self.properties, **constants}, self.cells.select(chosen))


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


def assemble(
    layout: Layout,
    training: Training,
    prior: Mapping[str, np.ndarray],
    posterior: Mapping[str, Any],
    statistics: Mapping[str, Any],
    attributes: Mapping[str, Any],
    failures: Mapping[str, str],
    attempts: Mapping[str, int],
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
        Sampler statistics, shape (chains, draws, subjects), or (chains, draws) in a joint fit.
    attributes : mapping of str to object
        Attributes from `marks`.
    failures, attempts : mapping
        As in `Posterior`.

    Returns
    -------
    Posterior
        The posterior, whose tree has ArviZ's groups.
    """
    chains, draws = next(iter(statistics.values())).shape[:2]
    sampled = {"chain": np.arange(chains), "draw": np.arange(draws)}
    labels = {dim: list(names) for dim, names in layout.labels.items()}
    subjects, items = {SUBJECT: training.subjects}, {ITEM: training.items}
    statistic_dims = ("chain", "draw") if layout.joint else ("chain", "draw", SUBJECT)
    dims = {feature.name: (ITEM, *feature.label_dims) for feature in layout.row_features}
    dims |= {category.name: (category.root,) for category in layout.categories}
    dims |= {node.name: (SUBJECT, *node.label_dims) for node in layout.covariates}
    dims |= {constant.name: (SUBJECT,) for constant in layout.constants}
    constants = {name: (dims[name], training.properties[name]) for name in dims}
    tree = xr.DataTree.from_dict(
        {
            "posterior": xr.Dataset(
                {
                    latent.name: (sampled_dims(latent), posterior[latent.name])
                    for latent in layout.latents
                },
                sampled | labels | (dict(training.levels) if layout.joint else subjects),
            ),
            "sample_stats": xr.Dataset(
                {name: (statistic_dims, values) for name, values in statistics.items()},
                sampled if layout.joint else sampled | subjects,
            ),
            "prior": xr.Dataset(
                {
                    latent.name: (("chain", "draw", *latent.label_dims), prior[latent.name].copy())
                    for latent in layout.latents
                },
                labels,
            ),
            "observed_data": observed_data(training.cells, training.subjects, training.items),
            "constant_data": xr.Dataset(constants, subjects | items | labels),
        }
    )
    tree.attrs = {
        **attributes,
        "failures": json.dumps(dict(failures)),
        "attempts": json.dumps(dict(attempts)),
    }
    return Posterior(layout, tree, dict(failures), dict(attempts))
