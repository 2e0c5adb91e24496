"""What the calibration of dispositions is checked on: few scenarios, of two traits."""

from ..calibrated import Case
from ..scenario import Scenario
from .layouts import RECOMMENDED, disposition_layout
from .traits import TRAITS

_TRAITS = tuple(TRAITS)[:2]
_EVERY = 20
_SHARE = 0.25  # people's stances are integrated out, which takes time


def two_traits(scenario: Scenario) -> dict[str, Case]:
    """Declare the layout for two of its traits, and take some of their scenarios."""
    items = scenario.simulate(1).evaluation.items
    shown = items[[f"trait[{trait}]" for trait in _TRAITS]].sum(axis=1) == 1
    return {RECOMMENDED: Case(disposition_layout(_TRAITS), items[shown].iloc[::_EVERY], _SHARE)}
