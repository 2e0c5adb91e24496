"""What every published study brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ..layouts import Layout
from .calibrated import Case, calibration_cases
from .figures import Figure, Reproduction

if TYPE_CHECKING:  # a scenario's layouts are declared and drawn without PyMC
    import pandas as pd

    from ..inference.data import Evaluation
    from ..inference.prediction.result import CrossValidation


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
        Real data from a folder; without one, from wherever they are kept or offered. Of a study
        whose subjects are simulated, a cohort of them.
    simulate : callable
        The embedded cohort, from a seed.
    reproduce : callable
        Published figures beside obtained ones, from this scenario, a folder of data or None, and
        the folder of published tables.
    judge : callable
        Figures from the hold-out scores.
    columns : sequence of str
        Meta-features that baselines predict from.
    method : {"nuts", "grid"}
        How profiles are inferred.
    tables : bool
        Whether figures are held against published tables.
    small_batteries : callable
        From the scenario to what `calibration` returns.
    """

    name: str
    title: str
    source: str
    layouts: Mapping[str, Callable[[], Layout]]
    load: Callable[[Path | None], "Evaluation"]
    simulate: Callable[[int], Cohort]
    reproduce: Callable[["Scenario", Path | None, Path], Reproduction]
    judge: Callable[["CrossValidation"], list[Figure]]
    columns: Sequence[str]
    method: Literal["nuts", "grid"] = "nuts"
    tables: bool = True
    small_batteries: Callable[["Scenario"], dict[str, Case]] = calibration_cases

    def calibration(self) -> dict[str, Case]:
        """Give what simulation-based calibration takes: layouts, each with a small battery.

        Returns
        -------
        dict of str to Case
            By the layout's name.
        """
        return self.small_batteries(self)

    def cross_validate(
        self, evaluation: "Evaluation", *, repeats: int, progressbar: bool = True
    ) -> "CrossValidation":
        """Score all layouts and the baselines on items held out.

        Parameters
        ----------
        evaluation : Evaluation
            Items and outcomes of this study.
        repeats : int
            Random splits.
        progressbar : bool
            Show splits done and time left.

        Returns
        -------
        CrossValidation
            Scores by method, split and subject.

        Raises
        ------
        DataError
            When the items do not fit a layout.
        """
        from ..inference.prediction.cross_validate import Method, cross_validate
        from ..inference.prediction.layouts import FittedLayout

        layouts = {name: make() for name, make in self.layouts.items()}
        methods: dict[str, Method] = {
            **{name: FittedLayout(own, method=self.method) for name, own in layouts.items()},
            "aggregate": "aggregate",
            "logistic regression": "logistic",
            "random forest": "forest",
        }
        return cross_validate(
            methods,
            evaluation,
            repeats=repeats,
            columns=self.columns,
            seed=1,
            progressbar=progressbar,
        )
