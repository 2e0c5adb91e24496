"""Steps over the rows of a large battery, computed for a block of rows at a time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from .domains import Domain
from .stages import LEAVES, Step, keep
from .values import Space, Value

WHOLE = 2**15
"""Rows that are computed at once: their arrays fit into the caches of a processor."""
_WORDS = 2**14  # numbers of a block; 128 KiB fit into the cache that a core has of its own
_FEWEST = 64  # rows of a block, so that loops over them are vectorised


@dataclass
class Group:
    """Steps that are computed together.

    Attributes
    ----------
    steps : list of Step
        The steps, in order.
    domain : Domain or None
        Domain of which a block of entries is computed at a time, by all steps; None for one step
        that is computed as a whole.
    local : set of int
        Numbers of the quantities that only this group reads, of which only a block is stored.
    rows : int
        Entries of a block.
    """

    steps: list[Step]
    domain: Domain | None = None
    local: set[int] = field(default_factory=set)
    rows: int = 0


def in_blocks(
    steps: Sequence[Step], outputs: Iterable[Value], domain: Domain, sizes: dict[str, int]
) -> list[Group]:
    """Arrange steps such that those over a domain follow each other and can be computed in blocks.

    Parameters
    ----------
    steps : sequence of Step
        Steps, each after those whose results it reads.
    outputs : iterable of Value
        The quantities to compute.
    domain : Domain
        The domain whose steps are computed in blocks.
    sizes : dict of str to int
        Number of labels per dimension.

    Returns
    -------
    list of Group
        All steps, each after those whose results it reads. Steps of a group read no sum over the
        domain that another step of the group computes.
    """
    waiting, done, found = list(steps), set[int](), list[Group]()
    while waiting:
        chosen = [step for step in waiting if step.space.domain is not domain]
        step = next((step for step in chosen if _ready(step, done)), None)
        if step is not None:
            group = Group([step])
        else:
            group = _together([step for step in waiting if step not in chosen], done, domain)
        found.append(group)
        done |= {value.number for step in group.steps for value in step.computed}
        waiting = [step for step in waiting if not any(step is one for one in group.steps)]
        group.steps = _merged(group.steps)
    keep([step for group in found for step in group.steps], outputs)
    _choose_blocks(found, outputs, sizes)
    return found


def _ready(step: Step, done: Collection[int]) -> bool:
    """Return whether everything that a step reads is computed."""
    own = {value.number for value in step.computed}
    read = (arg for value in step.computed for arg in value.args if arg.op not in LEAVES)
    return all(arg.number in done or arg.number in own for arg in read)


def _together(steps: Sequence[Step], done: set[int], domain: Domain) -> Group:
    """Collect the steps that can be computed for a block, one after another."""
    group, known = Group([], domain), set(done)
    for step in steps:  # they are in order
        if _ready(step, known):
            group.steps.append(step)
            known |= {value.number for value in step.computed if value.space.domain is domain}
    return group


def _merged(steps: Sequence[Step]) -> list[Step]:
    """Join neighbouring steps over the same space into one loop."""
    found = list[Step]()
    for step in steps:
        last = found[-1] if found else step
        if last is step or last.space != step.space or last.fold or step.fold:
            found.append(step)
        else:
            last.values += step.values
            last.totals += step.totals
    return found


def _choose_blocks(groups: list[Group], outputs: Iterable[Value], sizes: dict[str, int]) -> None:
    """Choose the numbers of rows, and find the quantities of which only a block is stored."""
    wanted = {value.number for value in outputs}
    readers: dict[int, set[int]] = {}
    for place, group in enumerate(groups):
        for step in group.steps:
            for value in step.computed:
                for arg in value.args:
                    readers.setdefault(arg.number, set()).add(place)
    for place, group in enumerate(groups):
        if group.domain is None:
            continue
        width = 0
        for step in group.steps:
            for value in step.arrays:
                if value.space.domain is not group.domain:
                    continue
                if value.number not in wanted and readers[value.number] <= {place}:
                    group.local.add(value.number)
                    width += volume(value.space, sizes)
        group.rows = max(_FEWEST, _WORDS // max(1, width) // 8 * 8)


def volume(space: Space, sizes: dict[str, int]) -> int:
    """Return the number of a space's entries for each entry of its domain."""
    found = 1
    for label in space.labels:
        found *= sizes[label]
    return found


def collects(step: Step, domain: Domain) -> bool:
    """Return whether a step adds entries of all blocks to one result."""
    return step.fold is not None and step.fold.space.domain is not domain
