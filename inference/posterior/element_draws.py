"""What a fit holds of one profile element: its draws, rows and range; and mean success."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ...evaluations.steps import Rows
from ...layouts.elements import Element
from .posterior import Posterior

_PRIOR_VIEW = 0.99  # central mass of the prior that stands for an unbounded range


def posterior_draws(fit: Posterior, element: Element, subject: str) -> np.ndarray:
    """Draws of one element of one subject, chains joined; shape (chains times draws,)."""
    draws = fit.posterior[element.latent.name].sel(subject=subject).to_numpy()
    return np.asarray(draws.reshape(*draws.shape[:2], -1)[..., element.index].ravel())


def prior_draws(fit: Posterior, element: Element) -> np.ndarray:
    """Draws of one element before the data; shape (draws,)."""
    draws = fit.prior[element.latent.name]
    return np.asarray(draws.reshape(len(draws), -1)[:, element.index])


def rows_of(table: pd.DataFrame, element: Element, subjects: Sequence[str]) -> pd.DataFrame:
    """Take one element's rows of a table of profiles, indexed by subject in the order given."""
    chosen = (table["node"] == element.latent.name) & (table["label"] == element.label)
    return table[chosen].set_index("subject").loc[list(subjects)]


def span(fit: Posterior, element: Element) -> tuple[float, float]:
    """Range over which to show an element.

    Returns
    -------
    (float, float)
        The node's range; an infinite end is replaced by that of the prior's central 99 %.
    """
    tail = (1 - _PRIOR_VIEW) / 2
    low, high = np.quantile(prior_draws(fit, element), [tail, 1 - tail])
    support = element.latent.range
    return (
        float(support.low if np.isfinite(support.low) else low),
        float(support.high if np.isfinite(support.high) else high),
    )


def success_rates(fit: Posterior, rows: np.ndarray | None = None) -> pd.Series:
    """Mean success of fitted subjects over their training trials, in [0, 1].

    Where rows are steps, the mean outcome of all attempts, as a part of the highest. `rows` are the
    subjects' places in the fit; all of them by default.
    """
    places = np.arange(len(fit.subjects)) if rows is None else rows
    observed = fit.observed
    counts = [observed[name].to_numpy()[places] for name in ("successes", "trials")]
    if fit.layout.steps is None:
        successes, trials = (count.sum(axis=1) for count in counts)
        rates = successes / trials
    else:
        rates = Rows.read(observed.indexes["item"].map(str)).means(*counts)
    names = [fit.subjects[place] for place in places]
    return pd.Series(rates, pd.Index(names, name="subject"), name="success")
