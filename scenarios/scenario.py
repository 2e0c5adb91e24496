"""What every published study brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..layouts import Layout
from .figures import Figure

if TYPE_CHECKING:  # a scenario's layouts are declared and drawn without PyMC
    import pandas as pd

    from ..inference.data import Evaluation
    from ..inference.results import Fit
    from ..inference.validation import HoldOut


@dataclass(frozen=True)
class Cohort:
    """Simulated subjects with their known profiles.

    Attributes
    ----------
    evaluation : Evaluation
        Items and simulated outcomes.
    profiles : DataFrame
        The truth: one row per subject, one column per profile element.
    """

    evaluation: "Evaluation"
    profiles: "pd.DataFrame"


@dataclass(frozen=True)
class Scenario:
    """A published study: layouts, data, a simulator and the figures to be held against.

    Attributes
    ----------
    name, title, source : str
        Identifier, one line of what it is, and the publication.
    layouts : mapping of str to callable
        Layouts by name, the published one first.
    load : callable
        Real data from a folder; without one, from wherever they are kept or offered.
    simulate : callable
        The embedded cohort, from a seed.
    published : callable
        The published table from a folder, one row per subject of the real data, checked.
    compare : callable
        Figures from a fit of the published layout to the real data, and that table.
    judge : callable
        Figures from the hold-out scores.
    columns : sequence of str
        Meta-features that baselines predict from.
    """

    name: str
    title: str
    source: str
    layouts: Mapping[str, Callable[[], Layout]]
    load: Callable[[Path | None], "Evaluation"]
    simulate: Callable[[int], Cohort]
    published: Callable[[Path, Sequence[str]], "pd.DataFrame"]
    compare: Callable[["Fit", "pd.DataFrame"], list[Figure]]
    judge: Callable[["HoldOut"], list[Figure]]
    columns: Sequence[str]
