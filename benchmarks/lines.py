"""Lines of the performance table: a ratio with its goal, our own number, and the same answers."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from report import report
from scipy.stats import norm

from measurement_layouts.common import markdown
from measurement_layouts.scenarios.figures import Figure

FALSE_ALARM = 1e-3  # chance that equal posteriors are told apart, over all comparisons of a line
LEAST_LIMIT = 4.0
CLOSE = 1e-8


@dataclass(frozen=True)
class Agreement:
    """How far two ways to the same answers are apart.

    Parameters
    ----------
    what : str
        What was compared.
    largest, limit : float
        Largest distance, and the one that is still the same answer, in `unit`.
    count : int
        Comparisons.
    unit : str
        Of the distance.
    """

    what: str
    largest: float
    limit: float
    count: int
    unit: str

    def figure(self, case: str) -> Figure:
        """Hold the largest distance to its limit."""
        goal = f"under {self.limit:.3g} {self.unit}"
        name = f"{case}: largest distance of {self.count} {self.what}, {self.unit}"
        return Figure(name, self.largest, "<", self.limit, goal)

    def __str__(self) -> str:
        sign = "<" if self.figure("").holds else "NOT <"
        return f"{self.count} {self.what}: {self.largest:.2g} {sign} {self.limit:.2g} {self.unit}"


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Parameters
    ----------
    case, against : str
        What was done, and beside which alternative.
    figure : Figure
        What was measured, usually a ratio, with its goal.
    unit : str
        Of what was measured.
    ours : str
        Our own time or memory, with its unit.
    answers : Agreement, optional
        That both give the same.
    seconds : float, optional
        Our own time, for a report.
    """

    case: str
    against: str
    figure: Figure
    unit: str
    ours: str
    answers: Agreement | None = None
    seconds: float | None = None

    @property
    def figures(self) -> Iterator[Figure]:
        """For a report."""
        yield self.figure
        if self.seconds is not None:
            yield Figure(f"{self.case}: our seconds", self.seconds, ">", 0)
        if self.answers is not None:
            yield self.answers.figure(self.case)

    @property
    def holds(self) -> bool:
        """Whether the goal is met, and the answers are the same."""
        return all(figure.holds for figure in self.figures)


def times_faster(
    case: str,
    against: str,
    *,
    ours: float,
    theirs: float,
    least: float,
    answers: Agreement | None = None,
    ratio: float | None = None,
) -> Line:
    """Hold our seconds against theirs.

    Parameters
    ----------
    case, against : str
        Of the line.
    ours, theirs : float
        Seconds for the same work.
    least : float
        The goal: how many times faster.
    answers : Agreement, optional
        Of the line.
    ratio : float, optional
        Measured more carefully than by dividing the two.
    """
    ratio = theirs / ours if ratio is None else ratio
    name = f"{case}: times faster than {against}"
    figure = Figure(name, ratio, ">=", least, f"at least {least:g} times faster")
    return Line(case, against, figure, "times faster", in_words(ours), answers, ours)


def at_most(case: str, what: str, found: float, most: float, unit: str, **line: Any) -> Line:
    """Hold a number to its upper limit; `line` may say `ours` and `answers`."""
    figure = Figure(f"{case}: {what}", found, "<=", most, f"at most {most:g} {unit}")
    return _held(case, what, figure, unit, line)


def at_least(case: str, what: str, found: float, least: float, unit: str, **line: Any) -> Line:
    """Hold a number to its lower limit; `line` as in `at_most`."""
    figure = Figure(f"{case}: {what}", found, ">=", least, f"at least {least:g} {unit}")
    return _held(case, what, figure, unit, line)


def _held(case: str, what: str, figure: Figure, unit: str, line: Mapping[str, Any]) -> Line:
    own = {"against": what, "ours": f"{figure.obtained:.3g} {unit}"}
    return Line(case, figure=figure, unit=unit, **{**own, **line})


def reported(case: str, what: str, found: float, ours: str) -> Line:
    """Say a number that has no goal."""
    figure = Figure(f"{case}: {what}", found, ">=", 0, "as found")
    return Line(case, what, figure, "", ours)


def failed(case: str) -> Line:
    """Say that a case could not be measured."""
    figure = Figure(f"{case}: measured", math.nan, ">", 0, "is measured")
    return Line(case, "", figure, "(an error stopped it)", "")


def means_agree(distances: Iterable[float]) -> Agreement:
    """Judge distances of posterior means, in standard errors of their difference.

    The limit lets equal posteriors be told apart in one run of a thousand, and is 4 at least.
    """
    found = np.array(list(distances))
    limit = max(LEAST_LIMIT, float(norm.isf(FALSE_ALARM / len(found) / 2)))
    unit = "Monte Carlo standard errors"
    return Agreement("posterior means", float(found.max()), limit, len(found), unit)


def values_agree(what: str, ours: np.ndarray, theirs: np.ndarray) -> Agreement:
    """Judge numbers that must be equal but for rounding, relative to the largest of theirs."""
    scale = max(1.0, float(np.abs(theirs).max()))
    largest = float(np.abs(np.asarray(ours) - theirs).max()) / scale
    return Agreement(what, largest, CLOSE, int(np.size(theirs)), "of the largest")


def in_words(seconds: float) -> str:
    """Write a time.

    Examples
    --------
    >>> in_words(2.5), in_words(3.2e-6)
    ('2.5 s', '3.2 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} µs"


def table(lines: Iterable[Line]) -> str:
    """Write the lines as a Markdown table."""
    head = ("case", "beside", "found", "goal", "", "ours", "same answers")
    rows = (
        (
            line.case,
            line.against,
            f"{line.figure.obtained:.3g} {line.unit}",
            line.figure.goal,
            "held" if line.holds else "MISSED",
            line.ours,
            line.answers or "",
        )
        for line in lines
    )
    return markdown.table(head, rows)


def show(name: str, seconds: float, lines: Iterable[Line], *, as_json: bool) -> int:
    """Print the table, or one JSON object; return the exit status, 1 when a goal is missed."""
    lines = list(lines)
    if as_json:
        figures = (figure for line in lines for figure in line.figures)
        return report(name, seconds, figures, {line.figure.name: line.ours for line in lines})
    print(table(lines))
    return 0 if all(line.holds for line in lines) else 1
