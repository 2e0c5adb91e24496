"""Subjects and items of a forecast, in the fit or new, and readers of their draws."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ...common.errors import FitError
from ...evaluations.tables import named
from ...layouts.plates import ITEM, SUBJECT, plate_name, root
from ...linking import Expr
from ..model.alignment import Features
from ..model.cohort import plate_feature
from ..model.extended import Extended
from ..model.features import read_features
from ..posterior.cohort import cohort_of
from ..posterior.posterior import Posterior
from .reading import Reader, levels_of, reader_of
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
    extended: Extended | None = None

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Scope":
        """Find subjects and items in a fit, or read new ones.

        Parameters and errors are those of `Extended.of`, but subjects of the fit are given by name
        (default: all); a table of subjects needs a joint fit.
        """
        items = named(items, "items", "item")
        features = read_features(fit.layout, items)
        if not fit.layout.joint:
            rows = fit.places(subjects)
            return cls(fit, items, fit.names(rows), rows, features)
        people = subjects if isinstance(subjects, pd.DataFrame) else fit.places(subjects)
        extended = Extended.of(cohort_of(fit), items, features, people)
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
                levels_of(fit, self.extended.cohort, self.extended.fitted).at,
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
