"""Subjects and items that are asked for, and readers of their draws, in the fit or new."""

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
from ..model.features import read_features
from ..posterior.posterior import Posterior
from .levels import Levels
from .reading import JointReader, Reader, reader_of
from .roster import Roster
from .streaming import byte_count, gathered, read_draws, summaries

type Part = tuple[Reader, Features, int]
"""Reader for some items, features of these items, and their number."""

_OF_LEVELS = 0.25  # part of the memory for item-specific values; the rest is for computations


@dataclass(frozen=True, eq=False)
class Asked:
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
    roster : Roster or None
        Levels of a joint fit and new levels (otherwise None).
    """

    fit: Posterior
    items: pd.DataFrame
    names: list[str]
    rows: np.ndarray
    features: Features
    roster: Roster | None = None

    @classmethod
    def of(
        cls, fit: Posterior, items: pd.DataFrame, subjects: Iterable[object] | pd.DataFrame | None
    ) -> "Asked":
        """Find subjects and items in a fit, or read new ones.

        Parameters and errors are those of `Roster.of`; a table of subjects needs a joint fit.
        """
        items = named(items, "items", "item")
        if not fit.layout.joint:
            features = read_features(fit.layout, items)
            rows = fit.places(subjects)
            return cls(fit, items, fit.names(rows), rows, features)
        roster = Roster.of(fit, items, subjects)
        for constant in fit.layout.constants:
            if (roster.who >= roster.known[SUBJECT]).any():
                raise FitError(
                    f"{constant.name} is computed from a subject's outcomes, which new subjects do "
                    "not have; forecast subjects of the fit, or fit.newcomer(evaluation)"
                )
        return cls(fit, items, roster.names, roster.rows, roster.features, roster)

    @property
    def places(self) -> np.ndarray:
        """Positions of the subjects for the readers."""
        return self.rows if self.roster is None else np.arange(len(self.rows))

    def readers(self, features: Features, items: int, memory_mib: float) -> Iterator[Part]:
        """Yield readers of some items at a time, so that their item-specific values fit in memory.

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
        fit, roster = self.fit, self.roster
        if roster is None:
            yield reader_of(fit, features), features, items
            return
        layout, sizes = fit.layout, fit.posterior.sizes
        plates = {plate_name(plate): root(plate) for plate in layout.plates}
        subjects = {
            name: roster.who if name == SUBJECT else roster.cohort.of[name][roster.who]
            for name, side in plates.items()
            if side == SUBJECT
        }
        covariates = {name: own[roster.who] for name, own in roster.cohort.covariates.items()}
        numbers = sum(
            int(np.prod([len(labels) for labels in latent.dims.values()], initial=1))
            for latent in layout.latents
            if any(root(plate) == ITEM for plate in latent.plates)
        )
        each = 8 * sizes["chain"] * sizes["draw"] * max(1, numbers)
        together = max(1, int(_OF_LEVELS * byte_count(memory_mib) / each))
        levels = Levels(fit, roster)
        for start in range(0, max(1, items), together):
            part = {name: values[start : start + together] for name, values in features.items()}
            reader = JointReader(
                layout,
                fit.posterior,
                fit.constants,
                levels.at,
                {name: part[plate_feature(name)] for name, side in plates.items() if side == ITEM},
                subjects,
                covariates,
            )
            yield reader, part, min(together, items - start)

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
        found = []
        for reader, part, size in self.readers(features, items, memory_mib):
            rest = memory_mib if self.roster is None else (1 - _OF_LEVELS) * memory_mib
            what = reader, self.places, part, size, targets
            found.append(summaries(*what, prob=prob, memory_mib=rest))
        if len(found) == 1:
            return found[0]
        return [np.concatenate(parts, axis=2) for parts in zip(*found, strict=True)]

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
        for place in self.places:
            yield all_draws(readers, place, target, memory_mib=memory_mib, step=step)


def all_draws(
    readers: Iterable[Part], place: int, target: Expr, *, memory_mib: float, step: int = 1
) -> np.ndarray:
    """Compute a target for the draws of one subject.

    Parameters
    ----------
    readers : iterable
        Readers as `Asked.readers` yields them.
    place : int
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
    found = []
    for reader, part, size in readers:
        own = reader.read(place), part, size, target
        found.append(gathered(read_draws(reader, *own, memory_mib=memory_mib), size, step))
    return found[0] if len(found) == 1 else np.concatenate(found)
