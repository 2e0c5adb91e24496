"""Outcomes of subjects whose profile is known."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import DataError
from ..common.messages import some
from ..common.options import whole
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_layout
from ..evaluations.steps import expanded, of_rows
from ..evaluations.tables import name_cells, named, need_columns, read_numbers
from ..layouts import Latent, Layout, Unseen
from ..layouts.outcomes.measured import Places
from ..layouts.outcomes.steps import Steps
from .evaluator import Draws, Evaluator
from .model.alignment import Features
from .model.features import read_features
from .population.truth import SETTLED, STEPS, true_chances

_ROUNDING = 1e-9  # tolerance for rounded values at the ends of a range, as a part of the range
_STREAM = 0x0C0E5  # differs from the spawn keys of a seed's first children
_TOGETHER = 2_000_000  # subjects times items times labels that are computed together


def simulate(
    layout: Layout,
    items: pd.DataFrame,
    profiles: pd.DataFrame | xr.Dataset,
    *,
    seed: int,
    trials: int = 1,
    subjects: pd.DataFrame | None = None,
) -> Evaluation:
    """Draw outcomes of subjects with known profiles.

    Parameters
    ----------
    layout : Layout
        The layout.
    items : DataFrame
        Meta-features, indexed by item.
    profiles : DataFrame or Dataset
        One row per subject and one column per profile element (``name[label]`` for labelled ones).
        For a joint layout, a Dataset with one variable per latent, whose dimensions are its plates
        and labels, with levels as coordinates, as `validation.draw_truth` returns it.
    seed : int
        Seed of the outcomes. Their random stream is separate: they are independent of items or
        profiles that were drawn by ``numpy.random.default_rng(seed)`` with the same seed.
    trials : int
        Number of attempts per item.
    subjects : DataFrame, optional
        Properties of the subjects, indexed by subject, which become part of the evaluation. A
        layout with covariates or categories of subjects requires them.

    Returns
    -------
    Evaluation
        The simulated outcomes. Where noise mixes with the subject's mean failure, this constant is
        the solution of a fixed-point equation: it is one minus the mean success probability that
        results from it. An unseen or measured property of an item has one value for each subject
        and item, which all their trials share. With several outcomes, graded outcomes or scores,
        rows are steps, as in `Evaluation.of_outcomes`.

    Raises
    ------
    DataError
        When a column, a variable or a level is missing, a value is not a number in the latent's
        range, the items or subjects do not fit the layout, a subject has no row in `subjects`, or
        `profiles` is of the wrong type.
    FitError
        When the seed is not a whole number of at least 0, or `trials` is below 1.
    LayoutError
        When `layout` is something else.

    Examples
    --------
    >>> from measurement_layouts import Capability, MetaFeature, Success
    >>> from measurement_layouts.linking import logistic
    >>> sight = Capability("sight", low=0, high=2)
    >>> smallness = MetaFeature("smallness", low=0, high=2)
    >>> layout = Layout("looking", Success("found", logistic(sight - smallness, slope=9)))
    >>> items = pd.DataFrame({"smallness": [0.1, 1.9]}, index=["ball", "pin"])
    >>> simulate(layout, items, pd.DataFrame({"sight": [1.0]}, index=["Ann"]), seed=1).successes
    item     ball  pin
    subject
    Ann         1    0
    """
    refuse_no_layout(layout)
    own = np.random.SeedSequence(whole("seed", seed), spawn_key=(_STREAM,))
    return draw_outcomes(layout, items, profiles, np.random.default_rng(own), trials, subjects)


def draw_outcomes(
    layout: Layout,
    items: pd.DataFrame,
    profiles: pd.DataFrame | xr.Dataset,
    rng: np.random.Generator,
    trials: int = 1,
    subjects: pd.DataFrame | None = None,
) -> Evaluation:
    """Draw outcomes as `simulate` does, from a given random stream.

    Raises
    ------
    DataError
        In the same cases as `simulate`.
    FitError
        When `trials` is below 1.
    """
    trials = whole("trials", trials, 1)
    items = named(items, "items", "item")
    if not len(items):
        raise DataError("there are no items; give at least one, as a row of items")
    if layout.joint:
        if not isinstance(profiles, xr.Dataset):
            raise DataError(
                f"layout {layout.name!r} has values that subjects share, and the profiles are not "
                "a Dataset of all latents; draw one with ml.validation.draw_truth(layout, items, "
                "subjects, seed=...), or take a draw of a fit's posterior"
            )
        chances, subjects = true_chances(layout, items, profiles, subjects, rng)
        return _with_chances(layout, items, chances, trials, rng, subjects)
    if isinstance(profiles, xr.Dataset):
        raise DataError(
            f"under layout {layout.name!r} subjects share no values: give the profiles as a "
            "DataFrame with one row per subject and one column per profile element"
        )
    features = read_features(layout, items)
    profiles = named(profiles, "profiles", "subject")
    layout = layout.several if trials > 1 else layout
    unseen = layout.outcome.unseen
    if unseen is not None:
        ranks = rng.random((len(profiles), len(items)))
        probability = _success_given(unseen, layout, features, profiles, ranks)
    elif layout.steps is None:
        probability = expected_success(layout, features, profiles, len(items))
    else:
        spread = of_rows(layout.steps, features, len(items))
        rows = len(items) * len(layout.steps.rows)
        probability = expected_success(layout, spread, profiles, rows)
    chances = pd.DataFrame(probability, profiles.index)
    return _with_chances(layout, items, chances, trials, rng, subjects)


def _with_chances(
    layout: Layout,
    items: pd.DataFrame,
    chances: pd.DataFrame,
    trials: int,
    rng: np.random.Generator,
    subjects: pd.DataFrame | None,
) -> Evaluation:
    """Draw outcomes, given the probability of success of each subject on each row."""
    if layout.steps is not None:
        return Evaluation(
            *_step_by_step(layout.steps, items, chances, trials, rng), subjects=subjects
        )
    successes = pd.DataFrame(rng.binomial(trials, chances), chances.index, items.index)
    tried = pd.DataFrame(trials, chances.index, items.index)
    return Evaluation(items, successes, tried, subjects=subjects)


def _step_by_step(
    steps: Steps,
    items: pd.DataFrame,
    probabilities: pd.DataFrame,
    trials: int,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Draw passes of each step, which is tried as often as the step before it was passed.

    Returns the steps' table, the numbers of passes and the numbers of tries.
    """
    rows, chances = expanded(steps, items), probabilities.to_numpy()
    passed = np.empty(chances.shape, dtype="int64")
    tried = np.full(chances.shape, trials, dtype="int64")
    for row, (_, step, _) in enumerate(steps.rows):
        own = slice(row, None, len(steps.rows))
        if step > 1:
            tried[:, own] = passed[:, row - 1 :: len(steps.rows)]
        passed[:, own] = rng.binomial(tried[:, own], chances[:, own])
    who = probabilities.index
    successes, tries = (pd.DataFrame(part, who, rows.index) for part in (passed, tried))
    return rows, successes, tries


def expected_success(
    layout: Layout, features: Features, profiles: pd.DataFrame, items: int
) -> np.ndarray:
    """Compute the probabilities of success of subjects with known profiles.

    Parameters
    ----------
    layout : Layout
        The layout.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels).
    profiles : DataFrame
        One row per subject, a column per profile element.
    items : int
        Number of items.

    Returns
    -------
    ndarray
        Success probabilities, shape (subjects, items), in [0, 1].

    Raises
    ------
    DataError
        When a column is missing, or a value is not a number in the latent's range.

    Examples
    --------
    >>> from measurement_layouts import Noise, Success
    >>> from measurement_layouts.linking import mean_failure, mixture
    >>> performance = mixture(1.0, by=Noise("noise"), toward=mean_failure)
    >>> layout = Layout("lapses", Success("done", performance))
    >>> expected_success(layout, {}, pd.DataFrame({"noise": [0.5]}), items=1).round(4)
    array([[0.6667]])
    """
    chances = np.empty((len(profiles), items))
    evaluator = Evaluator(layout, [layout.outcome], features, items)
    for chosen, draws in _in_parts(layout, profiles, items):
        chances[chosen], _ = _settled(layout, evaluator, draws)
    return chances


def _success_given(
    unseen: Unseen | Places,
    layout: Layout,
    features: Features,
    profiles: pd.DataFrame,
    ranks: np.ndarray,
) -> np.ndarray:
    """Compute success probabilities given one value of the unseen property, (subjects, items).

    A rank in [0, 1) selects the value: each value covers a part of [0, 1) equal to its weight.
    """
    chances, items = np.empty(ranks.shape), ranks.shape[1]
    outcome = Evaluator(layout, [layout.outcome], features, items)
    targets = [layout.outcome.expression, unseen.weights]
    at_points = Evaluator(layout, targets, features, items)
    for chosen, draws in _in_parts(layout, profiles, items):
        _, constants = _settled(layout, outcome, draws)
        given, weights = (values[at_points.row] for values in at_points(draws | constants))
        # (items, points, subjects)
        upto = np.cumsum(weights, axis=1)
        rank = ranks[chosen].T[:, None]
        point = (upto[:, :-1] <= rank * upto[:, -1:]).sum(axis=1, keepdims=True)
        given = np.broadcast_to(given, (*given.shape[:2], point.shape[2]))
        chances[chosen] = np.take_along_axis(given, point, axis=1)[:, 0].T
    return chances


def _in_parts(
    layout: Layout, profiles: pd.DataFrame, items: int
) -> Iterator[tuple[slice, dict[str, np.ndarray]]]:
    """Yield the profiles of some subjects at a time, as draws, to bound the memory used."""
    values = {latent.name: _values(latent, profiles) for latent in layout.latents}
    unseen = layout.outcome.unseen
    points = 1 if unseen is None else len(layout.dims[unseen.dim])
    together = max(1, _TOGETHER // (items * points))
    for start in range(0, len(profiles), together):
        chosen = slice(start, start + together)
        yield chosen, {name: table[..., chosen] for name, table in values.items()}


def _settled(
    layout: Layout, evaluator: Evaluator, draws: Draws
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Compute success probabilities (subjects, items) and the mean failures consistent with them.

    They are found by damped fixed-point iteration.
    """
    failure = np.full(next(iter(draws.values())).shape[-1], 0.5)
    for _ in range(STEPS):  # each step is a contraction if noise is below 1
        constants = {constant.name: failure[None] for constant in layout.constants}
        (chances,) = evaluator({**draws, **constants})
        chances = chances[evaluator.row]
        step = 1 - chances.mean(axis=0) - failure
        moving = np.abs(step) >= SETTLED
        if not constants or not moving.any():
            break
        failure = failure + np.where(moving, step / 2, 0.0)
    return chances.T, constants


def _values(latent: Latent, profiles: pd.DataFrame) -> np.ndarray:
    """Read a latent's columns as draws, shape (1, *labels, subjects)."""
    labels = [label for names in latent.dims.values() for label in names]
    columns = [f"{latent.name}[{label}]" for label in labels] or [latent.name]
    missing = [column for column in columns if column not in profiles.columns]
    if missing:
        raise DataError(
            f"the profiles have no column {some(missing)}; they have {some(profiles.columns, 12)}"
        )
    need_columns(profiles.columns, columns, "the profiles have")
    values, _ = read_numbers(profiles[columns])
    low, high = latent.range.low, latent.range.high
    slack = _ROUNDING * (high - low) if latent.range.is_finite else 0.0
    wrong = ~((values >= low - slack) & (values <= high + slack))
    if wrong.any():
        raise DataError(
            f"{latent.name} lies in {latent.range}, but the profiles have "
            f"{name_cells(profiles[columns], wrong)}; correct them"
        )
    shape = tuple(map(len, latent.dims.values()))
    return np.asarray(np.clip(values, low, high).T.reshape(1, *shape, len(profiles)))
