"""Rubrics of demands: the example that ships, and a user's own."""

import dataclasses
import pickle

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


def test_a_rubric_of_ones_own_is_read(tmp_path):
    rubric = load_demand_rubric(write(tmp_path, OWN))
    assert rubric.name == "volume"
    assert rubric.levels[0] == DemandLevel(0, "Asks 0.", ("Like 0.", "Or this."))


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("[levels.2]", "[levels.6]", "rubric 'volume': level 2 missing; give each of 0 to 5 once"),
        ('"Asks 2."', '" "', "rubric 'volume', level 2: no text for description"),
        ('["Like 2.", "Or this."]', "[]", r"level 2: examples are \[\]; give a list of at least"),
        ('["Like 2.", "Or this."]', '"Like 2."', "level 2: examples are 'Like 2.'; give a list"),
        ('["Like 2.", "Or this."]', '["Like 2.", ""]', "level 2: no text for examples"),
        ('description = "Asks 2."', "", "level 2 lacks description; it needs level, descr"),
        ("[levels.2]", "[levels.high]", "level high: give a whole number from 0 to 5"),
        ('name = "volume"', "", "own.toml lacks name; it needs name, definition, levels"),
        ('name = "volume"', 'name = "volume"\nunit = "s"', "own.toml has an unknown unit"),
    ],
)
def test_a_faulty_rubric_is_refused(tmp_path, old, new, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        load_demand_rubric(write(tmp_path, OWN.replace(old, new)))


def test_levels_are_tables(tmp_path):
    text = OWN.split("[levels.5]")[0] + "levels = 3"
    with pytest.raises(AnnotationError, match=r"levels as tables, \[levels.0\] to \[levels.5\]"):
        load_demand_rubric(write(tmp_path, text))


def test_what_is_no_rubric_of_a_demand_is_refused(tmp_path):
    with pytest.raises(AnnotationError, match="no rubric 'bravery'; give one of quantitative_reas"):
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
