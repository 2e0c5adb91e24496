"""The HTML page: one file that loads nothing."""

import base64
import gzip
import math
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import NamedTuple

import jinja2
from markupsafe import Markup

from ..common.digits import fixed, short
from ..layouts.drawing.style import STYLES
from . import web_page
from .bars import Axis, Bar, axes, bars
from .columns import Column, columns, counts
from .contents import PROB, Contents
from .curves import Curves
from .diagrams import inline_svg
from .drawings import HEIGHT, SIDE, WIDTH, reliability_drawing
from .exports import csv
from .findings import findings
from .geometry import place
from .new_items import NewItems
from .outcomes import Outcome
from .population import effects
from .subjects import ids, subject_pages

_TEMPLATES = Path(__file__).parent / "templates"
_HISTOGRAM = 24  # height, in pixels

_NAMED = 120  # largest number of rows with names
_LETTERS = 40  # of a name; longer names are shortened in the middle
_LETTER = 6.2  # width of a letter, in pixels
_NAMES_WIDTH = 112  # least width of the names
_WIDTH = 340  # of a panel whose names have the least width

_LIGHTER = 0.5  # share of white mixed into a colour on a dark page

_COLOURS = {f"kind-{kind}": style.border for kind, style in STYLES.items()}

LIGHT = web_page.LIGHT | _COLOURS
"""Colours by variable of the style sheet."""


def _lighter(colour: str) -> str:
    """Mix white into a colour, so that it stands out on a dark page."""
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part + _LIGHTER * (255 - part)):02X}" for part in parts)


DARK = web_page.DARK | {name: _lighter(colour) for name, colour in _COLOURS.items()}
"""Colours of a dark page, for the same variables."""


def as_html(contents: Contents) -> str:
    """Write the page.

    Parameters
    ----------
    contents : Contents
        Contents of the report.

    Returns
    -------
    str
        The page as HTML. It has no date, so that the same contents give the same page.
    """
    fit = contents.fit
    found = bars(contents.profiles, axes(contents))
    ranges = [bar.axis for bar in next(iter(found.values()))]
    rates = contents.rates
    order = [str(name) for name in rates.sort_values(ascending=False, kind="stable").index]
    table = csv(contents.profiles).encode()
    curves = Curves(fit, PROB)
    places, row_of = ids(contents), {name: row for row, name in enumerate(fit.subjects)}
    drawn = {who: curves.of(row_of[who]) for who in places if who in row_of}
    new = None if contents.forecast is None else NewItems(contents, contents.forecast)
    script = _joined("script", ".js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            contents=contents,
            layout=fit.layout,
            style=Markup(_joined("style", ".css")),
            script=Markup(script),
            digest=web_page.script_digest(script),
            light=LIGHT,
            dark=DARK,
            prob=f"{PROB:.0%}",
            status=contents.verdicts["status"].value_counts().to_dict(),
            trials=int(contents.trials["trials"].sum()),
            diagram=inline_svg(fit.layout, fit.layout._repr_svg_()),
            items=len(contents.items),
            kinds=sorted({axis.kind for axis in ranges}),
            features=[_feature(column) for column in columns(fit)],
            ranges=ranges,
            bars=found,
            ids=places,
            findings=findings(contents, found),
            verdicts=contents.verdicts.reset_index(names="subject").to_dict("records"),
            rates=rates,
            order=order,
            panels=panels(ranges, found, order),
            reliability=[reliability_drawing(*own) for own in curves.in_bins()],
            outcomes=[_outcome(outcome) for outcome in contents.outcomes],
            effects=effects(contents),
            leaning=bool((contents.told.findings["what"] == "leaning").any()),
            new=new,
            subjects=subject_pages(contents, found, drawn, new),
            csv=base64.b64encode(
                table if contents.whole else gzip.compress(table, mtime=0)
            ).decode(),
            curve_size=(WIDTH, HEIGHT),
            side=SIDE,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """Load the templates, with filters for numbers."""
    made = web_page.environment(_TEMPLATES)
    made.filters["number"] = fixed
    made.filters["exact"] = "{:.9g}".format  # for sorting
    return made


def _joined(folder: str, ending: str) -> str:
    """Join the files of a folder, by name."""
    files = sorted((_TEMPLATES / folder).glob(f"*{ending}"))
    return "\n".join(path.read_text(encoding="utf-8").strip() for path in files)


def _feature(column: Column) -> dict[str, object]:
    """Describe one property of the items, with a histogram."""
    names, number_of = counts(column)
    declared, seen = column.feature.range, column.seen
    levels = column.feature.levels
    if levels is not None and len(levels) <= 7:
        allowed = ", ".join(short(level) for level in sorted(levels))
    else:
        allowed = f"{short(declared.low)} to {short(declared.high)}"
    return {
        "name": column.name,
        "unit": column.unit,
        "about": column.feature.about,
        "declared": allowed,
        "seen": f"{short(seen.min())} to {short(seen.max())}" if len(seen) else "–",
        "items": len(seen),
        "bars": _histogram(number_of),
        "told": "; ".join(f"{n}: {c}" for n, c in zip(names, number_of, strict=True) if c),
    }


def _outcome(outcome: Outcome) -> dict[str, object]:
    """Describe one outcome, with a histogram."""
    found = outcome.counts.sum(axis=(0, 1)).tolist()
    attempts = sum(found)
    pairs = zip(outcome.values, found, strict=True)
    return {
        "name": outcome.name,
        "about": getattr(outcome.node, "about", ""),
        "kind": type(outcome.node).__name__,
        "mean_of": outcome.mean_of,
        "values": outcome.listed,
        "attempts": attempts,
        "mean": outcome.gained.sum() / attempts if attempts else math.nan,
        "bars": _histogram(found),
        "told": "; ".join(f"{value}: {count}" for value, count in pairs if count),
    }


def _histogram(numbers: list[int]) -> list[tuple[str, str, str]]:
    """Compute the place, width and height of each bar."""
    most, step = max([1, *numbers]), 120 / len(numbers)
    return [
        (place(at * step), place(max(0.8, step - 1)), place(_HISTOGRAM * count / most))
        for at, count in enumerate(numbers)
    ]


@dataclass(frozen=True, eq=False)
class Row:
    """One subject's row in a panel."""

    y: str
    low: str
    high: str
    mean: str
    vague: bool
    split: bool
    name: str


class Together(NamedTuple):
    """All subjects of a panel as a few paths, if there are too many for a row each."""

    ranges: str
    points: dict[str, str]  # solid and hollow points, by their class
    crosses: str

    @classmethod
    def of(cls, rows: list[Row]) -> "Together":
        """Draw rows; a point is a line of length 0 with round ends."""
        points = {
            kind: "".join(f"M{row.mean} {row.y}h0" for row in rows if row.vague == bool(kind))
            for kind in ("", " hollow")
        }
        ranges = "".join(f"M{row.low} {row.y}H{row.high}" for row in rows)
        crosses = "".join(f"M{row.mean} {row.y}m-1.5-1.5l3 3m0-3l-3 3" for row in rows if row.split)
        return cls(ranges, points, crosses)


@dataclass(frozen=True, eq=False)
class Panel:
    """One element of all subjects, the most successful subject on top."""

    axis: Axis
    rows: list[Row]
    together: Together | None
    start: str
    stop: str
    centre: str | None
    prior: tuple[str, str]
    bottom: str
    height: str
    step: float
    told: str
    width: int


def panels(ranges: list[Axis], found: dict[str, list[Bar]], order: list[str]) -> list[Panel]:
    """Lay out one panel per element, with the subjects in the given order."""
    named = len(order) <= _NAMED
    step = 16.0 if len(order) <= 40 else 12.0 if named else 1200 / len(order)
    longest = max((len(_shortened(name)) for name in order), default=0)
    start = max(_NAMES_WIDTH, _LETTER * longest) + 8 if named else 10
    width = round(max(start - _NAMES_WIDTH - 8, 0)) + _WIDTH
    return [
        _panel(axis, [(name, found[name][which]) for name in order], start, width, step, named)
        for which, axis in enumerate(ranges)
    ]


def _panel(
    axis: Axis, own: list[tuple[str, Bar]], start: float, width: int, step: float, named: bool
) -> Panel:
    across = axis.scale(start, width - 10)
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
    ends = place(start), place(width - 10)
    low, high = (float(across(end)) for end in axis.prior)
    prior = place(low), place(high - low)
    shown, together = (rows, None) if named else ([], Together.of(rows))
    height = place(bottom), place(bottom + 22)
    return Panel(axis, shown, together, *ends, centre, prior, *height, step, told, width)


def _shortened(name: str) -> str:
    plain = " ".join(name.split())
    half = _LETTERS // 2
    return plain if len(plain) <= _LETTERS else f"{plain[: half - 1]}…{plain[-half:]}"
