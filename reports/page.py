"""The HTML page: one file that loads nothing."""

import base64
import hashlib
import math
from functools import cache
from pathlib import Path

import jinja2
from markupsafe import Markup

from ..inference.digits import short
from ..inference.digits import written as number
from ..linking import units
from . import diagram, equations, palette
from .bars import axes, bars
from .columns import Column, columns, counts
from .contents import PROB, Contents
from .curves import Curves
from .drawings import HEIGHT, SIDE, WIDTH, reliability_drawing
from .exports import csv
from .forest import panels
from .geometry import place
from .new_items import NewItems
from .outcomes import Outcome
from .subjects import ids, subject_pages

_TEMPLATES = Path(__file__).parent / "templates"
_HISTOGRAM = 24  # height, in pixels


def written(contents: Contents) -> str:
    """Write the page.

    Parameters
    ----------
    contents : Contents
        What to tell.

    Returns
    -------
    str
        The same for the same contents: it holds no date.
    """
    fit = contents.fit
    found = bars(contents.profiles, axes(contents))
    ranges = [bar.axis for bar in next(iter(found.values()))]
    rates = contents.rates
    order = [str(name) for name in rates.sort_values(ascending=False, kind="stable").index]
    curves = Curves(fit, PROB)
    new = None if contents.forecast is None else NewItems(contents, contents.forecast)
    script = _joined("script", ".js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return (
        _environment()
        .get_template("page.html")
        .render(
            contents=contents,
            layout=fit.layout,
            style=Markup(_joined("style", ".css")),
            script=Markup(script),
            digest=digest,
            light=palette.LIGHT,
            dark=palette.DARK,
            prob=f"{PROB:.0%}",
            status=contents.diagnostics["status"].value_counts().to_dict(),
            trials=int(contents.trials["trials"].sum()),
            diagram=diagram.inline_svg(fit.layout),
            mathml=equations.mathml(fit.layout),
            equations=equations.plain(fit.layout),
            items=len(contents.items),
            kinds=sorted({axis.kind for axis in ranges}),
            features=[_feature(column) for column in columns(fit)],
            ranges=ranges,
            bars=found,
            ids=ids(contents),
            rates=rates,
            order=order,
            panels=panels(ranges, found, order),
            reliability=[reliability_drawing(*own) for own in curves.in_bins()],
            outcomes=[_outcome(outcome) for outcome in contents.outcomes],
            new=new,
            subjects=subject_pages(contents, found, curves, new),
            csv=base64.b64encode(csv(contents.profiles).encode()).decode(),
            curve_size=(WIDTH, HEIGHT),
            side=SIDE,
        )
    )


@cache
def _environment() -> jinja2.Environment:
    """Templates; everything that they write is escaped."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    made.filters["number"] = number
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
        "unit": units.name(column.feature.unit),
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
        "about": getattr(outcome.leaf, "about", ""),
        "kind": type(outcome.leaf).__name__,
        "mean_of": outcome.mean_of,
        "values": outcome.listed,
        "attempts": attempts,
        "mean": outcome.gained.sum() / attempts if attempts else math.nan,
        "bars": _histogram(found),
        "told": "; ".join(f"{value}: {count}" for value, count in pairs if count),
    }


def _histogram(numbers: list[int]) -> list[tuple[str, str, str]]:
    """Place, width and height of each bar."""
    most, step = max([1, *numbers]), 120 / len(numbers)
    return [
        (place(at * step), place(max(0.8, step - 1)), place(_HISTOGRAM * count / most))
        for at, count in enumerate(numbers)
    ]
