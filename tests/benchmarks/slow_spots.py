"""What was slow or large once: tables and reports of thousands, imports, stores, wide priors.

Run by hand: ``python tests/benchmarks/slow_spots.py [--json] [--case NAME ...] [--quick] [--seeds N
...]``. Prints a table in Markdown, or one JSON object; exit status 1 when a goal is missed. Goals
are of two cores, so leave the machine alone meanwhile. ``--quick`` takes fewer subjects, items and
seeds: its numbers say only that everything runs. Memory is read as Linux counts it.
"""

import argparse
import sys

import slow_cases
from lines import Line
from running import run

CASES = {
    "profiles": slow_cases.profiles,
    "report": slow_cases.report,
    "compare": slow_cases.compared,
    "import": slow_cases.first_layout,
    "store": slow_cases.stored,
    "short-chains": slow_cases.short_chains,
    "wide-priors": slow_cases.wide_priors,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        names = options.case or CASES
        return [line for name in names for line in CASES[name](options.quick, seed)]

    cases = {"--case": {"nargs": "+", "choices": CASES, "help": "only these"}}
    return run(
        "slow spots",
        __doc__,
        measure,
        arguments,
        quick="subjects, items and seeds",
        options=cases,
    )


if __name__ == "__main__":
    sys.exit(main())
