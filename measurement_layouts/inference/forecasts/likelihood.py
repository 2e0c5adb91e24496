"""Log-likelihood of each item that a subject attempted, for every draw of its profile."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows, rows_per_item
from ...layouts import Latent, Layout, Success
from ...layouts.plates import ITEM, SUBJECT
from ...linking.evaluation import ancestry
from ..cells import log_likelihoods
from ..evaluator import Draws
from ..kernel.outcomes import log_ways
from ..model.alignment import Features
from ..model.features import read_evaluation
from ..posterior.cohort import levels_of_items
from ..posterior.posterior import GROUPS, Posterior, observed_data
from .scope import Block, block_of
from .streaming import gathered, pieces, values_of

_MEMORY_MIB = 32.0
_NUMBERS = 2**18  # items times draws that are computed at a time: 2 MiB
_SCORES = np.linspace(-8, 8, 81)  # grid over which a normal part of subject and item is integrated


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
        return cls.among(fit, fit.item_names, fit.coded, row, _training(fit))

    @classmethod
    def among(
        cls, fit: Posterior, names: pd.Index, cells: Cells, row: int, features: Features
    ) -> "Attempted":
        """Keep those of the given items that a subject attempted."""
        chosen = cells.of_subject(row)
        items = cells.item[chosen]
        return cls(
            names[items],
            cells.successes[chosen],
            cells.trials[chosen],
            {name: values[items] for name, values in features.items()},
            None if fit.layout.steps is None else Rows.read(names[items]),
        )


def log_likelihood(
    fit: Posterior, row: int, items: Attempted
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""Stream a subject's log-likelihood of each item, some items at a time.

    .. math:: \log p(y_i \mid \theta_s) = \log \binom{n_i}{y_i} + y_i \log p_{is}
        + (n_i - y_i) \log(1 - p_{is})

    with the success probability :math:`p_{is}` of item i under draw s kept 1e-12 away from 0 and 1,
    as in the fitted model. If the item has an unseen property, which its trials share, the
    likelihood is averaged over its values; see `cells.log_likelihoods`. If the layout has a normal
    latent with a value for each subject and item, the likelihood is averaged over that, too; see
    `_effect_on_item`. Where rows are steps, the log-likelihoods of an item's steps are added.

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
    layout, sizes = fit.layout, fit.posterior.sizes
    chains, draws = sizes["chain"], sizes["draw"]
    failures = items.trials - items.successes
    ways = log_ways(items.successes, items.trials)
    outcome = (layout.several if items.trials.max(initial=0) > 1 else layout).outcome
    points = 1 if outcome.unseen is None else len(layout.dims[outcome.unseen.dim])
    effect, count = _effect_on_item(layout), len(items.items)
    item = np.arange(count) if items.steps is None else items.steps.places
    together = max(1, _NUMBERS // (chains * draws * points))
    for start in range(0, count, together):
        places = np.arange(start, min(start + together, count))
        (rows,) = np.nonzero((item >= start) & (item <= places[-1]))
        chosen = {name: values[rows] for name, values in items.features.items()}
        block = block_of(fit, chosen, len(rows))
        drawn = block.read(row)
        logs_of = partial(_logs, block, outcome, items.successes[rows], failures[rows])
        logs = logs_of(drawn) if effect is None else _over_effect(block, drawn, logs_of, effect)
        total = np.zeros((len(places), chains * draws))
        np.add.at(total, item[rows] - start, logs + ways[rows, None])
        yield places, total.reshape(-1, chains, draws)


def with_log_likelihood(
    fit: Posterior,
    evaluation: Evaluation | None = None,
    *,
    subjects: Iterable[object] | None = None,
) -> xr.DataTree:
    """Add every item's log-likelihood to a fit's arrays, for ArviZ.

    A joint fit has one posterior, which ArviZ accepts as a whole. Otherwise each subject has its
    own posterior, and ArviZ's comparisons take one subject at a time. For all subjects,
    `measurement_layouts.validation.loo` needs little memory.

    Parameters
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    evaluation : Evaluation, optional
        Outcomes to evaluate, such as those of held-out items (default: those of the fit).
        Subject constants are those of the fit in any case.
    subjects : iterable, optional
        Subjects (default: all that have outcomes).

    Returns
    -------
    xarray.DataTree
        The groups of `data` for these subjects, and ``log_likelihood``, in nats: a variable
        named after the outcome, (chain, draw, cell), with the names of each attempted cell's
        ``subject`` and ``item``. Its value is the log-likelihood of all trials. With several
        outcomes, graded outcomes or scores it is that of all of them together, and the variable
        is named ``outcomes``. With `evaluation`, ``observed_data`` has its outcomes and
        ``constant_data`` is left out.

    Raises
    ------
    DataError
        When `evaluation` is something else, does not fit the layout or lacks a subject, or one
        is named twice.
    FitError
        When a subject is not in the fit, or the fit is joint and an evaluation is given.

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
    if evaluation is not None and fit.layout.joint:
        raise FitError(
            f"with_log_likelihood: the fit of {fit.layout.name!r} is joint, and a joint fit gives "
            "the log-likelihood only of the outcomes that it was fitted to; leave the evaluation "
            "out, or forecast its items and score the forecast with score_forecast"
        )
    if evaluation is not None:
        refuse_no_evaluation(evaluation)
    if evaluation is not None and subjects is None:
        there = set(evaluation.subjects)
        subjects = [name for name in fit.subjects if name in there]
        if not subjects:
            raise DataError(
                f"the evaluation has no outcomes of the fit's subjects {some(fit.subjects)}; give "
                "an evaluation with these subjects, or fit its subjects first"
            )
    rows = fit.places(subjects)
    groups = {
        name: fit.data[name].to_dataset().isel(subject=rows, missing_dims="ignore")
        for name in GROUPS
    }
    subject_names = fit.names(rows)
    if evaluation is None:
        features, names, cells = _training(fit), fit.item_names, fit.coded.select(rows)
    else:
        features, names = read_evaluation(fit.layout, evaluation), evaluation.items.index
        unknown = [name for name in subject_names if name not in evaluation.subject_table.index]
        if unknown:
            raise DataError(f"unknown subject {unknown[0]}; known: {some(evaluation.subjects)}")
        cells = evaluation.select(subjects=subject_names).coded
        del groups["constant_data"]
    groups["observed_data"] = observed_data(cells, subject_names, list(names))
    attempted = [Attempted.among(fit, names, cells, place, features) for place in range(len(rows))]
    counts = [len(one.items) for one in attempted]
    ends = np.cumsum(counts)
    values = np.empty((fit.posterior.sizes["chain"], fit.posterior.sizes["draw"], sum(counts)))
    for row, one, end in zip(rows, attempted, ends, strict=True):
        for places, logs in log_likelihood(fit, row, one):
            values[:, :, end - len(one.items) + places] = np.moveaxis(logs, 0, -1)
    name = fit.layout.outcome.name if fit.layout.steps is None else "outcomes"
    items = [item for one in attempted for item in one.items]
    groups["log_likelihood"] = xr.Dataset(
        {name: (("chain", "draw", "cell"), values)},
        {
            **{dim: groups["posterior"][dim] for dim in ("chain", "draw")},
            "subject": ("cell", np.repeat(np.array(subject_names, dtype=object), counts)),
            "item": ("cell", np.array(items, dtype=object)),
        },
    )
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = dict(fit.data.attrs)
    return tree


def _training(fit: Posterior) -> Features:
    """Return the training items' meta-features, and in a joint fit also their levels."""
    constants, each = fit.constants, rows_per_item(fit.layout)
    features = {node.name: constants[node.name].to_numpy() for node in fit.layout.row_features}
    levels = {name: np.repeat(codes, each) for name, codes in levels_of_items(fit).items()}
    return features | levels


def _logs(
    block: Block,
    outcome: Success,
    successes: np.ndarray,
    failures: np.ndarray,
    drawn: Draws,
) -> np.ndarray:
    """Compute the log-likelihood of each row, averaged over what is unseen; (rows, draws)."""
    unseen = outcome.unseen
    targets = [outcome] if unseen is None else [outcome.expression, unseen.weights]
    logs = []
    for rows, evaluator in pieces(block, targets, drawn, _MEMORY_MIB * 2**20):
        values = (numbers[evaluator.row] for numbers in evaluator(drawn))
        logs.append(log_likelihoods(successes[rows], failures[rows], *values))
    return np.concatenate(logs)


def _over_effect(
    block: Block, drawn: Draws, logs_of: Callable[[Draws], np.ndarray], effect: Latent
) -> np.ndarray:
    """Average likelihoods over a normal latent with a value per subject and item."""
    parameters, level = dict(effect.priors[0].parameters), block.levels[effect.name]

    mean, spread = (
        gathered(values_of(block, drawn, parameters[name], memory_mib=_MEMORY_MIB))
        for name in ("mu", "sigma")
    )
    weights = -0.5 * _SCORES**2
    weights -= np.logaddexp.reduce(weights)
    total, values = np.full_like(mean, -np.inf), np.empty_like(mean)
    for score, weight in zip(_SCORES, weights, strict=True):
        values[level] = mean + spread * score
        total = np.logaddexp(total, logs_of({**drawn, effect.name: values}) + weight)
    return total


def _effect_on_item(layout: Layout) -> Latent | None:
    """Find the first normal latent with a value per subject and item; None without one.

    It has no labels, and no prior depends on it, so that cells are independent given all others.
    """
    parents = {
        node.name
        for latent in layout.latents
        for value in latent.parents
        for node in ancestry(value)
    }
    for latent in layout.latents:
        of_cells = len(latent.plates) == 2 and set(latent.plates) == {SUBJECT, ITEM}
        if of_cells and not latent.dims and latent.name not in parents:
            (prior,) = latent.priors
            if prior.family == "Normal" and set(dict(prior.parameters)) == {"mu", "sigma"}:
                return latent
    return None
