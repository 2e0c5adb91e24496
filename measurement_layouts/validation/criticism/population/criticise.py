"""Criticism of a joint fit, whose tables share one reading of its draws."""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from ....common.errors import DataError, FitError
from ....evaluations.evaluation import Evaluation
from ....evaluations.tables import need_columns
from ....inference.fit import Fit
from ....inference.given import refuse_few_draws
from ..properties import places_of
from .criticism import PopulationCriticism
from .dependence import pairs, testlets
from .explained import Explained, explained, no_share
from .invariance import Contrast, group_columns, invariance
from .item_fit import item_fit
from .person_fit import person_fit
from .residuals import Residuals


def criticise_population(
    fit: Fit,
    evaluation: Evaluation,
    *,
    by: str | Iterable[str] | None,
    testlet: str | None,
    subjects: Iterable[object] | None,
    alpha: float,
    prob: float,
    seed: int,
) -> PopulationCriticism:
    """Criticise a joint fit; parameters and errors are those of `criticise`."""
    refuse_few_draws(fit, "criticise")
    people = evaluation.subject_table
    people = people.iloc[places_of(fit.subjects, people.index, "subject")]
    contrasts = [Contrast.of(people, name) for name in group_columns(people, by)]
    who = fit.named(subjects) if subjects is not None else fit.subjects
    residuals = Residuals.of(fit)
    items = evaluation.items
    items = items.iloc[places_of(residuals.items, items.index, "item")]
    together = None if testlet is None else _testlets(items, testlet)
    judged = {"alpha": alpha, "prob": prob}
    with threadpool_limits(1, user_api="blas"):  # more threads change the last digits
        return PopulationCriticism(
            person_fit(residuals, who, **judged),
            item_fit(residuals, fit.layout, **judged),
            invariance(residuals, contrasts, **judged),
            pairs(residuals, **judged)
            if together is None
            else testlets(residuals, together, seed=seed, **judged),
            _share(fit, prob),
            fit,
            evaluation,
            alpha,
            prob,
            testlet or "",
        )


def _share(fit: Fit, prob: float) -> Explained:
    """Compute the share that demands explain, or return the reason why there is none."""
    try:
        return explained(fit, prob=prob)
    except FitError as error:  # a single item, or a prior without quantiles
        return no_share(str(error), prob)


def _testlets(items: pd.DataFrame, name: str) -> dict[str, np.ndarray]:
    """Return the positions of the items of each testlet with at least two items."""
    need_columns(items.columns, [name], "testlets: the items have")
    codes, levels = pd.factorize(items[name])
    groups = {str(level): np.flatnonzero(codes == code) for code, level in enumerate(levels)}
    groups = {level: places for level, places in groups.items() if len(places) > 1}
    if not groups:
        raise DataError(
            f"testlets: {name} is different for each item; name a column with the same value for "
            "all items of a testlet"
        )
    return groups
