"""Normal latents per subject and item, and the scores at which they are integrated out."""

from dataclasses import dataclass

import numpy as np

from ...layouts import Latent, Layout
from ...layouts.plates import ITEM, SUBJECT
from ...linking.evaluation import ancestry


@dataclass(frozen=True, eq=False)
class Scores:
    """Standard scores at which a latent with one value per cell is integrated out.

    Attributes
    ----------
    latent : str
        Name of the latent.
    at : ndarray, shape (scores,)
        Scores, evenly spaced, in standard deviations from the mean of the latent.
    """

    latent: str
    at: np.ndarray

    @property
    def weights(self) -> np.ndarray:
        """Weights of the scores; they add up to 1."""
        found = np.exp(-0.5 * self.at**2)
        return np.asarray(found / found.sum())


def cell_part(layout: Layout) -> Latent | None:
    """Find the first latent per subject and item that can be integrated out; None without one.

    Such a latent is normal, has no labels, and no prior depends on it, so that cells are
    independent given all other latents.
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
