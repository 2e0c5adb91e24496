"""A long table of attempts, made of the records of several logs and read as any long table."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...linking.errors import short
from ..reader import shown
from ..tables import known_names
from ..ungraded import COLUMN, Treatment, refuse_other_treatment
from ..words import Values, read_answers
from .imported import Imported, Notes
from .table import read_table

# the values of inspect_ai.scorer.value_to_float; a test compares the two
GRADES = {
    **{"c": 1.0, "i": 0.0, "p": 0.5, "n": 0.0},
    **{"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0},
}
_DEEPEST = 20  # levels of fields within fields
_KEY = ["subject", "item", "attempt"]
_RESERVED = {*_KEY, "outcome", COLUMN}

type Settings = Mapping[str, object]


class Attempt(NamedTuple):
    """One attempt of a subject at an item.

    `outcome` is the score by `scorer` as the log has it, and `ungraded` the reason if there is
    none; `identity` is the same in copies in other logs; `fields` are properties of the item and
    the subject.
    """

    subject: str
    item: str
    attempt: int
    outcome: object
    scorer: str | None
    ungraded: str
    log: str
    identity: str | None
    fields: Mapping[str, object]


def choose(
    kind: str,
    wanted: str | Mapping[str, str] | None,
    available: Mapping[str, Iterable[str]],
    notes: Notes,
) -> dict[str, str]:
    """Choose one name, such as that of a metric, for each task.

    Parameters
    ----------
    kind : str
        Kind of the name, which is also the reader's argument.
    wanted : str, or mapping of str to str, optional
        One name for all tasks, or by task (default: the only one of a task).
    available : mapping of str to iterable of str
        Names that each task has.
    notes : Notes
        Notes, to which names that are the only ones are added.

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
    by_task = wanted if isinstance(wanted, Mapping) else dict.fromkeys(available, wanted)
    unknown = [task for task in by_task if task not in available]
    if unknown:
        raise DataError(f"{kind}: no task {some(unknown)}; the logs have {some(available)}")
    chosen = {}
    for task in available:
        names, name = sorted(set(available[task])), by_task.get(task)
        if not names:
            raise DataError(f"task {task} has no {kind}; give logs that have one")
        if name is None and len(names) == 1:
            name = names[0]
            notes.add(f"{kind} used, the only one of its task: {name}", task)
        if name not in names:
            what = f"several {kind}s: {some(names, 12)}"
            if name is not None:
                what = f"no {kind} {name!r}; it has {some(names, 12)}"
            raise DataError(
                f"task {task} has {what}; choose one with {kind}={names[0]!r}, or by task with "
                f"{kind}={{{task!r}: {names[0]!r}}}"
            )
        chosen[task] = name
    return chosen


def tell_apart(
    kind: str,
    names: Sequence[str],
    settings: Sequence[Settings],
    notes: Notes,
    *,
    within: Sequence[str] | None = None,
) -> list[str]:
    """Name each run, with the settings in which runs of the same name differ.

    Parameters
    ----------
    kind : str
        Kind of the names, for notes.
    names : sequence of str
        Name of each run.
    settings : sequence of mapping
        Settings of each run.
    notes : Notes
        Notes, to which extended names are added.
    within : sequence of str, optional
        Group of each run: only settings that differ within a group count, such as a task (default:
        one group).

    Examples
    --------
    >>> settings = [{"temperature": 0}, {"temperature": 1}, {}]
    >>> tell_apart("model", ["gpt", "gpt", "llama"], settings, Notes())
    ['gpt (temperature=0)', 'gpt (temperature=1)', 'llama']
    """
    runs = pd.DataFrame({"name": [notes.name(name) for name in names], "group": within or ""})
    columns = dict.fromkeys(key for run in settings for key in run)
    written = {key: [_written(run.get(key)) for run in settings] for key in columns}
    table = pd.DataFrame(written, runs.index)
    labels = []
    for name, rows in runs.groupby("name").groups.items():
        values = table.loc[rows].groupby(runs["group"][rows]).nunique()
        keys = sorted(values.columns[values.gt(1).any()])
        label = pd.Series(str(name), rows)
        if keys:
            label += [
                f" ({some((f'{key}={row[key]}' for key in keys), len(keys))})"
                for row in table.loc[rows].to_dict("records")
            ]
            what = f"renamed: {kind} {name} ran with several configurations"
            notes.add(what, label.iloc[0], len(rows))
        labels.append(label)
    return pd.concat(labels).sort_index().tolist()


def _written(value: object) -> str:
    return "unset" if value is None else str(value)


class Texts:
    """Texts of items, such as questions, by which two items under one name are found out."""

    def __init__(self) -> None:
        self._first: dict[tuple[str, str], tuple[str, Path]] = {}

    def add(self, item: str, key: str, text: object, path: Path) -> None:
        """Refuse another text than that of an item's first attempt.

        Raises
        ------
        DataError
            Naming the item, the kind of text and both logs.
        """
        try:
            written = json.dumps(text, sort_keys=True, default=repr)
        except RecursionError:
            raise DataError(f"{item}: its {key} is nested too deeply; leave it out") from None
        digest = hashlib.sha256(written.encode()).hexdigest()
        first, log = self._first.setdefault((item, key), (digest, path))
        if digest != first:
            raise DataError(
                f"{item} has another {key} in {path} than in {log}: these are two items under one "
                "name; give one of them another name, or read the logs apart"
            )


def read_scores(
    scores: pd.Series,
    source: str,
    notes: Notes,
    remedy: str,
    values: Values | None = None,
    words: Mapping[str, float] = GRADES,
) -> np.ndarray:
    """Read scores as outcomes; NaN where there is none.

    Parameters
    ----------
    scores : Series
        Scores, indexed by where they are.
    source : str
        Whose scores, for messages, such as "scorer match".
    notes : Notes
        Notes, to which every mapping is added.
    remedy : str
        What to do about values that are no outcomes.
    values : mapping, optional
        Outcomes in [0, 1] of scores, before any other rule; None for a score that is no grade.
    words : mapping of str to float
        Outcomes of texts in lower case.

    Raises
    ------
    DataError
        When a value is no outcome.

    Examples
    --------
    >>> scores = pd.Series(["C", "P", 0.25, True, None], ["a", "b", "c", "d", "e"])
    >>> read_scores(scores, "scorer match", Notes(), "", {"P": 1})
    array([1.  , 1.  , 0.25, 1.  ,  nan])
    """
    answers = read_answers(scores.to_numpy(dtype=object), values, words)
    known = ~answers.foreign & np.isnan(answers.trials)
    wrong = ~known | (answers.value < 0) | (answers.value > 1)
    if wrong.any():
        cells = (f"{short(item)} ({shown(score)})" for item, score in scores[wrong].items())
        raise DataError(
            f"{source}: {wrong.sum()} value(s) are neither numbers in [0, 1] nor known words: "
            f"{some(cells)}; {remedy}"
        )
    for text, (outcome, count) in answers.texts.items():
        example = scores.index[(scores == text).to_numpy(dtype=bool)][0]
        notes.add(f"mapped: {source}, {text!r} is {outcome:g}", example, count)
    return answers.value


def assemble(
    attempts: Sequence[Attempt],
    source: str,
    notes: Notes,
    *,
    remedy: str,
    values: Values | None = None,
    words: Mapping[str, float] = GRADES,
    several: str,
    option: str,
    features: Sequence[str] | None,
    ungraded: Treatment,
) -> Imported:
    """Count copies of attempts once, treat those without a grade, and read the table.

    Parameters
    ----------
    attempts : sequence of Attempt
        Attempts in the order of the logs.
    source : str
        Kind of the scores, such as "scorer".
    notes : Notes
        Notes of the reading so far.
    remedy, values, words : str, mapping and mapping
        How scores are read, see `read_scores`.
    several : {"trials", "mean"}
        How several attempts of one subject at one item are counted.
    option : str
        Name of `several` in the reader, for messages.
    features : sequence of str, optional
        Names of the properties to keep (default: all).
    ungraded : {"drop", "fail", "bounds"}
        What becomes of attempts without an outcome.

    Raises
    ------
    DataError
        When one attempt has several outcomes, or nothing is left.
    """
    refuse_other_treatment(ungraded)
    if several not in ("trials", "mean"):
        raise DataError(f"{option}={several!r}; give 'trials' or 'mean'")
    rows = pd.DataFrame(attempts, columns=Attempt._fields)
    outcomes = pd.Series(np.nan, rows.index)
    for name, group in rows.groupby("scorer", sort=False):
        scores = group.set_index("item")["outcome"]
        outcomes[group.index] = read_scores(
            scores, f"{source} {name}", notes, remedy, values, words
        )
    rows = rows.assign(outcome=outcomes, ungraded=rows[COLUMN].where(outcomes.isna(), None))
    rows = _once(rows, notes)
    missing = rows[COLUMN].notna()
    for reason, group in rows[missing].groupby(COLUMN, sort=False):
        treatment = {"drop": "dropped", "fail": "counted as failures"}.get(ungraded, "kept")
        items = some(group["item"].unique(), 12)
        notes.add(f"ungraded ({reason}), {treatment}", items, len(group))
    if ungraded == "fail":
        rows = rows.assign(**{"outcome": rows["outcome"].where(~missing, 0.0), COLUMN: None})
    elif ungraded == "drop":
        rows = rows[~missing]
    if rows["outcome"].isna().all():
        what = notes.frame()["what"]
        raise DataError(
            f"no attempt with an outcome is left: {some(what, 8) or 'the logs are empty'}; give "
            "logs with scored attempts"
        )
    if several == "mean":
        rows = _averaged(rows, notes)
    return _read(rows, features, notes)


def _once(rows: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Keep one of each attempt, a graded one if there is one; refuse several outcomes."""
    graded = rows[COLUMN].isna()
    ordered = pd.concat([rows[graded], rows[~graded]])
    first = ordered.drop_duplicates(_KEY)
    again = ordered.drop(first.index)
    pairs = again.merge(first, on=_KEY, suffixes=("", "_first"))
    retried = pairs[COLUMN].notna()
    copied = pairs["identity"].notna() & (pairs["identity"] == pairs["identity_first"])
    conflicts = pairs[~retried & ~copied]
    if len(conflicts):
        where = conflicts["subject"] + " on " + conflicts["item"]
        where += ", attempt " + conflicts["attempt"].astype(str)
        logs = sorted({*conflicts["log"], *conflicts["log_first"]})
        raise DataError(
            f"{where.nunique()} attempt(s) have several outcomes: {some(where.unique())}; they are "
            f"in {some(logs)}. Give one log of each run, or name the subjects apart"
        )
    for mask, what in (
        (copied & ~retried, "dropped: the same attempt in several logs, counted once"),
        (retried, "dropped: attempts without a grade that another log has again"),
    ):
        if mask.any():
            notes.add(what, pairs["log"][mask].iloc[0], int(mask.sum()))
    return first.sort_index()


def _averaged(rows: pd.DataFrame, notes: Notes) -> pd.DataFrame:
    """Put the mean of a subject's graded attempts at an item in the place of all of them."""
    groups = rows.groupby(_KEY[:2], sort=False)
    averaged = groups.head(1).assign(
        attempt=1,
        outcome=groups["outcome"].transform("mean"),
        **{COLUMN: lambda one: one[COLUMN].where(one["outcome"].isna(), None)},
    )
    several = averaged[groups["item"].transform("size")[averaged.index] > 1]
    if len(several):
        example = f"{several['subject'].iloc[0]} on {several['item'].iloc[0]}"
        notes.add("averaged: attempts of one subject at one item", example, len(several))
    return averaged


def _read(rows: pd.DataFrame, features: Sequence[str] | None, notes: Notes) -> Imported:
    """Read the long table."""
    properties = _properties([dict(fields) for fields in rows["fields"]], features, notes)
    long = rows[[*_KEY, "outcome", COLUMN]].reset_index(drop=True)
    read = read_table(long.join(properties))
    kept = {*read.items.columns, *read.subjects.columns}
    lost = [] if features is None else [name for name in properties.columns if name not in kept]
    if lost:
        raise DataError(
            f"{some(lost)} differs between attempts at one item, and within a subject, or has "
            "lists; a meta-feature belongs to the item, so leave it out of features"
        )
    every = pd.concat([notes.frame(), read.notes], ignore_index=True)
    return replace(read, notes=every)


def _properties(
    records: list[dict[str, object]], features: Sequence[str] | None, notes: Notes
) -> pd.DataFrame:
    """Write fields as columns, those of inner records as `outer.inner`."""
    table = pd.json_normalize(records, max_level=_DEEPEST)
    table = table.set_axis(notes.names(table.columns), axis=1)
    table = table.loc[:, ~table.columns.duplicated()]
    if features is not None:
        wanted = known_names(features, table.columns, "feature")
        others = table.columns.difference(wanted, sort=False)
        if len(others):
            notes.add("dropped: fields not among features", some(others), len(others))
        table = table[wanted]
    taken = [name for name in table.columns if name in _RESERVED]
    for name in taken:
        notes.add("renamed: a field whose name is taken", f"{name} is feature.{name}")
    return table.rename(columns={name: f"feature.{name}" for name in taken})
