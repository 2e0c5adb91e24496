"""Profile elements: latents of subjects, or one of their labels or levels of categories."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..common.errors import FitError
from ..common.messages import some
from .graph import Graph
from .latents import Latent
from .plates import ITEM, SUBJECT, Category, plate_name
from .priors import Prior

type Levels = Mapping[str, Sequence[str]]
"""Names of the levels, by plate."""


@dataclass(frozen=True)
class Element:
    """Single value of a latent: of each subject, or one that subjects share.

    Attributes
    ----------
    latent : Latent
        Node of the layout.
    levels : tuple of str
        A level for each of its plates other than subjects; empty when it has none.
    labels : tuple of str
        The label; empty when the node has no labels.
    index : int
        Place among the latent's values of one subject, levels first.
    """

    latent: Latent
    levels: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    index: int = 0

    @property
    def label(self) -> str:
        """Its levels and label as one text; empty for a latent with a single value."""
        return ", ".join((*self.levels, *self.labels))

    @property
    def name(self) -> str:
        """Name in tables and figures: ``node``, or ``node[label]``, as ArviZ writes it."""
        return f"{self.latent.name}[{self.label}]" if self.label else self.latent.name

    @property
    def label_index(self) -> int:
        """Place among the node's labels."""
        return [*itertools.product(*self.latent.dims.values())].index(self.labels)

    @property
    def level_index(self) -> int:
        """Place among the levels."""
        return self.index // math.prod(map(len, self.latent.dims.values()))

    @property
    def prior(self) -> Prior:
        """Its prior: of its label where each has its own."""
        priors = self.latent.priors
        return priors[self.label_index] if len(priors) > 1 else priors[0]


def elements(layout: Graph, levels: Levels | None = None) -> list[Element]:
    """List every profile element of a layout, in the order of its tables.

    Parameters
    ----------
    layout : Layout
        The layout.
    levels : mapping of str to sequence of str, optional
        Levels of the layout's categories, such as those of a fit.

    Returns
    -------
    list of Element
        One for each latent of the profile, or for each of its levels and labels.

    Raises
    ------
    FitError
        When a latent has a value for each level of a category whose levels are not given.

    Examples
    --------
    >>> from measurement_layouts import Capability, Category, Layout, Success
    >>> from measurement_layouts.linking import logistic, product
    >>> skill = Capability("skill", low=0, high=1, labels=("read", "write"))
    >>> layout = Layout("letters", Success("done", product(skill, over="dimension")))
    >>> [element.name for element in elements(layout)]
    ['skill[read]', 'skill[write]']
    >>> taste = Capability("taste", low=0, high=1, per=("subject", Category("kind")))
    >>> layout = Layout("kinds", Success("liked", taste))
    >>> [element.name for element in elements(layout, {"kind": ["tea", "coffee"]})]
    ['taste[tea]', 'taste[coffee]']
    """
    return [element for latent in layout.profile for element in elements_of(latent, levels)]


def elements_of(latent: Latent, levels: Levels | None = None) -> list[Element]:
    """List a latent's elements of one subject; all values, where it is none of a profile."""
    axes: list[Sequence[str]] = []
    for plate in latent.plates:
        if plate == SUBJECT and ITEM not in latent.plates:
            continue
        closed = plate.levels if isinstance(plate, Category) else None
        names = (levels or {}).get(plate_name(plate), closed)
        if names is None:
            problem = f"{latent.name} has a value for each {plate_name(plate)}, whose levels are "
            advice = f"give a fit, or declare Category({plate_name(plate)!r}, levels=...)"
            raise FitError(f"{problem}those of a fit; {advice}")
        axes.append(names)
    places = itertools.product(itertools.product(*axes), itertools.product(*latent.dims.values()))
    return [Element(latent, *place, index) for index, place in enumerate(places)]


def find_elements(
    choice: Sequence[Element], names: str | Sequence[str] | None = None
) -> list[Element]:
    """Find elements by name.

    Parameters
    ----------
    choice : sequence of Element
        The elements of a layout or of a fit.
    names : str or sequence of str, optional
        Names of nodes, for all their labels and levels, or of elements ``node[label]`` (default:
        all elements).

    Returns
    -------
    list of Element
        Elements in the order of `names`.

    Raises
    ------
    FitError
        When there is no node or element of that name.
    """
    if names is None:
        return list(choice)
    wanted = [names] if isinstance(names, str) else [str(name) for name in names]
    chosen = {
        name: [element for element in choice if name in (element.name, element.latent.name)]
        for name in wanted
    }
    unknown = [name for name in wanted if not chosen[name]]
    if unknown or not wanted:
        names_of_all = some((element.name for element in choice), 20)
        problem = f"there is no profile element {some(unknown) or '(none was named)'}"
        raise FitError(f"{problem}; there are {names_of_all}")
    return [element for name in wanted for element in chosen[name]]
