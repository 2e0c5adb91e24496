"""Meta-features that a latent opposes, which must vary for the latent to be inferred."""

from ..linking.evaluation import ancestry
from ..linking.function import Call
from .graph import Graph
from .latents import Latent, Noise
from .nodes import MetaFeature
from .outcomes.unseen import Unseen
from .plates import ITEM

# they end a margin: what opposes a demand must be inside
SQUASHING = {"logistic", "band", "bilogistic", "uncertain_band"}
_BESIDE = {"guessing", "mixture"}  # what they join is no demand, such as a chance of guessing


def opposed(layout: Graph) -> set[str]:
    """Name the meta-features that are combined with a latent before it becomes a probability.

    No latent opposes a chance of guessing, the value that noise pulls towards, a weight of two
    probabilities, or information about an unseen property: these may have the same value on all
    items. The same is true of a property of subjects, which does not vary among the items.

    Parameters
    ----------
    layout : Graph
        Layout.

    Returns
    -------
    set of str
        Names of the meta-features.

    Examples
    --------
    >>> from measurement_layouts import Capability, Layout, Success
    >>> from measurement_layouts.linking import guessing, logistic
    >>> digits = MetaFeature("digits", low=1, high=9)
    >>> chance = MetaFeature("chance", low=0, high=0.5)
    >>> knows = logistic(Capability("addition", low=0, high=9) - digits)
    >>> opposed(Layout("sums", Success("right", guessing(knows, chance))))
    {'digits'}
    """
    features: dict[int, set[str]] = {}
    holds: dict[int, bool] = {}  # a latent, under whatever
    bare: dict[int, bool] = {}  # a latent that is no probability yet
    found = set[str]()
    formula = layout.outcome.expression
    for part in ancestry(formula, stop_at=lambda of: isinstance(of, Unseen)):
        above = [] if isinstance(part, Unseen) else [id(parent) for parent in part.parents]
        demand = isinstance(part, MetaFeature) and part.per == ITEM
        own = {str(part.name)} if demand else set[str]()
        features[id(part)] = own.union(*(features[parent] for parent in above))
        latent = isinstance(part, Latent)
        holds[id(part)] = latent or any(holds[parent] for parent in above)
        bare[id(part)] = (latent and not isinstance(part, Noise)) or any(
            bare[parent] for parent in above
        )
        function = part.function.name if isinstance(part, Call) else ""
        if (function in SQUASHING and holds[id(part)]) or (
            function not in _BESIDE and bare[id(part)]
        ):
            found |= features[id(part)]
        if function in SQUASHING:
            bare[id(part)] = False
    return found
