"""Checks of a layout against data before sampling."""

import numpy as np
import pandas as pd

from ...batteries.information.expected import Expected, expected
from ...common import options
from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation, refuse_no_layout
from ...evaluations.steps import of_rows, refuse_other_rows
from ...inference.model.alignment import Features
from ...inference.model.features import read_features
from ...inference.model.variation import needing
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.opposed import opposed
from ...linking import units
from ..criticism.agreement import agreement, outcomes_by_item, told_agreement
from .advice import (
    about_constants,
    about_demands,
    about_groups,
    about_latents,
    about_outcomes_twice,
    about_short_tests,
    about_subjects,
    learnt,
    more_items,
)
from .columns import Columns, collinear, inflation, informed_by, read_columns
from .population import no_effects, taught
from .result import PROB, Check
from .slopes import about_slopes


def check(layout: Layout, evaluation: Evaluation, *, seed: int = 1) -> Check:
    r"""Assess, before sampling, how much the data inform each latent of a layout.

    Expected posterior standard deviations come from the Fisher information of the outcomes at
    draws of the profile from its prior, and the prior's precision; see `expected.expected`. For the
    published layout and battery they are within 10 % of those of fits to simulated subjects. They
    apply to subjects drawn from the prior; the data inform less about a subject that passes or
    fails nearly all items. Trials of an item with an `Unseen` property count as independent, which
    makes the expected standard deviations too small.

    The outcomes of each subject are compared with the other subjects', item by item: outcomes
    that agree with no other subject's may have been read with the items in another order. See
    `agreement.agreement`, also for the share of such subjects that is found; of subjects whose
    items are in order, at most 1 in 100 is flagged.

    A logistic whose slope is far too steep or too flat for the items is reported, with the slope
    that is usual, ten divided by the range of the demand; see `slopes.about_slopes`.

    For a joint layout, the expected standard deviations are those of all values together, shared
    ones and subjects' own ones; see `population.taught`. Locations that no outcome can tell apart,
    such as a free mean of subjects beside item effects that do not sum to zero, are reported as
    problems, and before all others, groups of subjects that share no item, if items have effects of
    their own; see `linkage.unlinked_groups`. Repeated attempts at an item are tested after the fit,
    by `criticise`.

    Parameters
    ----------
    layout : Layout
        The layout.
    evaluation : Evaluation
        Items and outcomes.
    seed : int, default 1
        Seed of the draws from the prior.

    Returns
    -------
    Check
        Tables, and descriptions of problems.

    Raises
    ------
    DataError
        When a column is missing, no item can be used, the outcomes do not match the layout, or
        `evaluation` is something else, such as a table.
    FitError
        When the seed is not a whole number.
    LayoutError
        When a prior cannot be drawn from, or `layout` is something else.

    References
    ----------
    Chaloner and Verdinelli (1995), see `expected.expected`; Belsley, Kuh and Welsch (1980), see
    `columns.inflation`.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> found = check(aaio.published_layout(), aaio.simulated_cohort().evaluation)
    >>> found.latents.set_index("node")["verdict"]
    node
    navigationAbility    weakly informed
    ...
    """
    refuse_no_layout(layout)
    refuse_no_evaluation(evaluation)
    seed = options.whole("seed", seed)
    refuse_other_rows(layout, evaluation.rows)
    columns = read_columns(layout, evaluation.item_table)
    if not columns.usable.any():
        problems = some(columns.problems, 3, most=1_000)
        raise DataError(f"no item can be used with layout {layout.name!r}: {problems}")
    effects, unlinked, ridges, advice = no_effects(), list[str](), list[str](), list[str]()
    if layout.joint:
        usable = evaluation.select(items=evaluation.item_table.index[columns.usable])
        shared = taught(layout, usable, columns.varying, seed=seed)
        latents, sds = shared.latents, shared.sds
        effects, unlinked, ridges = shared.effects, shared.unlinked, shared.problems
    else:
        given, trials = _usable(layout, evaluation, columns.usable)
        found = expected(layout, given, trials, seed=seed)
        latents = _latents(layout, found, trials, columns.varying)
        names = [element.name for element in elements(layout)]
        sds = pd.DataFrame(found.sds, evaluation.subjects, names)
        ridges = about_latents(latents, names, more_items)
        advice = about_short_tests(latents, len(evaluation.subjects))
    values = _to_correlate(columns)
    factors = inflation(values.dropna(axis=1))
    features = columns.table.assign(variance_inflation=factors)
    together = collinear(values, factors)
    subjects = _subjects(evaluation)
    alone = _agreement(evaluation, seed)
    return Check(
        layout.name,
        latents,
        features,
        together,
        subjects,
        sds.set_axis(subjects.index),
        [
            *unlinked,
            *columns.problems,
            *about_outcomes_twice(layout),
            *about_slopes(layout, columns),
            *about_constants(features, _needs(layout, evaluation, columns)),
            *ridges,
            *about_demands(together),
            *about_subjects(subjects),
            *told_agreement(alone),
        ],
        layout.steps is not None,
        alone,
        effects,
        [*advice, *about_groups(layout, evaluation.item_table)],
    )


def _usable(
    layout: Layout, evaluation: Evaluation, usable: np.ndarray
) -> tuple[Features, np.ndarray]:
    """Take the meta-features of the rows of usable items, and the attempts at them."""
    items = evaluation.item_table[usable]
    features = read_features(layout, items)
    if layout.steps is not None:
        features = of_rows(layout.steps, features, len(items))
        usable = np.repeat(usable, len(layout.steps.rows))
    return features, evaluation.attempts.to_numpy()[:, usable]


def _agreement(evaluation: Evaluation, seed: int) -> pd.DataFrame:
    """Compare subjects' outcomes on items with each other."""
    counts = evaluation.successes.to_numpy(), evaluation.trials.to_numpy()
    outcomes = outcomes_by_item(*counts, evaluation.rows)
    return agreement(evaluation.subjects, outcomes, prob=PROB, seed=seed)


def _needs(layout: Layout, evaluation: Evaluation, columns: Columns) -> dict[str, list[str]]:
    """List the latents that can be inferred only if a column varied, by column that does not."""
    demands, values = opposed(layout), read_features(layout, evaluation.item_table[columns.usable])
    return {
        column: needing(layout, feature, values, label)
        for feature in layout.meta_features
        if feature.name in demands
        for label, column in enumerate(feature.columns)
        if column not in columns.varying
    }


def _to_correlate(columns: Columns) -> pd.DataFrame:
    """Take the finite columns that vary among the usable items, with NaN where undefined."""
    table = columns.values[columns.usable]
    kept = [
        name
        for name in columns.varying
        if table[name].nunique() > 1 and not np.isinf(table[name]).any()
    ]
    return table[kept]


def _latents(
    layout: Layout, found: Expected, trials: np.ndarray, varying: list[str]
) -> pd.DataFrame:
    known = elements(layout)
    items, median = _attempted(layout, found.matters, trials)
    others = np.where(np.eye(len(known), dtype=bool), 0, found.correlation)
    names, sds = [element.name for element in known], np.median(found.sds, axis=0)
    met = [informed_by(layout, element) for element in known]
    return pd.DataFrame(
        {
            "node": [element.latent.name for element in known],
            "label": [element.label for element in known],
            "unit": [units.name(element.latent.unit) for element in known],
            "informed_by": [", ".join(c for c in columns if c in varying) for columns in met],
            "items": items,
            "trials": median,
            **learnt(names, found.prior_sd, sds, others),
        }
    )


def _attempted(
    layout: Layout, matters: np.ndarray, trials: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Count the items, and the median subject's attempts, on which each element matters."""
    count, each = len(layout.outcomes), sum(len(outcome.steps) for outcome in layout.outcomes)
    starts = np.cumsum([0, *(len(outcome.steps) for outcome in layout.outcomes[:-1])])
    first = (np.arange(len(matters) // each)[:, None] * each + starts).ravel()
    own, attempts = np.logical_or.reduceat(matters, first), trials[:, first]
    done = own & attempts.any(axis=0)[:, None]
    items = done.reshape(-1, count, matters.shape[1]).any(axis=1).sum(axis=0)
    return items, np.median(attempts @ own, axis=0).astype(int)


def _subjects(evaluation: Evaluation) -> pd.DataFrame:
    rows, cells = evaluation.rows, evaluation.coded
    successes, trials = (cells.by_subject(values) for values in (cells.successes, cells.trials))
    return pd.DataFrame(
        {
            "trials": trials if rows is None else cells.by_subject(rows.attempts(cells)),
            "success": evaluation.success_rates(),
            "all_alike": (successes == 0) | (successes == trials),
        }
    )
