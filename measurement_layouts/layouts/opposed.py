"""Meta-features that a latent opposes, which must vary for the latent to be inferred."""

from ..linking.evaluation import ancestry
from ..linking.function import Call
from .graph import Graph
from .latent_kinds import Noise
from .latents import Latent
from .nodes import Derived, MetaFeature
from .outcomes.unseen import Unseen
from .plates import ITEM

# they end a margin: what opposes a demand must be inside
SQUASHING = {"logistic", "band", "bilogistic", "uncertain_band"}
_BESIDE = {"guessing", "mixture"}  # what they join is no demand, such as a chance of guessing
_WEIGHT = ("mixture", "by")  # a latent that is a weight is no level that a demand opposes


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
    with_latent: dict[int, bool] = {}
    unsquashed: dict[int, bool] = {}  # it has a latent that is no probability yet
    names = set[str]()
    formula = layout.outcome.expression
    for node in ancestry(formula, stop_at=lambda of: isinstance(of, Unseen)):
        parents = [] if isinstance(node, Unseen) else [id(parent) for parent in node.parents]
        demand = isinstance(node, MetaFeature) and node.per == ITEM
        features[id(node)] = ({str(node.name)} if demand else set[str]()).union(
            *(features[parent] for parent in parents)
        )
        latent = isinstance(node, Latent)
        with_latent[id(node)] = latent or any(with_latent[parent] for parent in parents)
        joined = (
            parents
            if not isinstance(node, Call)
            else [
                id(argument)
                for name, argument in zip(node.names, node.arguments, strict=True)
                if (node.function.name, name) != _WEIGHT
            ]
        )
        unsquashed[id(node)] = (latent and not isinstance(node, Noise)) or any(
            unsquashed[parent] for parent in joined
        )
        function = node.function.name if isinstance(node, Call) else ""
        if function in SQUASHING:
            unsquashed[id(node)] = False
            opposes = with_latent[id(node)]
        else:
            named_only = isinstance(node, Derived)
            opposes = unsquashed[id(node)] and function not in _BESIDE and not named_only
        if opposes:
            names |= features[id(node)]
    return names
