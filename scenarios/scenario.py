"""What every published study brings."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

from ..common.errors import FitError
from ..common.messages import some
from ..evaluations.evaluation import Evaluation
from ..inference.simulate import draw_outcomes
from ..layouts import Layout, Success
from ..linking import mean_failure, mixture

POPULATION = "population layout"
_TOGETHER = 20  # subjects of a simulated cohort that share something


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

    evaluation: Evaluation
    profiles: pd.DataFrame

    @classmethod
    def drawn(
        cls, layout: Layout, items: pd.DataFrame, profiles: pd.DataFrame, seed: int
    ) -> "Cohort":
        """Draw one outcome of each subject on each item, under a layout.

        Parameters
        ----------
        layout : Layout
            What outcomes follow.
        items : DataFrame
            The battery.
        profiles : DataFrame
            The truth, in the layout's profile elements.
        seed : int
            Seed of the outcomes.
        """
        rng = np.random.default_rng(seed)
        return cls(draw_outcomes(layout, items, profiles, rng), profiles)


class Case(NamedTuple):
    """A layout and a battery that `sbc` takes.

    Attributes
    ----------
    layout : Layout
        What is simulated and fitted.
    items : DataFrame
        On what.
    share : float
        Of the simulations asked for, how many it takes: fewer where one costs more.
    subjects : DataFrame, optional
        Who is in each simulation, with covariates and categories; where subjects share something.
    """

    layout: Layout
    items: pd.DataFrame
    share: float = 1.0
    subjects: pd.DataFrame | None = None


def _baselines() -> dict[str, str]:
    """Baselines that learn from each subject's own outcomes."""
    return {
        "aggregate": "aggregate",
        "logistic regression": "logistic",
        "random forest": "forest",
    }


@dataclass(frozen=True)
class Scenario:
    """A published study: layouts, data and a simulator.

    What it reproduces of its publication is in the study's folder ``reproduction``; see
    `measurement_layouts.scenarios.reproduce`.

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
    columns : sequence of str
        Meta-features that baselines predict from.
    method : {"nuts", "grid"}
        How profiles are inferred.
    tables : bool
        Whether figures are held against published tables.
    recommended : str
        The layout whose scores are to be below those of `rival`.
    rival : str, optional
        A method; all others by default.
    split : {"items", "cells"}
        What is held out when methods are scored: items with the outcomes of all subjects, or single
        outcomes.
    baselines : mapping of str to str
        Methods of `cross_validate` beside the layouts, by the name under which they are shown.
    windows : sequence of (float, float)
        Ranges of success rates, each of whose subjects' scores are held against each other.
    small_batteries : callable
        From the scenario to what `calibration` returns.
    population : callable, optional
        Makes the layout in which subjects share something, where the study has one. It is fitted to
        all of them together, so it is neither held against `rival` nor calibrated by subject.
    """

    name: str
    title: str
    source: str
    layouts: Mapping[str, Callable[[], Layout]]
    load: Callable[[Path | None], Evaluation]
    simulate: Callable[[int], Cohort]
    columns: Sequence[str]
    method: Literal["nuts", "grid"] = "nuts"
    tables: bool = True
    recommended: str = "recommended layout"
    rival: str | None = None
    split: Literal["items", "cells"] = "items"
    baselines: Mapping[str, str] = field(default_factory=_baselines)
    windows: Sequence[tuple[float, float]] = ((0.0, 1.0),)
    small_batteries: "Callable[[Scenario], dict[str, Case]] | None" = None
    population: Callable[[], Layout] | None = None

    def every_layout(self) -> dict[str, Callable[[], Layout]]:
        """List `layouts`, and after them that of a population, where there is one.

        Returns
        -------
        dict of str to callable
            By name; a population's is ``population layout``.
        """
        shared = {} if self.population is None else {POPULATION: self.population}
        return {**self.layouts, **shared}

    def shared_layout(self) -> Layout:
        """Make the layout in which subjects share something.

        Raises
        ------
        FitError
            When the study has none beside its layouts.
        """
        if self.population is None:
            raise FitError(
                f"{self.name} has no population layout beside its layouts, {some(self.layouts)}; "
                "leave --population out"
            )
        return self.population()

    def calibration(self) -> dict[str, Case]:
        """Give what simulation-based calibration takes: layouts, each with a small battery.

        Returns
        -------
        dict of str to Case
            By the layout's name.
        """
        return (self.small_batteries or calibration_cases)(self)


def calibration_cases(
    scenario: Scenario, *, every: int = 1, shares: Mapping[str, float] | None = None
) -> dict[str, Case]:
    """Take every layout of a study, and of its embedded battery each item of so many.

    Parameters
    ----------
    scenario : Scenario
        The study.
    every : int, default 1
        Which items: the first, and each so many-th after it.
    shares : mapping of str to float, optional
        By layout, what part of the simulations it takes; all of them by default.

    Returns
    -------
    dict of str to Case
        By the layout's name. Where noise pulls towards the subject's own mean failure, so that
        outcomes count twice, the same layout with a pull towards a half stands beside it.

    Examples
    --------
    >>> from measurement_layouts.scenarios import get
    >>> [(name, len(case.items)) for name, case in get("animal-ai-olympics").calibration().items()]
    [('published layout', 69), ('published layout, pull towards a half', 69), ('recommended ...)]
    """
    cohort = scenario.simulate(1).evaluation
    items = cohort.items.iloc[::every]
    found = {}
    for name, make in scenario.layouts.items():
        layout, share = make(), (shares or {}).get(name, 1.0)
        subjects = cohort.subject_table.iloc[:_TOGETHER] if layout.joint else None
        found[name] = Case(layout, items, share, subjects)
        if mean_failure in layout.constants:
            found[f"{name}, pull towards a half"] = Case(towards_a_half(layout), items, share)
    return found


def towards_a_half(layout: Layout) -> Layout:
    """Let a layout's noise pull towards a half instead of the subject's own mean failure."""
    performance, noise, _ = layout.outcome.expression.arguments  # type: ignore[attr-defined]
    outcome = Success(layout.outcome.name, mixture(performance, by=noise, toward=0.5))
    return Layout(f"{layout.name}-towards-a-half", outcome)
