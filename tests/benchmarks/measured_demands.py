"""Demands that are measured: raters, layouts, a common scale, and time.

Run by hand: ``python tests/benchmarks/measured_demands.py --json [--seeds N] [--data DIR]
[--rows NAME ...]``. Prints one JSON object with a row for each figure, measured in this run, and
its goal. The rows stand in ``measured_raters.py``, ``measured_layouts.py``, ``measured_scale.py``
and ``measured_time.py``, each of which runs alone, too.
"""

import argparse
import importlib
import json
import os
import time
from pathlib import Path

PARTS = ("raters", "layouts", "scale", "time")


def main() -> None:
    """Print the rows of all parts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--json", action="store_true", help="one JSON object, not a line per row")
    parser.add_argument("--seeds", type=int, default=20, help="repetitions of what is simulated")
    parser.add_argument("--data", type=Path, default=os.environ.get("MEASUREMENT_LAYOUTS_DATA"))
    parser.add_argument("--parts", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--rows", nargs="*", help="names of rows (default: all)")
    asked = parser.parse_args()
    if asked.data is None:
        parser.error("give --data DIR, or set MEASUREMENT_LAYOUTS_DATA")
    start, found = time.monotonic(), []
    seeds, chosen = list(range(1, asked.seeds + 1)), set(asked.rows) if asked.rows else None
    for part in asked.parts:
        rows = importlib.import_module(f"measured_{part}").rows(seeds, Path(asked.data), chosen)
        found += rows
        for row in rows if not asked.json else ():
            print(row, flush=True)
    if asked.json:
        seconds = round(time.monotonic() - start)
        print(json.dumps({"benchmark": "measured demands", "seconds": seconds, "rows": found}))


if __name__ == "__main__":
    main()
