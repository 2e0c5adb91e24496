"""Attempts from several logs become one table, and their items' meta-features another."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ..tables import is_missing, known_names
from .imported import Imported
from .notes import Notes
from .tidy import tidy


class Properties:
    """Collects one record per item from everything that tells of it.

    Parameters
    ----------
    notes : Notes
        Told of fields that are no meta-features, and of those that differ within an item.

    Examples
    --------
    >>> properties = Properties(Notes())
    >>> properties.add("sums/1", {"digits": 2, "carry": {"count": 1}, "tags": ["a"]})
    >>> properties.table(["digits", "carry.count"])
            digits  carry.count
    item
    sums/1       2            1
    """

    def __init__(self, notes: Notes) -> None:
        self._notes = notes
        self._items: dict[str, dict[str, object]] = {}
        self._differing: dict[str, str] = {}

    def add(self, item: str, record: Mapping[str, object]) -> None:
        """Take in what one attempt tells of its item."""
        known = self._items.setdefault(item, {})
        for name, value in self._fields(item, record):
            if name not in known or is_missing(known[name]):
                known[name] = value
            elif not is_missing(value) and known[name] != value:
                self._differing.setdefault(name, item)

    def table(self, features: Sequence[str] | None) -> pd.DataFrame:
        """Make the table of items, with all meta-features or the ones asked for.

        Raises
        ------
        DataError
            When one that was asked for is unknown, or differs within an item.
        """
        names = list(dict.fromkeys(name for record in self._items.values() for name in record))
        wanted = names if features is None else known_names(features, pd.Index(names), "feature")
        differing = [name for name in wanted if name in self._differing]
        if features is not None and differing:
            name = differing[0]
            raise DataError(
                f"{name} differs between attempts at one item, such as {self._differing[name]}; a "
                "meta-feature belongs to the item, so leave it out of features"
            )
        for name in differing:
            self._notes.add(f"dropped: {name} differs within an item", self._differing[name])
        left = [name for name in names if name not in wanted]
        if left:
            self._notes.add("dropped: fields not among features", some(left), len(left))
        kept = [name for name in wanted if name not in differing]
        columns = {
            name: pd.Series([record.get(name) for record in self._items.values()], dtype=object)
            for name in kept
        }
        index = pd.Index(list(self._items), name="item", dtype="str")
        return tidy(pd.DataFrame(columns).set_axis(index, axis=0), self._notes)

    def _fields(
        self, item: str, record: Mapping[str, object], within: str = ""
    ) -> Iterator[tuple[str, object]]:
        """Go through a record's fields, those of inner records as `outer.inner`."""
        for key, value in record.items():
            name = f"{within}{key}"
            if isinstance(value, Mapping):
                yield from self._fields(item, value, f"{name}.")
            elif isinstance(value, Iterable) and not isinstance(value, str):
                self._notes.add(f"dropped: field {name} holds lists", item)
            else:
                yield name, value


@dataclass(frozen=True)
class Attempt:
    """One attempt of a subject at an item.

    Parameters
    ----------
    subject, item : str
        Names.
    number : int
        Which attempt, from 1.
    outcome : float
        In [0, 1]; NaN where there is none.
    log : str
        File that tells of it.
    identity : str, optional
        Names the attempt itself, also where another log copies it.
    """

    subject: str
    item: str
    number: int
    outcome: float
    log: str
    identity: str | None = None


def assemble(
    attempts: Iterable[Attempt],
    properties: Properties,
    notes: Notes,
    *,
    several: str,
    option: str,
    features: Sequence[str] | None,
) -> Imported:
    """Drop attempts without outcome, count copies once, and make the tables.

    Parameters
    ----------
    attempts : iterable of Attempt
        In the order of the logs.
    properties : Properties
        Of the items.
    notes : Notes
        Told of what is dropped and averaged.
    several : {"trials", "mean"}
        What several attempts of one subject at one item are.
    option : str
        What the reader calls `several`, for messages.
    features : sequence of str, optional
        Meta-features wanted.

    Returns
    -------
    Imported
        With everything.

    Raises
    ------
    DataError
        When one attempt has several outcomes, or nothing is left.
    """
    if several not in ("trials", "mean"):
        raise DataError(f"{option}={several!r}; give 'trials' or 'mean'")
    found = list(attempts)
    kept = _once([each for each in found if not math.isnan(each.outcome)], notes)
    if not kept:
        what = notes.frame()["what"]
        raise DataError(
            f"no attempt with an outcome is left: {some(what, 8) or 'the logs are empty'}; give "
            "logs with scored attempts"
        )
    lost = sorted({each.subject for each in found} - {each.subject for each in kept})
    if lost:
        notes.add("dropped: subjects without any outcome", some(lost), len(lost))
    if several == "mean":
        kept = _averaged(kept, notes)
    outcomes = pd.DataFrame(
        [(each.subject, each.item, each.number, each.outcome) for each in kept],
        columns=["subject", "item", "attempt", "outcome"],
    ).astype({"subject": "str", "item": "str", "attempt": "int64", "outcome": "float64"})
    items = properties.table(features)
    return Imported(outcomes, items, notes.frame())


def _once(attempts: list[Attempt], notes: Notes) -> list[Attempt]:
    """Keep one of each attempt; refuse two that are not the same."""
    kept: dict[tuple[str, str, int], Attempt] = {}
    twice: dict[str, set[str]] = {}
    for each in attempts:
        key = each.subject, each.item, each.number
        first = kept.setdefault(key, each)
        if first is each:
            continue
        if each.identity is not None and each.identity == first.identity:
            notes.add("dropped: the same attempt in several logs, counted once", each.log)
        else:
            where = f"{each.subject} on {each.item}, attempt {each.number}"
            twice.setdefault(where, set()).update((first.log, each.log))
    if twice:
        logs = sorted(set().union(*twice.values()))
        raise DataError(
            f"{len(twice)} attempt(s) have several outcomes: {some(twice)}; they are in "
            f"{some(logs)}. Give one log of each run, or name the subjects apart"
        )
    return list(kept.values())


def _averaged(attempts: list[Attempt], notes: Notes) -> list[Attempt]:
    """Put the mean of a subject's attempts at an item in their place."""
    groups: dict[tuple[str, str], list[Attempt]] = {}
    for each in attempts:
        groups.setdefault((each.subject, each.item), []).append(each)
    for (subject, item), group in groups.items():
        if len(group) > 1:
            notes.add("averaged: attempts of one subject at one item", f"{subject} on {item}")
    return [
        replace(group[0], number=1, outcome=sum(each.outcome for each in group) / len(group))
        for group in groups.values()
    ]
