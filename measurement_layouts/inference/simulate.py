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
from ..layouts.plates import ITEM, SUBJECT
from .cells import CellEvaluator
from .model.alignment import Features
from .model.cohort import Cohort
from .population.truth import true_values

_ROUNDING = 1e-9  # tolerance for rounded values at the ends of a range, as a part of the range
_STREAM = 0x0C0E5  # differs from the spawn keys of a seed's first children
_TOGETHER = 2**18  # subjects times rows times points that are computed together
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
    unseen, subjects = cohort.layout.outcome.unseen, len(cohort.levels[SUBJECT])
    rows = len(cohort.levels[ITEM]) if cohort.item_of_row is None else len(cohort.item_of_row)
    points = 1 if unseen is None else len(cohort.layout.dims[unseen.dim])
    ranks = None if unseen is None or rng is None else rng.random((subjects, rows))
    together = max(1, _TOGETHER // (rows * points))
    chances = np.empty((subjects, rows))
    for block in np.split(np.arange(subjects), range(together, subjects, together)):
        none = np.zeros(len(block) * rows, dtype=int)
        subject, row = np.repeat(block, rows), np.tile(np.arange(rows), len(block))
        cells = replace(cohort, subject=subject, row=row, successes=none, trials=none)
        chances[block] = _at_cells(cells, values, None if ranks is None else ranks[block].ravel())
    return chances


def _at_cells(
    cells: Cohort, values: Mapping[str, np.ndarray], ranks: np.ndarray | None
) -> np.ndarray:
    """Compute chances of all rows of some subjects, at mean failures that follow from them.

    Mean failures are found by damped fixed-point iteration. Ranks are in [0, 1), of which each
    point of what is unseen covers a part equal to its weight.
    """
    evaluator, subjects = CellEvaluator(cells), np.unique(cells.subject)
    draws = evaluator.draws_by_level({name: array[None] for name, array in values.items()})
    failure = np.full(len(cells.levels[SUBJECT]), 0.5)
    for _ in range(_ITERATIONS):  # each step is a contraction if noise is below 1
        constants = {one.name: failure[:, None] for one in cells.layout.constants}
        chances = evaluator.chances({**draws, **constants}).reshape(len(subjects), -1)
        step = 1 - chances.mean(axis=1) - failure[subjects]
        if not constants or (np.abs(step) < _SETTLED).all():
            break
        failure[subjects] += step / 2
    if ranks is None:
        return chances
    by_point, weights = evaluator.chances_by_place({**draws, **constants})
    upto = np.cumsum(weights[..., 0], axis=1)
    point = (upto[:, :-1] <= ranks[:, None] * upto[:, -1:]).sum(axis=1, keepdims=True)
    return np.take_along_axis(by_point[..., 0], point, axis=1).reshape(chances.shape)


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
