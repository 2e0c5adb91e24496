"""Groups of subjects whose items no subject of another group attempted."""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from ...common.messages import many, some
from ...layouts import Bias
from ...layouts.opposed import opposed
from ...layouts.plates import ITEM, SUBJECT, root
from .cohort import Cohort

_NAMED = 3  # groups whose first subjects and items are named


def unlinked_groups(cohort: Cohort) -> list[np.ndarray]:
    """Divide subjects into groups that are compared by assumption only.

    Where each item has an effect of its own, subjects are compared through the items that they
    share, directly or through other subjects. Without such items, a group may be better, or its
    items easier: no outcome tells these apart. Groups count as linked if the layout has effects of
    a category of items that both attempted, or a demand that varies among the items of a group,
    which explains how hard the items of another are.

    Parameters
    ----------
    cohort : Cohort
        Layout and attempted cells.

    Returns
    -------
    list of ndarray of int
        Subjects of each group, the largest group first; empty if all subjects are linked, or the
        layout compares them in another way.
    """
    layout = cohort.layout
    effects = [
        latent
        for latent in layout.latents
        if isinstance(latent, Bias) and ITEM in latent.plates and SUBJECT not in latent.plates
    ]
    if not effects:
        return []
    subjects, items = len(cohort.levels[SUBJECT]), len(cohort.levels[ITEM])
    links = [(cohort.subject, subjects + cohort.item)]
    nodes = subjects + items
    for latent in layout.latents:
        for plate in latent.plates:
            if isinstance(plate, str) or root(plate) != ITEM or latent in effects:
                continue
            links.append((cohort.subject, nodes + cohort.codes(plate)))
            nodes += len(cohort.levels[plate.name])
    first, second = (np.concatenate(ends) for ends in zip(*links, strict=True))
    graph = coo_matrix((np.ones(len(first), dtype=bool), (first, second)), (nodes, nodes))
    _, group = connected_components(graph, directed=False)
    labels, sizes = np.unique(group[np.unique(cohort.subject)], return_counts=True)
    if len(labels) < 2 or _explained(cohort, group[subjects : subjects + items]):
        return []
    tried = np.bincount(cohort.subject, minlength=subjects) > 0
    order = labels[np.argsort(-sizes, kind="stable")]
    return [np.flatnonzero((group[:subjects] == one) & tried) for one in order]


def _explained(cohort: Cohort, group: np.ndarray) -> bool:
    """Whether a demand varies among the items of a group."""
    for name in opposed(cohort.layout):
        values = cohort.features[name].reshape(len(group), -1)
        for one in np.unique(group):
            inside = values[group == one]
            if len(inside) > 1 and (np.nanmax(inside, axis=0) > np.nanmin(inside, axis=0)).any():
                return True
    return False


def about_unlinked(cohort: Cohort, groups: Sequence[np.ndarray]) -> list[str]:
    """Describe groups of subjects that share no item, and what would link them."""
    if not groups:
        return []
    names, items = cohort.levels[SUBJECT], cohort.levels[ITEM]
    shown = []
    for group in groups[:_NAMED]:
        tried = np.unique(cohort.item[np.isin(cohort.subject, group)])
        which = some([names[at] for at in group], 1)
        shown.append(f"{which} on {many(len(tried), 'item')} such as {items[tried[0]]}")
    more = f", and {len(groups) - _NAMED} more" if len(groups) > _NAMED else ""
    total = sum(map(len, groups))
    return [
        f"{total} subjects fall into {len(groups)} groups that share no item ({'; '.join(shown)}"
        f"{more}): their values are compared by assumption only, whatever a fit says\n"
        "give subjects of each group some of the other's items (one item under two names is to be "
        "renamed), or declare demands that explain how hard items are; else compare within groups"
    ]
