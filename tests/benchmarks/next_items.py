"""What to ask next: items that adaptive tests need, on simulated banks and replayed answers.

Run by hand: ``python tests/benchmarks/next_items.py [--json] [--case NAME ...] [--data DIR]
[--quick] [--subjects N] [--seeds N ...]``. Prints a table in Markdown, or one JSON object; exit
status 1 when a goal is missed. Banks, subjects and answers are fixed in the folder ``banks``;
``--seeds`` are those of random choice and of the tests. ``--quick`` takes two subjects, few draws
and short tests: its numbers say only that everything runs.
"""

import argparse
import sys
from collections.abc import Callable
from functools import partial

import next_items_banks
import next_items_design as designed
import next_items_population
import next_items_posterior as posterior
import next_items_replayed as replayed
from banks import SUBJECTS
from lines import Line
from running import run

QUICK = 2

CASES: dict[str, Callable[[int, bool, int], list[Line]]] = {
    **{
        name: partial(next_items_banks.simulated, name)
        for name in ("three", "permanence", "permanence-prior", "bands")
    },
    "animal-ai-needs": replayed.animal_ai_needs,
    "risk-aversion": replayed.risk_aversion_needs,
    **{
        name: partial(replayed.replayed, name)
        for name in ("animal-ai", "fractions", "gsm8k", "adele")
    },
    "population": next_items_population.started,
    **posterior.CASES,
    **designed.CASES,
}


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""

    def measure(options: argparse.Namespace, seed: int) -> list[Line]:
        subjects = QUICK if options.quick else options.subjects
        names = options.case or CASES
        return [line for name in names for line in CASES[name](subjects, options.quick, seed)]

    options = {
        "--case": {"nargs": "+", "choices": CASES, "help": "only these"},
        "--subjects": {"type": int, "default": SUBJECTS, "metavar": "N", "help": f"({SUBJECTS})"},
    }
    return run(
        "next_items",
        __doc__,
        measure,
        arguments,
        quick="subjects and answers",
        data=True,
        options=options,
    )


if __name__ == "__main__":
    sys.exit(main())
