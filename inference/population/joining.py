"""One new subject among the levels that a joint fit knows."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...layouts.plates import ITEM, SUBJECT
from ..model.cohort import Cohort, read_categories
from ..model.features import outside_range, read_covariates, read_features
from ..posterior.posterior import Posterior


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
        layout, constants = fit.layout, fit.constants
        (who,) = _one_subject(fit, evaluation)
        tried = evaluation.trials.loc[who].to_numpy() > 0
        chosen = evaluation.select(items=evaluation.items.index[tried])
        index = fit.posterior.indexes
        levels = {name: list(map(str, index[name])) for name in (SUBJECT, ITEM)}
        levels |= {one.name: list(map(str, index[one.name])) for one in layout.categories}
        fitted = {name: len(names) for name, names in levels.items()}
        items = chosen.items.index
        place = pd.Index(levels[ITEM]).get_indexer(items)
        met = place >= 0
        features = read_features(layout, chosen.items)
        kinds, codes = read_categories(layout, chosen.items, chosen.subject_table, levels)
        for name in [*features, *(one.name for one in layout.categories if one.root == ITEM)]:
            brought = features[name] if name in features else codes[name]
            _refuse_other(name, items[met], brought[met], constants[name].to_numpy()[place[met]])
        outside = outside_range(layout, {n: values[~met] for n, values in features.items()})
        for name in outside.columns[outside.any()]:
            raise DataError(
                f"{name}: {outside[name].sum()} new item(s) lie outside its declared range: "
                f"{some(items[~met][outside[name].to_numpy()])}; leave those items out, or widen "
                "the range and fit all subjects anew"
            )
        levels = levels | kinds | {ITEM: [*levels[ITEM], *items[~met]]}
        known = {name: constants[name].to_numpy() for name in codes}
        of = {
            one.name: np.concatenate(
                [known[one.name], codes[one.name][~met if one.root == ITEM else slice(None)]]
            )
            for one in layout.categories
        }
        at = np.where(met, place, fitted[ITEM] + np.cumsum(~met) - 1)
        own = Cohort(
            layout,
            levels | {SUBJECT: [who]},
            {
                one.name: of[one.name] if one.root == ITEM else codes[one.name]
                for one in layout.categories
            },
            {
                name: np.concatenate([constants[name].to_numpy(), values[~met]])
                for name, values in features.items()
            },
            read_covariates(layout, chosen.subject_table),
            np.zeros(len(at), dtype=int),
            at,
            chosen.successes.loc[who].to_numpy(),
            chosen.trials.loc[who].to_numpy(),
        )
        whole = replace(own, levels=levels | {SUBJECT: [*levels[SUBJECT], who]}, of=of)
        return cls(own, whole, fitted)

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


def _refuse_other(name: str, items: pd.Index, brought: np.ndarray, known: np.ndarray) -> None:
    """Refuse items that the fit knows with another property."""
    same = np.isclose(brought, known, rtol=1e-9, atol=0, equal_nan=True)
    other = ~same.reshape(len(items), -1).all(axis=1)
    if other.any():
        raise DataError(
            f"{name} of the item(s) {some(items[other])} differs from what the fit knows of them; "
            "correct it, or give a changed item another name"
        )
