"""What every benchmark prints: one JSON object, in the shape of `reproduce --json`."""

import json
from collections.abc import Iterable

from measurement_layouts.scenarios.figures import Figure


def report(name: str, seconds: float, figures: Iterable[Figure]) -> int:
    """Print the figures; return the exit status, 1 when one falls short."""
    figures = list(figures)
    shown = {
        "scenario": name,
        "seconds": seconds,
        "figures": [figure.to_dict() for figure in figures],
    }
    print(json.dumps(shown, allow_nan=False))
    return 0 if all(figure.holds for figure in figures) else 1
