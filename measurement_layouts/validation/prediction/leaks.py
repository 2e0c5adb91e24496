"""Detection of training outcomes among those to be scored, with errors and warnings."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError
from ...common.messages import many, some
from ...evaluations.alike import Content, equal, same_rows
from ...evaluations.steps import Rows
from ...inference.forecasts.training import Training

_FEW = 8  # items, below which chance may make two tables equal


@dataclass(frozen=True, eq=False)
class Verdict:
    """Training outcomes that were detected among those to be scored.

    Attributes
    ----------
    same : ndarray of bool, shape (subjects, items)
        Training outcomes, recognised by name and equal meta-features, or by their contents if items
        have no names.
    changed : ndarray of bool, shape (subjects, items)
        Outcomes with the name of a training outcome, but other meta-features.
    renamed : ndarray of int, shape (items,)
        Training items with the contents of items under other names; -1 for none.
    """

    same: np.ndarray
    changed: np.ndarray
    renamed: np.ndarray


@dataclass(frozen=True, eq=False)
class Asked:
    """Items to be scored, with the training items.

    Attributes
    ----------
    training : Training
        Training data of the forecast.
    subjects, names : Index
        Subjects and items to be scored.
    content, trained : Content
        Items and outcomes to be scored, and training items and outcomes of the same subjects.
    """

    training: Training
    subjects: pd.Index
    names: pd.Index
    content: Content
    trained: Content

    @classmethod
    def of(
        cls,
        training: Training,
        successes: pd.DataFrame,
        trials: pd.DataFrame,
        rows: Rows | None,
    ) -> "Asked":
        """Collect outcomes, (subjects, rows), with the training data."""
        who = training.subjects.get_indexer(trials.index)
        names = pd.Index(trials.columns) if rows is None else rows.items
        counts = [by_item(table.to_numpy(), len(names)) for table in (successes, trials)]
        places = training.items.get_indexer(names)
        known = [by_item(table[who], len(training.names)) for table in training.counts()]
        return cls(
            training,
            trials.index,
            names,
            Content(training.features[places], *counts),
            Content(training.fitted, *known),
        )

    def attempted(self, rows: np.ndarray) -> np.ndarray:
        """Whether each subject attempted training items, by position (-1: none)."""
        subjects = self.training.subjects.get_indexer(self.subjects)
        return self.training.attempted(rows)[subjects]

    def verdict(self, *, reused_names: bool) -> Verdict:
        """Detect training outcomes among all items and subjects."""
        places = self.training.names.get_indexer(self.names)
        rows = same_rows(self.content, self.trained, places)
        if reused_names or self.training.nameless:
            same = self.attempted(rows)
            return Verdict(same, np.zeros_like(same), np.full(len(rows), -1))
        mine, known = self.content.features, self.trained.features[places]
        fits = equal(mine, known).all(axis=1)
        named = self.attempted(places)
        other = (rows >= 0) & (rows != places)
        renamed = np.where(other, rows, -1) if other.sum() >= _FEW else np.full(len(rows), -1)
        return Verdict(named & fits, named & ~fits, renamed)


def refuse_trained(
    asked: Asked, trials: pd.DataFrame, *, training_items: bool, reused_names: bool
) -> None:
    """Refuse training outcomes, and warn of items that are likely the same under other names.

    Parameters
    ----------
    asked : Asked
        Items to be scored.
    trials : DataFrame
        Attempts to be scored, (subjects, rows).
    training_items, reused_names
        As in `score`.

    Raises
    ------
    DataError
        When outcomes were trained on, or have names of training items with other meta-features; the
        message names items and subjects.
    """
    if training_items:
        return
    verdict = asked.verdict(reused_names=reused_names)
    each = trials.shape[1] // len(asked.names)
    changed, same = (
        cell_names(trials, np.repeat(found, each, axis=1))
        for found in (verdict.changed, verdict.same)
    )
    if changed:
        raise DataError(
            f"{len(changed)} outcome(s) to be scored have names of training items, but other "
            f"meta-features: {some(changed)}; if the items were recoded, forecast items held out "
            "from the fit, or pass training_items=True to score the fit on its own data; if these "
            "are other items, give them other names, or pass reused_names=True"
        )
    if same:
        raise trained_error(same)
    found = np.flatnonzero(verdict.renamed >= 0)
    if len(found):
        known = asked.training.names[verdict.renamed[found]]
        pairs = [f"{name} (as {own})" for name, own in zip(asked.names[found], known, strict=True)]
        warnings.warn(
            f"{many(len(pairs), 'item')} have the meta-features and outcomes of training items "
            f"under other names: {some(pairs)}; if they are the same items, the scores are too "
            "good: leave them out",
            stacklevel=4,
        )


def trained_error(found: Sequence[str]) -> DataError:
    """Return an error that names outcomes that were trained on."""
    return DataError(
        f"{len(found)} outcome(s) to be scored were trained on: {some(found)}; "
        "forecast items held out from the fit, or pass training_items=True to score the fit on its "
        "own data"
    )


def cell_names(trials: pd.DataFrame, chosen: np.ndarray) -> list[str]:
    """Return the names of chosen cells that were attempted."""
    places = np.argwhere(chosen & (trials.to_numpy() > 0))
    return [f"{trials.columns[column]} ({trials.index[row]})" for row, column in places]


def by_item(values: np.ndarray, items: int) -> np.ndarray:
    """Reshape (subjects, rows) or (subjects, items, steps) to a row for each item."""
    parts = values.reshape(len(values), items, -1)
    return np.asarray(parts.transpose(1, 0, 2).reshape(items, -1), dtype=float)
