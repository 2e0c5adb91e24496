"""What every benchmark prints: one JSON object, in the shape of `reproduce --json`."""

import json
from collections.abc import Iterable, Mapping

from measurement_layouts.scenarios.figures import Figure


def report(
    name: str, seconds: float, figures: Iterable[Figure], ours: Mapping[str, str] | None = None
) -> int:
    """Print the figures; return the exit status, 1 when one falls short.

    `ours` has what the table's column of that name says, by the name of the figure.
    """
    figures = list(figures)
    beside = ours or {}
    shown = {
        "scenario": name,
        "seconds": seconds,
        "figures": [
            figure.to_dict() | ({"ours": beside[figure.name]} if figure.name in beside else {})
            for figure in figures
        ],
    }
    print(json.dumps(shown, allow_nan=False))
    return 0 if all(figure.holds for figure in figures) else 1
