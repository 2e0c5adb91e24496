"""Tables of attempts and of items' meta-features, made from several logs."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ..properties import divided
from ..tables import known_names
from .imported import Imported, Notes
from .values import ScoreReader


def choose(
    kind: str,
    wanted: str | Mapping[str, str] | None,
    found: Mapping[str, Iterable[str]],
    notes: Notes,
) -> dict[str, str]:
    """Choose one name, such as that of a metric, for each task.

    Parameters
    ----------
    kind : str
        Kind of the name, which is also the reader's argument.
    wanted : str, or mapping of str to str, optional
        One name for all tasks, or by task (default: the only one of a task).
    found : mapping of str to iterable of str
        Names that each task has.
    notes : Notes
        Notes, to which names that are the only ones are added.

    Returns
    -------
    dict of str to str
        Names by task.

    Raises
    ------
    DataError
        When a task has several names and none is wanted, lacks the wanted one, or has none.

    Examples
    --------
    >>> choose("metric", None, {"sums": ["acc", "acc_norm"]}, Notes())
    Traceback (most recent call last):
        ...
    measurement_layouts.common.errors.DataError: task sums has several metrics: ...
    """
    if isinstance(wanted, Mapping):
        unknown = [task for task in wanted if task not in found]
        if unknown:
            raise DataError(f"{kind}: no task {some(unknown)}; the logs have {some(found)}")
    chosen = {}
    for task, names in found.items():
        has = sorted(set(names))
        if not has:
            raise DataError(f"task {task} has no {kind}; give logs that have one")
        name = wanted.get(task) if isinstance(wanted, Mapping) else wanted
        if name is None and len(has) == 1:
            name = has[0]
            notes.add(f"{kind} used, the only one of its task: {name}", task)
        if name is None:
            raise DataError(
                f"task {task} has several {kind}s: {some(has, 12)}; choose one with "
                f"{kind}={has[0]!r}, or by task with {kind}={{{task!r}: {has[0]!r}}}"
            )
        if name not in has:
            raise DataError(
                f"task {task} has no {kind} {name!r}; it has {some(has, 12)}. Choose by task where "
                f"tasks differ, such as {kind}={{{task!r}: {has[0]!r}}}"
            )
        chosen[task] = name
    return chosen


_DEEPEST = 20  # levels of fields within fields

type Settings = Mapping[str, object]


def tell_apart(kind: str, runs: Sequence[tuple[str, Settings]], notes: Notes) -> list[str]:
    """Name each run, with its settings if runs with the same name differ in them.

    Parameters
    ----------
    kind : str
        Kind of the names, for notes.
    runs : sequence of (str, mapping)
        Name and settings of each run.
    notes : Notes
        Notes, to which extended names are added.

    Returns
    -------
    list of str
        Names, in the order of the runs.

    Examples
    --------
    >>> runs = [("gpt", {"temperature": 0}), ("gpt", {"temperature": 1}), ("llama", {})]
    >>> tell_apart("model", runs, Notes())
    ['gpt (temperature=0)', 'gpt (temperature=1)', 'llama']
    """
    runs = [(notes.name(name), settings) for name, settings in runs]
    settings_of: dict[str, list[dict[str, str]]] = {}
    for name, settings in runs:
        told = {key: str(value) for key, value in settings.items() if value is not None}
        settings_of.setdefault(name, []).append(told)
    differing = {name: _differing(each) for name, each in settings_of.items()}
    found = []
    for name, settings in runs:
        keys = differing[name]
        shown = (f"{key}={_shown(settings.get(key))}" for key in keys)
        label = f"{name} ({some(shown, len(keys))})" if keys else name
        if keys:
            notes.add(f"renamed: {kind} {name} ran with several configurations", label)
        found.append(label)
    return found


def name_models(
    runs: Sequence[tuple[str, Settings]], subject: str | None, notes: Notes
) -> list[str]:
    """Name the model of each run, or use the given name for all runs.

    Raises
    ------
    DataError
        When one name is given and the runs are of several models.
    """
    if subject is None:
        return tell_apart("model", runs, notes)
    models = sorted({name for name, _ in runs})
    if len(models) > 1:
        raise DataError(
            f"subject={subject!r} names one model, but the logs are of {some(models)}; read them "
            "apart, or leave subject out"
        )
    notes.add(f"renamed: model {models[0]}", subject)
    return [subject] * len(runs)


def _differing(settings: Sequence[Mapping[str, str]]) -> list[str]:
    keys = sorted({key for each in settings for key in each})
    return [key for key in keys if len({each.get(key) for each in settings}) > 1]


def _shown(value: object) -> str:
    return "unset" if value is None else str(value)


class Properties:
    """Properties of items and subjects, collected from all attempts.

    A field is a property of the items if it is the same in all attempts at each item, and otherwise
    of the subjects, if it is the same in all attempts of each subject.

    Parameters
    ----------
    notes : Notes
        Notes, to which fields that are dropped or differ within an item are added.

    Examples
    --------
    >>> properties = Properties(Notes())
    >>> for model, limit in (("tiny", 5), ("large", 9)):
    ...     told = {"digits": 2, "carry": {"count": 1}, "tags": ["a"], "limit": limit}
    ...     properties.add("sums/1", model, told)
    >>> items, subjects = properties.tables(["digits", "carry.count", "limit"])
    >>> items
            digits  carry.count
    item
    sums/1       2            1
    >>> subjects["limit"].to_dict()
    {'tiny': 5, 'large': 9}
    """

    def __init__(self, notes: Notes) -> None:
        self.notes = notes
        self._items: list[str] = []
        self._subjects: list[str] = []
        self._records: list[dict[str, object]] = []

    def add(self, item: str, subject: str, record: Mapping[str, object]) -> None:
        """Add the fields of one attempt, which describe its item and its subject."""
        self._items.append(item)
        self._subjects.append(subject)
        self._records.append(dict(self._fields(item, record)))

    def tables(self, features: Sequence[str] | None) -> tuple[pd.DataFrame, pd.DataFrame]:
        """Make the tables of items and subjects, with all properties or the named ones.

        Raises
        ------
        DataError
            When a named property is unknown, or differs within an item and within a subject.
        """
        names = list(dict.fromkeys(name for record in self._records for name in record))
        wanted = names if features is None else known_names(features, pd.Index(names), "feature")
        cells = [[record.get(name) for name in wanted] for record in self._records]
        table = pd.DataFrame(cells, columns=pd.Index(wanted, dtype=object), dtype=object)
        items, people = divided(
            table, self._items, self._subjects, self.notes, strict=features is not None
        )
        for name in wanted if features is not None else ():
            if name not in items.columns and name not in people.columns:
                raise DataError(
                    f"{name} differs between attempts at one item; a meta-feature belongs to the "
                    "item, so leave it out of features"
                )
        left = [name for name in names if name not in wanted]
        if left:
            self.notes.add("dropped: fields not among features", some(left), len(left))
        return items, people

    def _fields(
        self, item: str, record: Mapping[str, object], within: str = ""
    ) -> Iterator[tuple[str, object]]:
        """Go through a record's fields, those of inner records as `outer.inner`."""
        for key, value in record.items():
            name = self.notes.name(f"{within}{key}")
            if isinstance(value, Mapping) and name.count(".") >= _DEEPEST:
                self.notes.add(f"dropped: fields nested more than {_DEEPEST} deep", item)
            elif isinstance(value, Mapping):
                yield from self._fields(item, value, f"{name}.")
            elif isinstance(value, Iterable) and not isinstance(value, str):
                self.notes.add(f"dropped: field {name} contains lists", item)
            else:
                yield name, value


@dataclass(frozen=True)
class Attempt:
    """One attempt of a subject at an item.

    Parameters
    ----------
    subject, item : str
        Names of the subject and the item.
    number : int
        Number of the attempt, from 1.
    outcome : float
        Outcome in [0, 1]; NaN if there is none.
    log : str
        File that contains the attempt.
    identity : str, optional
        Identifier of the attempt, which is the same in copies in other logs.
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
    readers: Iterable[ScoreReader],
    *,
    several: str,
    option: str,
    features: Sequence[str] | None,
) -> Imported:
    """Drop attempts without outcome, count copies once, and make the tables.

    Parameters
    ----------
    attempts : iterable of Attempt
        Attempts in the order of the logs.
    properties : Properties
        Properties of items and subjects, with the notes, to which dropped and averaged attempts
        are added.
    readers : iterable of ScoreReader
        Readers of the outcomes, which refuse here what they could not read.
    several : {"trials", "mean"}
        How several attempts of one subject at one item are counted.
    option : str
        Name of `several` in the reader, for messages.
    features : sequence of str, optional
        Names of the meta-features to keep (default: all).

    Returns
    -------
    Imported
        Tables of attempts, items and subjects, with notes.

    Raises
    ------
    DataError
        When a value cannot be read, one attempt has several outcomes, or nothing is left.
    """
    for reader in readers:
        reader.check()
    if several not in ("trials", "mean"):
        raise DataError(f"{option}={several!r}; give 'trials' or 'mean'")
    found, notes = list(attempts), properties.notes
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
    items, subjects = properties.tables(features)
    items = attempted(items, outcomes["item"], notes)
    subjects = subjects[subjects.index.isin(outcomes["subject"])]
    return Imported(outcomes, items, notes.frame(), subjects)


def attempted(items: pd.DataFrame, outcomes: pd.Series, notes: Notes) -> pd.DataFrame:
    """Drop items that no attempt with an outcome is on."""
    there = np.asarray(pd.Index(outcomes.unique()).get_indexer(items.index) >= 0)
    if not there.all():
        notes.add(
            "dropped: items without any outcome", some(items.index[~there]), int((~there).sum())
        )
    return items[there]


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
