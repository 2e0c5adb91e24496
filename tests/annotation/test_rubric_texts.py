"""Rubrics of demands that users have as text: what is read, and what is refused."""

import dataclasses

import pytest

from measurement_layouts.annotation import (
    DEMAND_RUBRICS,
    AnnotationError,
    annotate_demands,
    load_demand_rubric,
    load_rubric,
)

MARKDOWN = """
# Haste (HA)

How far a right answer has to come fast.
Levels 0 to 2 are enough here.

## Level 0: None. There is no clock.
Examples:
* "Take your time: what is 2 + 2?"
* Anything without a clock,
  on two lines

**Level 1 (very low)**: A clock is there.
- It does not run:
- the second remark.
Boundary: A time is named
in the item.
**Examples**
1. What is 2 + 2? You have a day.

### Level 2+. High-level haste is asked for.
Example: Now! What is 2 + 2?
Example: At once!
"""

PLAIN = "Level 0: None. Simple.\n* one\n* two\nLevel 1: Very low.\nBasic.\n* three\n"


def read(folder, text, name="own.txt"):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_demand_rubric(path)


def test_a_text_with_title_boundary_and_marked_examples(tmp_path):
    rubric = read(tmp_path, MARKDOWN, "haste.md")
    assert (rubric.name, rubric.code) == ("Haste", "HA")
    assert rubric.definition == (
        "How far a right answer has to come fast.\nLevels 0 to 2 are enough here."
    )
    zero, one, two = rubric.levels
    assert zero.description == "There is no clock."
    assert zero.examples == (
        '"Take your time: what is 2 + 2?"',
        "Anything without a clock,\n  on two lines",
    )
    assert zero.boundary == ""
    assert one.description == "A clock is there.\n- It does not run:\n- the second remark."
    assert one.boundary == "A time is named\nin the item."
    assert one.examples == ("What is 2 + 2? You have a day.",)
    assert two.level == 2
    assert two.description == "High-level haste is asked for."
    assert two.examples == ("Now! What is 2 + 2?", "At once!")


def test_without_marked_examples_bullets_are_examples(tmp_path):
    rubric = read(tmp_path, "Whether it is simple.\n" + PLAIN, "SI.txt")
    assert (rubric.name, rubric.code) == ("SI", "SI")
    assert rubric.definition == "Whether it is simple."
    assert [level.description for level in rubric.levels] == ["Simple.", "Basic."]
    assert [level.examples for level in rubric.levels] == [("one", "two"), ("three",)]


@pytest.mark.parametrize("name", DEMAND_RUBRICS)
def test_a_shipped_rubric_written_as_text_is_read_as_the_same(tmp_path, name):
    rubric = load_demand_rubric(name)
    parts = [f"{rubric.name} ({rubric.code})", rubric.definition]
    for level in rubric.levels:
        parts.append(f"Level {level.level}: {level.description}")
        parts += [f"Boundary: {level.boundary}"] * bool(level.boundary)
        parts += ["Examples:", *(f"- {example}" for example in level.examples)]
    again = read(tmp_path, "\n\n".join(parts))
    joined = tuple(
        dataclasses.replace(level, examples=tuple(text.strip() for text in level.examples))
        for level in rubric.levels
    )
    assert again == dataclasses.replace(rubric, levels=joined)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (PLAIN, "rubric 'own': no text for definition; write one"),
        ("Is it?\nAbout level 3.", "no line begins a level; write 'Level 0:' and its description"),
        ("Is it?\n" + PLAIN + PLAIN, "level 0 occurs twice; give it once"),
        ("Is it?\n" + PLAIN.replace("* three", ""), "level 1 lacks examples"),
        ("Is it?\n" + PLAIN.replace("Basic.", ""), "level 1: no text for description"),
        ("Is it?\n" + PLAIN.replace("Level 1", "Level 2"), "level 1 missing; give each of 0 to 2"),
    ],
)
def test_a_text_that_lacks_something_is_refused(tmp_path, text, complaint):
    with pytest.raises(AnnotationError, match=complaint):
        read(tmp_path, text)


def test_what_is_no_text_is_refused(tmp_path):
    path = tmp_path / "own.txt"
    path.write_bytes(b"Level 0: \xff\xfe")
    with pytest.raises(AnnotationError, match="is not text in UTF-8"):
        load_demand_rubric(path)
    with pytest.raises(AnnotationError, match=r"TOML file or a text$"):
        load_demand_rubric(tmp_path / "none.txt")
    path.write_text(MARKDOWN, encoding="utf-8")
    with pytest.raises(AnnotationError, match="is not a TOML file"):  # bands need more than that
        load_rubric(path)


def test_a_text_can_annotate(tmp_path):
    from helpers.mock_annotators import output
    from inspect_ai.model import get_model

    path = tmp_path / "haste.md"
    path.write_text(MARKDOWN, encoding="utf-8")
    model = get_model("mockllm/model", custom_outputs=lambda *_: output("Level: 2+"))
    said = annotate_demands({"q": "Now!"}, model, [path], options={"q": 2})
    assert said.table["demand[HA]"].to_dict() == {"q": 2}
