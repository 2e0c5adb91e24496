"""Fits in a store, opened without reading any draws."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from xarray.core.indexing import LazilyIndexedArray

from ...common.errors import FitError
from ...layouts import Layout
from ..posterior.assembly import assemble
from ..posterior.posterior import Posterior
from .chunks import DrawsOnDisk
from .hierarchy import Contents
from .records import Record, damaged, outcomes_digest


def check_records(path: Path, contents: Contents, records: Mapping[int, Record]) -> None:
    """Hold a store's records against its subjects and their outcomes.

    Parameters
    ----------
    path : Path
        The store, for the message.
    contents : Contents
        What it says.
    records : mapping of int to Record
        What came of its subjects, by their places in its arrays; read before `contents`, if others
        may be writing.

    Raises
    ------
    FitError
        When a record or a subject's outcomes are damaged.
    """
    training = contents.training
    for row, record in records.items():
        if row >= len(training.subjects) or record.subject != training.subjects[row]:
            raise damaged(path, row, record.subject, "its record is another subject's")
        if record.outcomes != outcomes_digest(training, row):
            raise damaged(path, row, record.subject, "its outcomes are not those it was fitted to")


def stored_posterior(
    path: Path,
    layout: Layout,
    contents: Contents,
    records: Mapping[int, Record],
    subjects: Iterable[str],
) -> Posterior:
    """Open the posteriors of some of a store's subjects, without reading any draws.

    Parameters
    ----------
    path : Path
        The store.
    layout : Layout
        That of the store.
    contents : Contents
        What it says.
    records : mapping of int to Record
        What came of its subjects, by their places in its arrays.
    subjects : iterable of str
        Whose fit, in this order; those that are not finished are left out.

    Returns
    -------
    Posterior
        Its draws are read whenever they are asked for.

    Raises
    ------
    FitError
        When none of them has draws.
    """
    rows = {subject: row for row, subject in enumerate(contents.training.subjects)}
    places = {subject: rows[subject] for subject in subjects if rows[subject] in records}
    tried = {subject: records[row].tried for subject, row in places.items()}
    chosen = [(row, records[row]) for row in places.values() if records[row].draws is not None]
    if not chosen:
        failed = [f"; {name}: {one.failure}" for name, one in tried.items()]
        raise FitError(
            f"{path} has no draws of the subjects asked for{''.join(failed[:1])}; fit with this "
            "store to sample them"
        )
    arrays: dict[str, dict[str, Any]] = {"posterior": {}, "sample_stats": {}}
    for name, (shape, dtype) in contents.draws.items():
        group, own = name.split("/")
        arrays[group][own] = LazilyIndexedArray(DrawsOnDisk(path, name, chosen, shape, dtype))
    return assemble(
        layout,
        contents.training.take(row for row, _ in chosen),
        contents.prior,
        arrays["posterior"],
        arrays["sample_stats"],
        contents.attributes,
        tried,
    )
