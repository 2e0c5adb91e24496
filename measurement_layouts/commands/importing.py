"""The command ``import``: converts logs or tables to the tables that ``fit`` reads."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..common.progress import waiting
from . import arguments
from .saying import say

if TYPE_CHECKING:
    from ..evaluations.logs.imported import Imported

_WRITTEN = ("items.csv", "outcomes.csv", "subjects.csv", "notes.csv")


def add(commands: arguments.Commands) -> None:
    """Add the command, and a command below it for each kind of log."""
    parser = arguments.add_command(
        commands,
        "import",
        _run,
        "Read logs or tables into CSV files that `fit` reads, and list what was mapped or dropped.",
        example="import inspect logs/*.eval --out data",
    )
    kinds = parser.add_subparsers(required=True, metavar="KIND")

    inspect = _add_kind(
        kinds, "inspect", _inspect, "Read logs of Inspect (.eval or .json).", "logs/*.eval"
    )
    _chooses(inspect, "--scorer", "scorer to read")
    inspect.add_argument(
        "--value",
        nargs="+",
        type=_valued,
        metavar="SCORE=NUMBER",
        help="what a score stands for, in 0 to 1, such as P=0.5 (C=1 I=0 P=0.5 N=0)",
    )
    _takes_features(inspect, "metadata of the samples")

    harness = _add_kind(
        kinds,
        "lm-eval",
        _lm_eval,
        "Read samples of the lm-evaluation-harness (samples_*.jsonl).",
        "results/samples_*.jsonl --metric exact_match",
    )
    _chooses(harness, "--metric", "which outcome")
    _chooses(harness, "--filter", "whose answers")
    _takes_subject(harness)
    _takes_features(harness, "fields of the documents")

    table = _add_kind(
        kinds,
        "table",
        _table,
        "Read a table of outcomes, long or wide (CSV, Parquet or JSON lines).",
        "results.csv --items items.csv --subject model",
    )
    arguments.takes_path(table, "--items", "FILE", "properties of the items")
    arguments.takes_people(table)
    arguments.takes_columns(table)


def _add_kind(
    kinds: arguments.Commands,
    name: str,
    read: Callable[[argparse.Namespace], "Imported"],
    about: str,
    example: str,
) -> argparse.ArgumentParser:
    parser = arguments.add_command(
        kinds, name, _run, about, example=f"import {name} {example} --out data"
    )
    parser.set_defaults(read=read)
    parser.add_argument(
        "logs",
        nargs=1 if name == "table" else "+",
        type=Path,
        metavar="FILE" if name == "table" else "LOG",
        help="the outcomes" if name == "table" else "file, or folder of such files",
    )
    arguments.takes_path(parser, "--out", "DIR", f"folder for {', '.join(_WRITTEN)}", required=True)
    arguments.takes_overwrite(parser)
    return parser


def _chooses(parser: argparse.ArgumentParser, option: str, about: str) -> None:
    parser.add_argument(
        option,
        nargs="+",
        action=_ByTask,
        metavar="NAME|TASK=NAME",
        help=f"{about}, for all tasks or by task (default: the only one that a task has)",
    )


class _ByTask(argparse.Action):
    """Read one name for all tasks, or a name for each."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        named = [text.partition("=") for text in values]
        if len(values) > 1 and not all(name for _, _, name in named):
            parser.error(f"argument {option_string}: give one NAME, or TASK=NAME for each task")
        by_task = {task: name for task, _, name in named}
        setattr(namespace, self.dest, by_task if all(by_task.values()) else values[0])


def _takes_subject(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--subject",
        metavar="NAME",
        help="name of the model, if all logs are of one model (default: its name in the logs)",
    )


def _takes_features(parser: argparse.ArgumentParser, which: str) -> None:
    parser.add_argument(
        "--features",
        nargs="+",
        metavar="NAME",
        help=f"{which} that become properties of the items (default: all)",
    )


def _valued(text: str) -> tuple[str, float]:
    score, _, number = text.rpartition("=")
    try:
        return score, float(number)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; write SCORE=NUMBER, such as P=0.5") from None


def _run(chosen: argparse.Namespace) -> int:
    written = [chosen.out / name for name in _WRITTEN]
    arguments.refuse_existing(written, chosen.overwrite)
    with waiting("reading the outcomes", show=True):
        from .tables import print_notes

        imported = chosen.read(chosen)
        arguments.make_writable(chosen.out)
        imported.write(chosen.out)
    print_notes(imported)
    print(*written, sep="\n")
    told = repr(imported).removeprefix("<Imported: ").removesuffix(">")
    items, outcomes = (f"--{path.stem} {path}" for path in written[:2])
    say(f"{told}; give them to `check` and `fit` as {items} {outcomes}", error=True)
    return 0


def _inspect(chosen: argparse.Namespace) -> "Imported":
    from ..evaluations.logs.inspect_logs import read_inspect

    values = None if chosen.value is None else dict(chosen.value)
    return read_inspect(chosen.logs, scorer=chosen.scorer, values=values, features=chosen.features)


def _lm_eval(chosen: argparse.Namespace) -> "Imported":
    from ..evaluations.logs.lm_eval import read_lm_eval

    return read_lm_eval(chosen.logs, **_named(chosen, "metric", "filter", "features", "subject"))


def _table(chosen: argparse.Namespace) -> "Imported":
    from ..evaluations.logs.table import read_table

    (outcomes,) = chosen.logs
    columns = _named(chosen, "subject", "item", "outcome")
    return read_table(outcomes, chosen.items, subjects=chosen.subject_table, **columns)


def _named(chosen: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return some options by name."""
    return {name: getattr(chosen, name) for name in names}
