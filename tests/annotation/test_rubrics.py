"""Rubrics and inciting prompts: those that ship, and a user's own."""

import dataclasses
import pickle
import re
import subprocess
import sys
from itertools import pairwise, starmap

import pytest

from measurement_layouts.annotation import (
    DEMAND_LEVELS,
    DEMAND_RUBRICS,
    LEVELS,
    RUBRICS,
    AnnotationError,
    DemandLevel,
    DemandRubric,
    Level,
    Rubric,
    inciting_prompt,
    load_demand_rubric,
    load_rubric,
    prompt,
)
from measurement_layouts.annotation.prompt import scheme_of
from measurement_layouts.scenarios import adele

DEMAND = load_demand_rubric
DEGREE = re.compile(r"\b(?:very|quite|rather|highly|(?:more|less|larger|harder|longer)(?! than))\b")
"""Words that say how much and not what."""
HASTE = """
name = "haste"
definition = "How far the wish to be early replaces the quality of the work."
unbiased = "The option with the best work."
negative = "dawdles"
positive = "hurries"
""" + "".join(
    f'[levels.{level}]\ndescription = "Does {level}."\nexample = "Like {level}."\n'
    for level in reversed(LEVELS)
)
VOLUME = """
name = "volume"
definition = "How much there is to read."
""" + "".join(
    f'[levels.{level}]\ndescription = "Asks {level}."\nexamples = ["Like {level}.", "Or this."]\n'
    for level in reversed(DEMAND_LEVELS)
)


def write(folder, text):
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", [*RUBRICS, *DEMAND_RUBRICS])
def test_shipped_rubrics_are_whole(name):
    load, numbers = load_rubric, LEVELS
    if name in DEMAND_RUBRICS:
        load, numbers = load_demand_rubric, DEMAND_LEVELS
    rubric = load(name)
    assert tuple(level.level for level in rubric.levels) == numbers
    assert len({level.description for level in rubric.levels}) == len(numbers)
    assert pickle.loads(pickle.dumps(rubric)) == rubric


@pytest.mark.parametrize(
    ("name", "negative", "positive"),
    [
        ("risk_aversion", "seeks risk", "avoids risk"),
        ("introversion_extraversion", "keeps to itself", "seeks company"),
        ("red_against_blue", "takes blue", "takes red"),
        ("ultracrepidarianism", "holds back", "pronounces beyond what it knows"),
    ],
)
def test_signs_are_the_papers(name, negative, positive):
    """Section 4.1: avoiding risk, company, red and pronouncement are positive."""
    rubric = load_rubric(name)
    assert (rubric.negative, rubric.positive) == (negative, positive)


def test_anchors_of_risk_keep_to_the_stated_prices():
    """Up to 15 % at level 1, up to half at level 2: every stated worth lies on its side."""
    anchors = {level.level: level.example for level in load_rubric("risk_aversion").levels}
    for level, most in ((1, 0.15), (2, 0.5)):
        taken, refused = re.findall(r"certain (\d+)", anchors[level])
        assert 1 - int(taken) / 100 < most < 1 - int(refused) / 100
        taken, refused = re.findall(r"worth (\d+)", anchors[-level])
        assert 1 - int(taken) / 100 < most < 1 - int(refused) / 100


def _shared(one, other):
    return len(one & other) / len(one | other)


@pytest.mark.parametrize("name", DEMAND_RUBRICS)
def test_neighbouring_levels_differ_by_a_stated_property(name):
    """Not by an adjective alone: descriptions and properties share few of their words."""
    rubric = load_demand_rubric(name)
    table = rubric.boundaries()
    assert table["property"].str.len().min() > 40
    assert table["property"].is_unique
    for texts in ([level.description for level in rubric.levels], table["property"]):
        words = [set(text.lower().split()) for text in texts]
        if name != "volume":  # whose properties are times
            assert max(starmap(_shared, pairwise(words))) < 0.45
    assert not any(DEGREE.search(text) for text in table["property"])
    assert all(level.boundary in prompt(rubric, "x") for level in rubric.levels)


def test_there_is_a_rubric_for_every_demand_of_the_study():
    codes = [load_demand_rubric(name).code for name in DEMAND_RUBRICS]
    assert sorted(codes) == sorted(adele.DEMANDS)


def test_a_rubric_of_ones_own_is_read(tmp_path):
    rubric = load_rubric(write(tmp_path, HASTE))
    assert (rubric.name, rubric.levels[0]) == ("haste", Level(-3, "Does -3.", "Like -3."))
    rubric = load_demand_rubric(write(tmp_path, VOLUME))
    assert rubric.levels[0] == DemandLevel(0, "Asks 0.", ("Like 0.", "Or this."))


def test_a_scale_may_go_on_beyond_the_shipped_ones(tmp_path):
    risk = load_rubric("risk_aversion")
    longer = dataclasses.replace(risk, levels=(*risk.levels, Level(4, "four", "like four")))
    text = prompt(longer, "An item.")
    assert "then 3, then 4, in the same way" in text
    assert "The levels -3 and 4 stand" in text
    assert scheme_of(longer).read("", "Interval: [-1, 4]") == {"low": -1, "high": 4}
    further = "".join(
        f'[levels.{level}]\ndescription = "Asks {level}."\nexamples = ["Like {level}."]\n'
        for level in range(6, 11)
    )
    rubric = load_demand_rubric(write(tmp_path, VOLUME + further))
    text = prompt(rubric, "What is {x}?")
    assert "## Level 5: very high\n" in text
    assert "## Level 10: and everything beyond\n" in text
    assert scheme_of(rubric).read("", "Level: 10+") == {"level": 10}
    with pytest.raises(AnnotationError, match="level 11 is not a whole number from 0 to 10"):
        scheme_of(rubric).read("", "Level: 11")
    assert scheme_of(dataclasses.replace(rubric, levels=rubric.levels[5:])).read("", "Level: 5")


@pytest.mark.parametrize(
    ("load", "text", "old", "new", "complaint"),
    [
        (load_rubric, HASTE, "[levels.2]", "[levels.5]", "rubric 'haste': levels"),
        (load_rubric, HASTE, '"Does 2."', '" "', "rubric 'haste', level 2: no"),
        (load_rubric, HASTE, 'example = "Like 2."', "", "level 2:"),
        (load_rubric, HASTE, 'negative = "dawdles"', "", "own.toml:"),
        (load_rubric, HASTE, 'name = "haste"', 'name = "h"\nscale = 7', "own.toml:"),
        (load_rubric, HASTE, "[levels.2]", "[levels.two]", "level two:"),
        (load_rubric, HASTE, 'name = "haste"', "name = haste", "own.toml is not a TOML file"),
        (load_rubric, HASTE, 'name = "haste"', "name = 3", "no text for name"),
        (DEMAND, VOLUME, '["Like 2.", "Or this."]', "[]", "level 2:"),
        (DEMAND, VOLUME, '["Like 2.", "Or this."]', '"Like 2."', "examples are 'Like 2.'"),
        (DEMAND, VOLUME, '["Like 2.", "Or this."]', '["Like 2.", ""]', "no text for ex"),
        (DEMAND, VOLUME, VOLUME[VOLUME.index("[levels") :], "levels = 3", "levels as tables"),
        (DEMAND, VOLUME, VOLUME, HASTE, "level 3:"),
    ],
)
def test_a_faulty_rubric_is_refused(tmp_path, load, text, old, new, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        load(write(tmp_path, text.replace(old, new)))


RISK = load_rubric("risk_aversion")


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: load_rubric("bravery"), "no rubric 'bravery'; give"),
        (lambda: load_demand_rubric("bravery"), "no rubric 'bravery'; give"),
        (
            lambda: dataclasses.replace(RISK, levels=(*RISK.levels, RISK.levels[0])),
            "levels .-3, -3,",
        ),
        (lambda: dataclasses.replace(RISK, levels=RISK.levels[3:4]), "give at least two"),
        (lambda: dataclasses.replace(RISK, levels=RISK.levels[4:]), "there is no level 0"),
        (lambda: Rubric("h", "is", "best", "slow", "fast", ({"level": 1},)), "a tuple of Level"),
        (lambda: DemandRubric("volume", "is", RISK.levels), "as a tuple of DemandLevel"),
        (
            lambda: DemandRubric("v", "is", tuple(DemandLevel(at, "a", ("b",)) for at in (-1, 0))),
            "level -1 is below 0",
        ),
        (lambda: inciting_prompt("bravery", 1), "no inciting prompts for"),
        (lambda: inciting_prompt("risk_aversion", 4), "level=4; give a whole"),
        (lambda: inciting_prompt("risk_aversion", 0.5), "level=0.5"),
    ],
)
def test_what_is_no_rubric_or_level_is_refused(call, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        call()


# --- prompts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUBRICS)
def test_the_prompt_holds_rubric_steps_and_item(name):
    rubric = load_rubric(name)
    text = prompt(rubric, "Red {cup} or blue cup?")
    parts = [rubric.definition, *(level.description for level in rubric.levels), rubric.unbiased]
    places = [text.index(part) for part in [*parts, "Lower end.", "Upper end.", "Red {cup} or"]]
    assert places == sorted(places)
    assert text.endswith("The last line is `Interval: [lower end, upper end]`.")


def test_the_prompt_of_a_demand_holds_rubric_steps_and_item(tmp_path):
    rubric = load_demand_rubric(write(tmp_path, VOLUME))
    text = prompt(rubric, "What is {x}?")
    parts = [rubric.definition]
    for level in rubric.levels:
        parts += [f"## Level {level.level}: ", level.description, f"- {level.examples[0]}"]
    places = [text.index(part) for part in [*parts, "step by step", "<item>\nWhat is {x}?"]]
    assert places == sorted(places)
    assert text.endswith("The last line is `Level: N`.")


@pytest.mark.parametrize("name", RUBRICS)
def test_inciting_prompts_differ_and_ask_for_one_form(name):
    prompts = [inciting_prompt(name, level) for level in LEVELS]
    assert len(set(prompts)) == len(LEVELS)
    for text in prompts:
        preference, rule, form = text.split("\n\n")
        assert preference
        assert rule.startswith("How you decide: ")
        assert "\n" not in text.replace("\n\n", "")
        assert "`Answer: `" in form


# --- what importing brings -----------------------------------------------------------------------

WITHOUT = """
import sys
sys.modules["inspect_ai"] = sys.modules["anyio"] = None  # as if they were not installed
import measurement_layouts
from measurement_layouts import annotation

rubric = annotation.load_rubric("risk_aversion")
try:
    annotation.annotate({"a": "A or B?"}, rubric, "openai/gpt-4.1")
except annotation.AnnotationError as error:
    print(error)
"""


def test_the_room_works_without_inspect_up_to_the_model():
    run = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True)
    assert run.stderr == ""
    assert "needs inspect-ai" in run.stdout
    assert 'pip install "measurement-layouts[inspect]"' in run.stdout
