"""What no change may lose: figures of speed, accuracy and calibration, each with its goal.

Run by hand: ``python benchmarks/kept.py [--json] [--row NAME ...] [--all] [--beside FOLDER]
[--rounds N] [--seeds N ...] [--data DIR]``. Prints a table in Markdown, or one JSON object; exit
status 1 when a goal is missed. By default rows that take at most two minutes each are measured,
about a quarter of an hour in all on two idle cores; ``--all`` adds those of many minutes, and
``--row`` takes the rows that are named. Every row has processes of its own.

``--beside FOLDER`` measures each row in another checkout with its own ``.venv``, too, taking turns,
and prints the ratio of both. The other checkout is measured by its own ``benchmarks/kept.py`` where
it has one, and by this one otherwise. ``--rounds`` is how often; medians are shown.

Real data are read from the folder that MEASUREMENT_LAYOUTS_DATA names, published tables from that
of MEASUREMENT_LAYOUTS_PUBLISHED; by default ``../shared/data`` and ``../shared/published`` beside
the checkout, where they exist. Recorded figures are of one run on two cores in November 2026.
"""

import importlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"MEASUREMENT_LAYOUTS_DATA": "data", "MEASUREMENT_LAYOUTS_PUBLISHED": "published"}
MEASURE = "--measure"
SHORT_MINUTES = 2


class Kept(NamedTuple):
    """A figure: what it is, what was recorded, and its goal, a relation to a limit."""

    what: str
    was: float | None
    relation: str
    limit: float


class Row(NamedTuple):
    """What computes some figures, "file:function" with arguments, and minutes on two idle cores."""

    measure: str
    arguments: tuple[Any, ...]
    minutes: float
    figures: tuple[Kept, ...]


def _reproduced(name: str, minutes: float, held: int, count: int) -> Row:
    figure = Kept(f"figures that reach their goals, of {count}", held, ">=", held)
    return Row("kept_rows:reproduced", (name,), minutes, (figure,))


def _assessed(split: str, auroc: float, ece: float, brier: float, errors: Sequence[float]) -> Row:
    goals = (("AUROC", auroc, ">=", -2), ("ECE", ece, "<=", 2), ("Brier score", brier, "<=", 2))
    kept = (
        Kept(what, was, relation, round(was + sign * error, 4))
        for (what, was, relation, sign), error in zip(goals, errors, strict=True)
    )
    return Row("kept_rows:assessed", (split,), 15, tuple(kept))


def _cells(name: str, was: float, minutes: float) -> Row:
    figures = (
        Kept("Brier score of held-out cells, jointly", was, "<=", round(was + 0.002, 4)),
        Kept("less Rasch's, and two standard errors", None, "<", 0),
        Kept("less that of each subject alone", None, "<", 0),
    )
    return Row("population_rows:held_out_cells", (name,), minutes, figures)


def _draws(name: str, least: float, seconds: float) -> Row:
    figures = (
        Kept("effective draws of the worst shared value", least, ">=", 400),
        Kept("the same per second", least / seconds, ">=", least / seconds / 2),
    )
    return Row("kept_rows:draws", (name,), seconds / 30, figures)


ROWS: dict[str, Row] = {
    "reproduce-animal-ai": _reproduced("animal-ai-olympics", 1, 9, 9),
    "reproduce-object-permanence": _reproduced("object-permanence", 8, 21, 24),
    "reproduce-propensities": _reproduced("propensities", 6, 26, 29),
    "reproduce-dispositions": _reproduced("dispositions", 5, 17, 17),
    # standard errors of 3,328 items, of 63 tasks and of six benchmarks
    "adele-in-distribution": _assessed("in distribution", 0.775, 0.012, 0.150, (0.003,) * 3),
    "adele-tasks": _assessed("task OOD", 0.729, 0.038, 0.160, (0.004, 0.005, 0.002)),
    "adele-benchmarks": _assessed("benchmark OOD", 0.672, 0.081, 0.176, (0.008, 0.011, 0.002)),
    "cells-animal-ai": _cells("animal-ai", 0.097, 15),
    "cells-fractions": _cells("fractions", 0.111, 30),
    "cells-exam": _cells("exam", 0.187, 5),
    "cells-gsm8k": _cells("gsm8k", 0.0672, 30),
    "cells-adele": _cells("adele", 0.138, 20),
    "agents": Row(
        *("kept_rows:agents", (), 1.5),
        (
            Kept("68 agents, compiled: times faster than a loop of `pm.sample`", 229, ">=", 150),
            Kept("times faster than nutpie, compiled once and reused", 4.5, ">=", 3),
            Kept("largest distance of posterior means, of what chance allows", None, "<=", 1),
        ),
    ),
    "cold-start": Row(
        *("kept_rows:cold_start", (), 1),
        (Kept("68 agents from an empty process, caches empty: times faster", 51, ">=", 35),),
    ),
    "object-permanence": Row(
        *("kept_rows:object_permanence", (), 2),
        (
            Kept("2,175 of 2,188 items differ: times faster than nutpie", 8.1, ">=", 6),
            Kept("1,242 of 2,188 items differ: times faster than nutpie", 18.3, ">=", 12),
        ),
    ),
    "gradients": Row(
        *("kept_rows:gradients", (), 1),
        (
            Kept("16,108 items x 18 demands: times faster than the plain model", 21, ">=", 14),
            Kept("Animal-AI: time, of that of Numba by hand", 0.45, "<=", 0.7),
        ),
    ),
    "store": Row(
        *("kept_rows:store", (), 1),
        (
            Kept("1,000 subjects into a store: ms each", 26.6, "<=", 35),
            Kept("growth of memory beyond that of ten, MiB", 11, "<=", 32),
        ),
    ),
    "forecasts": Row(
        *("kept_rows:forecasts", (), 1),
        (
            Kept("15 subjects x 16,108 items x 4,000 draws: seconds", 17.8, "<=", 25),
            Kept("growth of memory, MiB", 155, "<=", 512),
        ),
    ),
    "draws-exam": _draws("exam", 2543, 14),
    "draws-gsm8k": _draws("gsm8k", 272, 235),
    "draws-adele": _draws("adele", 554, 76),
    "draws-fractions": _draws("fractions", 485, 123),
    "draws-animal-ai": Row(
        *("kept_rows:draws_of_scalars", (), 5),
        (Kept("effective draws of the worst scalar, median of three seeds", 1045, ">=", 400),),
    ),
    "known-posterior": Row(
        *("population_rows:known_posterior", (), 1),
        (
            Kept("largest distance of 501 means, in Monte Carlo errors", None, "<=", 4.5),
            Kept("effective draws of the mean, of 4,000", 113, ">=", 2000),
        ),
    ),
    "large": Row(
        *("population_rows:large", (), 25),
        (
            Kept("1,000 x 1,000 jointly: minutes", 24, "<=", 30),
            Kept("growth of memory, GiB", 1.2, "<=", 2),
            Kept("largest R-hat of a shared value", 1.006, "<=", 1.01),
        ),
    ),
    "adaptive-items": Row(
        *("adaptive:items_needed", (), 10),
        tuple(
            Kept(f"items for what random {count} of 2,000 x 3 give", was, "<=", was + 2 * error)
            for count, was, error in ((40, 11.5, 0.2), (80, 20.4, 0.5), (200, 41.2, 1.0))
        ),
    ),
    "adaptive-coverage": Row(
        *("adaptive:coverage", (), 10),
        tuple(
            Kept(f"90 % intervals at the stop that hold, {bank}", was, ">=", 0.9 - 2 * error)
            for bank, was, error in (
                ("three capabilities", 0.894, 0.009),
                ("bands", 0.9, 0.013),
                ("Animal-AI", 0.9, 0.007),
            )
        ),
    ),
    "adaptive-answer": Row(
        *("adaptive:milliseconds_of_an_answer", (), 0.5),
        (Kept("next and record, 2,000 x 9: ms of processor time", 20, "<=", 40),),
    ),
    "report": Row(
        *("slow_cases:report_and_profiles", (), 1),
        (
            Kept("report of 3,000 subjects, 30 in full: seconds", 23, "<=", 60),
            Kept("its size, MiB", 4.7, "<=", 10),
            Kept("profiles of 3,000 subjects: seconds", 5.5, "<=", 10),
        ),
    ),
    "import": Row(
        *("kept_rows:imported", (), 0.2),
        (Kept("import and a first layout: seconds", 0.17, "<=", 0.25),),
    ),
    "calibration": Row(
        *("kept_rows:calibration", (), 40),
        (Kept("layouts whose ranks are not uniform, or cannot be judged", 0, "<=", 0),),
    ),
    "same-bits": Row(
        *("same_bits:that_differ", (), 2),
        (Kept("ways to compute a fit whose draws differ", 0, "<=", 0),),
    ),
}


def measured(root: Path, name: str, seed: int) -> tuple[list[float], float]:
    """Measure a row of a checkout in a process of its own; the figures, NaN on failure; seconds."""
    its_script = root / "benchmarks" / "kept.py"
    script = its_script if its_script.exists() else Path(__file__)
    python = sys.executable if root == ROOT else str(root / ".venv" / "bin" / "python")
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder) / "answer.json"
        command = [python, str(script), MEASURE, name, str(seed), str(answer)]
        done = subprocess.run(command, cwd=root, stdout=sys.stderr)
        seconds = time.perf_counter() - start
        print(f"{root.name}, {name}: {seconds:.0f} s, status {done.returncode}", file=sys.stderr)
        count = len(ROWS[name].figures)
        values = json.loads(answer.read_text()) if done.returncode == 0 else [math.nan] * count
    return values, seconds


def rows_of(name: str, seed: int, other: Path | None, rounds: int) -> list[dict[str, Any]]:
    """Measure a row here and in another checkout, taking turns; medians over the rounds."""
    from measurement_layouts.scenarios.figures import Figure

    results: dict[Path, list[Any]] = {root: [] for root in (other, ROOT) if root is not None}
    for turn in range(rounds):
        for root in list(results)[:: -1 if turn % 2 else 1]:
            results[root].append(measured(root, name, seed))
    middle = {
        root: [statistics.median(x) for x in zip(*(values for values, _ in turns), strict=True)]
        for root, turns in results.items()
    }
    lines = []
    for place, (what, was, relation, limit) in enumerate(ROWS[name].figures):
        value = middle[ROOT][place]
        figure = Figure(f"{name}: {what}", value, relation, limit)
        line = figure.to_dict() | {"row": name, "seed": seed, "was": was}
        line["seconds"] = statistics.median(seconds for _, seconds in results[ROOT])
        if other is not None:
            beside = middle[other][place]
            numbers = {"beside": beside, "ratio": value / beside if beside else math.nan}
            line |= {key: x if math.isfinite(x) else None for key, x in numbers.items()}
        lines.append(line)
    return lines


def table(lines: Sequence[Mapping[str, Any]], other: Path | None) -> str:
    """Write the rows as a Markdown table."""
    from measurement_layouts.common import markdown

    def said(number: float | None) -> str:
        return "" if number is None else f"{number:.4g}"

    head = ["figure", "was", "goal", *(["beside"] if other else []), "found"]
    head += [*(["found / beside"] if other else []), "", "seconds"]
    body = []
    for line in lines:
        cells = [line["name"], said(line["was"]), line["goal"]]
        cells += [said(line["beside"])] if other else []
        cells += [said(line["obtained"])]
        cells += [said(line["ratio"])] if other else []
        cells += ["held" if line["holds"] else "MISSED", f"{line['seconds']:.0f}"]
        body.append(cells)
    return markdown.table(head, body)


def main(arguments: list[str] | None = None) -> int:
    """Measure and report."""
    from running import parse

    for variable, folder in FOLDERS.items():
        if not os.environ.get(variable) and (ROOT.parent / "shared" / folder).is_dir():
            os.environ[variable] = str(ROOT.parent / "shared" / folder)
    options: dict[str, dict[str, Any]] = {
        "--json": {"action": "store_true", "help": "one JSON object instead of the table"},
        "--row": {"nargs": "+", "choices": ROWS, "metavar": "NAME", "help": ", ".join(ROWS)},
        "--all": {"action": "store_true", "help": "rows that take many minutes, too"},
        "--beside": {"type": Path, "metavar": "FOLDER", "help": "another checkout"},
        "--rounds": {"type": int, "default": 1, "metavar": "N", "help": "of each row (1)"},
    }
    chosen = parse(__doc__, arguments, data=True, options=options)
    names = chosen.row or [
        name for name, row in ROWS.items() if chosen.all or row.minutes <= SHORT_MINUTES
    ]
    other, start = chosen.beside.resolve() if chosen.beside else None, time.perf_counter()
    lines = [
        line
        for name in names
        for seed in chosen.seeds
        for line in rows_of(name, seed, other, chosen.rounds)
    ]
    if chosen.json:
        shown = {"scenario": "kept", "seconds": time.perf_counter() - start, "figures": lines}
        print(json.dumps(shown, allow_nan=False))
    else:
        print(table(lines, other))
    return 0 if all(line["holds"] for line in lines) else 1


def measure(name: str, seed: str, answer: str) -> None:
    """Measure a row in this process, and write its figures."""
    import logging
    import warnings

    logging.getLogger("pymc").setLevel(logging.ERROR)
    warnings.simplefilter("ignore")
    row = ROWS[name]
    file, function = row.measure.split(":")
    values = getattr(importlib.import_module(file), function)(*row.arguments, seed=int(seed))
    Path(answer).write_text(json.dumps(values))


if __name__ == "__main__":
    sys.exit(measure(*sys.argv[2:]) if sys.argv[1:2] == [MEASURE] else main())
