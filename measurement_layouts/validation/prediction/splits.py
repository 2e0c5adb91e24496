"""Splits of outcomes: held-out items, cells, groups of items, or given sets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.tables import known_names, need_columns, texts

_FIFTH = 0.2


@dataclass(frozen=True, eq=False)
class Fold:
    """Training outcomes and held-out outcomes.

    Parameters
    ----------
    train, test : ndarray of bool, shape (subjects, items)
        Cells of the training outcomes and of the predicted ones; no cell is in both.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    >>> fold = Fold(np.array([[True, False]]), np.array([[False, True]]))
    >>> fold.training(Evaluation.from_wide(outcomes, items)).trials.loc["Ann"].tolist()
    [1, 0]
    """

    train: np.ndarray
    test: np.ndarray

    def training(self, evaluation: Evaluation) -> Evaluation:
        """Keep the training outcomes only, with all items."""
        cells, people = evaluation.coded, evaluation.subject_table
        training = cells.take(by_row(evaluation, self.train)[cells.subject, cells.item])
        return Evaluation.of_cells(evaluation.items, people.index, training, subjects=people)

    def items(self, evaluation: Evaluation) -> list[str]:
        """List the items of which a cell is predicted."""
        return list(evaluation.item_table.index[self.test.any(axis=0)])


@runtime_checkable
class Split(Protocol):
    """Protocol of splits of an evaluation into training and held-out outcomes.

    Examples
    --------
    >>> isinstance(Items(0.2), Split)
    True
    """

    @property
    def repeats(self) -> int:
        """Default number of times that the split is drawn."""

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once.

        Parameters
        ----------
        evaluation : Evaluation
            Items and outcomes.
        rng : numpy.random.Generator
            Random generator; the next repeat continues with the same one.

        Returns
        -------
        list of Fold
            Folds; the held-out outcomes of each are predicted from its training outcomes only.
        """


@dataclass(frozen=True, repr=False)
class _Random:
    """Base of splits that hold out a share at random, or each of several folds in turn."""

    share: float | None = None
    folds: int | None = None

    def __post_init__(self) -> None:
        if self.share is not None and self.folds is not None:
            raise DataError(
                f"share={self.share} and folds={self.folds} exclude each other; give one of them"
            )
        if self.folds is not None:
            options.whole("folds", self.folds, 2)
        elif self.share is not None:
            options.inside("share", self.share, such_as=_FIFTH)

    @property
    def repeats(self) -> int:
        """Default number of times that the split is drawn: 3 with a share, 1 with folds."""
        return 3 if self.folds is None else 1

    @property
    def _share(self) -> float:
        """Share that is held out."""
        return _FIFTH if self.share is None else self.share

    def _folds(self, count: int, what: str, rng: np.random.Generator) -> list[np.ndarray]:
        """Divide positions among the folds at random."""
        if self.folds is None or self.folds > count:
            raise DataError(
                f"folds={self.folds}, but there are {count} {what}; give a smaller folds="
            )
        return np.array_split(rng.permutation(count), self.folds)

    def __repr__(self) -> str:
        how = f"share={self._share:g}" if self.folds is None else f"folds={self.folds}"
        return f"{type(self).__name__}({how})"


@dataclass(frozen=True, repr=False)
class Items(_Random):
    """Hold out items at random, each with the outcomes of all subjects.

    Parameters
    ----------
    share : float, optional
        Share of the items to hold out, in (0, 1) (default: a fifth, unless `folds` is given).
    folds : int, optional
        Number of parts, at least 2, into which the items are divided; sizes differ by at most one
        item. Each part is predicted from the others.

    Raises
    ------
    DataError
        When both `share` and `folds` are given.
    FitError
        When a number is out of range.

    Examples
    --------
    >>> items = pd.DataFrame(index=[str(number) for number in range(10)])
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1, 0] * 5], ["Ann"], items.index), items)
    >>> folds = Items(folds=2).draw(evaluation, np.random.default_rng(1))
    >>> [fold.items(evaluation) for fold in folds]
    [['0', '1', '4', '7', '8'], ['2', '3', '5', '6', '9']]
    """

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once, as `Split.draw` does.

        Raises
        ------
        DataError
            When no item would be held out or none kept, or there are fewer items than folds.
        """
        count = len(evaluation.item_table)
        if self.folds is None:
            held_out = round(self._share * count)
            if not 0 < held_out < count:
                raise DataError(
                    f"share={self._share} of {count} items holds out {held_out}; hold out and "
                    "keep at least one item"
                )
            parts = [rng.permutation(count)[:held_out]]
        else:
            parts = self._folds(count, "items", rng)
        return [_without_items(evaluation, part) for part in parts]


@dataclass(frozen=True, repr=False)
class Cells(_Random):
    """Hold out cells at random: outcomes of single subjects on single items.

    A cell is held out with all its trials, and with all steps of its outcomes. The item's outcomes
    of other subjects are training outcomes.

    Parameters
    ----------
    share : float, optional
        Probability of each attempted cell to be held out, in (0, 1) (default: a fifth, unless
        `folds` is given). The cells are those where ``rng.random(cells) < share``, subject after
        subject, and items in the evaluation's order; in the first repeat ``rng`` is
        ``numpy.random.default_rng(seed)``.
    folds : int, optional
        Number of parts, at least 2, into which the attempted cells are divided; sizes differ by at
        most one cell. Each part is predicted from the others.

    Raises
    ------
    DataError
        When both `share` and `folds` are given.
    FitError
        When a number is out of range.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b", "c"])
    >>> outcomes = pd.DataFrame([[1, 0, 1], [0, None, 1]], ["Ann", "Bob"], items.index)
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> (fold,) = Cells(0.4).draw(evaluation, np.random.default_rng(1))
    >>> fold.test
    array([[False, False,  True],
           [False, False,  True]])
    """

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once, as `Split.draw` does.

        Raises
        ------
        DataError
            When no cell would be held out, or there are fewer cells than folds.
        """
        attempted = _attempted(evaluation)
        cells = np.flatnonzero(attempted)
        if self.folds is None:
            parts = [np.flatnonzero(rng.random(len(cells)) < self._share)]
            if not len(parts[0]):
                raise DataError(
                    f"share={self._share} of {len(cells)} attempted cells holds out none; hold out "
                    "more, or change the seed"
                )
        else:
            parts = self._folds(len(cells), "attempted cells", rng)
        tests = [np.isin(np.arange(attempted.size), cells[part]) for part in parts]
        return [Fold(~test, test) for test in (own.reshape(attempted.shape) for own in tests)]


@dataclass(frozen=True)
class Groups:
    """Hold out whole groups of items, such as benchmarks or tasks.

    Parameters
    ----------
    column : str
        Column of the items that names the groups.
    folds : int
        Number of parts of the items, at least 2. If there are at most as many groups, each group is
        a fold; otherwise groups are assigned in order of size, the largest first, each to the fold
        with the fewest items so far. The order of groups of the same size is random.

    Raises
    ------
    FitError
        When `folds` is out of range.

    Examples
    --------
    >>> items = pd.DataFrame({"test": list("aaabbc")})
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1] * 6], ["Ann"]), items)
    >>> folds = Groups("test", folds=2).draw(evaluation, np.random.default_rng(1))
    >>> [fold.items(evaluation) for fold in folds]
    [['0', '1', '2'], ['3', '4', '5']]
    """

    column: str
    folds: int = 10
    repeats: ClassVar[int] = 1

    def __post_init__(self) -> None:
        options.whole("folds", self.folds, 2)

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once, as `Split.draw` does.

        Raises
        ------
        DataError
            When the column is missing or names fewer than two groups, or an item has no group.
        """
        items = evaluation.item_table
        need_columns(items.columns, [self.column], "the items have")
        codes, known = pd.factorize(
            pd.Index(texts(items[self.column], f"the items' {self.column}"))
        )
        if len(known) < 2:
            raise DataError(
                f"Groups({self.column!r}): all items are of the group {known[0]}; name a column "
                "with at least two groups, or hold out Items"
            )
        sizes = np.bincount(codes)
        fold = np.arange(len(known))
        if self.folds < len(known):
            order = rng.permutation(len(known))
            filled = np.zeros(self.folds, dtype=int)
            for group in order[np.argsort(-sizes[order], kind="stable")]:
                fold[group] = filled.argmin()
                filled[fold[group]] += sizes[group]
        parts = [np.flatnonzero(fold[codes] == number) for number in range(fold.max() + 1)]
        return [_without_items(evaluation, part) for part in parts]


@dataclass(frozen=True, eq=False, repr=False)
class Given:
    """Train on given items or cells, and predict other given ones.

    Parameters
    ----------
    test : str, Series of bool, DataFrame of bool or iterable
        Items or cells to predict: a query of the items' properties for ``DataFrame.query``; a mask
        by item; a mask by subject (rows) and item (columns); or names of items.
    train : str, Series of bool, DataFrame of bool or iterable, optional
        Items or cells of the training outcomes, in the same form (default: all that are not
        predicted).

    Examples
    --------
    >>> items = pd.DataFrame({"objects": [3, 4, 5, 6, 7]}, index=list("abcde"))
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1] * 5], ["Ann"], items.index), items)
    >>> far = Given(train="objects <= 5", test="objects == 7")
    >>> (fold,) = far.draw(evaluation, np.random.default_rng(1))
    >>> fold.items(evaluation), fold.training(evaluation).trials.loc["Ann"].tolist()
    (['e'], [1, 1, 1, 0, 0])
    """

    test: str | pd.Series | pd.DataFrame | Iterable[object]
    train: str | pd.Series | pd.DataFrame | Iterable[object] | None = None
    repeats: ClassVar[int] = 1

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split, as `Split.draw` does; nothing is random.

        Raises
        ------
        DataError
            When a set cannot be read or is empty, or the two have a cell in common.
        """
        test = _given(evaluation, self.test, "test")
        train = ~test if self.train is None else _given(evaluation, self.train, "train")
        both = test & train & _attempted(evaluation)
        if both.any():
            names = evaluation.item_table.index[both.any(axis=0)]
            raise DataError(
                f"Given: {some(names)} are in both train and test; remove them from one, because "
                "training outcomes cannot be predicted"
            )
        return [Fold(train, test)]

    def __repr__(self) -> str:
        sets = [("train", self.train), ("test", self.test)]
        said = [f"{name}={own!r}" if isinstance(own, str) else f"{name}=..." for name, own in sets]
        return f"Given({', '.join(said[self.train is None :])})"


NAMED: dict[str, Split] = {"items": Items(), "cells": Cells()}
"""Splits by the texts that denote them."""


def drawn(split: Split, evaluation: Evaluation, *, repeats: int, seed: int) -> list[list[Fold]]:
    """Draw a split for each repeat, and check all folds before the first fit.

    Raises
    ------
    DataError
        When no outcome would be predicted, or a subject would have no training outcome.
    """
    rng = np.random.default_rng(seed)
    found = [split.draw(evaluation, rng) for _ in range(repeats)]
    attempted = _attempted(evaluation)
    for repeat, folds in enumerate(found):
        for number, fold in enumerate(folds):
            where = f"fold {number}" + f" of repeat {repeat}" * (repeats > 1)
            left = (attempted & fold.train).any(axis=1)
            if not left.all():
                lacking = some(evaluation.subject_table.index[~left])
                raise DataError(
                    f"{lacking} would have no training outcome in {where}; leave out subjects "
                    "with few outcomes, hold out less, or change the seed"
                )
        if not any((attempted & fold.test).any() for fold in folds):
            raise DataError(
                f"there is no outcome to predict in repeat {repeat}; hold out attempted items"
            )
    return found


def masked(evaluation: Evaluation, held_out: Iterable[object]) -> Evaluation:
    """Remove the outcomes of some items; the items are kept.

    Parameters
    ----------
    evaluation : Evaluation
        All outcomes.
    held_out : iterable
        Names of the items.

    Returns
    -------
    Evaluation
        Evaluation with 0 trials on these items.

    Raises
    ------
    DataError
        When `evaluation` is something else, an item is unknown, or a subject is left without
        outcomes.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    >>> masked(Evaluation.from_wide(outcomes, items), ["b"]).trials.loc["Ann"].tolist()
    [1, 0]
    """
    refuse_no_evaluation(evaluation)
    known = evaluation.item_table.index
    places = known.get_indexer(pd.Index(known_names(held_out, known, "item")))
    return _without_items(evaluation, places).training(evaluation)


def by_row(evaluation: Evaluation, cells: np.ndarray) -> np.ndarray:
    """Repeat cells, (subjects, items), for the evaluation's rows, which may be steps."""
    return cells if evaluation.rows is None else cells[:, evaluation.rows.places]


def _attempted(evaluation: Evaluation) -> np.ndarray:
    """Return which cells, (subjects, items), have an outcome."""
    cells, rows = evaluation.coded, evaluation.rows
    attempted = np.zeros((len(evaluation.subjects), len(evaluation.item_table)), dtype=bool)
    attempted[cells.subject, cells.item if rows is None else rows.places[cells.item]] = True
    return attempted


def _without_items(evaluation: Evaluation, places: np.ndarray) -> Fold:
    """Hold out items, given by position, of all subjects."""
    test = np.zeros((len(evaluation.subjects), len(evaluation.item_table)), dtype=bool)
    test[:, places] = True
    return Fold(~test, test)


def _given(
    evaluation: Evaluation, chosen: str | pd.Series | pd.DataFrame | Iterable[object], name: str
) -> np.ndarray:
    """Read a given set as cells, (subjects, items)."""
    items, subjects = evaluation.item_table, evaluation.subjects
    found = np.zeros((len(subjects), len(items)), dtype=bool)
    if isinstance(chosen, str):
        try:
            names = list(items.query(chosen).index)
        except Exception as error:  # a user's query may raise any error
            raise DataError(
                f"Given: {name}={chosen!r} is not a valid query of the items' properties "
                f"{some(items.columns, 12)} ({error}); give a query such as 'size <= 5'"
            ) from error
        found[:, items.index.isin(names)] = True
    elif isinstance(chosen, pd.DataFrame):
        table = chosen.rename(index=str, columns=str).reindex(index=subjects, columns=items.index)
        if table.isna().any(axis=None) or not np.isin(table.to_numpy(), (False, True)).all():
            raise DataError(
                f"Given: {name} is not a mask of all subjects and items; give True or False for "
                "each"
            )
        found[:] = table.to_numpy().astype(bool)
    elif isinstance(chosen, pd.Series) and chosen.dtype == bool:
        named = chosen.rename(index=str)
        found[:, items.index.isin(known_names(named.index[named], items.index, "item"))] = True
    else:
        found[:, items.index.isin(known_names(chosen, items.index, "item"))] = True
    if not found.any():
        raise DataError(f"Given: {name} is empty; give at least one item")
    return found
