"""Plates of a layout as frames of a diagram, with their nodes and inner frames."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from ..graph import Graph
from ..plates import SUBJECT, Category, Plate, determines, plate_name, plural, root

type Corner = Literal["left", "right"]

_MOST_LEVELS = 5


@dataclass(frozen=True)
class Frame:
    """A plate, or the intersection of several plates, with its nodes.

    Attributes
    ----------
    name : str
        Names of its plates, joined by a slash, which names of nodes cannot contain.
    title : str
        Title in the diagram.
    about : str
        Description of the category; empty for other plates.
    corner : {"left", "right"}
        Lower corner of the title, away from most edges, which leave subjects to the right and items
        to the left.
    nodes : tuple of str
        Names of its nodes, without those of inner frames.
    inside : tuple of Frame
        Inner frames, of finer plates: within a category of items, such as tasks, that of the items.
    """

    name: str
    title: str
    about: str
    corner: Corner
    nodes: tuple[str, ...]
    inside: tuple["Frame", ...] = ()

    def __iter__(self) -> Iterator["Frame"]:
        """Yield this frame and all inner frames, outermost first."""
        yield self
        for frame in self.inside:
            yield from frame


def frames(layout: Graph) -> list[Frame]:
    """List the outermost frames of a layout: plates first, then their intersections.

    The frame of a category contains that of the plate that it groups, unless several categories
    that are not nested group this plate. Nodes of the population are in no frame. A layout that is
    not joint has one frame, of items, with all nodes outside of the profile.
    """
    if not layout.joint:
        inside = tuple(x for x, per_item in layout.graph.nodes(data="per_item") if per_item)
        return [Frame("items", "items", "", "right", inside)]
    names: dict[tuple[str, ...], list[str]] = {}
    sets: dict[tuple[str, ...], tuple[Plate, ...]] = {}
    for name, plates in layout.plates_of_nodes.items():
        if plates:  # subjects first, independently of the order in the declaration
            ordered = sorted(plates, key=lambda plate: (root(plate) != SUBJECT, plate_name(plate)))
            key = tuple(map(plate_name, ordered))
            names.setdefault(key, []).append(name)
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
            tuple(names[key]),
            tuple(frame((name,)) for name in inner),
        )

    outermost = [key for key in sets if key[1:] or key[0] not in around]
    # intersections of coarser plates are before those of finer ones, which depend on them
    outermost.sort(key=lambda key: sum(determines(sets[key], own) for own in sets.values()))
    return [frame(key) for key in sorted(outermost, key=lambda key: len(key) > 1)]


def _around(plates: list[Plate]) -> dict[str, str]:
    """Return, by plate, the next coarser plate, if all coarser plates are nested."""
    around: dict[str, str] = {}
    for plate in plates:
        coarser = [other for other in plates if other != plate and determines([plate], [other])]
        next_coarser = [other for other in coarser if determines([other], coarser)]
        around |= {plate_name(plate): plate_name(other) for other in next_coarser[:1]}
    return around


def _title(plates: tuple[Plate, ...], *, nested: bool) -> str:
    """Return the title of a frame; that of a category without inner frames names its plate."""
    category = plates[0]
    if len(plates) > 1 or isinstance(category, str):
        return " × ".join(map(plural, plates))
    title = category.name if nested else f"{category.name} of {plural(category.per)}"
    levels = category.levels or ()
    if 0 < len(levels) <= _MOST_LEVELS:
        return f"{title}: {', '.join(levels)}"
    return title
