"""Check of a layout against data before sampling."""

import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.findings import table
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation, refuse_no_layout
from ...evaluations.steps import refuse_other_rows, rows_per_item
from ...layouts import Layout
from ..criticism.agreement import agreement, agreement_findings, outcomes_by_item
from .advice import (
    about_constants,
    about_groups,
    about_outcomes_twice,
    about_short_tests,
    about_subjects,
)
from .collinear import collinear
from .columns import read_columns
from .latents import read_latents
from .result import PROB, Check
from .slopes import about_slopes


def check(layout: Layout, evaluation: Evaluation, *, seed: int = 1) -> Check:
    r"""Assess, before sampling, how much the data inform each latent of a layout.

    Expected posterior standard deviations come from the Fisher information of the outcomes at
    draws of the profile from its prior, and the prior's precision; see `expected.expected`. For the
    published layout and battery they are within 10 % of those of fits to simulated subjects. They
    apply to subjects drawn from the prior; the data inform less about a subject that passes or
    fails nearly all items. Trials of an item with an `Unseen` property count as independent, which
    makes the expected standard deviations too small. In a joint layout, they are those of a subject
    whose own outcomes are all that is known of it, while values that subjects share are known; of
    shared values, the number of trials is stated.

    The outcomes of each subject are compared with the other subjects', item by item: outcomes
    that agree with no other subject's may have been read with the items in another order. See
    `agreement.agreement`, also for the share of such subjects that is found; of subjects whose
    items are in order, at most 1 in 100 is flagged.

    A logistic whose slope is far too steep or too flat for the items is reported, with the slope
    that is usual, ten divided by the range of the demand; see `slopes.about_slopes`.

    For a joint layout, locations that no outcome can tell apart, such as a free mean of subjects
    beside item effects that do not sum to zero, are reported as problems, see
    `ridges.about_ridges`; and before all others, groups of subjects that share no item, if items
    have effects of their own, see `linkage.unlinked_groups`. Repeated attempts at an item are
    tested after the fit, by `criticise`.

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
        Tables, and findings: problems and advice.

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
    `collinear.inflation`.

    Examples
    --------
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> result = check(aaio.published_layout(), aaio.simulated_cohort().evaluation)
    >>> result.latents.set_index("node")["verdict"]
    node
    navigationAbility    weakly informed
    ...
    """
    refuse_no_layout(layout)
    refuse_no_evaluation(evaluation)
    seed = options.whole("seed", seed)
    refuse_other_rows(layout, evaluation.rows)
    columns = read_columns(layout, evaluation.item_table)
    tried = evaluation.coded.attempted.reshape(-1, rows_per_item(layout)).any(axis=1)
    items = columns.usable & tried
    if not items.any():
        problems = some(columns.findings, 3, most=1_000) or "no usable item was attempted"
        raise DataError(f"no item can be used with layout {layout.name!r}: {problems}")
    latents, expected, about_latents = read_latents(
        layout, evaluation, items, columns.varying, seed=seed
    )
    factors, about_demands = collinear(layout, columns)
    outcomes = outcomes_by_item(evaluation.coded, evaluation.rows)
    agreeing = agreement(evaluation.subjects, outcomes, prob=PROB)
    subjects = _subjects(evaluation, agreeing)
    findings = [
        *columns.findings,
        *about_outcomes_twice(layout),
        *about_slopes(layout, columns),
        *about_constants(layout, columns, evaluation.item_table),
        *about_latents,
        *about_demands,
        *about_subjects(subjects),
        *agreement_findings(agreeing),
        *about_short_tests(layout, latents, len(subjects)),
        *about_groups(layout, evaluation.item_table),
    ]
    findings.sort(key=lambda finding: finding.what != "unlinked")
    features = columns.table.assign(variance_inflation=factors)
    return Check(layout.name, latents, features, subjects, expected, table(findings))


def _subjects(evaluation: Evaluation, agreeing: pd.DataFrame) -> pd.DataFrame:
    """Tabulate the subjects' outcomes, and their agreement with each other."""
    rows, cells, rates = evaluation.rows, evaluation.coded, evaluation.success_rates()
    successes, trials = (cells.by_subject(values) for values in (cells.successes, cells.trials))
    compared = agreeing.set_index("subject").reindex(rates.index)
    return pd.DataFrame(
        {
            "trials": trials if rows is None else cells.by_subject(rows.attempts(cells)),
            "success": rates,
            "all_alike": (successes == 0) | (successes == trials),
            "agreement": compared["agreement"],
            "agreement_p": compared["p"],
            "disagrees": compared["flagged"].eq(True).to_numpy(dtype=bool),
        },
        rates.index,
    )
