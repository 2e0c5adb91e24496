"""Subjects and items of a forecast, in the fit or new, and readers of their draws."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import DataError, FitError
from ...common.messages import some
from ...evaluations.alike import equal
from ...evaluations.tables import named
from ...layouts import MetaFeature
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ...linking import Expr
from ..model.alignment import Features
from ..model.cohort import Cohort, plate_feature, read_categories
from ..model.features import read_covariates, read_features
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior
from .levels import Levels
from .reading import Reader, reader_of
from .streaming import byte_count, gathered, read_draws, summaries

type Part = tuple[Reader, Features, int]
"""Reader for some items, features of these items, and their number."""

_OF_LEVELS = 0.25  # part of the memory for item-specific values; the rest is for computations


@dataclass(frozen=True, eq=False)
class Scope:
    """Subjects and items of a forecast; in a joint fit, both may be new.

    Attributes
    ----------
    fit : Posterior
        The fit, with the subjects' profiles.
    items : DataFrame
        The items, by name.
    names : list of str
        Names of the subjects.
    rows : ndarray of int
        Positions of the subjects in the fit, or -1 for new subjects.
    features : dict of str to ndarray
        Meta-features of the items, and in a joint fit their levels as hidden meta-features.
    extended : Extended or None
        Levels of a joint fit and new levels (otherwise None).
    """

    fit: Posterior
    items: pd.DataFrame
    names: list[str]
    rows: np.ndarray
    features: Features
    extended: "Extended | None" = None

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Scope":
        """Find subjects and items in a fit, or read new ones.

        Parameters and errors are those of `Extended.of`; a table of subjects needs a joint fit.
        """
        items = named(items, "items", "item")
        features = read_features(fit.layout, items)
        if not fit.layout.joint:
            rows = fit.places(subjects)
            return cls(fit, items, fit.names(rows), rows, features)
        extended = Extended.of(fit, items, features, subjects)
        for constant in fit.layout.constants:
            if extended.new_subjects.any():
                raise FitError(
                    f"{constant.name} is computed from a subject's outcomes, which new subjects do "
                    "not have; forecast subjects of the fit, or fit.newcomer(evaluation)"
                )
        names = [extended.cohort.levels[SUBJECT][code] for code in extended.subjects]
        rows = np.where(extended.new_subjects, -1, extended.subjects)
        return cls(fit, items, names, rows, features | extended.hidden, extended)

    def readers(self, features: Features, items: int, memory_mib: float) -> Iterator[Part]:
        """Yield readers of some items at a time, so that their item-specific values fit in memory.

        The position of a subject for the readers is that in `names`.

        Parameters
        ----------
        features : dict of str to ndarray
            Features of the items: `features`, or others with the same levels.
        items : int
            Number of items.
        memory_mib : float
            Bound of the memory used during the computation, in MiB.

        Yields
        ------
        reader : Reader
            Reader for some items.
        features : dict of str to ndarray
            Features of these items.
        items : int
            Number of these items.
        """
        fit, layout = self.fit, self.fit.layout
        if self.extended is None:
            yield reader_of(fit, features).take(self.rows), features, items
            return
        numbers = sum(
            int(np.prod([len(labels) for labels in latent.dims.values()], dtype=int))
            for latent in layout.latents
            if any(root(plate) == ITEM for plate in latent.plates)
        )
        sizes = fit.posterior.sizes
        each = 8 * sizes["chain"] * sizes["draw"] * max(1, numbers)
        together = max(1, int(_OF_LEVELS * byte_count(memory_mib) / each))
        plates = [plate_name(plate) for plate in layout.plates if root(plate) == ITEM]
        for start in range(0, max(1, items), together):
            chosen = {name: values[start : start + together] for name, values in features.items()}
            reader = Reader(
                layout,
                Levels(fit, self.extended.cohort, self.extended.fitted).at,
                {name: chosen[plate_feature(name)].astype(int) for name in plates},
                self.extended.levels_of_subjects,
                self.extended.properties,
            )
            yield reader, chosen, min(together, items - start)

    def summaries(
        self,
        features: Features,
        items: int,
        targets: Sequence[Expr],
        *,
        prob: float,
        memory_mib: float,
    ) -> list[np.ndarray]:
        """Summarise targets over all draws; parameters as in `readers` and `summaries`."""
        subjects = np.arange(len(self.names))
        rest = memory_mib if self.extended is None else (1 - _OF_LEVELS) * memory_mib
        blocks = [
            summaries(reader, subjects, chosen, count, targets, prob=prob, memory_mib=rest)
            for reader, chosen, count in self.readers(features, items, memory_mib)
        ]
        return [np.concatenate(values, axis=2) for values in zip(*blocks, strict=True)]

    def chances(self, *, memory_mib: float, step: int = 1) -> Iterator[np.ndarray]:
        """Yield each subject's success probabilities, shape (items, draws).

        Parameters
        ----------
        memory_mib : float
            Bound of the memory used during the computation, in MiB.
        step : int, default 1
            Distance of the draws that are returned; the chains are in order.
        """
        target = self.fit.layout.outcome
        readers = list(self.readers(self.features, len(self.items), memory_mib))
        for subject in range(len(self.names)):
            yield all_draws(readers, subject, target, memory_mib=memory_mib, step=step)


def all_draws(
    readers: Iterable[Part], subject: int, target: Expr, *, memory_mib: float, step: int = 1
) -> np.ndarray:
    """Compute a target for the draws of one subject.

    Parameters
    ----------
    readers : iterable
        Readers as `Scope.readers` yields them.
    subject : int
        Position of the subject for the readers.
    target : expression
        An expression with one number per item.
    memory_mib : float
        Bound of the memory used during the computation, in MiB.
    step : int, default 1
        Distance of the draws that are returned.

    Returns
    -------
    ndarray, shape (items, draws)
        Values of the target, with the chains in order.
    """
    return np.concatenate(
        [
            gathered(
                read_draws(
                    reader, reader.read(subject), features, items, target, memory_mib=memory_mib
                ),
                items,
                step,
            )
            for reader, features, items in readers
        ]
    )


@dataclass(frozen=True, eq=False)
class Extended:
    """Subjects and items of a forecast, among the levels of a joint fit and new levels.

    Attributes
    ----------
    cohort : Cohort
        Levels of the fit, followed by the new levels; without outcomes.
    fitted : dict of str to int
        By plate, the number of levels of the fit.
    subjects, items : ndarray of int
        Positions of the subjects and of the items among the levels.
    """

    cohort: Cohort
    fitted: Mapping[str, int]
    subjects: np.ndarray
    items: np.ndarray

    @classmethod
    def of(
        cls,
        fit: Posterior,
        items: pd.DataFrame,
        features: Features,
        subjects: Iterable[object] | pd.DataFrame | None,
    ) -> "Extended":
        """Find subjects and items in a fit, or read new ones.

        Parameters
        ----------
        fit : Posterior
            A joint fit.
        items : DataFrame
            Meta-features and categories, indexed by item.
        features : dict of str to ndarray
            Meta-features of the items.
        subjects : iterable or DataFrame, optional
            Names of subjects of the fit (default: all); or covariates and categories of subjects,
            in the fit or new, indexed by name.

        Raises
        ------
        DataError
            When a column is missing, a level is missing or unknown to a closed category, a level of
            one category belongs to several of another, or a subject or an item of the fit is given
            other properties.
        FitError
            When a name is not in the fit.
        """
        layout, fitted = fit.layout, cohort_of(fit)
        if isinstance(subjects, pd.DataFrame):
            people = named(subjects, "subjects", "subject")
            covariates = read_covariates(layout, people)
            rows = pd.Index(fitted.levels[SUBJECT]).get_indexer(people.index)
            for constant in layout.constants:  # unknown of new subjects
                numbers = np.append(fitted.covariates[constant.name], np.nan)
                covariates[constant.name] = numbers[rows]
        else:
            rows = fit.places(subjects)
            people = _categories_of_subjects(fitted).iloc[rows]
            covariates = {name: values[rows] for name, values in fitted.covariates.items()}
        kinds, codes = read_categories(layout, items, people, fitted.levels)
        levels = {**fitted.levels, **kinds}
        of, new = dict(fitted.of), {}
        of_items = _taken(fitted.features, fitted.first_row)
        sides = (
            (SUBJECT, people, layout.covariates, covariates, fitted.covariates),
            (ITEM, items, layout.meta_features, features, of_items),
        )
        for plate, table, nodes, values, fitted_values in sides:
            levels[plate] = list(dict.fromkeys([*fitted.levels[plate], *table.index]))
            codes[plate] = pd.Index(levels[plate]).get_indexer(table.index)
            new[plate] = codes[plate] >= len(fitted.levels[plate])
            old = np.flatnonzero(~new[plate])
            at, names = codes[plate][old], table.index[old]
            refuse_changed(plate, names, nodes, _taken(values, old), _taken(fitted_values, at))
            for category in layout.categories:
                if category.root == plate:
                    name = category.name
                    now, before = codes[name][old], fitted.of[name][at]
                    _refuse_moved(name, plate, names, levels[name], now, before)
                    of[name] = np.concatenate([fitted.of[name], codes[name][new[plate]]])
        everybody = {
            name: np.concatenate([values, covariates[name][new[SUBJECT]]])
            for name, values in fitted.covariates.items()
        }
        none = np.zeros(0, dtype=int)
        cohort = Cohort(layout, levels, of, {}, everybody, none, none, none, none)
        for category in layout.categories:
            cohort.up(category.per, category)  # raises an error if a task is in two benchmarks
        counts = {name: len(names) for name, names in fitted.levels.items()}
        return cls(cohort, counts, codes[SUBJECT], codes[ITEM])

    @property
    def new_subjects(self) -> np.ndarray:
        """Whether each subject is new."""
        return np.asarray(self.subjects >= self.fitted[SUBJECT])

    @property
    def new_items(self) -> np.ndarray:
        """Whether each item is new."""
        return np.asarray(self.items >= self.fitted[ITEM])

    @property
    def new_levels(self) -> np.ndarray:
        """Whether a subject or an item has a level of a category that is new, (subjects, items)."""
        new = {SUBJECT: np.zeros(len(self.subjects), bool), ITEM: np.zeros(len(self.items), bool)}
        for category in self.cohort.layout.categories:
            new[category.root] |= self._codes(category.name) >= self.fitted[category.name]
        return np.asarray(new[SUBJECT][:, None] | new[ITEM])

    @property
    def hidden(self) -> Features:
        """Levels of the items on the layout's plates, as hidden meta-features."""
        plates = [plate for plate in self.cohort.layout.plates if root(plate) == ITEM]
        return {plate_feature(name): self._codes(name) for name in map(plate_name, plates)}

    @property
    def levels_of_subjects(self) -> Features:
        """Levels of the subjects, by plate."""
        plates = [plate for plate in self.cohort.layout.plates if root(plate) == SUBJECT]
        return {name: self._codes(name) for name in map(plate_name, plates)}

    @property
    def properties(self) -> Features:
        """Covariates of the subjects."""
        return _taken(self.cohort.covariates, self.subjects)

    def _codes(self, name: str) -> np.ndarray:
        """Return the levels of the subjects or of the items on a plate."""
        if name in (SUBJECT, ITEM):
            return self.subjects if name == SUBJECT else self.items
        category = next(one for one in self.cohort.layout.categories if one.name == name)
        at = self.subjects if category.root == SUBJECT else self.items
        return np.asarray(self.cohort.of[name][at])


def _categories_of_subjects(cohort: Cohort) -> pd.DataFrame:
    """Return the categories of a cohort's subjects as a table."""
    columns = {
        category.name: np.array(cohort.levels[category.name], dtype=object)[
            cohort.of[category.name]
        ]
        for category in cohort.layout.categories
        if category.root == SUBJECT
    }
    return pd.DataFrame(columns, cohort.levels[SUBJECT])


def _taken(values: Mapping[str, np.ndarray], at: np.ndarray) -> Features:
    """Return some rows of each array."""
    return {name: numbers[at] for name, numbers in values.items()}


def refuse_changed(
    kind: str, names: pd.Index, nodes: Sequence[MetaFeature], values: Features, fitted: Features
) -> None:
    """Raise an error if a subject or an item of the fit is given other properties."""
    for node in nodes:
        shape = len(names), len(node.columns)
        now, before = (numbers[node.name].reshape(shape) for numbers in (values, fitted))
        other = ~equal(now, before)
        if other.any():
            row, column = np.argwhere(other)[0]
            raise DataError(
                f"{kind} {names[row]} is in the fit with {node.columns[column]} = "
                f"{before[row, column]:g}, but here it has {now[row, column]:g} "
                f"({other.any(axis=1).sum()} such {kind}(s)); give it the value that it was fitted "
                f"with, or another name if it is another {kind}"
            )


def _refuse_moved(
    category: str,
    kind: str,
    names: pd.Index,
    levels: Sequence[str],
    now: np.ndarray,
    before: np.ndarray,
) -> None:
    """Raise an error if a subject or an item of the fit is given another level of a category."""
    moved = np.flatnonzero(now != before)
    if len(moved):
        first = moved[0]
        raise DataError(
            f"{kind} {names[first]} is in the fit with {category} = {levels[before[first]]!r}, but "
            f"here it has {levels[now[first]]!r} ({kind}s: {some(names[moved])}); give it the "
            f"level that it was fitted with, or another name if it is another {kind}"
        )
