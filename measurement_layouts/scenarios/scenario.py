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
        """Simulate one outcome of each subject on each item, under a layout.

        Parameters
        ----------
        layout : Layout
            Layout from which outcomes are simulated.
        items : DataFrame
            Items of the battery.
        profiles : DataFrame
            True profiles, with the layout's profile elements as columns.
        seed : int
            Seed of the outcomes.
        """
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

    The reproduction of published figures is in the study's folder ``reproduction``; see
    `measurement_layouts.scenarios.reproduce`.

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
    recommended : str
        Layout whose scores should be below those of `rival`.
    rival : str, optional
        Method that should have higher scores (default: all others).
    split : {"items", "cells"}
        What is held out when methods are scored: items with the outcomes of all subjects, or single
        outcomes.
    baselines : mapping of str to str
        Methods of `cross_validate` that are compared with the layouts, by the name that is shown.
    windows : sequence of (float, float)
        Ranges of success rates; methods are compared on the subjects of each range.
    small_batteries : callable
        Function from the scenario to the result of `calibration`.
    population : callable, optional
        Function that returns the joint layout, in which subjects share values, if the study has
        one. It is fitted to all subjects together, so that it is neither compared with `rival` nor
        calibrated by subject.
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
            Cases by the name of the layout.
        """
        return (self.small_batteries or calibration_cases)(self)


def calibration_cases(
    scenario: Scenario, *, every: int = 1, shares: Mapping[str, float] | None = None
) -> dict[str, Case]:
    """Make cases of every layout of a study, with part of its simulated battery.

    Parameters
    ----------
    scenario : Scenario
        The study.
    every : int, default 1
        Distance between the items that are used, which begin with the first.
    shares : mapping of str to float, optional
        Share of the simulations by layout (default: 1).

    Returns
    -------
    dict of str to Case
        Cases by the name of the layout. If noise draws towards the subject's own mean failure, so
        that outcomes count twice, there is also the same layout with noise towards one half.

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
    """Return the layout with noise towards one half instead of the subject's own mean failure."""
    performance, noise, _ = layout.outcome.expression.arguments  # type: ignore[attr-defined]
    outcome = Success(layout.outcome.name, mixture(performance, by=noise, toward=0.5))
    return Layout(f"{layout.name}-towards-a-half", outcome)
