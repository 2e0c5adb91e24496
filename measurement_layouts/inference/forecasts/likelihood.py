"""Log-likelihood of each item that a subject attempted, for every draw of its profile."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
import xarray as xr

from ...evaluations.steps import Rows, rows_per_item
from ...layouts import Layout, Success, Unseen
from ...layouts.graph import Graph
from ...layouts.outcomes.unseen import Numbers
from ...layouts.plates import ITEM, SUBJECT
from ...linking.evaluation import ancestry, rewritten
from ..cells import log_likelihoods
from ..evaluator import Draws, Evaluator
from ..kernel.outcomes import log_ways
from ..model.alignment import Features
from ..posterior.cohort import levels_of_items
from ..posterior.posterior import GROUPS, Posterior, observed_data
from .scope import Block, block_of

_NUMBERS = 2**18  # items times draws that are computed at a time: 2 MiB


@dataclass(frozen=True, eq=False)
class Attempted:
    """Items that one subject attempted, with the outcomes.

    Attributes
    ----------
    names : Index of str
        Names of the items, or of their steps, in the fit's order.
    successes, trials : ndarray of int, shape (rows,)
        Outcomes.
    features : dict of str to ndarray
        By meta-feature, shape (rows,) or (rows, labels).
    steps : Rows or None
        Items and steps of the rows, where rows are steps.
    """

    names: pd.Index
    successes: np.ndarray
    trials: np.ndarray
    features: Features
    steps: Rows | None = None

    @property
    def items(self) -> pd.Index:
        """Names of the items; each occurs once."""
        return self.names if self.steps is None else self.steps.items

    @classmethod
    def of(cls, fit: Posterior, row: int) -> "Attempted":
        """Read the items of a subject, given by its position in the fit."""
        cells = fit.coded.take(np.r_[fit.coded.of_subject(row)])
        names = fit.item_names[cells.item]
        constants, step_count = fit.constants, rows_per_item(fit.layout)
        features = {node.name: constants[node.name].to_numpy() for node in fit.layout.row_features}
        levels = levels_of_items(fit).items()
        features |= {name: np.repeat(codes, step_count) for name, codes in levels}
        return cls(
            names,
            cells.successes,
            cells.trials,
            {name: values[cells.item] for name, values in features.items()},
            None if fit.layout.steps is None else Rows.read(names),
        )


def log_likelihood(
    fit: Posterior, row: int, items: Attempted
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""Stream a subject's log-likelihood of each item, some items at a time.

    .. math:: \log p(y_i \mid \theta_s) = \log \binom{n_i}{y_i} + y_i \log p_{is}
        + (n_i - y_i) \log(1 - p_{is})

    with the success probability :math:`p_{is}` of item i under draw s kept 1e-12 away from 0 and 1,
    as in the fitted model. If the item has an unseen property, which its trials share, the
    likelihood is averaged over its values; see `cells.log_likelihoods`. A normal latent with a
    value for each subject and item is averaged over in the same way. Where rows are steps, the
    log-likelihoods of an item's steps are added.

    Parameters
    ----------
    fit : Posterior
        The fit.
    row : int
        Position of the subject in the fit.
    items : Attempted
        Items and outcomes.

    Yields
    ------
    places : ndarray of int
        Positions of some of the items.
    values : ndarray, shape (places, chains, draws)
        In nats; 16 MiB at a time.

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
    layout, sizes = _without_effect(fit.layout), fit.posterior.sizes
    chains, draws = sizes["chain"], sizes["draw"]
    ways = log_ways(items.successes, items.trials)
    together = layout.measured and items.trials.max(initial=0) > 1
    outcome = (fit.layout.several if together else layout).outcome
    points = 1 if outcome.unseen is None else len(layout.dims[outcome.unseen.dim])
    count = len(items.items)
    item = np.arange(count) if items.steps is None else items.steps.places
    step = max(1, _NUMBERS // (chains * draws * points))
    for start in range(0, count, step):
        numbers = np.arange(start, min(start + step, count))
        (rows,) = np.nonzero((item >= start) & (item <= numbers[-1]))
        chosen = {name: values[rows] for name, values in items.features.items()}
        block = replace(block_of(fit, chosen, len(rows)), layout=layout)
        total = np.zeros((len(numbers), chains * draws))
        logs = _logs(block, block.read(row), outcome, items.successes[rows], items.trials[rows])
        np.add.at(total, item[rows] - start, logs + ways[rows, None])
        yield numbers, total.reshape(-1, chains, draws)


def with_log_likelihood(fit: Posterior, *, subjects: Iterable[object] | None = None) -> xr.DataTree:
    """Add every item's log-likelihood to a fit's arrays, for ArviZ.

    A joint fit has one posterior, which ArviZ accepts as a whole. Otherwise each subject has its
    own posterior, and ArviZ's comparisons take one subject at a time. For all subjects,
    `measurement_layouts.validation.loo` needs little memory.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    subjects : iterable, optional
        Subjects (default: all).

    Returns
    -------
    xarray.DataTree
        The groups of `data` for these subjects, and ``log_likelihood``, in nats: a variable
        named after the outcome, (chain, draw, cell), with the names of each attempted cell's
        ``subject`` and ``item``. Its value is the log-likelihood of all trials. With several
        outcomes, graded outcomes or scores it is that of all of them together, and the variable
        is named ``outcomes``.

    Raises
    ------
    DataError
        When a subject is named twice.
    FitError
        When a subject is not in the fit.

    Notes
    -----
    The group takes 8 bytes per draw and cell, which is 150 MB for 4,000 draws of 68
    subjects on 69 items. Each call computes it again and uses about 50 MiB more while it runs. The
    draws of a fit in a store are read one subject at a time and stay on the disk.

    Examples
    --------
    >>> from measurement_layouts.inference.fitting import fit
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> cohort = aaio.simulated_cohort()
    >>> result = fit(aaio.published_layout(), cohort.evaluation, subjects=["sim-01"],
    ...              draws=100, tune=200, chains=2, seed=1, progressbar=False)
    >>> tree = with_log_likelihood(result)
    >>> dict(tree["log_likelihood"].sizes)
    {'chain': 2, 'draw': 100, 'cell': 69}
    >>> import arviz_stats
    >>> int(arviz_stats.loo(tree).n_data_points)
    69
    """
    rows = fit.places(subjects)
    names, cells = fit.names(rows), fit.coded.select(rows)
    groups = {
        name: fit.data[name].to_dataset().isel(subject=rows, missing_dims="ignore")
        for name in GROUPS
    }
    groups["observed_data"] = observed_data(cells, names, list(fit.item_names))
    attempted = [Attempted.of(fit, row) for row in rows]
    counts = [len(one.items) for one in attempted]
    starts = np.cumsum(counts) - counts
    values = np.empty((fit.posterior.sizes["chain"], fit.posterior.sizes["draw"], sum(counts)))
    for row, one, start in zip(rows, attempted, starts, strict=True):
        for places, logs in log_likelihood(fit, row, one):
            values[:, :, start + places] = np.moveaxis(logs, 0, -1)
    name = fit.layout.outcome.name if fit.layout.steps is None else "outcomes"
    items = [item for one in attempted for item in one.items]
    groups["log_likelihood"] = xr.Dataset(
        {name: (("chain", "draw", "cell"), values)},
        {
            **{dim: groups["posterior"][dim] for dim in ("chain", "draw")},
            "subject": ("cell", np.repeat(np.array(names, dtype=object), counts)),
            "item": ("cell", np.array(items, dtype=object)),
        },
    )
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = dict(fit.data.attrs)
    return tree


def _logs(
    block: Block, drawn: Draws, outcome: Success, successes: np.ndarray, trials: np.ndarray
) -> np.ndarray:
    """Compute the log-likelihood of each row, averaged over what is unseen; (rows, draws)."""
    unseen = outcome.unseen
    targets = [outcome] if unseen is None else [outcome.expression, unseen.weights]
    evaluator = Evaluator(block.layout, targets, block.features, block.items, block.levels)
    values = (numbers[evaluator.row] for numbers in evaluator(drawn))
    return log_likelihoods(successes, trials - successes, *values)


class _Effect(Unseen):
    """An effect of a subject on an item, over eight standard deviations to either side."""

    @cached_property
    def scores(self) -> Numbers:
        values = tuple(np.linspace(-8, 8, 81).tolist())
        return Numbers(f"{self.name} scores", {self.dim: tuple(map(str, values))}, values)


def _without_effect(layout: Layout) -> Layout:
    """Make a normal latent with a value per subject and item an unseen property of the cell.

    It has no labels, and no prior depends on it, so that cells are independent given all others.
    """
    inside = {
        node.name
        for latent in layout.latents
        for parent in latent.parents
        for node in ancestry(parent)
    }
    for latent in layout.latents:
        prior = latent.priors[0]
        parameters = dict(prior.parameters)
        normal = prior.family == "Normal" and set(parameters) == {"mu", "sigma"}
        of_cell = set(latent.plates) == {SUBJECT, ITEM} and not latent.dims
        if normal and of_cell and latent.name not in inside:
            unseen = _Effect(latent.name, parameters["mu"], parameters["sigma"])
            same = [id(part) for part in layout.parts if part == latent]
            wraps = dict.fromkeys(same, lambda _, unseen=unseen: unseen)
            outcomes: Any = tuple(rewritten(outcome, wraps) for outcome in layout.outcomes)
            return cast("Layout", Graph(layout.name, outcomes))  # without checks
    return layout
