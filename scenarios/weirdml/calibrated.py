"""What the calibration of horizons is checked on: the study's layouts, and that of nested runs."""

from ..calibrated import Case, calibration_cases
from ..scenario import Scenario
from .layouts import nested_layout
from .nesting import conditional_counts

_RECOMMENDED, _NESTED = "recommended layout", "nested layout"
_SHARE = 0.25  # they have a latent for each task


def with_nested(scenario: Scenario) -> dict[str, Case]:
    """Take every layout, and that for runs which reached the threshold below."""
    conditional = conditional_counts(scenario.simulate(1).evaluation)
    nested = Case(nested_layout(), conditional.items, _SHARE)
    return calibration_cases(scenario, shares={_RECOMMENDED: _SHARE}) | {_NESTED: nested}
