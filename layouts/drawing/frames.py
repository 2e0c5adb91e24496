"""Plates of a joint layout as frames of a diagram: what each holds, and which is in which."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..graph import Graph
from ..plates import SUBJECT, Category, Plate, determines, plate_name, plural, root

type Corner = Literal["left", "right"]

_MOST_LEVELS = 5


@dataclass(frozen=True)
class Frame:
    """A plate, or the intersection of several, with the nodes that it holds.

    Attributes
    ----------
    name : str
        Names of its plates, joined by a slash, which no node's name holds.
    title : str
        What a reader sees.
    about : str
        What the category is; empty for other plates.
    corner : {"left", "right"}
        Which of its lower corners the title is in: edges leave subjects to the right, items to the
        left.
    nodes : tuple of str
        Names of the nodes right in it.
    inside : tuple of Frame
        Plates of the ones that each of its own is made of: around items, the tasks that they are
        of.
    """

    name: str
    title: str
    about: str
    corner: Corner
    nodes: tuple[str, ...]
    inside: tuple["Frame", ...] = ()

    def __iter__(self) -> Iterator["Frame"]:
        """Walk through it and all that are inside, outermost first."""
        yield self
        for frame in self.inside:
            yield from frame


def frames(layout: Graph) -> list[Frame]:
    """List the outermost frames of a joint layout: plates first, then where they meet.

    A category lies around what it is of, unless that is of other categories too, which no drawing
    can nest. Nodes of the population are in no frame.
    """
    held: dict[tuple[str, ...], list[str]] = {}
    sets: dict[tuple[str, ...], tuple[Plate, ...]] = {}
    for name, plates in layout.plates_of_nodes.items():
        if plates:  # subjects first, in whatever order they were given
            ordered = sorted(plates, key=lambda plate: (root(plate) != SUBJECT, plate_name(plate)))
            key = tuple(map(plate_name, ordered))
            held.setdefault(key, []).append(name)
            sets[key] = tuple(ordered)
    around = _around([plates[0] for plates in sets.values() if len(plates) == 1])

    def frame(key: tuple[str, ...]) -> Frame:
        inner = [name for name, outer in around.items() if (outer,) == key]
        plate = sets[key][0]
        about = plate.about if isinstance(plate, Category) and not key[1:] else ""
        return Frame(
            "/".join(key),
            _title(sets[key], nested=bool(inner)),
            about,
            "left" if all(root(plate) == SUBJECT for plate in sets[key]) else "right",
            tuple(held[key]),
            tuple(frame((name,)) for name in inner),
        )

    outermost = [key for key in sets if key[1:] or key[0] not in around]
    # intersections with coarser plates come before those with finer ones, which depend on them
    outermost.sort(key=lambda key: sum(determines(sets[key], own) for own in sets.values()))
    return [frame(key) for key in sorted(outermost, key=lambda key: len(key) > 1)]


def _around(plates: list[Plate]) -> dict[str, str]:
    """Name the plate that lies right around each, where there is one and no other cuts it."""
    found: dict[str, str] = {}
    for plate in plates:
        coarser = [other for other in plates if other != plate and determines([plate], [other])]
        ordered = [other for other in coarser if determines([other], coarser)]
        if ordered:
            found[plate_name(plate)] = plate_name(ordered[0])
    return found


def _title(plates: tuple[Plate, ...], *, nested: bool) -> str:
    """Name a frame: by its plates, and a category that lies around nothing by what it is of."""
    category = plates[0]
    if len(plates) > 1 or isinstance(category, str):
        return " × ".join(map(plural, plates))
    title = category.name if nested else f"{category.name} of {plural(category.per)}"
    levels = category.levels or ()
    if 0 < len(levels) <= _MOST_LEVELS:
        return f"{title}: {', '.join(levels)}"
    return title
