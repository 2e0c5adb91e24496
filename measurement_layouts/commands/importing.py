"""The command ``import``: converts logs or tables to the tables that ``fit`` reads."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, CycloptsError, Parameter

from ..common.progress import waiting
from . import options

if TYPE_CHECKING:
    from ..evaluations.logs.imported import Imported

_FILES = "items.csv", "outcomes.csv", "subjects.csv", "notes.csv"
Logs = Annotated[list[Path], Parameter(help="files, or folders of such files")]
Out = Annotated[Path, Parameter(help=f"folder for {', '.join(_FILES)}")]

imports = App(name="import")
imports.help = (
    "Read logs or tables into CSV files that `fit` reads; list what was mapped or dropped."
)


@imports.command
def inspect(
    logs: Logs,
    /,
    *,
    out: Out,
    scorer: options.Names = None,
    value: options.Names = None,
    features: options.Names = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Read logs of Inspect (.eval or .json).

    Parameters
    ----------
    scorer
        scorer to read: NAME, or TASK=NAME for each task (default: the only one that a task has)
    value
        what scores stand for, as SCORE=NUMBER in 0 to 1, such as P=0.5 (default: C=1 I=0 P=0.5 N=0)
    features
        metadata of the samples that become properties of the items (default: all)
    """
    with waiting("reading the logs", show=True):
        from ..evaluations.logs.inspect_logs import read_inspect

        values = None if value is None else _pairs(value, float, "SCORE=NUMBER, such as P=0.5")
        imported = read_inspect(logs, scorer=_by_task(scorer), values=values, features=features)
    _write(imported, out, overwrite)


@imports.command
def lm_eval(
    logs: Logs,
    /,
    *,
    out: Out,
    metric: options.Names = None,
    filter: options.Names = None,
    subject: str | None = None,
    features: options.Names = None,
    overwrite: options.Overwrite = False,
) -> None:
    """Read samples of the lm-evaluation-harness (samples_*.jsonl).

    Parameters
    ----------
    metric
        which outcome: NAME, or TASK=NAME for each task (default: the only one that a task has)
    filter
        whose answers: NAME, or TASK=NAME for each task (default: the only one that a task has)
    subject
        name of the model, if all logs are of one model (default: its name in the logs)
    features
        fields of the documents that become properties of the items (default: all)
    """
    with waiting("reading the logs", show=True):
        from ..evaluations.logs.lm_eval import read_lm_eval

        chosen = {"metric": _by_task(metric), "filter": _by_task(filter)}
        imported = read_lm_eval(logs, **chosen, features=features, subject=subject)
    _write(imported, out, overwrite)


@imports.command
def table(
    file: Path,
    /,
    *,
    out: Out,
    tables: options.Tables = options.TABLES,
    overwrite: options.Overwrite = False,
) -> None:
    """Read a table of outcomes, long or wide (CSV, Parquet or JSON lines).

    Parameters
    ----------
    file
        the outcomes
    """
    with waiting("reading the table", show=True):
        from .tables import read_one_table

        imported = read_one_table(file, tables)
    _write(imported, out, overwrite)


def _write(imported: "Imported", out: Path, overwrite: bool) -> None:
    """Write what was read, and list the files."""
    from .printing import say
    from .tables import print_notes

    files = [out / name for name in _FILES]
    options.refuse_existing(files, overwrite)
    imported.write(out)
    print_notes(imported)
    print(*files, sep="\n")
    use = f"give them to `check` and `fit` as --items {files[0]} --outcomes {files[1]}"
    say(f"{repr(imported).strip('<>')}; {use}", error=True)


def _by_task(texts: options.Names) -> Any:
    """Read one name for all tasks, or TASK=NAME for each."""
    single = texts is None or (len(texts) == 1 and "=" not in texts[0])
    return texts and texts[0] if single else _pairs(texts or [], str, "TASK=NAME for each task")


def _pairs(texts: Sequence[str], read: Callable[[str], Any], form: str) -> dict[Any, Any]:
    """Read texts such as NAME=VALUE."""
    try:
        return {text[: text.rindex("=")]: read(text[text.rindex("=") + 1 :]) for text in texts}
    except ValueError:
        raise CycloptsError(msg=f"{' '.join(texts)!r}; write {form}") from None
