"""Plates along which a latent has values (subjects, items, categories), and how they nest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..linking import LayoutError
from ..linking.expression import Dims
from ..linking.interval import Interval
from . import fields
from .nodes import Node, set_fields

SUBJECT, ITEM, POPULATION = "subject", "item", "population"


@dataclass(frozen=True, eq=False, repr=False)
class Category(Node):
    """Observed group of items, of subjects or of levels of another category, such as a task.

    A category is not a number. A node with a category in ``per=`` has one value for each level of
    the category.

    Parameters
    ----------
    name : str
        Column of the table of items, or of subjects.
    levels : sequence of str, optional
        All levels, in order (default: the levels in the training data). By default, a forecast
        draws the value of a level that is not in the training data from the distribution of levels.
    per : {"item", "subject"} or Category
        What has one level of the category. For example, with ``per=task`` each task belongs to one
        benchmark.
    about : str
        Description, shown in diagrams and tables.

    Raises
    ------
    LayoutError
        When the levels are not texts or repeat, or `per` is not one of these values.

    Examples
    --------
    >>> task = Category("task")
    >>> Category("benchmark", per=task).root
    'item'
    """

    levels: tuple[str, ...] | None = None
    per: "str | Category" = ITEM
    about: str = ""
    kind: ClassVar[str] = "category"
    parents = ()
    unit = None

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, levels=fields.labels(self.name, self.levels, "levels"))
        if self.per not in (ITEM, SUBJECT) and not isinstance(self.per, Category):
            raise LayoutError(
                f"{self.name}: per={self.per!r}; a category is one of each 'item', of each "
                "'subject', or of each level of another Category"
            )

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def range(self) -> Interval:
        raise LayoutError(
            f"{self.name} is a category, and no number; say per={self.name} of a latent that has "
            "a value for each of its levels, or declare the property as a MetaFeature"
        )

    def __hash__(self) -> int:
        return hash((type(self).__name__, self.name))

    @property
    def root(self) -> str:
        """Whether it is a property of items or of subjects."""
        return self.per if isinstance(self.per, str) else self.per.root


type Plate = str | Category
"""``"subject"``, ``"item"`` or a category."""


def plate_name(plate: Plate) -> str:
    """Name of a plate, which is that of its dimension."""
    return plate if isinstance(plate, str) else plate.name


def plural(plate: Plate) -> str:
    """Name all of a plate; a category by its name."""
    return f"{plate}s" if isinstance(plate, str) else plate.name


def root(plate: Plate) -> str:
    """Whether a plate is one of items or of subjects."""
    return plate if isinstance(plate, str) else plate.root


def chain(plate: Plate) -> Iterator[Category]:
    """Walk from a category to the ones that it is of; nothing for items and subjects."""
    while isinstance(plate, Category):
        yield plate
        plate = plate.per


def read_plates(owner: str, per: object) -> tuple[Plate, ...]:
    """Read ``per=``; the population has no plates.

    Raises
    ------
    LayoutError
        When one of them is no plate, repeats, or says the same as another.
    """
    given = per if isinstance(per, tuple | list) else (per,)
    if given in ((POPULATION,), [POPULATION], ()):
        return ()
    found: list[Plate] = []
    for plate in given:
        if isinstance(plate, Category) or plate in (SUBJECT, ITEM):
            found.append(plate)
            continue
        if plate == POPULATION:
            raise LayoutError(
                f"{owner}: per={_written(given)} has 'population' beside another plate; the "
                "population is what has one value for all, so leave one of the two out"
            )
        if isinstance(plate, Node):
            what = f"the {plate.kind} {plate.name}, which is no category"
        elif isinstance(plate, str):
            what = f"the text {plate!r}"
        else:
            what = repr(plate)
        name = plate if isinstance(plate, str) and plate else "task"
        raise LayoutError(
            f"{owner}: per= holds {what}; give 'subject', 'item', 'population', or a Category, as "
            f"in {name} = Category({name!r}) and per={name}"
        )
    for at, plate in enumerate(found):
        for other in found[:at] + found[at + 1 :]:
            if plate_name(other) == plate_name(plate):
                raise LayoutError(
                    f"{owner}: per={_written(given)} holds {plate_name(plate)} twice; say it once"
                )
            if determines((other,), (plate,)):
                raise LayoutError(
                    f"{owner}: per={_written(given)}: each {plate_name(other)} has one "
                    f"{plate_name(plate)}; say per={_written([other])} alone, or join plates of "
                    "which none says the other"
                )
    return tuple(found)


def determines(finer: Iterable[Plate], coarser: Iterable[Plate]) -> bool:
    """Tell whether a level of each of some plates says which level of the others it belongs to.

    Parameters
    ----------
    finer, coarser : iterable of Plate
        Every plate determines itself; an item, its categories; a task, the benchmark of tasks.

    Examples
    --------
    >>> task = Category("task")
    >>> benchmark = Category("benchmark", per=task)
    >>> determines(["item"], [benchmark]), determines([benchmark], [task])
    (True, False)
    """
    known = {plate_name(plate) for plate in finer}
    return all(known & set(_determining(plate)) for plate in coarser)


def finest(plates: Iterable[Plate]) -> tuple[Plate, ...]:
    """Leave out the plates that others among them determine, and repetitions.

    Examples
    --------
    >>> finest(["subject", Category("task"), "item", "item"])
    ('subject', 'item')
    """
    found = {plate_name(plate): plate for plate in plates}
    return tuple(
        plate
        for name, plate in found.items()
        if not determines((other for own, other in found.items() if own != name), (plate,))
    )


def check_of_subjects(owner: str, kind: str, plates: tuple[Plate, ...]) -> None:
    """Refuse plates of items alone, for what only subjects, groups of them or all have.

    Raises
    ------
    LayoutError
        When there are plates, and each is one of items.
    """
    if plates and all(root(plate) == ITEM for plate in plates):
        (first, *_) = plates
        of_subjects = ", or write per='subject' of the Category where it groups subjects"
        raise LayoutError(
            f"{owner}: per={_written(plates)} gives a {kind} to items alone; declare it as an "
            "Effect or a Slope, or add 'subject' to per="
            f"{of_subjects if isinstance(first, Category) else ''}"
        )


def coarser(owner: str, plates: tuple[Plate, ...], lacking: Plate, part: str) -> str:
    """Say how a parameter of a prior gets plates that the latent's own plates determine.

    Examples
    --------
    >>> coarser("skill", ("subject",), Category("species"), "mean")
    "if each subject has one species, write Category('species', per='subject')"
    """
    roots = {root(plate) for plate in plates} - {root(lacking)}
    if isinstance(lacking, Category) and roots:
        (*_, outermost) = chain(lacking)
        (side, *_) = sorted(roots, reverse=True)
        name = outermost.name
        return f"if each {side} has one {name}, write Category({name!r}, per={side!r})"
    finer = _written(finest([*plates, lacking]))
    return f"write per={finer} for {owner}, or per='population' for {part}"


def written(plates: Iterable[Plate]) -> str:
    """Write who has a value of its own, for messages."""
    return " and ".join(map(plate_name, plates)) or POPULATION


def _determining(plate: Plate) -> list[str]:
    """Names of a plate and of all that have one of it, up to items or subjects."""
    return [*(category.name for category in chain(plate)), root(plate)]


def _written(plates: Iterable[object]) -> str:
    """Write plates as they were given."""
    names = [
        repr(plate) if isinstance(plate, str) else getattr(plate, "name", repr(plate))
        for plate in plates
    ]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
