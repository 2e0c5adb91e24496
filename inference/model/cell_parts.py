"""A normal part of each subject on each item, and the scores at which it is integrated out."""

from dataclasses import dataclass

import numpy as np

from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT
from ...linking.evaluation import ancestry


@dataclass(frozen=True, eq=False)
class Scores:
    """Standard scores at which a latent of each cell is looked at, to be integrated out.

    Attributes
    ----------
    latent : str
        Which.
    at : ndarray, shape (scores,)
        Evenly spaced, in standard deviations from its mean.
    """

    latent: str
    at: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """How much each counts; they add up to 1."""
        found = np.exp(-0.5 * self.at**2)
        return np.asarray(found / found.sum())


def cell_part(layout: Layout) -> Latent | None:
    """Find the first latent of each subject on each item that can be integrated out, if any.

    It is normal and one number, and no prior depends on it: given all else, cells are independent.
    """
    parents = {
        part.name
        for latent in layout.latents
        for value in latent.parents
        for part in ancestry(value)
    }
    for latent in layout.latents:
        own = len(latent.plates) == 2 and all(plate in (SUBJECT, ITEM) for plate in latent.plates)
        if own and not latent.dims and latent.name not in parents:
            (prior,) = latent.priors
            if prior.family == "Normal" and set(dict(prior.parameters)) == {"mu", "sigma"}:
                return latent
    return None
