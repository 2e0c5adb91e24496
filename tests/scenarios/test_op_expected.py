"""Which descriptions of the thirty agents count as right."""

import pandas as pd
import pytest

from measurement_layouts import DataError
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


@pytest.mark.parametrize("name", [name for name in op.AGENTS if name not in (*UNIFORM, "Agent4")])
def test_one_weakness_too_many_or_too_few_is_wrong(name):
    said = right(name)
    more = {**said, "weak": {*said["weak"], "OPSomethingElse"}}
    assert not is_right(name, described(name, **more))
    for weakness in said["weak"]:
        fewer = {**said, "weak": set(said["weak"]) - {weakness}}
        assert not is_right(name, described(name, **fewer))


@pytest.mark.parametrize("name", [name for name in op.AGENTS if name not in UNIFORM])
def test_a_bias_that_the_design_has_not_is_wrong(name):
    said = right(name)
    for bias in BIASES.values():
        if bias.keys() != said["biases"].keys():
            both = {**said, "biases": {**said["biases"], **bias}}
            assert not is_right(name, described(name, **both))
    rare = {**said, "biases": {**said["biases"], "lastSeenStrategy": 0.1}}
    assert is_right(name, described(name, **rare)) == (name not in ("Agent15", "Agent16"))
    straight = {**said, "biases": {**said["biases"], "straightAhead": 1.0}}
    assert is_right(name, described(name, **straight))  # how well it chooses is no bias of these


def test_the_other_side_is_wrong():
    assert not is_right("Agent12", described("Agent12", biases={"rightLeftBias": -2.0}))


def test_uniform_success_is_all_that_four_agents_have():
    for name in UNIFORM:
        assert is_right(name, described(name, uniform=True))
        assert not is_right(name, described(name, uniform=False))
    assert {name for name, agent in op.AGENTS.items() if agent.constant is not None} == {*UNIFORM}


def test_weaknesses_are_elements_of_the_recommended_layout():
    known = {
        f"{latent.name}[{label}]" if label else latent.name
        for latent in op.recommended_layout().latents
        if latent.kind == "capability"
        for label in latent.labels or [""]
    }
    assert set().union(*WEAKNESSES.values(), *DANGER.values()) <= known
    biases = {latent.name for latent in op.recommended_layout().latents if latent.kind == "bias"}
    assert {name for bias in BIASES.values() for name in bias} <= biases


def test_context_specific_agents_are_weak_in_the_paradigms_they_fail():
    items = op.battery()
    for number in range(19, 31):
        name = f"Agent{number}"
        passes = (
            pd.Series(op.AGENTS[name].rule(items), items.index).groupby(items["paradigm"]).mean()
        )
        failed = {f"paradigmAbility[{each}]" for each in passes.index[passes < 0.5]}
        assert WEAKNESSES[name] == failed


def test_an_agent_that_was_not_described_is_refused():
    with pytest.raises(DataError, match="Agent7"):
        is_right("Agent7", described("Agent6"))
