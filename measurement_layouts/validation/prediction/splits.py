"""Splits of outcomes for cross-validation: items, cells, subjects, groups or given sets."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ...common import options
from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.evaluation import Evaluation
from ...evaluations.given import refuse_no_evaluation
from ...evaluations.tables import known_names, need_columns, texts
from .outcomes import attempted_pairs, outcome_table

type Chosen = str | pd.Series | Iterable[object]
type Sets = Iterable[tuple[np.ndarray | None, np.ndarray]]
"""Positions of training units, None for all others, and of held-out units, by fold."""


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
        """Keep the training outcomes only, with all items, and all subjects that have some."""
        cells = evaluation.coded.take(self.train[attempted_pairs(evaluation)[2]])
        subjects = np.unique(cells.subject)
        people = evaluation.subject_table.iloc[subjects]
        return Evaluation.of_cells(
            evaluation.items, people.index, cells.select(subjects), subjects=people
        )

    def held_out(self, evaluation: Evaluation) -> pd.DataFrame:
        """List the held-out outcomes, in the form of `outcome_table`.

        Where subjects have no training outcomes, their properties are further columns.
        """
        table, people = outcome_table(evaluation), evaluation.subject_table
        new = people.index.delete(np.unique(attempted_pairs(evaluation)[0][self.train]))
        if len(new) and len(people.columns):
            properties = people.loc[new].drop(columns=table.columns, errors="ignore")
            table = table.join(properties, on="subject")
        return table[self.test[table["pair"]]]


@dataclass(frozen=True)
class Split:
    """Base of splits of outcomes; a split of your own overrides `draw`.

    Attributes
    ----------
    repeats : int
        Default number of times that the split is drawn.

    Examples
    --------
    >>> class Odd(Split):
    ...     def draw(self, evaluation, rng):
    ...         item = attempted_pairs(evaluation)[1]
    ...         return [Fold(item % 2 == 0, item % 2 == 1)]
    >>> outcomes = pd.DataFrame([[1, 0, 1]], ["Ann"], list("abc"))
    >>> evaluation = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> Odd().draw(evaluation, None)[0].held_out(evaluation)["item"].tolist()
    ['b']
    """

    @property
    def repeats(self) -> int:
        """Default number of times that the split is drawn."""
        return 1

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

        Raises
        ------
        DataError
            When outcomes cannot be held out so.
        """
        unit, count = self._units(evaluation)
        folds = []
        for train, test in self._sets(evaluation, count, rng):
            held_out = np.isin(unit, test)
            folds.append(Fold(~held_out if train is None else np.isin(unit, train), held_out))
        return folds

    def _units(self, evaluation: Evaluation) -> tuple[np.ndarray, int]:
        """Return the unit of each attempted pair, here its item, and the number of units."""
        return attempted_pairs(evaluation)[1], len(evaluation.item_table)

    def _sets(self, evaluation: Evaluation, count: int, rng: np.random.Generator) -> Sets:
        """Return units that are trained on, None for all others, and held out, by fold."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Items(Split):
    """Hold out items at random, each with the outcomes of all subjects.

    Parameters
    ----------
    share : float, default 0.2
        Share of the items to hold out, in (0, 1), unless `folds` is given.
    folds : int or splitter, optional
        Number of parts, at least 2, into which the items are divided; sizes differ by at most one
        item. Each part is predicted from the others. With at least as many parts as items, each
        item is left out in turn. Or a splitter of scikit-learn, such as ``KFold(5)``, which splits
        the items in their order.

    Raises
    ------
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

    share: float = 0.2
    folds: int | Any = None

    def __post_init__(self) -> None:
        options.inside("share", self.share, such_as=0.2)
        if self.folds is not None:
            _need_folds(self.folds)

    @property
    def repeats(self) -> int:
        """Default number of times that the split is drawn: 3 with a share, 1 with folds."""
        return 3 if self.folds is None else 1

    def _sets(self, evaluation: Evaluation, count: int, rng: np.random.Generator) -> Sets:
        if self.folds is None:
            return [(None, self._drawn(count, rng))]
        if hasattr(self.folds, "split"):
            return list(self.folds.split(np.empty((count, 1))))
        parts = np.array_split(rng.permutation(count), min(self.folds, count))
        return [(None, part) for part in parts]

    def _drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return rng.permutation(count)[: round(self.share * count)]

    def __repr__(self) -> str:
        how = f"share={self.share:g}" if self.folds is None else f"folds={self.folds}"
        return f"{type(self).__name__}({how})"


@dataclass(frozen=True, repr=False)
class Cells(Items):
    """Hold out cells at random: outcomes of single subjects on single items.

    A cell is held out with all its trials, and with all steps of its outcomes. The item's outcomes
    of other subjects are training outcomes.

    Parameters
    ----------
    share : float, default 0.2
        Probability of each attempted cell to be held out, in (0, 1), unless `folds` is given. The
        cells are those where ``rng.random(cells) < share``, subject after
        subject, and items in the evaluation's order; in the first repeat ``rng`` is
        ``numpy.random.default_rng(seed)``.
    folds : int or splitter, optional
        As of `Items`: parts of the attempted cells.

    Raises
    ------
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

    def _units(self, evaluation: Evaluation) -> tuple[np.ndarray, int]:
        count = len(attempted_pairs(evaluation)[0])
        return np.arange(count), count

    def _drawn(self, count: int, rng: np.random.Generator) -> np.ndarray:
        return np.flatnonzero(rng.random(count) < self.share)


@dataclass(frozen=True, repr=False)
class Subjects(Items):
    """Hold out subjects, each with all outcomes, to predict newcomers.

    Joint layouts predict them by the population, and the baselines by a model of all others.

    Parameters
    ----------
    share : float, default 0.2
        Share of the subjects to hold out, in (0, 1), unless `folds` is given.
    folds : int or splitter, optional
        As of `Items`: parts of the subjects.

    Raises
    ------
    FitError
        When a number is out of range.

    Examples
    --------
    >>> outcomes = pd.DataFrame([[1, 0], [0, 1]], ["Ann", "Bob"], ["a", "b"])
    >>> evaluation = Evaluation.from_wide(outcomes, pd.DataFrame(index=outcomes.columns))
    >>> folds = Subjects(folds=2).draw(evaluation, np.random.default_rng(1))
    >>> [fold.training(evaluation).subjects for fold in folds]
    [['Bob'], ['Ann']]
    """

    def _units(self, evaluation: Evaluation) -> tuple[np.ndarray, int]:
        return attempted_pairs(evaluation)[0], len(evaluation.subject_table)


@dataclass(frozen=True)
class Groups(Split):
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

    def __post_init__(self) -> None:
        _need_folds(self.folds)

    def _sets(self, evaluation: Evaluation, count: int, rng: np.random.Generator) -> Sets:
        items = evaluation.item_table
        need_columns(items.columns, [self.column], "the items have")
        names = texts(items[self.column], f"the items' {self.column}")
        codes, groups = pd.factorize(np.array(names, dtype=object))
        if hasattr(self.folds, "split"):
            return list(self.folds.split(np.empty((count, 1)), groups=codes))
        sizes, fold = np.bincount(codes), np.arange(len(groups))
        if self.folds < len(groups):
            order, filled = rng.permutation(len(groups)), np.zeros(self.folds, dtype=int)
            for group in order[np.argsort(-sizes[order], kind="stable")]:
                fold[group] = filled.argmin()
                filled[fold[group]] += sizes[group]
        return [(None, np.flatnonzero(fold[codes] == number)) for number in range(fold.max() + 1)]


@dataclass(frozen=True, eq=False, repr=False)
class Given(Split):
    """Train on given items, and predict other given ones.

    Parameters
    ----------
    test : str, Series of bool or iterable
        Items to predict: a query of their properties for ``DataFrame.query``; a mask by item; or
        names.
    train : str, Series of bool or iterable, optional
        Items of the training outcomes, in the same form (default: all that are not predicted).

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

    def draw(self, evaluation: Evaluation, rng: np.random.Generator) -> list[Fold]:
        """Draw the split, as `Split.draw` does; nothing is random.

        Raises
        ------
        DataError
            When a set cannot be read or is empty, or the two have an item in common.
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
    if hasattr(split, "split") and hasattr(split, "get_n_splits"):
        return Items(folds=split)
    if isinstance(split, str):
        split = {"items": Items(), "cells": Cells(), "subjects": Subjects()}.get(split, split)
    if not isinstance(split, Split):
        raise DataError(
            f"split={split!r}; give 'items', 'cells', 'subjects', a splitter of scikit-learn, or "
            "one of Items, Cells, Subjects, Groups and Given"
        )
    return split


def drawn(
    split: Split, evaluation: Evaluation, *, repeats: int, seed: int
) -> list[tuple[int, int, Fold]]:
    """Draw a split for each repeat, and check all folds before the first fit.

    Returns
    -------
    list of (int, int, Fold)
        Numbers of the repeat and of the fold, and the fold, for folds that hold out outcomes.

    Raises
    ------
    DataError
        When no outcome would be predicted, or none would be a training outcome; except where
        subjects are held out, also when a subject would have no training outcome.
    """
    rng, plan = np.random.default_rng(seed), []
    subject, names = attempted_pairs(evaluation)[0], evaluation.subject_table.index
    for repeat in range(repeats):
        folds = [fold for fold in enumerate(split.draw(evaluation, rng)) if fold[1].test.any()]
        if not folds:
            raise DataError(
                f"{split!r} holds out no outcome in repeat {repeat}; hold out more, or items that "
                "were attempted"
            )
        for number, fold in folds:
            lacking = names.delete(np.unique(subject[fold.train]))
            if len(lacking) and (len(lacking) == len(names) or not isinstance(split, Subjects)):
                raise DataError(
                    f"{some(lacking)} would have no training outcome in fold {number} of repeat "
                    f"{repeat}; leave out subjects with few outcomes, hold out less, or change the "
                    "seed"
                )
            plan.append((repeat, number, fold))
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
    names, people = evaluation.item_table.index, evaluation.subject_table
    _, item, pair = attempted_pairs(evaluation)
    removed = names.get_indexer(pd.Index(known_names(held_out, names, "item")))
    cells = evaluation.coded.take(~np.isin(item, removed)[pair])
    return Evaluation.of_cells(evaluation.items, people.index, cells, subjects=people)


def _need_folds(folds: Any) -> None:
    """Refuse a number of folds below 2; splitters are not checked."""
    if not hasattr(folds, "split"):
        options.whole("folds", folds, 2)


def _given(evaluation: Evaluation, chosen: Chosen, name: str) -> np.ndarray:
    """Read a given set as a mask of the attempted pairs."""
    items = evaluation.item_table
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
    mask = np.isin(attempted_pairs(evaluation)[1], items.index.get_indexer(pd.Index(names)))
    if not mask.any():
        raise DataError(f"Given: {name} is empty; give at least one attempted item")
    return mask
