"""Outcomes of subjects whose profile is known, alone or jointly, drawn from a layout."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd
import xarray as xr

from ..common.errors import DataError
from ..common.options import whole
from ..evaluations.evaluation import Evaluation
from ..evaluations.given import refuse_no_layout
from ..evaluations.steps import expanded, rows_per_item
from ..evaluations.tables import name_cells, named, need_columns, read_numbers
from ..layouts import Latent, Layout
from ..layouts.outcomes.steps import Steps
from ..layouts.plates import ITEM, SUBJECT, root
from ..linking import Expr
from .evaluator import Draws, Evaluator
from .model.alignment import Features
from .model.cohort import Cohort
from .population.truth import true_values

_ROUNDING = 1e-9  # tolerance for rounded values at the ends of a range, as a part of the range
_STREAM = 0x0C0E5  # differs from the spawn keys of a seed's first children
_TOGETHER = 2_000_000  # subjects times rows times points that are computed together
_ITERATIONS, _SETTLED = 200, 1e-12  # of mean failures, towards consistency with the chances


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
    if layout.joint != isinstance(profiles, xr.Dataset):
        raise DataError(
            f"layout {layout.name!r} has values that subjects share, and the profiles are not a "
            "Dataset of all latents; draw one with ml.validation.draw_truth(layout, items, "
            "subjects, seed=...), or take a draw of a fit's posterior"
            if layout.joint
            else f"under layout {layout.name!r} subjects share no values: give the profiles as a "
            "DataFrame with one row per subject and one column per profile element"
        )
    if isinstance(profiles, xr.Dataset):
        if subjects is None:
            if SUBJECT not in profiles.coords:
                raise DataError(
                    "the true values have no names of subjects; give subjects=, a table indexed by "
                    "name"
                )
            subjects = pd.DataFrame(index=pd.Index(profiles[SUBJECT].to_numpy(), name=SUBJECT))
        subjects = named(subjects, "subjects", "subject")
        cohort = Cohort.of_tables(layout, items, subjects)
        values = true_values(cohort, profiles)
    else:
        profiles = named(profiles, "profiles", "subject")
        cohort = Cohort.of_tables(layout, items, profiles[[]])
        values = _profile_values(layout, profiles)
    shared = replace(cohort, layout=layout.several) if trials > 1 else cohort
    chances = true_chances(shared, values, rng)
    passed, tried = _passed(layout.steps, chances, trials, rng)
    rows = items if layout.steps is None else expanded(layout.steps, items)
    tables = (
        pd.DataFrame(counts, cohort.levels[SUBJECT], rows.index) for counts in (passed, tried)
    )
    return Evaluation(rows, *tables, subjects=subjects)


def _passed(
    steps: Steps | None, chances: np.ndarray, trials: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Draw passes of each row; a step is tried as often as the step before was passed."""
    numbers = [1] if steps is None else [number for _, number, _ in steps.rows]
    tried = np.full(chances.shape, trials, dtype="int64")
    passed = np.empty_like(tried)
    for first, number in enumerate(numbers):
        rows = slice(first, None, len(numbers))
        if number > 1:
            tried[:, rows] = passed[:, first - 1 :: len(numbers)]
        passed[:, rows] = rng.binomial(tried[:, rows], chances[:, rows])
    return passed, tried


def true_chances(
    cohort: Cohort, values: Mapping[str, np.ndarray], rng: np.random.Generator | None = None
) -> np.ndarray:
    """Compute the success probabilities that follow from true values.

    Parameters
    ----------
    cohort : Cohort
        Subjects and items.
    values : mapping of str to ndarray
        True values by latent, shape (levels..., labels...).
    rng : Generator, optional
        Random stream of what is unseen, which is drawn for each subject and item (default: the
        probabilities are averaged over it).

    Returns
    -------
    ndarray, shape (subjects, rows)
        Success probabilities, in [0, 1].
    """
    layout, outcome = cohort.layout, cohort.layout.outcome
    subjects, items = (len(cohort.levels[plate]) for plate in (SUBJECT, ITEM))
    item = np.arange(items) if cohort.item_of_row is None else cohort.item_of_row
    of_items = [one for one in layout.latents if any(root(plate) == ITEM for plate in one.plates)]
    levels = {latent.name: item for latent in of_items}
    targets: list[Expr] = [outcome]
    points, ranks = 1, None
    if outcome.unseen is not None:
        points = len(layout.dims[outcome.unseen.dim])
        if rng is not None:
            ranks = rng.random((subjects, items))
            targets += [outcome.expression, outcome.unseen.weights]
    evaluator = Evaluator(layout, targets, cohort.features, len(item), levels)
    together = max(1, _TOGETHER // (len(item) * points))
    chances = np.empty((subjects, len(item)))
    for start in range(0, subjects, together):
        block = np.arange(start, min(start + together, subjects))
        results = _consistent(layout, evaluator, _draws(cohort, values, block), len(block))
        if ranks is not None:
            results = [_at_ranks(results[1], results[2], ranks[block])]
        chances[block] = results[0].T
    return chances


def _draws(
    cohort: Cohort, values: Mapping[str, np.ndarray], subjects: np.ndarray
) -> dict[str, np.ndarray]:
    """Arrange values as draws: (items or 1, *labels, subjects or 1)."""
    at = {ITEM: np.arange(len(cohort.levels[ITEM]))[:, None], SUBJECT: subjects[None]}
    tables = {
        node.name: cohort.covariates[node.name][at[SUBJECT]] for node in cohort.layout.covariates
    }
    for latent in cohort.layout.latents:
        sides = [root(plate) for plate in latent.plates]
        pairs = zip(sides, latent.plates, strict=True)
        index = tuple(cohort.up(side, plate)[at[side]] for side, plate in pairs)
        tables[latent.name] = values[latent.name][index or (None, None)]
    return {name: np.moveaxis(table, 1, -1) for name, table in tables.items()}


def _at_ranks(chances: np.ndarray, weights: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Select a point of each row and subject: (rows, points, subjects) become (rows, subjects).

    Ranks are in [0, 1), of which each point covers a part equal to its weight.
    """
    upto = np.cumsum(weights, axis=1)
    point = (upto[:, :-1] <= ranks.T[:, None] * upto[:, -1:]).sum(axis=1, keepdims=True)
    chances = np.broadcast_to(chances, (*chances.shape[:2], len(ranks)))
    return np.take_along_axis(chances, point, axis=1)[:, 0]


def expected_success(
    layout: Layout, features: Features, profiles: pd.DataFrame, items: int
) -> np.ndarray:
    """Compute the probabilities of success of subjects with known profiles.

    Parameters
    ----------
    layout : Layout
        The layout.
    features : dict of str to ndarray
        By meta-feature, shape (items,) or (items, labels); with several outcomes, grades or scores,
        also hidden ones, and rows that are steps of items.
    profiles : DataFrame
        One row per subject, a column per profile element.
    items : int
        Number of items, or of their rows.

    Returns
    -------
    ndarray, shape (subjects, items)
        Success probabilities, in [0, 1], averaged over what is unseen.

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
    names = {SUBJECT: list(profiles.index), ITEM: [""] * (items // rows_per_item(layout))}
    cohort = Cohort.empty(layout, names, {}, features, {})
    return true_chances(cohort, _profile_values(layout, profiles))


def _consistent(
    layout: Layout, evaluator: Evaluator, draws: Draws, subjects: int
) -> list[np.ndarray]:
    """Compute targets, (rows, ..., subjects), at the mean failures that follow from the first.

    They are found by damped fixed-point iteration.
    """
    failure = np.full(subjects, 0.5)
    for _ in range(_ITERATIONS):  # each step is a contraction if noise is below 1
        constants = {constant.name: failure[None] for constant in layout.constants}
        results = [values[evaluator.row] for values in evaluator({**draws, **constants})]
        step = 1 - results[0].mean(axis=0) - failure
        moving = np.abs(step) >= _SETTLED
        if not constants or not moving.any():
            break
        failure = failure + np.where(moving, step / 2, 0.0)
    return results


def _profile_values(layout: Layout, profiles: pd.DataFrame) -> dict[str, np.ndarray]:
    """Read the profiles' columns by latent, shape (subjects, labels...)."""
    return {latent.name: _column_values(latent, profiles) for latent in layout.latents}


def _column_values(latent: Latent, profiles: pd.DataFrame) -> np.ndarray:
    labels = [label for names in latent.dims.values() for label in names]
    columns = [f"{latent.name}[{label}]" for label in labels] or [latent.name]
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
    return np.asarray(
        np.clip(values, low, high).reshape(len(profiles), *map(len, latent.dims.values()))
    )
