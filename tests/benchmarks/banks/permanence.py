"""The battery of object permanence: 2,188 arenas, asked of its thirty agents or of its prior's."""

from dataclasses import replace

from measurement_layouts.layouts import Capability
from measurement_layouts.layouts.elements import elements
from measurement_layouts.scenarios import object_permanence as scenario

from .bank import Bank

SEED = 2311


def permanence() -> Bank:
    """Ask the thirty agents in turn, whose answers are drawn anew each time.

    The layout is the recommended one: the published one pulls noise towards the mean failure of
    all the outcomes, which nobody knows while a test goes on. The agents' rules are not of the
    layout.
    """
    rules = tuple(agent.rule for agent in scenario.AGENTS.values())
    return replace(permanence_of_prior(), name="O-PIAAGETS, 30 agents", rules=rules)


def permanence_of_prior() -> Bank:
    """Ask subjects that are drawn from the layout's prior; these pass one arena of 18."""
    layout = scenario.recommended_layout()
    abilities = tuple(
        element.name for element in elements(layout) if isinstance(element.latent, Capability)
    )
    name = "O-PIAAGETS, subjects of the prior"
    return Bank(name, layout, scenario.battery(), abilities, (40, 80, 200), SEED)
