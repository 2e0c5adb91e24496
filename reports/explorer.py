"""What the explorer of profiles on the page is told: means, intervals and curves, as numbers."""

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
    """Write the numbers as JSON that may stand inside a page.

    Parameters
    ----------
    ranges : list of Axis
        Of the elements.
    found : dict of str to list of Bar
        Profiles, by subject.
    places : dict of str to str
        Where on the page a subject is; the others are left out.
    drawn : dict of str to list of Curve
        Of these subjects.

    Returns
    -------
    str
        ``elements`` with their ranges, ``properties`` with the values over which forecasts run, and
        ``subjects``: values are [mean, low, high] by element, curves the same by property. Without
        a sign that could end the script that holds it.
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
    """Keep four digits, so that two decimals are rounded right."""
    return [float(f"{value:.4g}") for value in values]
