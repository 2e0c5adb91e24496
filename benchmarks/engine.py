"""How fast we are beside what one has without us, and that the answers are the same.

Run by hand: ``python benchmarks/engine.py [--json] [--case NAME ...] [--quick] [--seeds N
...] [--data DIR]``. Prints the table of docs/project/speed.md in Markdown, or one JSON object; exit
status 1 when a goal is missed. Every line is a ratio measured side by side in this run on this
machine, so leave the machine alone meanwhile. ``--quick`` takes fewer subjects and items: its
numbers say only that everything runs. Memory is read as Linux counts it.
"""

import argparse
import importlib
import os
import sys
import time
import traceback

from battery_cases import DATA
from lines import Line, failed
from running import run

CASES = {
    "animal-ai": "sampling_cases:animal_ai",
    "cold-start": "process_cases:cold_start",
    "object-permanence": "sampling_cases:object_permanence",
    "demands": "gradient_cases:labelled_demands",
    "by-hand": "gradient_cases:animal_ai_by_hand",
    "growth": "process_cases:growth",
    "real-data": "sampling_cases:real_data",
    "forecasts": "forecast_cases:forecasts",
}


def measure(names: list[str], quick: bool, seed: int) -> list[Line]:
    """Run cases one after the other; one that fails misses its goal, and stops no other."""
    lines = []
    for name in names:
        start = time.perf_counter()
        file, function = CASES[name].split(":")
        try:
            lines += getattr(importlib.import_module(file), function)(quick, seed)
        except Exception:
            traceback.print_exc()
            lines.append(failed(name))
        print(f"{name}: {time.perf_counter() - start:.0f} s", file=sys.stderr)
    return lines


def chosen(names: list[str] | None) -> list[str]:
    """Take the cases asked for; else all, without real data where there are none."""
    if names:
        return names
    if os.environ.get(DATA):
        return list(CASES)
    print(f"real-data is left out: {DATA} names no folder", file=sys.stderr)
    return [name for name in CASES if name != "real-data"]


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measured(options: argparse.Namespace, seed: int) -> list[Line]:
        return list(measure(chosen(options.case), options.quick, seed))

    cases = {"--case": {"nargs": "+", "choices": CASES, "help": "only these"}}
    return run(
        "engine", __doc__, measured, arguments, quick="subjects and items", data=True, options=cases
    )


if __name__ == "__main__":
    sys.exit(main())
