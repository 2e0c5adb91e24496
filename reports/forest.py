"""All subjects' profiles at a glance: a panel per element, a row per subject."""

from dataclasses import dataclass

from .bars import Axis, Bar
from .geometry import place

_NAMED = 120  # rows up to which their names are written
_LETTERS = 18
_NAMES_WIDTH = 112
_WIDTH = 340


@dataclass(frozen=True, eq=False)
class Row:
    """One subject in a panel."""

    y: str
    low: str
    high: str
    mean: str
    vague: bool
    split: bool
    name: str


@dataclass(frozen=True, eq=False)
class Panel:
    """One element of all subjects, the most successful on top."""

    axis: Axis
    rows: list[Row]
    start: str
    stop: str
    centre: str | None
    prior: tuple[str, str]
    bottom: str
    height: str
    step: float
    told: str
    width: int = _WIDTH


def panels(ranges: list[Axis], found: dict[str, list[Bar]], order: list[str]) -> list[Panel]:
    """Lay out a panel per element, subjects in the order given."""
    named = len(order) <= _NAMED
    step = 16.0 if len(order) <= 40 else 12.0 if named else max(1.5, 1200 / len(order))
    start = _NAMES_WIDTH + 8 if named else 10
    return [
        _panel(axis, [(name, found[name][which]) for name in order], start, step, named)
        for which, axis in enumerate(ranges)
    ]


def _panel(axis: Axis, own: list[tuple[str, Bar]], start: float, step: float, named: bool) -> Panel:
    across = axis.scale(start, _WIDTH - 10)
    bottom = 6 + step * len(own)
    rows = [
        Row(
            place(6 + step * (at + 0.5)),
            across(bar.row["low"]),
            across(bar.row["high"]),
            across(bar.row["mean"]),
            bar.vague,
            bar.split,
            _shortened(name) if named else "",
        )
        for at, (name, bar) in enumerate(own)
    ]
    means = sorted((bar for _, bar in own), key=lambda bar: bar.row["mean"])
    unit = f" {axis.unit}" if axis.unit else ""
    told = (
        f"{axis.name} of {len(own)} subjects: means from {means[0].mean} to {means[-1].mean}"
        f"{unit}, middle one {means[len(means) // 2].mean}"
    )
    centre = None if axis.centre is None else across(axis.centre)
    ends = place(start), place(_WIDTH - 10)
    low, high = (float(across(end)) for end in axis.prior)
    prior = place(low), place(high - low)
    return Panel(axis, rows, *ends, centre, prior, place(bottom), place(bottom + 22), step, told)


def _shortened(name: str) -> str:
    plain = " ".join(name.split())
    half = _LETTERS // 2
    return plain if len(plain) <= _LETTERS else f"{plain[: half - 1]}…{plain[-half:]}"
