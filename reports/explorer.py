"""Data of the page's profile explorer: means, intervals and curves."""

import json
from collections.abc import Mapping

from .bars import Axis, Bar
from .curves import Curve


def explorer(
    ranges: list[Axis],
    found: Mapping[str, list[Bar]],
    places: Mapping[str, str],
    drawn: Mapping[str, list[Curve]],
) -> str:
    """Write the numbers as JSON that can be put into a page.

    Parameters
    ----------
    ranges : list of Axis
        Ranges of the elements.
    found : dict of str to list of Bar
        Profiles, by subject.
    places : dict of str to str
        Identifier of each subject's section on the page.
    drawn : dict of str to list of Curve
        Curves, by subject. Only these subjects are written.

    Returns
    -------
    str
        ``elements`` with their ranges, ``properties`` with the values at which forecasts are made,
        and ``subjects``: ``values`` are [mean, low, high] by element, and ``curves`` are lists of
        these three by property. The text contains no character that could end a script element.
    """
    first = next(iter(drawn.values()), [])
    moved = [which for which, curve in enumerate(first) if curve.forecast is not None]
    several = len({curve.outcome.name for curve in first}) > 1
    told = {
        "elements": [
            {
                "name": axis.name,
                "unit": axis.unit,
                "kind": axis.kind,
                "low": axis.low,
                "high": axis.high,
            }
            for axis in ranges
        ],
        "properties": [
            {
                "name": _name(first[which], several),
                "unit": first[which].column.unit,
                "values": _short(_column(first[which], "value")),
            }
            for which in moved
        ],
        "subjects": [
            {
                "name": who,
                "id": places[who],
                "values": [_short([bar.row[end] for end in _ENDS]) for bar in found[who]],
                "curves": [[_short(_column(own[which], end)) for end in _ENDS] for which in moved],
            }
            for who, own in drawn.items()
        ],
    }
    written = json.dumps(told, separators=(",", ":"))
    return written.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


_ENDS = ("mean", "low", "high")


def _name(curve: Curve, several: bool) -> str:
    return f"{curve.outcome.name}: {curve.column.name}" if several else curve.column.name


def _column(curve: Curve, name: str) -> list[float]:
    """Read a column of a curve's forecast."""
    return [] if curve.forecast is None else curve.forecast[name].tolist()


def _short(values: list[float]) -> list[float]:
    """Keep four digits, so that rounding to two decimals is correct."""
    return [float(f"{value:.4g}") for value in values]
