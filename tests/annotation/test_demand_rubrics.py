"""Rubrics of demands: the example that ships, and a user's own."""

import dataclasses
import pickle
import re
from itertools import pairwise, starmap

import pytest

from measurement_layouts.annotation import (
    DEMAND_LEVELS,
    DEMAND_RUBRICS,
    AnnotationError,
    DemandLevel,
    DemandRubric,
    load_demand_rubric,
    load_rubric,
    prompt,
)
from measurement_layouts.annotation.prompt import scheme_of
from measurement_layouts.scenarios import adele

DEGREE = re.compile(r"\b(?:very|quite|rather|highly|(?:more|less|larger|harder|longer)(?! than))\b")
"""Words that say how much and not what."""
OWN = """
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


@pytest.mark.parametrize("name", DEMAND_RUBRICS)
def test_shipped_rubrics_are_whole(name):
    rubric = load_demand_rubric(name)
    assert tuple(level.level for level in rubric.levels) == DEMAND_LEVELS
    assert len({level.description for level in rubric.levels}) == len(DEMAND_LEVELS)
    assert min(len(level.examples) for level in rubric.levels) >= 2
    assert pickle.loads(pickle.dumps(rubric)) == rubric


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


def test_a_scale_may_go_on_beyond_5(tmp_path):
    further = "".join(
        f'[levels.{level}]\ndescription = "Asks {level}."\nexamples = ["Like {level}."]\n'
        for level in range(6, 11)
    )
    rubric = load_demand_rubric(write(tmp_path, OWN + further))
    assert rubric.levels[-1].level == 10
    text = prompt(rubric, "What is {x}?")
    assert "## Level 5: very high\n" in text
    assert "## Level 10: and everything beyond\n" in text
    assert scheme_of(rubric).read("", "Level: 10+") == {"level": 10}
    with pytest.raises(AnnotationError, match="level 11 is not one of 0 to 10"):
        scheme_of(rubric).read("", "Level: 11")
    assert scheme_of(dataclasses.replace(rubric, levels=rubric.levels[5:])).read("", "Level: 5")
    with pytest.raises(AnnotationError, match="level -1 is below 0"):
        dataclasses.replace(rubric, levels=(DemandLevel(-1, "a", ("b",)), *rubric.levels))


def test_a_rubric_of_ones_own_is_read(tmp_path):
    rubric = load_demand_rubric(write(tmp_path, OWN))
    assert rubric.name == "volume"
    assert rubric.levels[0] == DemandLevel(0, "Asks 0.", ("Like 0.", "Or this."))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[levels.2]", "[levels.6]", "rubric 'volume': level 2 missing; give each of 0 to 6 once"),
        ('"Asks 2."', '" "', "rubric 'volume', level 2: no text for description"),
        ('["Like 2.", "Or this."]', "[]", r"level 2: examples are \[\]; give a list of at least"),
        ('["Like 2.", "Or this."]', '"Like 2."', "level 2: examples are 'Like 2.'; give a list"),
        ('["Like 2.", "Or this."]', '["Like 2.", ""]', "level 2: no text for examples"),
        ('description = "Asks 2."', "", "level 2 lacks description; it needs level, descr"),
        ("[levels.2]", "[levels.high]", "level high: give a whole number, as in"),
        ('name = "volume"', "", "own.toml lacks name; it needs name, definition, levels"),
        ('name = "volume"', 'name = "volume"\nunit = "s"', "own.toml has an unknown unit"),
    ],
)
def test_a_faulty_rubric_is_refused(tmp_path, old, new, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        load_demand_rubric(write(tmp_path, OWN.replace(old, new)))


def test_levels_are_tables(tmp_path):
    text = OWN.split("[levels.5]")[0] + "levels = 3"
    with pytest.raises(AnnotationError, match=r"levels as tables, such as \[levels.0\]"):
        load_demand_rubric(write(tmp_path, text))


def test_what_is_no_rubric_of_a_demand_is_refused(tmp_path):
    with pytest.raises(AnnotationError, match="no rubric 'bravery'; give one of applied_sciences"):
        load_demand_rubric("bravery")
    with pytest.raises(AnnotationError, match="has an unknown unbiased, negative, positive"):
        load_demand_rubric(write(tmp_path, _band_rubric()))
    with pytest.raises(AnnotationError, match="as a tuple of DemandLevel"):
        DemandRubric("volume", "is", load_rubric("risk_aversion").levels)


def _band_rubric():
    names = ("name", "definition", "unbiased", "negative", "positive")
    return "".join(f'{name} = "..."\n' for name in names) + "[levels.0]\n"


def test_the_prompt_holds_rubric_steps_and_item(tmp_path):
    rubric = load_demand_rubric(write(tmp_path, OWN))
    text = prompt(rubric, "What is {x}?")
    parts = [rubric.definition]
    for level in rubric.levels:
        parts += [f"## Level {level.level}: ", level.description, f"- {level.examples[0]}"]
    places = [text.index(part) for part in [*parts, "step by step", "<item>\nWhat is {x}?"]]
    assert places == sorted(places)
    assert text.endswith("The last line is `Level: N`.")


def test_every_word_of_a_rubric_counts_for_the_fingerprint():
    own = load_demand_rubric("quantitative_reasoning")
    again = load_demand_rubric("quantitative_reasoning")
    assert scheme_of(own).fingerprint == scheme_of(again).fingerprint
    first = dataclasses.replace(own.levels[0], examples=("Another.",))
    changed = dataclasses.replace(own, levels=(first, *own.levels[1:]))
    assert scheme_of(own).fingerprint != scheme_of(changed).fingerprint
