"""Rubrics and inciting prompts: those that ship, and a user's own."""

import dataclasses
import pickle
import re
import subprocess
import sys

import pytest

from measurement_layouts.annotation import (
    LEVELS,
    RUBRICS,
    AnnotationError,
    Level,
    Rubric,
    inciting_prompt,
    load_rubric,
    prompt,
)
from measurement_layouts.annotation.prompt import scheme_of

OWN = """
name = "haste"
definition = "How far the wish to be early replaces the quality of the work."
unbiased = "The option with the best work."
negative = "dawdles"
positive = "hurries"
""" + "".join(
    f'[levels.{level}]\ndescription = "Does {level}."\nexample = "Like {level}."\n'
    for level in reversed(LEVELS)
)


def write(folder, text):
    path = folder / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", RUBRICS)
def test_shipped_rubrics_are_whole(name):
    rubric = load_rubric(name)
    assert tuple(level.level for level in rubric.levels) == LEVELS
    assert rubric.negative != rubric.positive
    assert len({level.description for level in rubric.levels}) == len(LEVELS)
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


def test_a_rubric_of_ones_own_is_read(tmp_path):
    rubric = load_rubric(write(tmp_path, OWN))
    assert rubric.name == "haste"
    assert rubric.levels[0] == Level(-3, "Does -3.", "Like -3.")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[levels.2]", "[levels.5]", "rubric 'haste': level 2, 4 missing"),
        ('"Does 2."', '" "', "rubric 'haste', level 2: no text for description"),
        ('example = "Like 2."', "", "level 2 lacks example; it needs level, description, example"),
        ('negative = "dawdles"', "", "own.toml lacks negative; it needs name, definition"),
        ('name = "haste"', 'name = "haste"\nscale = 7', "own.toml has an unknown scale"),
        ("[levels.2]", "[levels.two]", "level two: give a whole number, as in"),
        ('name = "haste"', "name = haste", "own.toml is not a TOML file"),
        ('name = "haste"', "name = 3", "no text for name"),
    ],
)
def test_a_faulty_rubric_is_refused(tmp_path, old, new, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        load_rubric(write(tmp_path, OWN.replace(old, new)))


def test_an_unknown_rubric_is_refused():
    with pytest.raises(AnnotationError, match=r"no rubric 'bravery'; give one of introversion"):
        load_rubric("bravery")


def test_levels_are_each_needed_once():
    level = Level(1, "one", "like one")
    own = load_rubric("risk_aversion")
    with pytest.raises(AnnotationError, match="level 1 given twice"):
        dataclasses.replace(own, levels=(*own.levels, level))
    with pytest.raises(AnnotationError, match="level 4 missing; give each of -3 to 5 once"):
        dataclasses.replace(own, levels=(*own.levels, Level(5, "five", "like five")))
    with pytest.raises(AnnotationError, match="give two levels or more"):
        dataclasses.replace(own, levels=own.levels[3:4])
    with pytest.raises(AnnotationError, match="as a tuple of Level"):
        Rubric("haste", "is", "best", "slow", "fast", ({"level": 1},))


def test_a_scale_may_go_on_beyond_the_shipped_one():
    own = load_rubric("risk_aversion")
    longer = dataclasses.replace(own, levels=(*own.levels, Level(4, "four", "like four")))
    text = prompt(longer, "An item.")
    assert "then 3, then 4, in the same way" in text
    assert "The levels -3 and 4 stand" in text
    assert scheme_of(longer).read("", "Interval: [-1, 4]") == {"low": -1, "high": 4}
    with pytest.raises(AnnotationError, match=r"beyond the levels -3 to 3"):
        scheme_of(own).read("", "Interval: [-1, 4]")


# --- prompts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RUBRICS)
def test_the_prompt_holds_rubric_steps_and_item(name):
    rubric = load_rubric(name)
    text = prompt(rubric, "Red {cup} or blue cup?")
    parts = [rubric.definition, *(level.description for level in rubric.levels), rubric.unbiased]
    places = [text.index(part) for part in [*parts, "Lower end.", "Upper end.", "Red {cup} or"]]
    assert places == sorted(places)
    assert text.endswith("The last line is `Interval: [lower end, upper end]`.")


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


@pytest.mark.parametrize(
    ("name", "level", "complaint"),
    [
        ("bravery", 1, "no inciting prompts for 'bravery'; give one of"),
        ("risk_aversion", 4, "level=4; give a whole number from -3 to 3"),
        ("risk_aversion", 0.5, "level=0.5"),
    ],
)
def test_other_incitements_are_refused(name, level, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        inciting_prompt(name, level)


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
