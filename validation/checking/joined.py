"""Which meta-features a latent meets: those that move its effect on the outcome."""

from ...layouts import Latent, Layout, MetaFeature
from ...layouts.elements import Element
from ...layouts.nodes import Derived
from ...linking import Expr
from ...linking.evaluation import ancestry
from ...linking.expression import Operation


def informed_by(layout: Layout, element: Element) -> list[str]:
    """List the items' columns that a profile element is held against.

    These are the meta-features of the smallest part of the formula that has both the latent and a
    meta-feature in it; a sum counts as one part, in whatever order it is written. What a latent's
    prior depends on meets what that latent meets.

    Parameters
    ----------
    layout : Layout
        The formula.
    element : Element
        Of the layout; of a labelled meta-feature only its own label counts.

    Returns
    -------
    list of str
        Columns, in the order of the layout.

    Examples
    --------
    >>> from measurement_layouts.layouts.elements import elements
    >>> from measurement_layouts.scenarios import animal_ai_olympics as aaio
    >>> layout = aaio.published_layout()
    >>> {element.name: len(informed_by(layout, element)) for element in elements(layout)}
    {'navigationAbility': 3, 'rightLeftBias': 1, 'visualAbility': 1, 'noiseLevel': 4}
    """
    users: dict[int, list[Expr]] = {}
    parts = {id(part): part for leaf in layout.outcomes for part in ancestry(leaf)}
    for part in parts.values():
        for parent in part.parents:
            users.setdefault(id(parent), []).append(part)
    met = _met(element.latent, users)
    return [
        column
        for feature in layout.meta_features
        if feature.name in met
        for column in _columns(feature, element)
    ]


def _met(part: Expr, users: dict[int, list[Expr]]) -> set[str]:
    """Climb from a part to the first ones that hold meta-features."""
    found: set[str] = set()
    for user in users.get(id(part), []):
        here = _features(user)
        wider = [above for above in users.get(id(user), []) if _is_sum(user) and _is_sum(above)]
        if isinstance(user, Latent) or not here or wider:
            found |= _met(user, users)
        else:
            found |= here
    return found


def _is_sum(part: Expr) -> bool:
    while isinstance(part, Derived):
        part = part.expression
    return isinstance(part, Operation) and part.symbol in ("+", "-")


def _features(part: Expr) -> set[str]:
    return {node.name for node in ancestry(part) if isinstance(node, MetaFeature)}


def _columns(feature: MetaFeature, element: Element) -> tuple[str, ...]:
    if element.label and feature.dims == element.latent.dims:
        return (feature.columns[element.index],)
    return feature.columns
