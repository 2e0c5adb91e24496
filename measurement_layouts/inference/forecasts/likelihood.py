"""Log-likelihood of each item that a subject attempted, for every draw of its profile."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from scipy.special import xlog1py, xlogy

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.cells import Cells
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.steps import Rows, rows_per_item
from ...evaluations.subject_data import EDGE
from ...layouts import Latent, Layout, MetaFeature, Success, Unseen
from ...layouts.outcomes.measured import Places
from ...layouts.plates import ITEM, SUBJECT
from ...linking import Expr, arrays
from ...linking.arrays import Array
from ...linking.evaluation import ancestry
from ...linking.expression import Dims
from ...linking.interval import Interval
from ..kernel.inputs import log_ways
from ..model.alignment import Features
from ..model.features import read_evaluation
from ..posterior.posterior import GROUPS, Posterior, observed_data
from .reading import levels_of_items
from .streaming import every_draw, gathered, group_alike, probabilities


@cache
def _counts() -> tuple[MetaFeature, MetaFeature]:
    """Return nodes for an item's numbers of successes and failures."""
    names = "successes of the item", "failures of the item"
    successes, failures = (MetaFeature(name, low=0, high=np.inf) for name in names)
    return successes, failures


@dataclass(frozen=True, eq=False, repr=False)
class Averaged(Expr):
    r"""Log-likelihood of an item's counts, averaged over its unseen or measured properties.

    .. math:: \log \sum_k w_k p_k^{y} (1 - p_k)^{n - y}

    with the weight :math:`w_k` of a value of the property, and the success probability :math:`p_k`
    given this value, which is kept 1e-12 away from 0 and 1. The result is in nats and does not
    include the binomial coefficient.

    Parameters
    ----------
    outcome : Success
        The layout's outcome, given the property.
    unseen : Unseen or Places
        The unseen or measured properties to average over.
    """

    outcome: Success
    unseen: Unseen | Places
    name: None = field(default=None, init=False)
    range = Interval(-np.inf, 0)
    unit = None

    @property
    def parents(self) -> tuple[Expr, ...]:
        return (self.outcome.expression, self.unseen.weights, *_counts())

    @property
    def dims(self) -> Dims:
        return {}

    def compute(self, values: tuple[Array, ...], dims: tuple[str, ...]) -> Array:
        chance, weights, successes, failures = values
        axis = dims.index(self.unseen.dim) - len(dims)
        chance = arrays.minimum(arrays.maximum(chance, EDGE), 1 - EDGE)
        each = successes * arrays.log(chance) + failures * arrays.log1p(-chance)
        each = each + arrays.log(weights)
        most = arrays.max(each, axis=axis, keepdims=True)
        total = arrays.sum(arrays.exp(each - most), axis=axis, keepdims=True)
        return most + arrays.log(total)


_MEMORY_MIB = 8.0  # to compute probabilities; the logarithms take the same amount in addition
_ITEMS_AT_A_TIME = 2**21  # items times draws: 16 MiB
_SCORES = np.linspace(-8, 8, 81)  # grid over which a normal part of subject and item is integrated
_AVERAGED_MIB = 32.0  # where there are 121 grid points for each item and draw


@dataclass(frozen=True, eq=False)
class Attempted:
    """Items that one subject attempted, with the outcomes.

    Attributes
    ----------
    names : Index of str
        Names of the items, in the fit's order.
    successes, trials : ndarray of int, shape (items,)
        Outcomes.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
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
        cls,
        fit: Posterior,
        names: pd.Index,
        cells: Cells,
        row: int,
        features: Features,
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

    def take(self, places: np.ndarray) -> "Attempted":
        """Keep some of the items."""
        return Attempted(
            self.names[places],
            self.successes[places],
            self.trials[places],
            {name: values[places] for name, values in self.features.items()},
            None if self.steps is None else Rows.read(self.names[places]),
        )

    def different(self) -> tuple["Attempted", np.ndarray]:
        """Keep one of equal items (properties and outcomes); also return the one kept for each."""
        told_apart = {**self.features, "": np.stack([self.successes, self.trials], axis=1)}
        order, number = group_alike(told_apart, len(self.names))
        which = np.empty(len(order), dtype=int)
        which[order] = number
        return self.take(order[np.flatnonzero(np.diff(number, prepend=-1))]), which


def log_likelihood(
    fit: Posterior, row: int, items: Attempted
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    r"""Stream a subject's log-likelihood, some items at a time.

    .. math:: \log p(y_i \mid \theta_s) = \log \binom{n_i}{y_i} + y_i \log p_{is}
        + (n_i - y_i) \log(1 - p_{is})

    with the success probability :math:`p_{is}` of item i under draw s kept 1e-12 away from 0 and 1,
    as in the fitted model. If the item has an unseen property, which its trials share, the
    likelihood is averaged over its values; see `Averaged`. If the layout has a normal latent with a
    value for each subject and item, the likelihood is averaged over that, too; see
    `_effect_on_item`.

    Parameters
    ----------
    fit : Posterior
        The fit; the subject's draws are read once.
    row : int
        Position of the subject in the fit.
    items : Attempted
        Items and outcomes.

    Yields
    ------
    places : ndarray of int
        Positions of some of the items.
    values : ndarray, shape (places, chains, draws)
        In nats; a few MiB at a time.

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
    sizes = fit.posterior.sizes
    failures = items.trials - items.successes
    ways = log_ways(items.successes, items.trials)
    for places, values in _in_one_order(fit, row, items, failures):
        values += ways[places, None]
        yield places, values.reshape(len(places), sizes["chain"], sizes["draw"])


def whole_items(fit: Posterior, row: int, rows: Attempted, steps: Rows) -> Iterator[np.ndarray]:
    """Yield the log-likelihood of each item with all its steps, (chains, draws), in order."""
    sizes = fit.posterior.sizes
    drawn = sizes["chain"], sizes["draw"]
    together = max(1, _ITEMS_AT_A_TIME // (drawn[0] * drawn[1]))
    for start in range(0, len(steps.items), together):
        stop = min(start + together, len(steps.items))
        own = np.flatnonzero((steps.places >= start) & (steps.places < stop))
        total = np.zeros((stop - start, *drawn))
        for places, values in log_likelihood(fit, row, rows.take(own)):
            np.add.at(total, steps.places[own[places]] - start, values)
        yield from total


def with_log_likelihood(
    fit: Posterior,
    evaluation: Evaluation | None = None,
    *,
    subjects: Iterable[object] | None = None,
) -> xr.DataTree:
    """Add every item's log-likelihood to a fit's arrays, for ArviZ.

    A joint fit has one posterior. ArviZ accepts it as a whole if every subject attempted every
    item; `measurement_layouts.validation.loo` omits cells that were not attempted. Otherwise each
    subject has its own posterior, and ArviZ's comparisons take one subject at a time. For all
    subjects, `measurement_layouts.validation.loo` needs little memory.

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
        named after the outcome, (chain, draw, subject, item), NaN where a subject did not
        attempt an item. Items that no subject attempted are left out. An item's value is the
        log-likelihood of all its trials. With several outcomes, graded outcomes or scores it is
        that of all of them together, and the variable is named ``outcomes``. With `evaluation`,
        ``observed_data`` has its outcomes and ``constant_data`` is left out.

    Raises
    ------
    DataError
        When `evaluation` is something else, does not fit the layout or lacks a subject, or one
        is named twice.
    FitError
        When a subject is not in the fit, or the fit is joint and an evaluation is given.

    Notes
    -----
    The group takes 8 bytes per draw, subject and item, which is 150 MB for 4,000 draws of 68
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
    {'chain': 2, 'draw': 100, 'subject': 1, 'item': 69}
    >>> import arviz_stats
    >>> int(arviz_stats.loo(tree.isel(subject=0)).n_data_points)
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
    who = fit.names(rows)
    if evaluation is None:
        features, names, cells = _training(fit), fit.item_names, fit.coded.select(rows)
    else:
        features, names = read_evaluation(fit.layout, evaluation), evaluation.items.index
        unknown = [name for name in who if name not in evaluation.subject_table.index]
        if unknown:
            raise DataError(f"unknown subject {unknown[0]}; known: {some(evaluation.subjects)}")
        cells = evaluation.select(subjects=who).coded
        del groups["constant_data"]
    groups["observed_data"] = observed_data(cells, who, list(names))
    items = names if fit.layout.steps is None else Rows.read(names).items
    drawn = fit.posterior.sizes["chain"], fit.posterior.sizes["draw"]
    values = np.full((*drawn, len(rows), len(items)), np.nan)
    for place, row in enumerate(rows):
        attempted = Attempted.among(fit, names, cells, place, features)
        where = items.get_indexer(attempted.items)
        if attempted.steps is None:
            for places, found in log_likelihood(fit, row, attempted):
                values[:, :, place, where[places]] = np.moveaxis(found, 0, -1)
        else:
            whole = whole_items(fit, row, attempted, attempted.steps)
            for item, one in zip(where, whole, strict=True):
                values[:, :, place, item] = one
    name = fit.layout.outcome.name if fit.layout.steps is None else "outcomes"
    known = ~np.isnan(values[0, 0]).all(axis=0)
    groups["log_likelihood"] = xr.Dataset(
        {name: (("chain", "draw", "subject", "item"), values[..., known])},
        {
            **{dim: groups["posterior"][dim] for dim in ("chain", "draw", "subject")},
            "item": list(items[known]),
        },
    )
    tree = xr.DataTree.from_dict(groups)
    tree.attrs = dict(fit.data.attrs)
    return tree


def _training(fit: Posterior) -> Features:
    """Return the training items' meta-features, and in a joint fit also their levels."""
    constants = fit.constants
    known = {node.name: constants[node.name].to_numpy() for node in fit.layout.row_features}
    each = rows_per_item(fit.layout)
    return known | {name: np.repeat(at, each) for name, at in levels_of_items(fit).items()}


def _in_one_order(
    fit: Posterior, row: int, items: Attempted, failures: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield log-likelihoods without the binomial coefficient, (places, all draws)."""
    layout, count, part = fit.layout, len(items.names), _effect_on_item(fit.layout)
    outcome = (layout.several if items.trials.max(initial=0) > 1 else layout).outcome
    if outcome.unseen is not None:
        counts = zip(_counts(), (items.successes, failures), strict=True)
        known = {count.name: values for count, values in counts} | items.features
        target = Averaged(outcome, outcome.unseen)
        yield from every_draw(fit, row, known, count, target, memory_mib=_AVERAGED_MIB)
        return
    if part is not None:
        yield from _over_part(fit, row, items, part)
        return
    parts = probabilities(fit, row, items.features, count, memory_mib=_MEMORY_MIB)
    for places, chances in parts:
        yield places, _of_chances(chances, items, places)


def _of_chances(chances: np.ndarray, items: Attempted, places: np.ndarray) -> np.ndarray:
    """Compute log-likelihoods from probabilities, (places, all draws), which are overwritten."""
    failures = (items.trials - items.successes)[places, None]
    np.clip(chances, EDGE, 1 - EDGE, out=chances)
    values = xlogy(items.successes[places, None], chances)
    values += xlog1py(failures, np.negative(chances, out=chances))
    return np.asarray(values)


def _over_part(
    fit: Posterior, row: int, items: Attempted, part: Latent
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield log-likelihoods, averaged over a normal latent with a value per subject and item."""
    sizes, parameters = fit.posterior.sizes, dict(part.priors[0].parameters)
    draws = sizes["chain"] * sizes["draw"]
    together, count = max(1, _ITEMS_AT_A_TIME // draws), len(items.names)
    weights = -0.5 * _SCORES**2
    weights -= np.logaddexp.reduce(weights)

    def every(target: Expr, own: Attempted, **instead: np.ndarray) -> Any:
        names = own.features, len(own.names), target
        return every_draw(fit, row, *names, memory_mib=_MEMORY_MIB, instead=instead)

    for start in range(0, count, together):
        chosen = np.arange(start, min(start + together, count))
        own = items.take(chosen)
        mean, spread = (
            gathered(every(parameters[name], own), len(chosen)) for name in ("mu", "sigma")
        )
        found = np.full_like(mean, -np.inf)
        for score, weight in zip(_SCORES, weights, strict=True):
            at = {part.name: mean + spread * score}
            for places, chances in every(fit.layout.outcome, own, **at):
                logs = _of_chances(chances, own, places)
                found[places] = np.logaddexp(found[places], logs + weight)
        yield chosen, found


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
