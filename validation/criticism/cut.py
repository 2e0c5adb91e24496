"""Which properties of the items stand in for what a layout uses, and which are candidates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd

from ...common.errors import DataError
from ...common.messages import some
from ...evaluations.steps import STEP
from ...evaluations.tables import need_columns, refuse_repeats, texts
from ...inference.fit import Fit
from .properties import Property, is_kind, read_property


@dataclass(frozen=True, eq=False)
class Cut:
    """Properties of items, cut into levels.

    Attributes
    ----------
    items : Index of str
        The items.
    used : list of Property
        Those that the layout uses.
    candidates : list of Property
        Others, as asked for.
    """

    items: pd.Index
    used: list[Property]
    candidates: list[Property]

    @classmethod
    def of(cls, fit: Fit, items: pd.DataFrame, names: Sequence[str]) -> "Cut":
        """Cut columns of the items.

        Raises
        ------
        DataError
            When a column is not there.
        """
        used, asked = (
            [read_property(items, name) for name in columns]
            for columns in (used_columns(fit), names)
        )
        return cls(items.index, used, asked)

    def take(self, names: pd.Index) -> "Cut":
        """Keep some items; of what the layout uses, what varies on them.

        Raises
        ------
        DataError
            When one is not among the items.
        """
        where = self.items.get_indexer(names)
        if (where < 0).any():
            raise DataError(
                f"the evaluation has no item {some(names[where < 0])}, on which the fit was made; "
                "give the evaluation that was fitted"
            )
        used = [part.take(where) for part in self.used]
        varying = [part for part in used if len(part.levels) > 1]
        return Cut(names, varying, [part.take(where) for part in self.candidates])


def used_columns(fit: Fit) -> list[str]:
    """Columns of the items that the layout uses."""
    return [column for feature in fit.layout.meta_features for column in feature.columns]


def candidate_columns(
    fit: Fit, items: pd.DataFrame, asked: Iterable[str] | None, *, may_lack: bool = False
) -> list[str]:
    """Check the candidates asked for, or find all; there may be none if they were not asked for.

    Raises
    ------
    DataError
        When there is none, one repeats, or the layout uses one.
    """
    used = [*used_columns(fit), STEP]
    if asked is None:
        need_columns(items.columns, list(items.columns), "the items have")
        names = [str(name) for name in items.columns if name not in used and is_kind(items[name])]
    else:
        names = [asked] if isinstance(asked, str) else texts(asked, "the candidates")
        refuse_repeats(names, "property", "the candidates")
        both = [name for name in names if name in used]
        if both:
            raise DataError(
                f"the layout uses {some(both)}, so it cannot be missing there; leave it out of the "
                "candidates, and look at Criticism.forms"
            )
    if not names and not (may_lack and asked is None):
        raise DataError(
            "there are no candidates: the layout uses every property of the items; add columns to "
            "the evaluation's items"
        )
    return names
