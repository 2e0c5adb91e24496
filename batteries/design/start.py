"""Where a design starts from: what a fit says already of a subject."""

import numpy as np

from ...common.errors import FitError
from ...common.messages import some
from ...inference.posterior.posterior import Posterior, posterior_draws
from ...layouts import Layout
from ...layouts.elements import elements


def known_profiles(layout: Layout, given: Posterior, subject: str | None) -> np.ndarray:
    """Take the posterior draws of one subject's profile.

    Parameters
    ----------
    layout : Layout
        The one that a battery is designed for.
    given : Posterior
        A fit of it.
    subject : str, optional
        Whose; may be left out where the fit has one.

    Returns
    -------
    ndarray, shape (draws, elements)
        In the elements' units.

    Raises
    ------
    FitError
        When the fit is of another layout, has no such subject, or several and none is named.
    """
    if given.layout.fingerprint != layout.fingerprint:
        raise FitError(
            f"given is a fit of layout {given.layout.name!r}, and the battery is for another one, "
            f"{layout.name!r}; give a fit of the same layout"
        )
    if subject is None:
        if len(given.subjects) != 1:
            raise FitError(
                f"given holds {len(given.subjects)} subjects, {some(given.subjects)}; name the one "
                "to start from, as subject="
            )
        (subject,) = given.subjects
    (subject,) = given.named([subject])
    return np.stack(
        [posterior_draws(given, element, subject) for element in elements(layout)], axis=1
    )
