"""Success probabilities that follow from true values of a joint layout's latents."""

import numpy as np
import pandas as pd
import xarray as xr

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import expanded
from ...evaluations.tables import named
from ...layouts import Latent, Layout
from ...layouts.plates import SUBJECT, plate_name
from ..cells import CellEvaluator
from ..model.cohort import Cohort

STEPS, SETTLED = 200, 1e-12  # of the iteration towards consistent mean failures


def whole_cohort(layout: Layout, items: pd.DataFrame, subjects: pd.DataFrame) -> Cohort:
    """Make a cohort in which every subject attempted every item once.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    items, subjects : DataFrame
        Properties, indexed by name; the table of subjects may have no columns.

    Raises
    ------
    DataError
        When a column is missing, or the properties do not fit the layout.
    """
    items, subjects = named(items, "items", "item"), named(subjects, "subjects", "subject")
    if not len(subjects):
        raise DataError("there are no subjects; give at least one, as a row of subjects")
    rows = items if layout.steps is None else expanded(layout.steps, items)
    tried = pd.DataFrame(1, subjects.index, rows.index)
    return Cohort.of_evaluation(layout, Evaluation(rows, tried, tried, subjects=subjects))


def true_chances(
    layout: Layout,
    items: pd.DataFrame,
    truth: xr.Dataset,
    subjects: pd.DataFrame | None,
    rng: np.random.Generator,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute the success probabilities that follow from true values.

    What is unseen of an item is drawn for each subject and item.

    Parameters
    ----------
    layout : Layout
        A joint layout.
    items : DataFrame
        Properties, indexed by item.
    truth : Dataset
        True values of all latents: one draw of `drawing.draw_truths`.
    subjects : DataFrame, optional
        Properties, indexed by subject (default: a table of the subjects of `truth`, without
        columns).
    rng : Generator
        Random stream of what is unseen.

    Returns
    -------
    chances : DataFrame
        One row per subject, and one column per item or per step of its outcomes.
    subjects : DataFrame
        Properties of the subjects.

    Raises
    ------
    DataError
        When a variable or a level is missing, a value is not in its latent's range, or items or
        subjects do not fit the layout.
    """
    if subjects is None:
        if SUBJECT not in truth.coords:
            raise DataError(
                "the true values have no names of subjects; give subjects=, a table indexed by name"
            )
        subjects = pd.DataFrame(index=pd.Index(truth[SUBJECT].to_numpy(), name=SUBJECT))
    cohort = whole_cohort(layout, items, subjects)
    values = {latent.name: _values(latent, truth, cohort) for latent in layout.latents}
    found = _chances(cohort, values, rng).reshape(len(cohort.levels[SUBJECT]), -1)
    who = pd.Index(cohort.levels[SUBJECT], name=SUBJECT)
    return pd.DataFrame(found, who), named(subjects, "subjects", "subject")


def _chances(cohort: Cohort, values: dict[str, np.ndarray], rng: np.random.Generator) -> np.ndarray:
    """Compute the success probability of each cell at a value of what is unseen.

    Mean failures are those that follow from the probabilities, by damped iteration.
    """
    constants, count = cohort.layout.constants, len(cohort.levels[SUBJECT])
    cells, failure = CellEvaluator(cohort), np.full(count, 0.5)
    draws = cells.draws_by_level({name: value[None] for name, value in values.items()})
    for _ in range(STEPS if constants else 1):
        draws |= dict.fromkeys((str(constant.name) for constant in constants), failure[:, None])
        mean = cells.chances(draws)[:, 0]
        step = 1 - mean.reshape(count, -1).mean(axis=1) - failure
        if not (np.abs(step) >= SETTLED).any():
            break
        failure = failure + step / 2
    if cohort.layout.outcome.unseen is None:
        return mean
    chances, weights = (table[..., 0] for table in cells.chances_by_place(draws))
    upto = np.cumsum(weights, axis=1)
    ranks = rng.random((len(mean), 1)) * upto[:, -1:]
    place = (upto[:, :-1] <= ranks).sum(axis=1)[:, None]
    return np.asarray(np.take_along_axis(chances, place, axis=1)[:, 0])


def dims_of(latent: Latent) -> tuple[str, ...]:
    """Return the names of the dimensions of a latent's true values: its plates and labels."""
    return (*map(plate_name, latent.plates), *latent.label_dims)


def _values(latent: Latent, truth: xr.Dataset, cohort: Cohort) -> np.ndarray:
    """Read a latent's true values, at the levels of a cohort."""
    if latent.name not in truth:
        raise DataError(
            f"the true values have no {latent.name}; they have {some(truth.data_vars, 12)}"
        )
    own, dims = truth[latent.name], dims_of(latent)
    if set(own.dims) != set(dims):
        raise DataError(
            f"{latent.name} has the dimensions {some(own.dims) or 'none'}, and needs "
            f"{some(dims) or 'none'}; give a value for each of their levels"
        )
    for plate in map(plate_name, latent.plates):
        lacking = [one for one in cohort.levels[plate] if one not in own.indexes.get(plate, ())]
        if lacking:
            raise DataError(
                f"{latent.name} has no value for {plate} {some(lacking)}; it has "
                f"{some(map(str, own.indexes.get(plate, ())))}"
            )
        own = own.sel({plate: cohort.levels[plate]})
    values = own.transpose(*dims).to_numpy().astype(float)
    low, high = latent.range.low, latent.range.high
    if not ((values >= low) & (values <= high)).all():
        raise DataError(
            f"{latent.name} lies in {latent.range}, and its true values reach from "
            f"{np.min(values):g} to {np.max(values):g}; correct them"
        )
    return values
