"""Starting point of a design: the prior, a fitted subject, or a population."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...common.messages import some
from ...evaluations.steps import of_rows
from ...evaluations.tables import named
from ...inference.model.features import read_features
from ...inference.posterior.posterior import Posterior, posterior_draws
from ...layouts import Layout
from ...layouts.elements import elements
from ...layouts.plates import SUBJECT
from ...linking import LayoutError
from ..information.newcomers import Newcomers
from ..information.sensitivity import Sensitivity


@dataclass(frozen=True, eq=False)
class Start:
    """Distribution of the subjects' profiles before any item is asked.

    Attributes
    ----------
    layout : Layout
        The layout.
    profiles : ndarray, shape (draws, elements), optional
        Posterior draws of one subject (default: draws from the prior).
    others : Posterior, optional
        Joint fit of the population that newcomers come from.
    people : DataFrame, optional
        Properties of the newcomers, one row, if there is a joint fit.
    """

    layout: Layout
    profiles: np.ndarray | None = None
    others: Posterior | None = None
    people: pd.DataFrame | None = None

    @classmethod
    def of(
        cls, layout: Layout, given: Posterior | None, subject: str | pd.DataFrame | None
    ) -> "Start":
        """Read the starting point.

        Parameters
        ----------
        layout : Layout
            Layout that a battery is designed for.
        given : Posterior, optional
            Fit of this layout.
        subject : str or DataFrame, optional
            Name of the subject, needed if the fit has several; properties of newcomers to a joint
            fit.

        Raises
        ------
        FitError
            When the fit is of another layout, has no such subject, or several and none is named;
            when a subject is named with a joint fit, or properties are given with another fit.
        LayoutError
            When subjects share something and there is no joint fit, or subjects have values for
            each level of a category.
        """
        if given is not None and given.layout.fingerprint != layout.fingerprint:
            raise FitError(
                f"given is a fit of layout {given.layout.name!r}, and the battery is for another "
                f"one, {layout.name!r}; give a fit of the same layout"
            )
        if layout.joint:
            return _population(layout, given, subject)
        if isinstance(subject, pd.DataFrame):
            raise FitError(
                f"subject is a table of properties, which layout {layout.name!r} does not use, "
                "since subjects share nothing; leave it out, or name a subject of given="
            )
        if given is None:
            return cls(layout)
        if subject is None:
            if len(given.subjects) != 1:
                raise FitError(
                    f"given has {len(given.subjects)} subjects, {some(given.subjects)}; name the "
                    "one to start from, as subject="
                )
            (subject,) = given.subjects
        (subject,) = given.named([subject])
        drawn = [posterior_draws(given, element, subject) for element in elements(layout)]
        return cls(layout, np.stack(drawn, axis=1))

    def over(self, bank: pd.DataFrame, draws: int, seed: int) -> tuple[Sensitivity, np.ndarray]:
        """Draw profiles, and compute how success on a bank depends on them.

        Parameters
        ----------
        bank : DataFrame
            Items, indexed by name; an item may be repeated.
        draws, seed : int
            Number of profiles, and seed of their draws.

        Returns
        -------
        source : Sensitivity
            The rows: items, or the steps of their outcomes.
        rows : ndarray of int, shape (items, steps)
            Which of the different rows each item has.
        """
        layout = self.layout
        if self.others is not None and self.people is not None:
            source: Sensitivity = Newcomers.joining(self.others, bank, self.people, draws, seed)
            each = 1
        else:
            if bank.index.has_duplicates:
                bank = bank.set_axis([f"{number}" for number in range(len(bank))])
            features, count, each = read_features(layout, bank), len(bank), 1
            if layout.steps is not None:
                each = len(layout.steps.rows)
                features, count = of_rows(layout.steps, features, count), count * each
            source = Sensitivity.of(layout, features, count, draws, seed, self.profiles)
        found = np.empty(len(bank) * each, dtype=int)
        found[source.block.items] = source.block.alike
        return source, found.reshape(-1, each)


def _population(
    layout: Layout, given: Posterior | None, subject: str | pd.DataFrame | None
) -> Start:
    """Read the population that newcomers come from."""
    profile = {latent.name for latent in layout.profile}
    if given is None:
        shared = [latent.name for latent in layout.latents if latent.name not in profile]
        raise LayoutError(
            f"layout {layout.name!r}: its subjects share {some(shared)}, so that the layout alone "
            "is not enough; give the joint fit of others, given=fit(layout, others), or a "
            "layout with numbers in place of the shared values"
        )
    for latent in layout.latents:
        if SUBJECT in latent.plates and latent.name not in profile:
            raise LayoutError(
                f"layout {layout.name!r}: each subject has a value of {latent.name} for each level "
                "of a category, which a design does not separate from the profile; give a layout "
                "without it, or use AdaptiveTest, which does"
            )
    if layout.constants:
        names = some(constant.name for constant in layout.constants)
        raise LayoutError(
            f"layout {layout.name!r} needs {names}, the share of all items that a subject fails, "
            "which is not known of newcomers to a joint fit; use a layout without it"
        )
    if isinstance(subject, str):
        where = "with" if subject in given.subjects else "without"
        raise FitError(
            f"subject={subject!r}: given is a joint fit {where} this subject, and a battery is "
            "designed for newcomers to it; leave subject out, or give a table of one row with the "
            "newcomer's properties. "
            "For a subject of the fit use ml.batteries.next_items(fit, bank, subjects=[name])"
        )
    people = pd.DataFrame(index=["newcomer"]) if subject is None else subject
    people = named(people, "subject", "subject")
    return Start(layout, others=given, people=people)
