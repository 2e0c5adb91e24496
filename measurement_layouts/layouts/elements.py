"""Profile elements: latents, or the labels of labelled latents."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..common.errors import FitError
from ..common.messages import some
from .graph import Graph
from .latents import Latent
from .priors import Prior


@dataclass(frozen=True)
class Element:
    """Single number of a cognitive profile.

    Attributes
    ----------
    latent : Latent
        Node of the layout.
    label : str
        Label of the node; empty when the node has no labels.
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

    @property
    def prior(self) -> Prior:
        """Its prior: of its label where each has its own."""
        priors = self.latent.priors
        return priors[self.index] if len(priors) > 1 else priors[0]


def elements(layout: Graph) -> list[Element]:
    """List every profile element of a layout, in the order of its tables.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> from measurement_layouts.linking import product
    >>> skill = Capability("skill", low=0, high=1, labels=("read", "write"))
    >>> layout = Layout("letters", Success("done", product(skill, over="dimension")))
    >>> [element.name for element in elements(layout)]
    ['skill[read]', 'skill[write]']
    """
    return [
        Element(latent, label)
        for latent in layout.profile
        for label in [name for names in latent.dims.values() for name in names] or [""]
    ]


def find_elements(layout: Graph, names: str | Sequence[str] | None = None) -> list[Element]:
    """Find profile elements by name.

    Parameters
    ----------
    layout : Layout
        Layout with the elements.
    names : str or sequence of str, optional
        Names of nodes, for all their labels, or of elements ``node[label]`` (default: all
        elements).

    Returns
    -------
    list of Element
        Elements in the order of `names`.

    Raises
    ------
    FitError
        When the layout has no node or element of that name.
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
