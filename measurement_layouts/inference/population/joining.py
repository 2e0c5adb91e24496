"""One new subject among the levels of a joint fit."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import refuse_other_rows, rows_per_item
from ...layouts import Layout
from ...layouts.plates import SUBJECT
from ..model.cohort import Cohort
from ..model.extended import Extended
from ..model.features import outside_range, read_features
from ..posterior.cohort import cohort_of, levels_of
from ..posterior.posterior import Posterior
from .selection import selected


@dataclass(frozen=True, eq=False)
class Joined:
    """The levels of a fit, followed by the new levels of a newcomer.

    Attributes
    ----------
    own : Cohort
        Only the newcomer, with its outcomes, among all items and levels.
    whole : Cohort
        The same levels with all subjects, the newcomer last; it tells how levels are nested.
    fitted : dict of str to int
        By plate, the number of levels of the fit.
    """

    own: Cohort
    whole: Cohort
    fitted: Mapping[str, int]

    @classmethod
    def of(cls, fit: Posterior, evaluation: Evaluation) -> "Joined":
        """Read a newcomer.

        Raises
        ------
        DataError
            When the evaluation does not have exactly one subject, or the subject is in the fit;
            when an item or a level of the fit is given other properties, or a new one does not fit
            the layout.
        """
        layout = fit.layout
        _refuse_unless_new(fit, evaluation)
        refuse_other_rows(layout, evaluation.rows)
        items, each = evaluation.item_table.index, rows_per_item(layout)
        tried = evaluation.coded.attempted.reshape(-1, each).any(axis=1)
        chosen = evaluation.select(items=items[tried])
        features = read_features(layout, chosen.item_table)
        extended = Extended.of(cohort_of(fit), chosen.item_table, features, chosen.subject_table)
        new = extended.new_items
        outside = outside_range(layout, {name: values[new] for name, values in features.items()})
        for name in outside.columns[outside.any()]:
            raise DataError(
                f"{name}: {outside[name].sum()} new item(s) lie outside its declared range: "
                f"{some(items[tried][new][outside[name].to_numpy()])}; leave those items "
                "out, or widen the range and fit all subjects again"
            )
        cells, cohort = chosen.coded, extended.cohort
        everybody = replace(
            cohort,
            subject=np.full(len(cells), extended.subjects.item()),
            row=each * extended.items[cells.item // each] + cells.item % each,
            successes=cells.successes,
            trials=cells.trials,
        )
        newcomer = selected(everybody, SUBJECT, extended.subjects)
        constants = dict.fromkeys((one.name for one in layout.constants), 1 - cells.rates)
        newcomer = replace(newcomer, covariates={**newcomer.covariates, **constants})
        nested = replace(newcomer, levels=cohort.levels, of=cohort.of)
        return cls(newcomer, nested, extended.fitted)

    @classmethod
    def alone(cls, layout: Layout, evaluation: Evaluation) -> "Joined":
        """Read one subject under a layout in which subjects share no values."""
        cohort = Cohort.of_evaluation(layout, evaluation)
        return cls(cohort, cohort, {name: len(levels) for name, levels in cohort.levels.items()})

    @property
    def new(self) -> str:
        """Return the numbers of new levels in words, or an empty string if there are none."""
        counts = {
            name: len(levels) - self.fitted[name]
            for name, levels in self.own.levels.items()
            if name != SUBJECT
        }
        return ", ".join(f"{count} of {name}" for name, count in counts.items() if count)


def _refuse_unless_new(fit: Posterior, evaluation: Evaluation) -> None:
    """Check that there is exactly one subject, which is not in the fit."""
    names = evaluation.subjects
    if len(names) != 1:
        raise DataError(
            f"the evaluation has {len(names)} subjects ({some(names)}), but newcomer takes one at "
            "a time, since each would change the shared values; give "
            "evaluation.select(subjects=[name]) with one name, or fit all jointly"
        )
    if names[0] in fit.subjects:
        raise DataError(
            f"{names[0]} is in this fit already, so its outcomes would count twice; give a subject "
            "that was not fitted, or another name"
        )


def shared_draws(fit: Posterior, joined: Joined) -> dict[str, np.ndarray]:
    """Return the draws of the shared latents, with a draw from the prior for each new level.

    Returns
    -------
    dict of str to ndarray
        By latent without a value per subject, shape (draws, levels..., labels...).
    """
    draws, levels = {}, levels_of(fit, joined.whole, joined.fitted)
    for latent in fit.layout.latents:
        if SUBJECT not in latent.plates:
            sizes = joined.whole.size(latent.plates)
            codes = np.indices(sizes).reshape(len(sizes), math.prod(sizes)).T
            values = levels.at(latent, codes)
            draws[latent.name] = values.reshape(len(values), *sizes, *values.shape[2:])
    return draws
