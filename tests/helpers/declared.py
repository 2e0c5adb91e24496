"""What a layout declares, to be held against a paper's table."""

from measurement_layouts import Bias, Capability, Derived, MetaFeature, Noise, Success

KINDS = (MetaFeature, Capability, Bias, Noise, Derived, Success)


def names(layout):
    """Names of the nodes, by kind; nodes of another kind are a fault."""
    nodes = layout.nodes.values()
    assert {type(node) for node in nodes} <= set(KINDS)
    return {kind: {node.name for node in nodes if type(node) is kind} for kind in KINDS}


def latent(layout, name):
    """Kind, family, parameters and range of a latent."""
    node = layout.nodes[name]
    parameters = {key: float(str(value)) for key, value in node.prior.parameters}
    return type(node), node.prior.family, parameters, (node.range.low, node.range.high)
