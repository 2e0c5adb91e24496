"""Answers of annotators, read: the last line that gives the interval."""

import re

from .errors import AnnotationError

_MARKUP = str.maketrans({"−": "-", "–": "-", "—": "-", "‑": "-", "＋": "+"} | dict.fromkeys("*_`$"))
_LINE = re.compile(r"^[\s>#-]*(?:final )?interval\s*:(.*)$", re.IGNORECASE | re.MULTILINE)
_NUMBER = r"\s*([+-]?\s*\d+(?:\.\d+)?)\s*"
_PAIR = re.compile(rf"^\s*[\[(]?{_NUMBER}(?:,|;|to|\.\.){_NUMBER}[\])]?\s*\.?\s*$", re.IGNORECASE)


def read_interval(answer: str) -> tuple[int, int]:
    r"""Read the band from an annotator's answer.

    The last line that starts with ``Interval:`` counts. Bold type, typographic minus signs, plus
    signs, spaces and "to" instead of the comma are read; everything else is refused.

    Parameters
    ----------
    answer : str
        The whole answer.

    Returns
    -------
    low, high : int
        With -3 <= low <= 0 <= high <= 3. The walk starts at 0, so that a band without 0 says that
        even the unbiased agent fails: a mistake.

    Raises
    ------
    AnnotationError
        When there is no such line, or no such band in it; the message is what to tell the
        annotator.

    Examples
    --------
    >>> read_interval("-3: LEAVES, for ...\n\n**Interval: [−2, +3]**")
    (-2, 3)
    >>> read_interval("Interval: [1, 3]")
    Traceback (most recent call last):
        ...
    measurement_layouts.annotation.errors.AnnotationError: the band [1, 3] does not hold 0, where
    both walks start
    """
    lines = _LINE.findall(answer.translate(_MARKUP))
    if not lines:
        raise AnnotationError("no line starts with 'Interval:'")
    pair = _PAIR.match(lines[-1])
    if pair is None:
        raise AnnotationError(f"no two numbers can be read from {lines[-1].strip()!r}")
    ends = [float(end.replace(" ", "")) for end in pair.groups()]
    shown = f"[{ends[0]:g}, {ends[1]:g}]"
    if any(end != int(end) for end in ends):
        raise AnnotationError(f"the ends of {shown} are not whole numbers")
    low, high = int(ends[0]), int(ends[1])
    if low > high:
        raise AnnotationError(f"in {shown} the lower end is above the upper one")
    if low < -3 or high > 3:
        raise AnnotationError(f"the band {shown} goes beyond the levels -3 to 3")
    if low > 0 or high < 0:
        raise AnnotationError(f"the band {shown} does not hold 0, where both walks start")
    return low, high
