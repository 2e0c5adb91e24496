"""Profile elements one by one: a latent, or one label of a labelled latent, with its draws."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ..layouts import Layout
from ..layouts.latents import Latent
from .errors import FitError
from .ladders import Rows
from .wording import some

if TYPE_CHECKING:
    from .posterior import Posterior as Fit

_PRIOR_VIEW = 0.99  # central mass of the prior that stands for an unbounded range


@dataclass(frozen=True)
class Element:
    """One number of a cognitive profile.

    Attributes
    ----------
    latent : Latent
        The node.
    label : str
        Which of its labels; empty without labels.
    """

    latent: Latent
    label: str = ""

    @property
    def name(self) -> str:
        """Name in tables and figures: ``node``, or ``node[label]``."""
        return f"{self.latent.name}[{self.label}]" if self.label else self.latent.name

    @property
    def index(self) -> int:
        """Place among the node's labels."""
        labels = [label for names in self.latent.dims.values() for label in names]
        return labels.index(self.label) if self.label else 0


def elements(layout: Layout) -> list[Element]:
    """List every profile element of a layout, in the order of its tables.

    Examples
    --------
    >>> from measurement_layouts import Capability, Success
    >>> from measurement_layouts.linking import product
    >>> skill = Capability("skill", low=0, high=1, labels=("read", "write"))
    >>> layout = Layout("letters", Success("done", product(skill, over="dimension")))
    >>> [element.name for element in elements(layout)]
    ['skill[read]', 'skill[write]']
    """
    return [
        Element(latent, label)
        for latent in layout.latents
        for label in [name for names in latent.dims.values() for name in names] or [""]
    ]


def find_elements(layout: Layout, names: str | Sequence[str] | None = None) -> list[Element]:
    """Find profile elements by name.

    Parameters
    ----------
    layout : Layout
        Where to look.
    names : str or sequence of str, optional
        Nodes (with all their labels) or elements ``node[label]``; all elements by default.

    Returns
    -------
    list of Element
        In the order asked for.

    Raises
    ------
    FitError
        When a name is none of the layout's.
    """
    known = elements(layout)
    if names is None:
        return known
    wanted = [names] if isinstance(names, str) else [str(name) for name in names]
    found = {
        name: [element for element in known if name in (element.name, element.latent.name)]
        for name in wanted
    }
    unknown = [name for name in wanted if not found[name]]
    if unknown or not wanted:
        raise FitError(
            f"layout {layout.name!r} has no profile element {some(unknown) or '(none was named)'}; "
            f"it has {some((element.name for element in known), 20)}"
        )
    return [element for name in wanted for element in found[name]]


def posterior_draws(fit: "Fit", element: Element, subject: str) -> np.ndarray:
    """Draws of one element of one subject, chains joined; shape (chains times draws,)."""
    draws = fit.posterior[element.latent.name].sel(subject=subject).to_numpy()
    return np.asarray(draws.reshape(*draws.shape[:2], -1)[..., element.index].ravel())


def prior_draws(fit: "Fit", element: Element) -> np.ndarray:
    """Draws of one element before the data; shape (draws,)."""
    draws = fit.prior[element.latent.name]
    return np.asarray(draws.reshape(len(draws), -1)[:, element.index])


def rows_of(table: pd.DataFrame, element: Element, subjects: Sequence[str]) -> pd.DataFrame:
    """Take one element's rows of a table of profiles, indexed by subject in the order given."""
    chosen = (table["node"] == element.latent.name) & (table["label"] == element.label)
    return table[chosen].set_index("subject").loc[list(subjects)]


def span(fit: "Fit", element: Element) -> tuple[float, float]:
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


def success_rates(fit: "Fit", rows: np.ndarray | None = None) -> pd.Series:
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
