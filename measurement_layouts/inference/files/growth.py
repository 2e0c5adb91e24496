"""Comparison of a store's items and outcomes with those of a new call."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from ...common.errors import StoreError
from ...common.messages import many, some
from ...evaluations.evaluation import Evaluation
from ..posterior.assembly import Training
from ..sampling.engine import Battery


class Growth(NamedTuple):
    """Items and outcomes that were added since a store was created.

    Attributes
    ----------
    same : bool
        Whether nothing was added.
    unchanged : set of str
        Subjects whose outcomes are the same as in the store.
    """

    same: bool
    unchanged: set[str]


def grown(path: Path, stored: Training, evaluation: Evaluation, battery: Battery) -> Growth:
    """Compare items and outcomes with those of a store, which they must equal or extend.

    Parameters
    ----------
    path : Path
        The store, for the message.
    stored : Training
        The data that the store's subjects were fitted to.
    evaluation : Evaluation
        The data to fit now: the same items or additional ones, and the same outcomes or additional
        trials.
    battery : Battery
        Items of the evaluation, as the layout reads them.

    Returns
    -------
    Growth
        The additions.

    Raises
    ------
    StoreError
        When an item is missing or has other features, or an outcome differs.
    """
    items = evaluation.items.index
    places = _places(path, stored, items)
    _same_features(path, stored, battery, places)
    rows = {subject: row for row, subject in enumerate(stored.subjects)}
    both = [subject for subject in evaluation.subjects if subject in rows]
    own = [rows[subject] for subject in both]
    successes, trials = (
        table.loc[both].to_numpy() for table in (evaluation.successes, evaluation.trials)
    )
    more = trials[:, places] - stored.trials[own]
    won = successes[:, places] - stored.successes[own]
    lost = ((won < 0) | (more < won)).any(axis=1)
    if lost.any():
        raise StoreError(
            f"{path} has {many(int(lost.sum()), 'subject')} with other outcomes: "
            f"{some(both[place] for place in np.flatnonzero(lost))}",
            "give another store, or the same outcomes, with additional ones if any",
        )
    further = trials.sum(axis=1) > stored.trials[own].sum(axis=1)
    same = len(items) == len(stored.items) and not further.any()
    return Growth(same, {both[place] for place in np.flatnonzero(~further)})


def _places(path: Path, stored: Training, items: pd.Index) -> np.ndarray:
    """Return the positions of a store's items among the current items."""
    places = items.get_indexer(pd.Index(stored.items))
    reordered = len(items) == len(stored.items) and (places != np.arange(len(places))).any()
    if (places < 0).any() or reordered:
        pairs = zip(stored.items, items, strict=False)
        first = next((f"{a} and {b}" for a, b in pairs if a != b), "the last one")
        raise StoreError(
            f"{path} was created with {many(len(stored.items), 'item')}, but now there are "
            f"{len(items)}; the first different ones are {first}",
            "give another store, or the same items in the same order, with additional ones if any",
        )
    return places


def _same_features(path: Path, stored: Training, battery: Battery, places: np.ndarray) -> None:
    """Raise an error if items had other features when the store was created."""
    for name, values in battery.features.items():
        differ = stored.features[name] != values[places]
        if differ.any():
            which = np.flatnonzero(differ.reshape(len(places), -1).any(axis=1))
            raise StoreError(
                f"{path} was created with other values of {name} on "
                f"{many(len(which), 'item')}: {some(stored.items[item] for item in which)}",
                "give another store, or the same items in the same order",
            )
