"""Layouts and small batteries on which a study's calibration is checked."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from ..layouts import Layout, Success
from ..linking import mean_failure, mixture

if TYPE_CHECKING:
    import pandas as pd

    from .scenario import Scenario


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
    """

    layout: Layout
    items: "pd.DataFrame"
    share: float = 1.0


def calibration_cases(
    scenario: "Scenario", *, every: int = 1, shares: Mapping[str, float] | None = None
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
    items = scenario.simulate(1).evaluation.items.iloc[::every]
    found = {}
    for name, make in scenario.layouts.items():
        layout, share = make(), (shares or {}).get(name, 1.0)
        found[name] = Case(layout, items, share)
        if mean_failure in layout.constants:
            found[f"{name}, pull towards a half"] = Case(towards_a_half(layout), items, share)
    return found


def towards_a_half(layout: Layout) -> Layout:
    """Let a layout's noise pull towards a half instead of the subject's own mean failure."""
    performance, noise, _ = layout.outcome.expression.arguments  # type: ignore[attr-defined]
    outcome = Success(layout.outcome.name, mixture(performance, by=noise, toward=0.5))
    return Layout(f"{layout.name}-towards-a-half", outcome)
