"""Plates along which a latent has values (subjects, items, categories), and how they nest."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from ..linking.errors import check, refuse
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
        has_root = self.per in (ITEM, SUBJECT) or isinstance(self.per, Category)
        advice = "a category is one of each 'item', of each 'subject', or of another Category"
        check(self.name, has_root, f"per={self.per!r}", advice)

    @property
    def dims(self) -> Dims:
        return {}

    @property
    def range(self) -> Interval:
        advice = f"write per={self.name} of a latent, or declare the property as a MetaFeature"
        refuse(self.name, "it is a category, and no number", advice)

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
    plates = tuple(per) if isinstance(per, tuple | list) else (per,)
    if plates in ((POPULATION,), ()):
        return ()
    listed = f"per={_written(plates)}"
    for plate in plates:
        problem = f"{listed} has 'population' beside another plate"
        check(owner, plate != POPULATION, problem, "leave one of the two out")
        what = f"the {plate.kind} {plate.name}" if isinstance(plate, Node) else repr(plate)
        name = plate if isinstance(plate, str) and plate else "task"
        advice = f"or a Category, as in {name} = Category({name!r}) and per={name}"
        is_plate = isinstance(plate, Category) or plate in (SUBJECT, ITEM)
        problem = f"per= holds {what}, which is no category"
        check(owner, is_plate, problem, f"give 'subject', 'item', 'population', {advice}")
    for at, plate in enumerate(plates):
        for other in plates[:at] + plates[at + 1 :]:
            name, another = plate_name(plate), plate_name(other)
            check(owner, name != another, f"{listed} holds {name} twice", "name it once")
            coarse = determines((other,), (plate,))
            problem = f"{listed}: each {another} has one {name}"
            check(owner, not coarse, problem, f"write per={_written([other])} alone")
    return plates


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
    names = {plate_name(plate) for plate in finer}
    return all(names & {*map(plate_name, chain(plate)), root(plate)} for plate in coarser)


def finest(plates: Iterable[Plate]) -> tuple[Plate, ...]:
    """Leave out the plates that others among them determine, and repetitions.

    Examples
    --------
    >>> finest(["subject", Category("task"), "item", "item"])
    ('subject', 'item')
    """
    distinct = {plate_name(plate): plate for plate in plates}
    others = {name: [distinct[other] for other in distinct if other != name] for name in distinct}
    return tuple(x for name, x in distinct.items() if not determines(others[name], (x,)))


def check_of_subjects(owner: str, kind: str, plates: tuple[Plate, ...]) -> None:
    """Refuse plates of items alone, for what only subjects, groups of them or all have.

    Raises
    ------
    LayoutError
        When there are plates, and each is one of items.
    """
    of_items = plates and all(root(plate) == ITEM for plate in plates)
    group = ", or write per='subject' of the Category where it groups subjects"
    advice = "declare it as an Effect or a Slope, or add 'subject' to per="
    advice += group if of_items and isinstance(plates[0], Category) else ""
    check(owner, not of_items, f"per={_written(plates)} gives a {kind} to items alone", advice)


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


def _written(plates: Iterable[object]) -> str:
    """Write plates as they were given."""
    names = [getattr(plate, "name", repr(plate)) for plate in plates]
    return names[0] if len(names) == 1 else f"({', '.join(names)})"
