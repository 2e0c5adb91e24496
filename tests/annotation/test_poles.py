"""Rubrics written from two poles, and the prompts made from rubrics, on any levels."""

import re

import pytest

from measurement_layouts.annotation import (
    AnnotationError,
    inciting_prompt,
    load_rubric,
    prompt,
    rubric_of_poles,
)

RANGES = [(-3, 3), (-1, 1), (-5, 2), (0, 10), (-10, 10)]


def rubric_of(lowest, highest):
    return rubric_of_poles("haste", "takes its time", "hurries", lowest=lowest, highest=highest)


def price(level, furthest):
    """What an agent gives up at most, in per cent, by the printed formula."""
    return 100 * (abs(level) / furthest) ** 1.71


def worths(level):
    """What the numbers of an example are: (taken, left)."""
    taken = re.search(r"is worth ([\d.]+), another one 100: it takes it", level.example)
    left = re.search(r"If it is worth ([\d.]+)", level.example)
    if not taken:
        left = re.search(r"is worth ([\d.]+), another one 100: it takes the other", level.example)
    return tuple(float(found[1]) if found else None for found in (taken, left))


@pytest.mark.parametrize(("lowest", "highest"), RANGES)
def test_examples_tell_each_level_from_its_neighbours(lowest, highest):
    """An agent takes what costs no more than its price, and its neighbours decide otherwise."""
    furthest = max(-lowest, highest)
    for level in rubric_of(lowest, highest).levels:
        taken, left = worths(level)
        at = abs(level.level)
        if at:
            assert 100 - price(at, furthest) < taken < 100 - price(at - 1, furthest)
        if at < furthest:
            assert 100 - price(at + 1, furthest) < left < 100 - price(at, furthest)


def test_three_levels_cost_what_the_shipped_rubrics_cost():
    levels = {level.level: level.description for level in rubric_of(-3, 3).levels}
    assert "as much as 15 %" in levels[1]
    assert "as much as 50 %" in levels[-2]
    assert "whatever that gives up" in levels[3]
    shipped = {level.level: level.description for level in load_rubric("risk_aversion").levels}
    assert "15 %" in shipped[1]
    assert "half" in shipped[2]


@pytest.mark.parametrize(("lowest", "highest"), RANGES)
def test_every_level_has_a_prompt_of_its_own_with_what_the_rubric_says(lowest, highest):
    rubric = rubric_of(lowest, highest)
    prompts = {level.level: inciting_prompt(rubric, level.level) for level in rubric.levels}
    assert len(set(prompts.values())) == highest - lowest + 1
    for level in rubric.levels:
        place, rule, form = prompts[level.level].split("\n\n")
        assert f"from {lowest} (takes its time) to {highest} (hurries)" in place
        assert f"at {level.level}" in place
        assert level.description in rule
        assert "`Answer: `" in form
        others = [text.split("\n\n")[1] for text in prompts.values()]
        assert others.count(rule) == 1  # no two differ by the place on the scale alone


def test_a_shipped_propensity_has_hand_written_prompts_and_those_of_its_rubric():
    by_hand = inciting_prompt("risk_aversion", 2)
    made = inciting_prompt(load_rubric("risk_aversion"), 2)
    assert by_hand.startswith("You dislike risk very much")
    assert "from -3 (seeks risk) to 3 (avoids risk)" in made
    assert "gives up as much as half of the expected value" in made


def test_an_annotator_can_be_asked_by_it():
    text = prompt(rubric_of(-2, 4), "Now or later?")
    assert "down: -1, then -2." in text
    assert "up: 1, then 2, then 3, then 4" in text


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"lowest": 1}, "levels 1 to 3; give a lowest and a highest one that include 0"),
        ({"lowest": 0, "highest": 0}, "levels 0 to 0"),
        ({"lowest": -1.5}, "give whole numbers"),
        ({"negative": " "}, "no text for negative"),
        ({"unbiased": ""}, "no text for unbiased"),
    ],
)
def test_other_descriptions_are_refused(change, complaint):
    said = {"name": "haste", "negative": "takes its time", "positive": "hurries", **change}
    with pytest.raises(AnnotationError, match=complaint):
        rubric_of_poles(**said)


def test_a_level_beyond_the_rubric_has_no_prompt():
    with pytest.raises(AnnotationError, match="level=3; give a whole number from -2 to 2"):
        inciting_prompt(rubric_of(-2, 2), 3)
