"""Which descriptions of the thirty agents count as right."""

import pandas as pd
import pytest

from measurement_layouts.common.findings import Finding, table
from measurement_layouts.reports.description.rules import Rules
from measurement_layouts.reports.description.sentences import Description
from measurement_layouts.scenarios import object_permanence as op
from measurement_layouts.scenarios.object_permanence.reproduction import _UNIFORM as UNIFORM
from measurement_layouts.scenarios.object_permanence.reproduction import (
    _WEAKNESSES as WEAKNESSES,
)
from measurement_layouts.scenarios.object_permanence.reproduction import is_right

BIASES = {
    "Agent12": {"rightLeftBias": 2.0},
    "Agent13": {"rightLeftBias": -2.0},
    "Agent15": {"lastSeenStrategy": 0.9},
    "Agent16": {"lastSeenStrategy": 0.9},
}
OTHERS = [f"Agent{number}" for number in (4, 6, 7, 12, 13, 15, 19, 29)]
DANGER = {"Agent4": {"platformAbility"}}


def described(name, weak=(), biases=(), *, uniform=False, level="in between"):
    findings = [Finding("", "overall", "", size=0.5)]
    findings += [Finding(element, "weakness", "", size=0.1) for element in weak]
    findings += [Finding(element, "bias", "", size=size) for element, size in dict(biases).items()]
    rows = table(findings).assign(subject=name)
    overall = pd.DataFrame({"level": level, "uniform": uniform}, index=[name])
    return Description(rows, pd.Series({name: ""}), overall, Rules())


def right(name):
    """What is right to say of an agent, as arguments of `described`."""
    return {
        "weak": WEAKNESSES.get(name, DANGER.get(name, ())),
        "biases": BIASES.get(name, {}),
        "uniform": name in UNIFORM,
        "level": "nearly nothing" if name == "Agent4" else "in between",
    }


@pytest.mark.parametrize("name", op.AGENTS)
def test_the_design_is_right_and_another_agents_is_not(name):
    assert is_right(name, described(name, **right(name)))
    for other in OTHERS:
        if right(other) != right(name) and name not in UNIFORM:
            assert not is_right(name, described(name, **right(other))), other


def test_context_specific_agents_are_weak_in_the_paradigms_they_fail():
    items = op.battery()
    for number in range(19, 31):
        name = f"Agent{number}"
        passes = (
            pd.Series(op.AGENTS[name].rule(items), items.index).groupby(items["paradigm"]).mean()
        )
        failed = {f"paradigmAbility[{each}]" for each in passes.index[passes < 0.5]}
        assert WEAKNESSES[name] == failed
