"""One new subject among the levels of a joint fit."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.steps import of_rows, refuse_other_rows, rows_per_item
from ...layouts import Layout
from ...layouts.plates import ITEM, SUBJECT, plate_name
from ..forecasts.roster import Roster
from ..model.cohort import Cohort
from ..model.features import outside_range
from ..model.new_levels import new_values
from ..posterior.posterior import Posterior


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
        (who,) = _one_subject(fit, evaluation)
        items, each = evaluation.item_table.index, rows_per_item(layout)
        refuse_other_rows(layout, evaluation.rows)
        tried = (evaluation.trials.loc[who].to_numpy() > 0).reshape(-1, each).any(axis=1)
        chosen = evaluation.select(items=items[tried])
        roster = Roster.of(fit, chosen.item_table, chosen.subject_table)
        everybody, at = roster.cohort, roster.what
        new = at >= roster.known[ITEM]
        brought = {node.name: roster.features[node.name] for node in layout.meta_features}
        outside = outside_range(layout, {name: values[new] for name, values in brought.items()})
        for name in outside.columns[outside.any()]:
            raise DataError(
                f"{name}: {outside[name].sum()} new item(s) lie outside its declared range: "
                f"{some(items[tried][new][outside[name].to_numpy()])}; leave those items "
                "out, or widen the range and fit all subjects again"
            )
        known = {name: fit.constants[name].to_numpy()[::each] for name in brought}
        features = {
            name: np.concatenate([known[name], values[new]]) for name, values in brought.items()
        }
        count = len(everybody.levels[ITEM])
        trials, rows = chosen.trials.loc[who].to_numpy(), None
        at = (each * at[:, None] + np.arange(each)).ravel()
        if layout.steps is not None:
            features = of_rows(layout.steps, features, count)
            rows = np.repeat(np.arange(count), each)
        attempted = trials > 0
        failure = 1 - np.array([chosen.successes.loc[who].sum() / trials.sum()])
        own = replace(
            everybody,
            levels={**everybody.levels, SUBJECT: [who]},
            of={
                one.name: everybody.of[one.name][
                    slice(None) if one.root == ITEM else slice(-1, None)
                ]
                for one in layout.categories
            },
            features=features,
            covariates={name: values[-1:] for name, values in everybody.covariates.items()}
            | dict.fromkeys((one.name for one in layout.constants), failure),
            subject=np.zeros(attempted.sum(), dtype=int),
            row=at[attempted],
            successes=chosen.successes.loc[who].to_numpy()[attempted],
            trials=trials[attempted],
            item_of_row=rows,
        )
        whole = replace(own, levels=everybody.levels, of=everybody.of)
        return cls(own, whole, roster.known)

    @classmethod
    def alone(cls, layout: Layout, evaluation: Evaluation) -> "Joined":
        """Read one subject under a layout in which subjects share no values."""
        own = Cohort.of_evaluation(layout, evaluation)
        fitted = {name: len(levels) for name, levels in own.levels.items()}
        return cls(own, own, fitted)

    @property
    def new(self) -> str:
        """Return the numbers of new levels in words, or an empty string if there are none."""
        counts = {
            name: len(levels) - self.fitted[name]
            for name, levels in self.own.levels.items()
            if name != SUBJECT
        }
        return ", ".join(f"{count} of {name}" for name, count in counts.items() if count)


def _one_subject(fit: Posterior, evaluation: Evaluation) -> list[str]:
    """Check that there is exactly one subject, which is not in the fit."""
    who = evaluation.subjects
    if len(who) != 1:
        raise DataError(
            f"the evaluation has {len(who)} subjects ({some(who)}), but newcomer takes one at a "
            "time, since each would change the shared values; give "
            "evaluation.select(subjects=[name]) with one name, or fit all jointly"
        )
    if who[0] in fit.subjects:
        raise DataError(
            f"{who[0]} is in this fit already, so its outcomes would count twice; give a subject "
            "that was not fitted, or another name"
        )
    return who


def shared_draws(fit: Posterior, joined: Joined, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return the draws of the shared latents, with a draw from the prior for each new level.

    Returns
    -------
    dict of str to ndarray
        By latent without a value per subject, shape (draws, levels..., labels...).
    """
    found: dict[str, np.ndarray] = {}
    posterior = fit.posterior
    for latent in fit.layout.latents:
        if SUBJECT in latent.plates:
            continue
        values = posterior[latent.name].to_numpy()
        values = values.reshape(-1, *values.shape[2:])
        sizes = joined.whole.size(latent.plates)
        old = tuple(joined.fitted[plate_name(plate)] for plate in latent.plates)
        if sizes != old:
            scores = rng.normal(size=(len(values), *sizes, *values.shape[1 + len(old) :]))
            every = new_values(latent, scores, found, joined.whole, joined.fitted)
            every[(slice(None), *map(slice, old))] = values
            values = every
        found[latent.name] = values
    return found
