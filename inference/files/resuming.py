"""Whether a store holds what it is asked to go on with."""

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...common.errors import StoreError
from ...common.messages import many, some
from ...evaluations.evaluation import Evaluation
from ...layouts import Layout
from ..posterior.assembly import Training
from ..sampling.draws import SamplingOptions
from ..sampling.engine import Battery
from .hierarchy import Contents

_ALWAYS = {"starts": "prior"}  # in stores that do not say


def options_of(options: SamplingOptions, reruns: int, method: str, starts: str) -> dict[str, Any]:
    """Write down how subjects are sampled, and how often again."""
    return {**dataclasses.asdict(options), "reruns": reruns, "method": method, "starts": starts}


def check_same(
    path: Path,
    contents: Contents,
    layout: Layout,
    evaluation: Evaluation,
    battery: Battery,
    options: Mapping[str, Any],
    seed: int | None,
) -> None:
    """Refuse to go on with a store that was begun otherwise.

    Parameters
    ----------
    path : Path
        The store, for the message.
    contents : Contents
        What it says.
    layout, evaluation, battery
        What is to be fitted now.
    options : mapping of str to object
        From `options_of`.
    seed : int, optional
        The store's own, when None.

    Raises
    ------
    StoreError
        Saying what the store has, what is asked for and what to do.
    """
    if contents.attributes["fingerprint"] != layout.fingerprint:
        raise StoreError(
            f"{path} is of a layout with fingerprint {contents.attributes['fingerprint']}, and "
            f"{layout.name!r} has {layout.fingerprint}",
            "give another store, or the same layout",
        )
    asked = dict(options) | ({} if seed is None else {"seed": seed})
    has = _ALWAYS | contents.options | {"seed": contents.attributes["seed"]}
    other = [name for name in asked if has.get(name) != asked[name]]
    if other:
        theirs = ", ".join(f"{name}={has.get(name)}" for name in other)
        ours = ", ".join(f"{name}={asked[name]}" for name in other)
        raise StoreError(
            f"{path} was begun with {theirs}, and now it is {ours}",
            "give another store, or the same options",
        )
    _check_items(path, contents.training, evaluation, battery)
    _check_outcomes(path, contents.training, evaluation)


def _check_items(path: Path, stored: Training, evaluation: Evaluation, battery: Battery) -> None:
    remedy = "give another store, or the same items in the same order"
    items = list(evaluation.items.index)
    if items != stored.items:
        places = zip(stored.items, items, strict=False)
        first = next((f"{a} and {b}" for a, b in places if a != b), "the last one")
        raise StoreError(
            f"{path} was begun on {many(len(stored.items), 'item')}, and now there are "
            f"{len(items)}; the first that differ are {first}",
            remedy,
        )
    for name, values in battery.features.items():
        differ = stored.features[name] != values
        if differ.any():
            which = np.flatnonzero(differ.reshape(len(items), -1).any(axis=1))
            raise StoreError(
                f"{path} was begun with other values of {name} on "
                f"{many(len(which), 'item')}: {some(items[item] for item in which)}",
                remedy,
            )


def _check_outcomes(path: Path, stored: Training, evaluation: Evaluation) -> None:
    rows = {subject: row for row, subject in enumerate(stored.subjects)}
    both = [subject for subject in evaluation.subjects if subject in rows]
    places = [rows[subject] for subject in both]
    differ = np.zeros(len(both), dtype=bool)
    for ours, theirs in (
        (evaluation.successes, stored.successes),
        (evaluation.trials, stored.trials),
    ):
        differ |= (ours.loc[both].to_numpy() != theirs[places]).any(axis=1)
    if differ.any():
        which = some(both[place] for place in np.flatnonzero(differ))
        raise StoreError(
            f"{path} holds {many(int(differ.sum()), 'subject')} with other outcomes: {which}",
            "give another store, or the same outcomes",
        )
