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
        function = node.function.name if isinstance(node, Call) else ""
        parents = () if isinstance(node, Unseen) else node.parents
        roles = node.names if isinstance(node, Call) else ("",) * len(parents)
        roles_of = zip(roles, parents, strict=True)
        joined = [id(parent) for role, parent in roles_of if (function, role) != _WEIGHT]
        demand = isinstance(node, MetaFeature) and node.per == ITEM
        above = set().union(*(features[id(parent)] for parent in parents))
        features[id(node)] = above | ({str(node.name)} if demand else set())
        latent = isinstance(node, Latent)
        with_latent[id(node)] = latent or any(with_latent[id(parent)] for parent in parents)
        unsquashed[id(node)] = latent and not isinstance(node, Noise)
        unsquashed[id(node)] |= any(unsquashed[parent] for parent in joined)
        beside = function in _BESIDE or isinstance(node, Derived)
        opposes = unsquashed[id(node)] and not beside
        if function in SQUASHING:
            unsquashed[id(node)], opposes = False, with_latent[id(node)]
        names |= features[id(node)] if opposes else set()
    return names
