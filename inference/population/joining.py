"""One new subject among the levels that a joint fit knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...layouts.plates import ITEM, SUBJECT
from ..model.cohort import Cohort
from ..model.features import outside_range
from ..posterior.posterior import Posterior
from .roster import Roster


@dataclass(frozen=True, eq=False)
class Joined:
    """A fit's levels, and after them those that a newcomer brings.

    Attributes
    ----------
    own : Cohort
        The newcomer alone, with its outcomes, among all items and levels.
    whole : Cohort
        The same levels with all subjects, the newcomer last, who say what a level belongs to.
    fitted : dict of str to int
        By plate, how many levels the fit has.
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
            When there is not one subject, or it is in the fit; when an item or a level that the fit
            knows comes with other properties, or a new one does not fit the layout.
        """
        layout = fit.layout
        (who,) = _one_subject(fit, evaluation)
        tried = evaluation.trials.loc[who].to_numpy() > 0
        chosen = evaluation.select(items=evaluation.items.index[tried])
        roster = Roster.of(fit, chosen.items, chosen.subject_table)
        everybody, at = roster.cohort, roster.what
        new = at >= roster.known[ITEM]
        brought = {node.name: roster.features[node.name] for node in layout.meta_features}
        outside = outside_range(layout, {name: values[new] for name, values in brought.items()})
        for name in outside.columns[outside.any()]:
            raise DataError(
                f"{name}: {outside[name].sum()} new item(s) lie outside its declared range: "
                f"{some(chosen.items.index[new][outside[name].to_numpy()])}; leave those items "
                "out, or widen the range and fit all subjects anew"
            )
        known = fit.constants
        own = replace(
            everybody,
            levels={**everybody.levels, SUBJECT: [who]},
            of={
                one.name: everybody.of[one.name][
                    slice(None) if one.root == ITEM else slice(-1, None)
                ]
                for one in layout.categories
            },
            features={
                name: np.concatenate([known[name].to_numpy(), values[new]])
                for name, values in brought.items()
            },
            covariates={name: values[-1:] for name, values in everybody.covariates.items()},
            subject=np.zeros(len(at), dtype=int),
            item=at,
            successes=chosen.successes.loc[who].to_numpy(),
            trials=chosen.trials.loc[who].to_numpy(),
        )
        whole = replace(own, levels=everybody.levels, of=everybody.of)
        return cls(own, whole, roster.known)

    @property
    def new(self) -> str:
        """How many levels the fit does not know, in words; empty without any."""
        counts = {
            name: len(levels) - self.fitted[name]
            for name, levels in self.own.levels.items()
            if name != SUBJECT
        }
        return ", ".join(f"{count} of {name}" for name, count in counts.items() if count)


def _one_subject(fit: Posterior, evaluation: Evaluation) -> list[str]:
    """Check that there is one subject, who is new."""
    who = evaluation.subjects
    if len(who) != 1:
        raise DataError(
            f"the evaluation has {len(who)} subjects ({some(who)}), and a newcomer comes alone: "
            "each would change what is shared; give evaluation.select(subjects=[name]), one name "
            "at a time, or fit all jointly"
        )
    if who[0] in fit.subjects:
        raise DataError(
            f"{who[0]} is in this fit already, and its outcomes would count twice; give a subject "
            "that was not fitted, or another name"
        )
    return who
