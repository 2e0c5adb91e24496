"""Scenario: the layouts, data and simulator of a published study."""

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
_TOGETHER = 20  # number of subjects of a simulated cohort that are fitted together


@dataclass(frozen=True)
class Cohort:
    """Simulated subjects with their true profiles.

    Attributes
    ----------
    evaluation : Evaluation
        Items and simulated outcomes.
    profiles : DataFrame
        True profiles, with one row per subject and one column per profile element.
    """

    evaluation: Evaluation
    profiles: pd.DataFrame

    @classmethod
    def drawn(
        cls, layout: Layout, items: pd.DataFrame, profiles: pd.DataFrame, seed: int
    ) -> "Cohort":
        """Simulate one outcome of each subject on each item, under a layout."""
        rng = np.random.default_rng(seed)
        return cls(draw_outcomes(layout, items, profiles, rng), profiles)


class Case(NamedTuple):
    """A layout and a battery for `sbc`.

    Attributes
    ----------
    layout : Layout
        Layout that is simulated and fitted.
    items : DataFrame
        Items of each simulation.
    share : float
        Share of the requested simulations that are run, below 1 if a simulation is slow.
    subjects : DataFrame, optional
        Subjects of each simulation of a joint layout, with covariates and categories.
    """

    layout: Layout
    items: pd.DataFrame
    share: float = 1.0
    subjects: pd.DataFrame | None = None


@dataclass(frozen=True)
class Scenario:
    """A published study: layouts, data and a simulator.

    Attributes
    ----------
    name, title, source : str
        Identifier, one-line description, and publication.
    layouts : mapping of str to callable
        Layouts by name, the published one first.
    load : callable
        Function that loads the real data from a folder; without one, from the place where they are
        cached or offered. If the subjects of a study are simulated, it returns a cohort of them.
    simulate : callable
        Function from a seed to a simulated cohort.
    columns : sequence of str
        Meta-features from which baselines predict.
    method : {"nuts", "grid"}
        Method by which profiles are inferred.
    tables : bool
        Whether figures are compared with published tables.
    population : callable, optional
        Function that returns the joint layout, in which subjects share values, if the study has
        one.
    every : int
        Distance between the items of the simulated battery that `calibration` uses.
    shares : mapping of str to float
        Share of the simulations of `calibration` by layout (default: 1).
    cases : callable, optional
        Function that returns further cases of `calibration`, or others of the same name.
    """

    name: str
    title: str
    source: str
    layouts: Mapping[str, Callable[[], Layout]]
    load: Callable[[Path | None], Evaluation]
    simulate: Callable[[int], Cohort]
    columns: Sequence[str]
    method: Literal["nuts", "grid"] = "nuts"
    tables: bool = False
    population: Callable[[], Layout] | None = None
    every: int = 1
    shares: Mapping[str, float] = field(default_factory=dict)
    cases: Callable[[], dict[str, Case]] | None = None

    def every_layout(self) -> dict[str, Callable[[], Layout]]:
        """List `layouts`, followed by that of a population, if there is one.

        Returns
        -------
        dict of str to callable
            Layouts by name; that of a population is ``population layout``.
        """
        shared = {} if self.population is None else {POPULATION: self.population}
        return {**self.layouts, **shared}

    def shared_layout(self) -> Layout:
        """Make the joint layout, in which subjects share values.

        Raises
        ------
        FitError
            When the study has no joint layout.
        """
        if self.population is None:
            raise FitError(
                f"{self.name} has no population layout, only the layouts {some(self.layouts)}; "
                "leave --population out"
            )
        return self.population()

    def calibration(self) -> dict[str, Case]:
        """Return the layouts of simulation-based calibration, each with a small battery.

        Returns
        -------
        dict of str to Case
            Cases by the name of the layout. If noise draws towards the subject's own mean failure,
            so that outcomes count twice, there is also the same layout with noise towards one half.

        Examples
        --------
        >>> from measurement_layouts.scenarios import get
        >>> list(get("animal-ai-olympics").calibration())
        ['published layout', 'published layout, pull towards a half', 'recommended layout']
        """
        cohort = self.simulate(1).evaluation
        items = cohort.items.iloc[:: self.every]
        cases = {}
        for name, make in self.layouts.items():
            layout, share = make(), self.shares.get(name, 1.0)
            subjects = cohort.subject_table.iloc[:_TOGETHER] if layout.joint else None
            cases[name] = Case(layout, items, share, subjects)
            if mean_failure in layout.constants:
                cases[f"{name}, pull towards a half"] = Case(_half(layout), items, share)
        return cases | (self.cases() if self.cases else {})


def _half(layout: Layout) -> Layout:
    """Return the layout with noise towards one half instead of the subject's own mean failure."""
    performance, noise, _ = layout.outcome.expression.arguments  # type: ignore[attr-defined]
    outcome = Success(layout.outcome.name, mixture(performance, by=noise, toward=0.5))
    return Layout(f"{layout.name}-towards-a-half", outcome)
