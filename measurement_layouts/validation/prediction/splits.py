"""Splits of outcomes for cross-validation: held-out items, cells, groups or given sets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.tables import known_names, need_columns, texts
from .outcomes import attempted_pairs, outcome_table

_FIFTH = 0.2

type Chosen = str | pd.Series | pd.DataFrame | Iterable[object]


@dataclass(frozen=True, eq=False)
class Fold:
    """Training outcomes and held-out outcomes.

    Parameters
    ----------
    train, test : ndarray of bool, shape (pairs,)
        Which attempted pairs of a subject and an item are training outcomes, and which are
        predicted, in the order of `attempted_pairs`; none is both.

    Examples
    --------
    >>> items = pd.DataFrame(index=["a", "b"])
    >>> outcomes = pd.DataFrame([[1, 0]], index=["Ann"], columns=items.index)
    >>> evaluation = Evaluation.from_wide(outcomes, items)
    >>> fold = Fold(np.array([True, False]), np.array([False, True]))
    >>> fold.training(evaluation).trials.loc["Ann"].tolist()
    [1, 0]
    >>> fold.held_out(evaluation)["item"].tolist()
    ['b']
    """

    train: np.ndarray
    test: np.ndarray

    def training(self, evaluation: Evaluation) -> Evaluation:
        """Keep the training outcomes only, with all items and subjects."""
        people, pair = evaluation.subject_table, attempted_pairs(evaluation)[2]
        cells = evaluation.coded.take(self.train[pair])
        return Evaluation.of_cells(evaluation.items, people.index, cells, subjects=people)

    def held_out(self, evaluation: Evaluation) -> pd.DataFrame:
        """List the held-out outcomes, in the form of `outcome_table`."""
        table = outcome_table(evaluation)
        return table[self.test[table["pair"]]]


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
    folds: int | Any = None
    unit: ClassVar[str] = "items"

    def __post_init__(self) -> None:
        if self.share is not None and self.folds is not None:
            raise DataError(
                f"share={self.share} and folds={self.folds} exclude each other; give one of them"
            )
        if self.folds is None:
            share = _FIFTH if self.share is None else self.share
            object.__setattr__(self, "share", options.inside("share", share, such_as=_FIFTH))
        elif not hasattr(self.folds, "split"):
            options.whole("folds", self.folds, 2)

    @property
    def repeats(self) -> int:
        """Default number of times that the split is drawn: 3 with a share, 1 with folds."""
        return 3 if self.folds is None else 1

    def _folds(self, at: np.ndarray, count: int, rng: np.random.Generator) -> list[Fold]:
        """Split positions from 0 to `count`, at which the attempted pairs are."""
        if hasattr(self.folds, "split"):
            return _of_splitter(self.folds.split(np.empty((count, 1))), at)
        if self.folds is None:
            return _without([self._drawn(count, rng)], at)
        if self.folds > count:
            raise DataError(
                f"folds={self.folds}, but there are {count} {self.unit}; give a smaller folds="
            )
        return _without(np.array_split(rng.permutation(count), self.folds), at)

    def _drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        """Draw the share of positions to hold out."""
        number = round((self.share or _FIFTH) * count)
        if not 0 < number < count:
            raise DataError(
                f"share={self.share} of {count} items holds out {number}; hold out and keep at "
                "least one item"
            )
        return rng.permutation(count)[:number]

    def __repr__(self) -> str:
        how = f"share={self.share:g}" if self.folds is None else f"folds={self.folds}"
        return f"{type(self).__name__}({how})"


@dataclass(frozen=True, repr=False)
class Items(_Random):
    """Hold out items at random, each with the outcomes of all subjects.

    Parameters
    ----------
    share : float, optional
        Share of the items to hold out, in (0, 1) (default: a fifth, unless `folds` is given).
    folds : int or splitter, optional
        Number of parts, at least 2, into which the items are divided; sizes differ by at most one
        item. Each part is predicted from the others. Or a splitter of scikit-learn, such as
        ``KFold(5)``, which splits the items in their order.

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
    >>> [fold.held_out(evaluation)["item"].tolist() for fold in folds]
    [['0', '1', '4', '7', '8'], ['2', '3', '5', '6', '9']]
    """

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once, as `Split.draw` does.

        Raises
        ------
        DataError
            When no item would be held out or none kept, or there are fewer items than folds.
        """
        return self._folds(attempted_pairs(evaluation)[1], len(evaluation.item_table), rng)


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
    folds : int or splitter, optional
        Number of parts, at least 2, into which the attempted cells are divided; sizes differ by at
        most one cell. Each part is predicted from the others. Or a splitter of scikit-learn, which
        splits the attempted cells in their order.

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
    array([False, False,  True, False,  True])
    """

    unit: ClassVar[str] = "attempted cells"

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split once, as `Split.draw` does.

        Raises
        ------
        DataError
            When no cell would be held out, or there are fewer cells than folds.
        """
        count = len(attempted_pairs(evaluation)[0])
        return self._folds(np.arange(count), count, rng)

    def _drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        cells = np.flatnonzero(rng.random(count) < (self.share or _FIFTH))
        if not len(cells):
            raise DataError(
                f"share={self.share} of {count} attempted cells holds out none; hold out more, or "
                "change the seed"
            )
        return cells


@dataclass(frozen=True)
class Groups:
    """Hold out whole groups of items, such as benchmarks or tasks.

    Parameters
    ----------
    column : str
        Column of the items that names the groups.
    folds : int or splitter
        Number of parts of the items, at least 2. If there are at most as many groups, each group is
        a fold; otherwise groups are assigned in order of size, the largest first, each to the fold
        with the fewest items so far. The order of groups of the same size is random. Or a splitter
        of scikit-learn that takes groups, such as ``GroupShuffleSplit()``.

    Raises
    ------
    FitError
        When `folds` is out of range.

    Examples
    --------
    >>> items = pd.DataFrame({"test": list("aaabbc")})
    >>> evaluation = Evaluation.from_wide(pd.DataFrame([[1] * 6], ["Ann"]), items)
    >>> folds = Groups("test", folds=2).draw(evaluation, np.random.default_rng(1))
    >>> [fold.held_out(evaluation)["item"].tolist() for fold in folds]
    [['0', '1', '2'], ['3', '4', '5']]
    """

    column: str
    folds: int | Any = 10
    repeats: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if not hasattr(self.folds, "split"):
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
        names = pd.Index(texts(items[self.column], f"the items' {self.column}"))
        codes, groups = pd.factorize(names)
        if len(groups) < 2:
            raise DataError(
                f"Groups({self.column!r}): all items are of the group {groups[0]}; name a column "
                "with at least two groups, or hold out Items"
            )
        if hasattr(self.folds, "split"):
            folds = self.folds.split(np.empty((len(items), 1)), groups=codes)
            return _of_splitter(folds, attempted_pairs(evaluation)[1])
        sizes = np.bincount(codes)
        fold = np.arange(len(groups))
        if self.folds < len(groups):
            order = rng.permutation(len(groups))
            filled = np.zeros(self.folds, dtype=int)
            for group in order[np.argsort(-sizes[order], kind="stable")]:
                fold[group] = filled.argmin()
                filled[fold[group]] += sizes[group]
        tests = [np.flatnonzero(fold[codes] == number) for number in range(fold.max() + 1)]
        return _without(tests, attempted_pairs(evaluation)[1])


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
    >>> fold.held_out(evaluation)["item"].tolist()
    ['e']
    >>> fold.training(evaluation).trials.loc["Ann"].tolist()
    [1, 1, 1, 0, 0]
    """

    test: Chosen
    train: Chosen | None = None
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
        both = np.unique(attempted_pairs(evaluation)[1][test & train])
        if len(both):
            raise DataError(
                f"Given: {some(evaluation.item_table.index[both])} are in both train and test; "
                "remove them from one, because training outcomes cannot be predicted"
            )
        return [Fold(train, test)]

    def __repr__(self) -> str:
        sets = {"train": self.train, "test": self.test}
        shown = [f"{name}={one!r}" for name, one in sets.items() if isinstance(one, str)]
        return f"Given({', '.join(shown) or '...'})"


def read_split(split: Split | str | Any) -> Split:
    """Read the argument split= of a cross-validation.

    Raises
    ------
    DataError
        When it is no split.
    """
    named: dict[str, Split] = {"items": Items(), "cells": Cells()}
    if isinstance(split, str) and split in named:
        return named[split]
    if hasattr(split, "split") and hasattr(split, "get_n_splits"):
        return Items(folds=split)
    if isinstance(split, str) or not isinstance(split, Split):
        raise DataError(
            f"split={split!r}; give 'items', 'cells', a splitter of scikit-learn, or one of Items, "
            "Cells, Groups and Given"
        )
    return split


def drawn(split: Split, evaluation: Evaluation, *, repeats: int, seed: int) -> list[list[Fold]]:
    """Draw a split for each repeat, and check all folds before the first fit.

    Raises
    ------
    DataError
        When no outcome would be predicted, or a subject would have no training outcome.
    """
    rng = np.random.default_rng(seed)
    plan = [split.draw(evaluation, rng) for _ in range(repeats)]
    subject = attempted_pairs(evaluation)[0]
    for repeat, folds in enumerate(plan):
        for number, fold in enumerate(folds):
            where = f"fold {number}" + f" of repeat {repeat}" * (repeats > 1)
            lacking = evaluation.subject_table.index.delete(np.unique(subject[fold.train]))
            if len(lacking):
                raise DataError(
                    f"{some(lacking)} would have no training outcome in {where}; leave out "
                    "subjects with few outcomes, hold out less, or change the seed"
                )
        if not any(fold.test.any() for fold in folds):
            raise DataError(
                f"there is no outcome to predict in repeat {repeat}; hold out attempted items"
            )
    return plan


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
    names = evaluation.item_table.index
    positions = names.get_indexer(pd.Index(known_names(held_out, names, "item")))
    return _without([positions], attempted_pairs(evaluation)[1])[0].training(evaluation)


def _without(tests: Iterable[np.ndarray], at: np.ndarray) -> list[Fold]:
    """Hold out positions at which attempted pairs are; all others are training outcomes."""
    masks = [np.isin(at, test) for test in tests]
    return [Fold(~mask, mask) for mask in masks]


def _of_splitter(folds: Iterable[tuple[np.ndarray, np.ndarray]], at: np.ndarray) -> list[Fold]:
    """Read the positions of training and held-out sets of a splitter of scikit-learn."""
    return [Fold(np.isin(at, train), np.isin(at, test)) for train, test in folds]


def _given(evaluation: Evaluation, chosen: Chosen, name: str) -> np.ndarray:
    """Read a given set as a mask of the attempted pairs."""
    items, subjects = evaluation.item_table, evaluation.subjects
    subject, item, _ = attempted_pairs(evaluation)
    mask: np.ndarray
    if isinstance(chosen, pd.DataFrame):
        table = chosen.rename(index=str, columns=str).reindex(index=subjects, columns=items.index)
        mask = table.to_numpy()[subject, item]
        if not np.isin(mask, (False, True)).all():
            raise DataError(
                f"Given: {name} is not a mask of all attempted cells; give True or False for each"
            )
        mask = mask.astype(bool)
    else:
        if isinstance(chosen, str):
            try:
                chosen = items.query(chosen).index
            except Exception as error:  # a user's query may raise any error
                raise DataError(
                    f"Given: {name}={chosen!r} is not a valid query of the items' properties "
                    f"{some(items.columns, 12)} ({error}); give a query such as 'size <= 5'"
                ) from error
        elif isinstance(chosen, pd.Series) and chosen.dtype == bool:
            chosen = chosen.index[chosen]
        names = known_names(map(str, chosen), items.index, "item")
        mask = np.isin(item, items.index.get_indexer(pd.Index(names)))
    if not mask.any():
        raise DataError(f"Given: {name} is empty; give at least one attempted item")
    return mask
