"""Answers of annotators: what is read, and what is refused with a reason."""

import pytest

from measurement_layouts.annotation import AnnotationError, read_interval, read_level
from measurement_layouts.annotation.answer import read_number


@pytest.mark.parametrize(
    ("answer", "band"),
    [
        ("Interval: [-2, 3]", (-2, 3)),
        ("Interval: [−2, +3]", (-2, 3)),  # a typographic minus
        ("Interval: [–1, 0]", (-1, 0)),  # a dash for a minus
        ("**Interval:** `[0, 0]`", (0, 0)),
        ("Interval: -1 to 2", (-1, 2)),
        ("Interval: - 1 ; + 2", (-1, 2)),
        ("interval : (-1, 2).", (-1, 2)),
        ("> - Final interval: [-1.0, 2.0]", (-1, 2)),
        ("  Interval:[-0,2]  \r\n", (0, 2)),
        ("Interval: [-3, 3]\nNo, level 3 leaves.\n\nInterval: [-3, 2]\n", (-3, 2)),
        ("The interval: see below.\nInterval: [-3, 2]\nThat is my answer.", (-3, 2)),
    ],
)
def test_the_last_interval_is_read(answer, band):
    assert read_interval(answer) == band


@pytest.mark.parametrize(
    ("answer", "level"),
    [
        ("**Level:** `0`", 0),
        ("level : [4].", 4),
        ("Final level: 3.0", 3),
        ("> - Level:5+", 5),
        ("Level: 5 +", 5),
        ("Level: +1", 1),
        ("Level: 3\nNo, the second step is of level 4.\n\nLevel: 4\r\n", 4),
        ("## Level 3: intermediate\nLevel: 2\nThat is my answer.", 2),
    ],
)
def test_the_last_level_is_read(answer, level):
    assert read_level(answer) == level


@pytest.mark.parametrize(
    ("read", "answer", "reason"),
    [
        (read_interval, "", "no line starts with 'Interval:'"),
        (read_interval, "So the Interval: [-2, 3]", "no line starts with 'Interval:'"),
        (read_interval, "Interval: [-2, 3]\nInterval: unclear", "read from 'unclear'"),
        (read_interval, "Interval: [-2, 1, 3]", "two numbers cannot be read"),
        (read_interval, "Interval: [-2, 3], more or less", "two numbers cannot be read"),
        (read_interval, "Interval: -2 - 3", "two numbers cannot be read"),  # a sign, or a range?
        (read_interval, "Interval: [-1.5, 2]", r"the ends of \[-1.5, 2\] are not whole numbers"),
        (read_interval, "Interval: [2, -1]", r"in \[2, -1\] the lower end is above"),
        (read_interval, "Interval: [-4, 3]", r"\[-4, 3\] goes beyond the levels -3 to 3"),
        (read_interval, "Interval: [0, 12]", r"\[0, 12\] goes beyond"),
        (read_interval, "Interval: [1, 3]", r"\[1, 3\] does not contain 0"),
        (read_interval, "Interval: [-3, -1]", r"\[-3, -1\] does not contain 0"),
        (read_level, "Level 3", "no line starts with 'Level:'"),
        (read_level, "Level: 2\nLevel: unclear", "a single number cannot be read from 'unclear'"),
        (read_level, "Level: 2 or 3", "a single number cannot be read"),
        (read_level, "Level: 2-3", "a single number cannot be read"),
        (read_level, "Level: 3 out of 5", "a single number cannot be read"),
        (read_level, "Level: 4+", "a single number cannot be read"),
        (read_level, "Level: 5 + 1", "a single number cannot be read"),
        (read_level, "Level: 4 %", "a single number cannot be read"),
        (read_level, "Level: 2.5", "the level 2.5 is not a whole number from 0 to 5"),
        (read_level, "Level: 6", "the level 6 is not a whole number from 0 to 5"),
        (read_level, "Level: -1", "the level -1 is not a whole number from 0 to 5"),
        (lambda text: read_number(text, "Rating", 1, 5), "Rating: 0", "the rating 0 is not"),
        (lambda text: read_number(text, "Rating", 1, 5), "Rating: 5+", "cannot be read from '5"),
    ],
)
def test_everything_else_is_refused_with_a_reason(read, answer, reason):
    with pytest.raises(AnnotationError, match=reason):
        read(answer)
