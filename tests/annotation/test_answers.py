"""Answers of annotators: what is read, and what is refused with a reason."""

import pytest

from measurement_layouts.annotation import AnnotationError, read_interval


@pytest.mark.parametrize(
    ("answer", "band"),
    [
        ("Interval: [-2, 3]", (-2, 3)),
        ("Interval: [−2, +3]", (-2, 3)),  # a typographic minus
        ("Interval: [–1, 0]", (-1, 0)),  # a dash for a minus
        ("**Interval: [-3, 3]**", (-3, 3)),
        ("**Interval:** `[0, 0]`", (0, 0)),
        ("Interval: -1 to 2", (-1, 2)),
        ("Interval: - 1 ; + 2", (-1, 2)),
        ("interval : (-1, 2).", (-1, 2)),
        ("Final interval: [-1, 2]", (-1, 2)),
        ("> - Interval: [-1.0, 2.0]", (-1, 2)),
        ("  Interval:[-0,2]  \r\n", (0, 2)),
        ("Interval: [-3, 3]\nNo, level 3 leaves.\n\nInterval: [-3, 2]\n", (-3, 2)),
        ("The interval: see below.\nInterval: [-3, 2]", (-3, 2)),
        ("Interval: [-3, 2]\nThat is my answer.", (-3, 2)),
    ],
)
def test_the_last_interval_is_read(answer, band):
    assert read_interval(answer) == band


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("", "no line starts with 'Interval:'"),
        ("I think that -2 to 3 is right.", "no line starts with 'Interval:'"),
        ("So the Interval: [-2, 3]", "no line starts with 'Interval:'"),
        ("Interval: [-2, 3]\nInterval: unclear", "two numbers cannot be read from 'unclear'"),
        ("Interval:", "two numbers cannot be read from ''"),
        ("Interval: [lower end, upper end]", "two numbers cannot be read"),
        ("Interval: [-2]", "two numbers cannot be read"),
        ("Interval: [-2, 1, 3]", "two numbers cannot be read"),
        ("Interval: [-2, 3], more or less", "two numbers cannot be read"),
        ("Interval: -2 - 3", "two numbers cannot be read"),  # a sign, or a range?
        ("Interval: [-1.5, 2]", r"the ends of \[-1.5, 2\] are not whole numbers"),
        ("Interval: [2, -1]", r"in \[2, -1\] the lower end is above the upper one"),
        ("Interval: [-4, 3]", r"the band \[-4, 3\] goes beyond the levels -3 to 3"),
        ("Interval: [0, 12]", r"the band \[0, 12\] goes beyond"),
        ("Interval: [1, 3]", r"the band \[1, 3\] does not contain 0"),
        ("Interval: [-3, -1]", r"the band \[-3, -1\] does not contain 0"),
    ],
)
def test_everything_else_is_refused_with_a_reason(answer, reason):
    with pytest.raises(AnnotationError, match=reason):
        read_interval(answer)
