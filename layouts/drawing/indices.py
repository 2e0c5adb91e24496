"""Subscripts of nodes in equations: the subject, item or level of a value."""

import re
from collections.abc import Iterable

from ...linking.notation import latex_name
from ..graph import Graph
from ..plates import ITEM, SUBJECT, Plate, determines, plate_name

_LETTERS = {SUBJECT: "s", ITEM: "i"}


class Indices:
    """Subscripts in the equations of a joint layout; other layouts have none.

    Parameters
    ----------
    layout : Graph
        Layout of the equations.
    """

    def __init__(self, layout: Graph) -> None:
        self._plates = layout.plates_of_nodes if layout.joint else {}
        names = [name for name, plates in self._plates.items() if plates]
        self._tokens = {latex_name(name): name for name in names}
        # a name before brackets is that of a function
        found = "|".join(map(re.escape, self._tokens))
        self._pattern = re.compile(rf"(?:{found})(?!\\left\()") if names else None

    def subscript(self, node: str, *more: str) -> str:
        """Write a node's subscripts, followed by others."""
        return _subscript([*map(index, self._plates.get(node, ())), *more])

    def name(self, node: str, *more: str) -> str:
        """Write a node's name with its subscripts, followed by others."""
        return latex_name(node) + self.subscript(node, *more)

    def formula(self, latex: str, owner: str) -> str:
        """Add subscripts to the nodes in the formula of a node."""
        if self._pattern is None:
            return latex
        own = self._plates[owner]

        def subscripted(token: re.Match[str]) -> str:
            plates = self._plates[self._tokens[token[0]]]
            return token[0] + _subscript(_seen_from(plate, own) for plate in plates)

        return self._pattern.sub(subscripted, latex)


def index(plate: Plate) -> str:
    """Write the index of a plate: s, i, or the category's name."""
    name = plate_name(plate)
    return _LETTERS.get(name, latex_name(name))


def _seen_from(plate: Plate, own: tuple[Plate, ...]) -> str:
    """Write the index of a plate in an equation with finer plates, such as the task of an item."""
    if plate in own:
        return index(plate)
    (finer, *_) = [other for other in own if determines([other], [plate])]
    return f"{index(plate)}[{index(finer)}]"


def _subscript(indices: Iterable[str]) -> str:
    """Write a subscript, or nothing if there are no indices."""
    shown = ", ".join(indices)
    return f"_{{{shown}}}" if shown else ""
